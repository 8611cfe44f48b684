"""What a person may type to ask about many clusters at once: `ebb fleet`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Final

from functions.cli.input.options import (
    AnswerAs,
    AnswerFormat,
    AssumeMarked,
    CommitmentPath,
    Currency,
    Discounts,
    Files,
    FleetSort,
    PolicyFile,
    PriceOptions,
    PriceTable,
    option,
)

_of_naming: Final = partial(option, panel="Which clusters; all of them may be given together")
_DUMP: Final = "Dumps. In a folder, each file and each subfolder is one cluster. Repeatable."
_CONTEXT: Final = "Context of the kubeconfig, or a pattern such as 'gke_shop_*'. Repeatable."
_CLUSTER: Final = "Installation profile: a name in ~/.config/ebb, or a file. Repeatable."
_STATE_ONLY: Final = "Read only state and policy of installations: fast, and needs no access to the clusters."
_JOBS: Final = "Clusters to read in parallel; else one for each CPU, at most 8."


def fleet(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: Annotated[list[Path] | None, _of_naming("--dump", "FOLDER|FILE", _DUMP)] = None,
    kubeconfig: Annotated[Path | None, _of_naming("--kubeconfig", "FILE", "Kubeconfig with the contexts.")] = None,
    context: Annotated[list[str] | None, _of_naming("--context", "NAME", _CONTEXT)] = None,
    cluster: Annotated[list[str] | None, _of_naming("--cluster", "NAME", _CLUSTER)] = None,
    installations: Annotated[bool, _of_naming("--installations", None, "Use all profiles in ~/.config/ebb.")] = False,
    state_only: Annotated[bool, _of_naming("--state-only", None, _STATE_ONLY)] = False,
    policy: PolicyFile = None,
    assume_marked: AssumeMarked = False,
    jobs: Annotated[int | None, option("--jobs", "N", _JOBS, min=1, max=64)] = None,
    output: AnswerAs = AnswerFormat.TABLE,
    sort: Annotated[FleetSort, option("--sort", None, "Sort clusters; saved, cost: highest first.")] = FleetSort.SAVED,
    top: Annotated[
        int | None, option("--top", "N", "List the first N, and those that failed; sums cover all.", min=1)
    ] = None,
    out: Annotated[Path | None, option("--out", "FILE", "Also write a self-contained HTML page.")] = None,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
    commitments: CommitmentPath = None,
) -> None:
    """Compare clusters: cost, possible savings, what holds most money, and which installations fail.

    Each cluster is planned by itself, under --policy, else under the policy of
    its installation, else with default settings. Changes nothing. A cluster that
    cannot be read is a row with its sentence; the others are read anyway.

    Exit codes: 0 all were read, 1 one could not be read (all others are
    printed), 2 wrong usage. An installation that fails is no error here.

    Examples:
      ebb fleet --dump dumps/ --out fleet.html
      ebb fleet --context 'gke_shop_*' --policy policy.yaml --sort cost
      ebb fleet --installations --state-only --sort state
      ebb fleet --installations --output json > fleet.json
    """
    from functions.cli.fleet.compute import DEFAULT_JOBS, read_fleet, show_fleet
    from functions.cli.fleet.sources import FleetRequest

    request = FleetRequest(
        dumps=(*(files or ()), *(dump or ())),
        kubeconfig=kubeconfig,
        contexts=tuple(context or ()),
        installations=tuple(cluster or ()),
        every_installation=installations,
        state_only=state_only,
        policy=policy,
        prices=PriceOptions(prices, tuple(discount or ()), currency),
        assume_marked=assume_marked,
        commitments=commitments,
    )
    show_fleet(read_fleet(request, jobs or DEFAULT_JOBS, sort), output, top, out)
