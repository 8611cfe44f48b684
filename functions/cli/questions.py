"""The questions about clusters that a person may type, the report, and the dump that they read."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from functions.cli.input.options import (
    AnswerAs,
    AnswerFormat,
    AssumeMarked,
    By,
    CommitmentPath,
    Context,
    Currency,
    Discounts,
    Dumps,
    Files,
    FleetSort,
    Kubeconfig,
    OneDump,
    Only,
    PlanFormat,
    PolicyFile,
    PriceOptions,
    PriceTable,
    ReportOutput,
    Sort,
    Sources,
    option,
    with_sources,
)

_of_list: Final = partial(option, panel="Which nodes are listed; without these they are summed up")
_of_demand: Final = partial(option, panel="What is wanted when")


@with_sources(dump=Dumps)
def plan(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    output: Annotated[
        PlanFormat,
        typer.Option("--output", "-o", help="Output format; wide is a table with every node, csv has who keeps nodes."),
    ] = PlanFormat.TABLE,
    potential: Annotated[
        bool, typer.Option("--potential", help="Also show how many nodes could go if only safety rules applied.")
    ] = False,
    no_forecast: Annotated[
        bool, typer.Option("--no-forecast", help="Leave the table of scenarios out, which is faster.")
    ] = False,
    assume_marked: AssumeMarked = False,
    by: By = None,
    nodes: Annotated[bool, _of_list("--nodes", None, "List every node, as -o wide.")] = False,
    pool: Annotated[list[str] | None, _of_list("--pool", "NAME", "List nodes of this pool. Repeatable.")] = None,
    only: Annotated[list[Only] | None, _of_list("--only", None, "List nodes with this verdict. Repeatable.")] = None,
    sort: Annotated[
        Sort | None, _of_list("--sort", None, "Sort nodes; cost is highest first, cpu lowest first.")
    ] = None,
    top: Annotated[int | None, _of_list("--top", "N", "List the first N of each verdict.", min=1)] = None,
) -> None:
    """Show possible savings (autoscaler alone, and with Ebb), what the next pass would do, and why nodes are kept.

    Changes nothing, and needs nothing installed in the cluster. Without a FILE
    the cluster of the kubeconfig is read.

    Examples:
      ebb plan cluster.json --potential
      ebb plan cluster.json --only keep --sort cost --top 20
      ebb plan cluster.json --by team -o csv > who.csv
      ebb plan --policy policy.yaml --pool web-pool -o markdown
    """
    from functions.cli.plan.compute import PlanOptions, show_plan
    from functions.cli.plan.view import AskedNodes

    asked = AskedNodes(nodes or output is PlanFormat.WIDE, tuple(pool or ()), tuple(only or ()), sort, top, bool(by))
    show_plan(sources, output, asked, PlanOptions(potential, assume_marked, not no_forecast, by or ""))


@with_sources("files")
def explain(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NODE|POD|WORKLOAD...", help="Full names, or any unambiguous suffix; and dump files."),
    ],
    *,
    sources: Sources,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Explain a node, pod or workload: what keeps it, what to do about it, and where its pods would go.

    Several names are explained in turn. An unknown or ambiguous name is
    reported at the end, with exit code 2.

    Examples:
      ebb explain gke-prod-web-pool-1a2b3c4d-x7z9 cluster.json
      ebb explain x7z9 shop/cart-0 --policy policy.yaml
      ebb explain shop/Deployment/cart -o json
    """
    from functions.cli.explain.compute import explain_all
    from functions.cli.explain.resolve import names_and_files

    words, files = names_and_files(names)
    explain_all(replace(sources, dumps=(*sources.dumps, *files)), words, output)


@with_sources()
def why_not(
    *,
    sources: Sources,
    top: Annotated[int, option("--top", "N", "Try the N changes that hold most money.", min=1)] = 20,
    by: By = None,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Rank single changes by harm, then by the money that they free: constraints, budgets, annotations, limits.

    Each is tried alone on the steady state that ebb plan shows, and followed to
    the next one. Changes nothing.

    Examples:
      ebb why-not --dump cluster.json --policy policy.yaml
      ebb why-not --context prod --top 30 --by team -o markdown
    """
    from functions.cli.explain.why_not import show_changes

    show_changes(sources, top, output, by or "")


_NIGHT: Final = "Replicas that each Deployment keeps at night; 60 if demand is unknown."
_WEEKEND: Final = "Weekend demand, as a share of a workday's rise."


@with_sources("node_pools", "cluster", "policy", dump=Dumps)
def simulate(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    policy: Annotated[
        list[Path] | None, option("--policy", "FILE", "Policy file; repeat it to compare several. Else the defaults.")
    ] = None,
    days: Annotated[int, option("--days", "N", "Days to simulate; 7 is a week.", min=1, max=31)] = 1,
    demand: Annotated[Path | None, _of_demand("--demand", "FILE", "CSV of replicas by hour; else --night.")] = None,
    night: Annotated[int | None, _of_demand("--night", "PERCENT", _NIGHT, min=0, max=100)] = None,
    weekend: Annotated[int, _of_demand("--weekend", "PERCENT", _WEEKEND, min=0, max=100)] = 30,
    time_zone: Annotated[str, _of_demand("--time-zone", "ZONE", "Time zone of these hours.")] = "UTC",
    boot: Annotated[str, option("--boot", "TIME", "Time until pods start on a new node.")] = "90s",
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Simulate the coming days: the autoscaler alone, and with Ebb under each policy.

    Node-hours, money, evictions and pods that wait, side by side. A policy in
    dry run is played as if it were at work. Changes nothing.

    Examples:
      ebb simulate --dump cluster.json --policy policy.yaml
      ebb simulate --dump cluster.json --days 7 --policy a.yaml --policy b.yaml
      ebb simulate cluster.json --night 70 --time-zone Europe/Amsterdam
    """  # fmt: skip
    from functions.cli.simulate.compute import SimulateRequest, show_days
    from functions.cli.simulate.demand import Hours

    hours = Hours(demand, night, weekend, time_zone)
    show_days(SimulateRequest(sources, tuple(policy or ()), days, hours, boot), output)


@with_sources()
def shapes(
    *,
    sources: Sources,
    families: Annotated[
        str, option("--families", "NAMES", "Other machine families that pools may change to, such as e2,n2d.")
    ] = "",
    pod_worth: Annotated[
        float, option("--pod-worth", "DOLLARS", "What each pod that moves must save a month.", min=0, max=10_000)
    ] = 5,
    fill: Annotated[str, option("--fill", "PERCENT", "How full nodes may be made; the rest is for the day.")] = "90%",
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Show which machine types the pools should have for the pods that are there, and what that saves.

    Advice only: it changes nothing. A dump of the night asks for too little:
    take it by day.

    Examples:
      ebb shapes cluster.json
      ebb shapes day.json --fill 85%
      ebb shapes cluster.json --families e2,n2d --pod-worth 10 -o json
    """
    from functions.cli.shapes import read_request, show_shapes

    show_shapes(sources, read_request(families, pod_worth, fill), output)


@with_sources("cluster")
def report(
    *,
    sources: Sources,
    out: Annotated[Path | None, option("--out", "FILE", "Output file, else ./ebb-report.html; - for stdout.")] = None,
    output: Annotated[
        ReportOutput,
        typer.Option("--output", "-o", help="Output format: the page, or its data as JSON (to stdout without --out)."),
    ] = ReportOutput.HTML,
    assume_marked: AssumeMarked = False,
    by: By = None,
) -> None:
    """Write one HTML page to share: possible savings, the cluster before and after, and what keeps nodes.

    The page is one file. It works offline and loads nothing from any server.
    Changes nothing, and needs nothing installed in the cluster.

    Examples:
      ebb report --dump cluster.json --out report.html
      ebb report --dump cluster.json --policy policy.yaml --discount 28%
      ebb report --context prod -o json > report.json
    """
    from functions.cli.plan.compute import PlanOptions
    from functions.cli.report.compute import write_report

    write_report(sources, out, output, PlanOptions(assume_marked=assume_marked, by=by or ""))


def dump(
    *,
    out: Annotated[Path | None, option("--out", "FILE", "Run kubectl and write its output; .gz compresses it.")] = None,
    anonymize: Annotated[
        bool, option("--anonymize", None, "Replace every name, and leave out what no rule reads.")
    ] = False,
    dump: OneDump = None,
    names: Annotated[
        Path | None, option("--names", "FILE", "Write the replaced names to a file, for your eyes only.")
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Show the kubectl command that dumps a cluster, or run it. --anonymize makes a dump safe to share.

    An anonymous dump keeps every rule (labels, selectors, zones, machine
    types, disks, owners): its plan is the original's, under other names.

    Examples:
      ebb dump
      ebb dump --context gke_shop_europe-west4_prod --out prod.json.gz
      ebb dump --anonymize --dump prod.json.gz --out to-share.json.gz
    """
    from functions.cli.input.dump_command import DumpRequest, make_dump

    make_dump(DumpRequest(tuple(dump or ()), kubeconfig, context, out, anonymize, names))


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
