"""The options that several commands share, each with the sentence that the help prints; and what `--cluster` names."""

import os
import re
import shlex
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from shared.errors import BadInput

Output = StrEnum("Output", ["TABLE", "JSON", "YAML"])
"""How what an installation knows is printed: it changes too soon to be sent on as a page."""
AnswerFormat = StrEnum("AnswerFormat", ["TABLE", "JSON", "YAML", "MARKDOWN"])
PlanFormat = StrEnum("PlanFormat", ["TABLE", "WIDE", "JSON", "YAML", "MARKDOWN", "CSV"])
ReportOutput = StrEnum("ReportOutput", ["HTML", "JSON"])
Sort = StrEnum("Sort", ["NAME", "COST", "CPU", "MEMORY", "REASON"])
FleetSort = StrEnum("FleetSort", ["NAME", "COST", "SAVED", "STATE"])


class Only(StrEnum):
    ORDER = "order"
    WAITING = "waiting"
    IN_FLIGHT = "in-flight"
    KEEP = "keep"


def instant(text: str) -> datetime:
    """Read a time with its zone, as RFC 3339 writes it. Raises BadInput: it is none, or has no zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise BadInput(f"--at: {text!r} is not a time with its zone; write for example 2026-01-31T09:00:00Z.")
    return time


def duration(option: str, text: str) -> timedelta:
    """Return a duration as the policy writes it. Raises BadInput: it is none; the sentence begins with the option."""
    from shared.core.policy.scalars import positive_duration

    try:
        return positive_duration(text)
    except ValueError as error:
        raise BadInput(f"{option}: {text!r}: {error}.") from error


def option(name: str, metavar: str | None, text: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option with its name in the usage, its help, and its group in the help."""
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel, **more)


_of_source: Final = partial(option, panel="Where the cluster is read")
_of_money: Final = partial(option, panel="What nodes cost")
_KUBECTL: Final = "Output of the kubectl command that `ebb dump` shows"
_FILES: Final = "files, folders or .gz, - for stdin."

Dumps = Annotated[
    list[Path] | None, _of_source("--dump", "FILE", f"{_KUBECTL}: {_FILES} Each cluster gets its own report.")
]
OneDump = Annotated[list[Path] | None, _of_source("--dump", "FILE", f"{_KUBECTL}, of one cluster: {_FILES}")]
Files = Annotated[
    list[Path] | None, typer.Argument(metavar="FILE...", show_default=False, help="Dumps, the same as --dump FILE.")
]
_PROFILE: Final = (
    "Installation profile: a name in ~/.config/ebb, or a file (from terraform output -raw cli). "
    "Else EBB_CLUSTER, EBB_STATE, EBB_FIRESTORE_DATABASE and, for orders, EBB_TOPIC: "
    'eval "$(terraform output -raw cli)".'
)
ClusterProfile = Annotated[str | None, option("--cluster", "NAME", _PROFILE, "Which installation")]
Kubeconfig = Annotated[
    Path | None, _of_source("--kubeconfig", "FILE", "Kubeconfig file; else KUBECONFIG, or ~/.kube/config.")
]
Context = Annotated[str | None, _of_source("--context", "NAME", "Context of the kubeconfig; else the current one.")]
_BY: Final = "Show who keeps nodes, by namespace, by workload, or by a label of pods such as team."
By = Annotated[str | None, option("--by", "namespace|workload|LABEL", _BY)]
AnswerAs = Annotated[
    AnswerFormat,
    typer.Option("--output", "-o", help="Output format: a table, markdown to share, or JSON, YAML for tools."),
]
OutputAs = Annotated[Output, typer.Option("--output", "-o", help="Output format: a table, or JSON, YAML for tools.")]
_POLICY: Final = "Policy file, YAML or JSON; else EBB_POLICY, for EBB_CLUSTER's cluster; else defaults for every pool."
PolicyFile = Annotated[Path | None, option("--policy", "FILE", _POLICY)]
_POOLS: Final = (
    "Output of gcloud container node-pools list (or clusters describe) --format json: autoscaling, minimums."
)
NodePools = Annotated[Path | None, _of_source("--node-pools", "FILE", _POOLS)]
PriceTable = Annotated[
    Path | None, _of_money("--prices", "FILE", "Use your own price table, in the format of shared/data/prices.yaml.")
]
_DISCOUNT: Final = "Discount on list prices: 28%, or n2=28% for one machine family. Repeatable."
Discounts = Annotated[list[str] | None, _of_money("--discount", "[FAMILY=]PERCENT", _DISCOUNT)]
_CURRENCY: Final = (
    "Show money in another currency: EUR=0.92 is EUR for 1 USD. A rate is not needed if --prices is in it."
)
Currency = Annotated[str, _of_money("--currency", "CODE[=RATE]", _CURRENCY)]
_COMMITMENTS: Final = "Output of gcloud compute commitments list --format=json, in place of families in the policy."
CommitmentPath = Annotated[Path | None, _of_money("--commitments", "FILE", _COMMITMENTS)]
AssumeMarked = Annotated[bool, typer.Option("--assume-marked", help="Treat every removable node as marked long ago.")]
_AT: Final = "Plan for this time, such as 2026-01-31T22:00:00Z; else now, or the newest timestamp of a dump."
At = Annotated[datetime | None, option("--at", "TIME", _AT, parser=instant)]


@dataclass(frozen=True, slots=True)
class PriceOptions:
    """A price table of one's own, what is taken off, and the currency to show, if need be with its rate."""

    table: Path | None = None
    discounts: tuple[str, ...] = ()
    currency: str = ""


LISTED: Final = PriceOptions()


@dataclass(frozen=True, slots=True)
class Sources:
    """What a person named; at most one of dumps and kubeconfig."""

    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    policy: Path | None = None
    at: datetime | None = None
    prices: PriceOptions = LISTED
    installation: bool = False
    """Whether a person named an installation (--cluster), whose cluster a dump is then taken to be of."""
    node_pools: Path | None = None
    commitments: Path | None = None

    @property
    def has_cluster(self) -> bool:
        return bool(self.dumps or self.kubeconfig or self.context)


_OF_SOURCES: Final[Mapping[str, Any]] = {
    "files": Files, "dump": OneDump, "kubeconfig": Kubeconfig, "context": Context, "node_pools": NodePools,
    "cluster": ClusterProfile, "policy": PolicyFile, "at": At, "prices": PriceTable, "discount": Discounts,
    "currency": Currency, "commitments": CommitmentPath,
}  # fmt: skip
_FIRST: Final = ("files", "dump", "kubeconfig", "context", "node_pools", "cluster", "policy", "at")
"""The others follow a command's own options in the help."""


def with_sources(*left_out: str, **others: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Sources`, but those left out; `others` replaces some, as `dump=Dumps`."""
    options = {name: others.get(name, kind) for name, kind in _OF_SOURCES.items() if name not in left_out}

    def add_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run_command(**given: Any) -> None:
            command(sources=_sources({name: given.pop(name) for name in options}), **given)

        common = {
            name: Parameter(name, Parameter.KEYWORD_ONLY, default="" if name == "currency" else None, annotation=kind)
            for name, kind in options.items()
        }
        own = {
            name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
            for name, parameter in signature(command).parameters.items()
            if name != "sources"
        }
        first = {name: common[name] for name in _FIRST if name in common}
        typed: Any = run_command
        typed.__signature__ = Signature(list((first | own | common).values()))
        return run_command

    return add_options


def _sources(given: dict[str, Any]) -> Sources:
    """Return what was typed, by option; the variables of an installation that was named are in force from then on."""
    cluster = given.pop("cluster", None)
    if cluster:
        use_profile(cluster)
    money = PriceOptions(given.pop("prices", None), tuple(given.pop("discount", None) or ()), given.pop("currency", ""))
    # So that files stand in the order in which a shell writes `--dump dumps/*.json`.
    dumps = (*(given.pop("dump", None) or ()), *(given.pop("files", None) or ()))
    return Sources(dumps, prices=money, installation=bool(cluster), **given)


SUFFIX: Final = ".env"
CLUSTER: Final = "EBB_CLUSTER"
_NAME: Final = re.compile(r"(EBB_[A-Z_]+|GOOGLE_CLOUD_PROJECT|[A-Z]+_EMULATOR_HOST)=(.*)", re.DOTALL)
_MOST_BYTES: Final = 64 * 1024


def use_profile(cluster: str | None, environment: MutableMapping[str, str] = os.environ) -> None:
    """Put the profile that is meant into the environment: the only one, if none is named. Raises BadInput.

    It is a file of variables that Terraform's output `cli` writes, found by its name:
    terraform output -raw cli > ~/.config/ebb/prod.env      then: ebb status --cluster prod
    Read as text and never run by a shell: only the variables that Ebb and Google's libraries know may stand there.
    """
    if not cluster and environment.get(CLUSTER):
        return
    path = profile_path(cluster, environment) if cluster else _only_one(environment)
    if path is None:
        return
    found = read_profile(path)
    if found.get(CLUSTER) != environment.get(CLUSTER):  # settings for another cluster would be mixed up with these
        for name in [name for name in environment if name.startswith("EBB_")]:
            del environment[name]
    environment.update(found)


def read_profile(path: Path) -> dict[str, str]:
    """Return the variables of a file of lines like `export NAME='value'`. Raises BadInput, with the line."""
    try:
        text = path.read_bytes()[:_MOST_BYTES].decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}).") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found.update(_variable(path, number, line))
    return found


def profile_folder(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ebb"


def _variable(path: Path, number: int, line: str) -> dict[str, str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise BadInput(f"{path}:{number}: {error}.") from error
    given = words[1:] if words[:1] == ["export"] else words
    matches = [_NAME.fullmatch(word) for word in given]
    if not all(matches):
        raise BadInput(f"{path}:{number}: this is no variable of Ebb's; terraform output -raw cli writes such a file.")
    return {match[1]: match[2] for match in matches if match}


def profile_path(name: str, environment: Mapping[str, str]) -> Path:
    """Return the file that `--cluster NAME` means. Raises BadInput: there is none."""
    path = Path(name).expanduser()
    if len(path.parts) == 1 and not path.is_file():
        path = profile_folder(environment) / f"{name.removesuffix(SUFFIX)}{SUFFIX}"
    if path.is_file():
        return path
    known = ", ".join(path.stem for path in profiles(environment)) or "none yet"
    raise BadInput(f"--cluster: no file {path} (there: {known}); write it: terraform output -raw cli > {path}")


def _only_one(environment: Mapping[str, str]) -> Path | None:
    found = profiles(environment)
    if len(found) > 1:
        raise BadInput(f"Which cluster? Write --cluster and one of {', '.join(path.stem for path in found)}.")
    if found:
        typer.echo(f"ebb: the cluster of {found[0]}", err=True)
    return found[0] if found else None


def profiles(environment: Mapping[str, str]) -> list[Path]:
    return sorted(profile_folder(environment).glob(f"*{SUFFIX}"))
