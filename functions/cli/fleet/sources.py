"""The clusters and installations of a fleet: folders of dumps, contexts and profiles, matched by name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Final

from functions.cli.dumps.files import STDIN
from functions.cli.dumps.homes import Home, home_named
from functions.cli.input.commitments import CommitmentFile
from functions.cli.input.options import (
    CLUSTER,
    LISTED,
    PriceOptions,
    profile_folder,
    profile_path,
    profiles,
    read_profile,
)
from functions.cli.input.readers import cluster_of
from shared.core.policy import Policy
from shared.errors import BadInput

_LEAST_OF_A_NAME: Final = 16  # Letters of a cluster's name that are enough to know it again where nodes' names cut it.


def is_of(installation: str, cluster: str, home: Home | None) -> bool:
    """Return whether an installation's cluster is that of a row: by its name, or by where a dump's nodes belong."""
    ours = home_named(installation)
    if cluster == installation or ours is None or home is None or not all(home):
        return cluster == installation
    cut = len(home.name) >= _LEAST_OF_A_NAME and ours.name.startswith(home.name)
    return home[:2] == ours[:2] and (home.name == ours.name or cut)


@dataclass(frozen=True)
class InstallationSource:
    """One installation: what its profile is called, and the variables in it; without them, why there are none."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""

    @property
    def cluster(self) -> str:
        return self.environment.get(CLUSTER, "")


@dataclass(frozen=True)
class FleetPlanning:
    """How each cluster is planned: under the policy that was named, else under that of its installation."""

    prices: PriceOptions = LISTED
    assume_marked: bool = False
    policy: Policy | None = None
    by_cluster: Mapping[str, Policy] = field(default_factory=dict)
    """The policies of installations, by the whole names of their clusters."""
    committed: CommitmentFile | None = None
    shares: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    """By cluster and machine family: its share of the commitments that clusters of the fleet share."""

    def policy_of(self, cluster: str, home: Home | None) -> Policy | None:
        own = (policy for name, policy in self.by_cluster.items() if is_of(name, cluster, home))
        return self.policy or next(own, None)


@dataclass(frozen=True)
class ClusterSource:
    """One thing to read: dumps, a context, or an installation's cluster as the GKE API describes it."""

    name: str
    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What `EBB_…` variables hold while it is read, and no others."""

    @property
    def cluster(self) -> str:
        """Return what the cluster is called before it is read."""
        if self.dumps:
            return self.name
        return cluster_of(self.context) if self.context else self.environment.get(CLUSTER, self.name)


_PREFIX: Final = "EBB_"
_KUBECONFIG: Final = "EBB_KUBECONFIG"
_PATTERN: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FleetRequest:
    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    contexts: tuple[str, ...] = ()
    installations: tuple[str, ...] = ()
    every_installation: bool = False
    state_only: bool = False
    policy: Path | None = None
    prices: PriceOptions = LISTED
    assume_marked: bool = False
    commitments: Path | None = None


def check(request: FleetRequest) -> None:
    """Raise BadInput for what names no cluster, or one that cannot be read in another process."""
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
    """Return the installations that were named; a profile that cannot be read is one with a fault. BadInput: none."""
    paths = [profile_path(name, environment) for name in request.installations]
    paths += profiles(environment) if request.every_installation else []
    if request.every_installation and not paths:
        where = profile_folder(environment) / "NAME.env"
        raise BadInput(f"--installations: there is no profile yet; write one: terraform output -raw cli > {where}")
    return tuple(_read_installation(path) for path in dict.fromkeys(paths))


def _read_installation(path: Path) -> InstallationSource:
    try:
        return InstallationSource(path.stem, read_profile(path))
    except BadInput as fault:
        return InstallationSource(path.stem, fault=str(fault))


def clusters_of(
    request: FleetRequest, installations: Iterable[InstallationSource], environment: Mapping[str, str]
) -> tuple[ClusterSource, ...]:
    """Return all that is to be read, as it was named. BadInput: a pattern matches no context; BadDump: no dump."""
    known = {installation.cluster: installation.environment for installation in installations if installation.cluster}
    contexts = tuple(_contexts(request, environment))
    found = [*_dumps(request.dumps)]
    found += [
        ClusterSource(name, (), request.kubeconfig, name, _variables(name, known, environment)) for name in contexts
    ]
    if not request.state_only:
        named = {cluster_of(name) for name in contexts}
        found += [
            ClusterSource(installation.name, environment=installation.environment)
            for installation in installations
            if installation.cluster and installation.cluster not in named
        ]
    return tuple(found)


def _dumps(paths: Iterable[Path]) -> Iterator[ClusterSource]:
    """Yield a source for each file, and for each file and folder in a folder: one that is broken is one alone."""
    from functions.cli.dumps.files import files_of

    for path in paths:
        if path.is_dir():
            inside = dict.fromkeys(path / file.relative_to(path).parts[0] for file in files_of([path]))
            yield from (ClusterSource(dump.name, (dump,)) for dump in inside)
        else:
            yield ClusterSource(path.name, (path,))


def _contexts(request: FleetRequest, environment: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys(request.contexts):
        if not _PATTERN & set(name):
            yield name
            continue
        from shared.adapters.kubernetes.kubeconfig import KubeconfigFiles

        known = KubeconfigFiles(str(request.kubeconfig or environment.get(_KUBECONFIG, ""))).contexts()
        found = [context for context in known if fnmatchcase(context, name)]
        if not found:
            raise BadInput(f"--context: no context matches {name!r}; there are {', '.join(known) or 'none'}.")
        yield from found


def _variables(
    context: str, known: Mapping[str, Mapping[str, str]], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the environment for reading a context, without variables of another cluster."""
    cluster = cluster_of(context)
    if cluster in known:
        return known[cluster]
    own = {name: value for name, value in environment.items() if name.startswith(_PREFIX)}
    if own.get(CLUSTER) == cluster:
        return own
    return {name: value for name, value in own.items() if name == _KUBECONFIG}
