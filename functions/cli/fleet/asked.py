"""Which clusters a person means by folders of dumps, contexts and installations. Must not read a cluster."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from functions.cli.files import STDIN
from functions.cli.fleet.sources import ClusterSource, InstallationSource
from functions.cli.input_readers import cluster_of
from functions.cli.pricing import LISTED, PriceOptions
from functions.cli.profiles import CLUSTER, folder, profile_path, profiles, read_profile
from shared.errors import BadInput

_PREFIX: Final = "EBB_"
_KUBECONFIG: Final = "EBB_KUBECONFIG"
_PATTERN: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """What was typed of where the clusters are, and how they are to be planned."""

    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    contexts: tuple[str, ...] = ()
    installations: tuple[str, ...] = ()
    every_installation: bool = False
    state_only: bool = False
    policy: Path | None = None
    prices: PriceOptions = LISTED
    assume_marked: bool = False


def check(request: FleetRequest) -> None:
    """Refuse what names no cluster, or one that cannot be read in another process.

    Raises:
        BadInput: with what to write instead.
    """
    if not (request.dumps or request.contexts or request.installations or request.every_installation):
        raise BadInput("Which clusters? Write --dump FOLDER, --context NAME, --cluster NAME or --installations.")
    if STDIN in request.dumps:
        raise BadInput("--dump: a fleet is read from files and folders; stdin holds one cluster: ebb plan --dump -.")
    missing = [str(path) for path in request.dumps if not path.exists()]
    if missing:
        raise BadInput(f"--dump: {', '.join(missing)} does not exist.")
    if request.state_only and not (request.installations or request.every_installation):
        raise BadInput("--state-only: it is of installations; add --cluster NAME or --installations.")


def installations_of(request: FleetRequest, environment: Mapping[str, str]) -> tuple[InstallationSource, ...]:
    """Return the installations that were named; a profile that cannot be read is one with a fault.

    Raises:
        BadInput: there is no profile of that name, or none at all.
    """
    paths = [profile_path(name, environment) for name in request.installations]
    paths += profiles(environment) if request.every_installation else []
    if request.every_installation and not paths:
        where = folder(environment) / "NAME.env"
        raise BadInput(f"--installations: there is no profile yet; write one: terraform output -raw cli > {where}")
    return tuple(_installation(path) for path in dict.fromkeys(paths))


def _installation(path: Path) -> InstallationSource:
    try:
        return InstallationSource(path.stem, read_profile(path))
    except BadInput as fault:
        return InstallationSource(path.stem, fault=str(fault))


def clusters_of(
    request: FleetRequest, installations: Iterable[InstallationSource], environment: Mapping[str, str]
) -> tuple[ClusterSource, ...]:
    """Return all that is to be read, in the order in which it was named.

    Raises:
        BadInput: a pattern of contexts matches none. BadDump: a folder holds no dump.
    """
    known = {each.cluster: each.environment for each in installations if each.cluster}
    contexts = tuple(_contexts(request, environment))
    found = [*_dumps(request.dumps)]
    found += [
        ClusterSource(name, (), request.kubeconfig, name, _variables(name, known, environment)) for name in contexts
    ]
    if not request.state_only:
        named = {cluster_of(name) for name in contexts}
        found += [
            ClusterSource(each.name, environment=each.environment)
            for each in installations
            if each.cluster and each.cluster not in named
        ]
    return tuple(found)


def _dumps(paths: Iterable[Path]) -> Iterator[ClusterSource]:
    """Yield a source for each file, and for each file and folder in a folder: one that is broken is one alone."""
    from functions.cli.dumps.files import files_of

    for path in paths:
        if path.is_dir():
            inside = dict.fromkeys(path / file.relative_to(path).parts[0] for file in files_of([path]))
            yield from (ClusterSource(each.name, (each,)) for each in inside)
        else:
            yield ClusterSource(path.name, (path,))


def _contexts(request: FleetRequest, environment: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys(request.contexts):
        if not _PATTERN & set(name):
            yield name
            continue
        known = _known_contexts(request.kubeconfig, environment)
        found = [each for each in known if fnmatchcase(each, name)]
        if not found:
            raise BadInput(f"--context: no context matches {name!r}; there are {', '.join(known) or 'none'}.")
        yield from found


def _known_contexts(kubeconfig: Path | None, environment: Mapping[str, str]) -> list[str]:
    """Return the names of a kubeconfig's contexts.

    Raises:
        BadInput: it cannot be read.
    """
    from kubernetes.config import list_kube_config_contexts
    from kubernetes.config.config_exception import ConfigException

    from shared.adapters.kubernetes.access import kubeconfig_named

    path = str(kubeconfig or environment.get(_KUBECONFIG, ""))
    listed: Any = list_kube_config_contexts  # the package has no types for it
    try:
        return [str(each["name"]) for each in listed(path or None)[0]]
    except (ConfigException, OSError) as fault:
        raise BadInput(f"--context: {kubeconfig_named(path)} cannot be read ({str(fault).rstrip('.')}).") from fault


def _variables(
    context: str, known: Mapping[str, Mapping[str, str]], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """Return what the environment may say while a context is read: nothing of another cluster."""
    cluster = cluster_of(context)
    if cluster in known:
        return known[cluster]
    own = {name: value for name, value in environment.items() if name.startswith(_PREFIX)}
    if own.get(CLUSTER) == cluster:
        return own
    return {name: value for name, value in own.items() if name == _KUBECONFIG}
