"""The commands `ebb plan`, `ebb explain` and `ebb why-not`."""

from typing import Annotated

import typer

from functions.cli.input.options import (
    AnswerAs,
    AnswerFormat,
    AssumeMarked,
    At,
    ClusterProfile,
    Context,
    Currency,
    Discounts,
    Dumps,
    Files,
    Format,
    Kubeconfig,
    OneDump,
    Only,
    PlanFormat,
    PolicyFile,
    PriceOptions,
    PriceTable,
    Sort,
    Sources,
)

_LISTED = "Which nodes are listed; without these they are summed up"


def plan(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: Dumps = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    cluster: ClusterProfile = None,
    policy: PolicyFile = None,
    at: At = None,
    output: Annotated[
        PlanFormat,
        typer.Option(
            "--output", "-o", help="A table (wide: with every node), markdown, or JSON, YAML, OpenMetrics for tools."
        ),
    ] = PlanFormat.TABLE,
    potential: Annotated[
        bool, typer.Option("--potential", help="Also say how many nodes could go with only the safety rules in force.")
    ] = False,
    assume_marked: AssumeMarked = False,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
    nodes: Annotated[bool, typer.Option("--nodes", rich_help_panel=_LISTED, help="List every node.")] = False,
    pool: Annotated[
        list[str] | None,
        typer.Option(
            "--pool", metavar="NAME", rich_help_panel=_LISTED, help="List the nodes of this pool; repeatable."
        ),
    ] = None,
    only: Annotated[
        list[Only] | None,
        typer.Option("--only", rich_help_panel=_LISTED, help="List the nodes of this verdict; repeatable."),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option("--sort", rich_help_panel=_LISTED, help="List by this; cost: dearest first, cpu: emptiest first."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", metavar="N", min=1, rich_help_panel=_LISTED, help="List the first N of each verdict."),
    ] = None,
) -> None:
    """Say what could be saved, by the autoscaler alone and with Ebb, what a pass would do now, and what keeps nodes.

    Changes nothing, and needs nothing installed in the cluster. Without --dump
    the cluster of the kubeconfig is read.

    Examples:
      ebb plan cluster.json --potential
      ebb plan cluster.json --only keep --sort cost --top 20
      ebb plan --policy policy.yaml --pool web-pool -o markdown
    """
    from functions.cli.plan.compute import PlanOptions, show_plan
    from functions.cli.plan.view import AskedNodes

    money = PriceOptions(prices, tuple(discount or ()), currency)
    sources = Sources.of(files, dump, kubeconfig, context, policy, at, money, _named(cluster))
    wide = output is PlanFormat.WIDE
    asked = AskedNodes(nodes or wide, tuple(pool or ()), tuple(only or ()), sort, top)
    show_plan(sources, Format.TABLE if wide else Format(output), asked, PlanOptions(potential, assume_marked))


def explain(  # noqa: PLR0913 - each is something that a person may type
    names: Annotated[
        list[str],
        typer.Argument(metavar="NODE|POD|WORKLOAD...", help="Names, whole or their ends where nothing else ends so."),
    ],
    *,
    dump: OneDump = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    cluster: ClusterProfile = None,
    policy: PolicyFile = None,
    at: At = None,
    output: AnswerAs = AnswerFormat.TABLE,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
) -> None:
    """Say all about a node, a pod or a workload: what keeps it, what to do, where its pods would go.

    Of several names those that mean one thing are explained; a name that means
    none, or several, is said at the end, with exit code 2.

    Examples:
      ebb explain gke-prod-web-pool-1a2b3c4d-x7z9 --dump cluster.json
      ebb explain x7z9 shop/cart-0 --policy policy.yaml
      ebb explain shop/Deployment/cart -o json
    """
    from functions.cli.explain.compute import explain_all

    money = PriceOptions(prices, tuple(discount or ()), currency)
    explain_all(Sources(tuple(dump or ()), kubeconfig, context, policy, at, money, _named(cluster)), names, output)


def why_not(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: OneDump = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    cluster: ClusterProfile = None,
    policy: PolicyFile = None,
    at: At = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Try this many changes, those that hold most money first.")
    ] = 20,
    output: AnswerAs = AnswerFormat.TABLE,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
) -> None:
    """Say which single change would free most money: a constraint, a budget, an annotation, a limit, a minimum.

    Each is taken away by itself from the policy at rest, the rung of the
    ladder that ebb plan prints, and followed to the next rest. Changes nothing.

    Examples:
      ebb why-not --dump cluster.json --policy policy.yaml
      ebb why-not --context prod --top 30 -o markdown
    """
    from functions.cli.explain.why_not import show_changes

    money = PriceOptions(prices, tuple(discount or ()), currency)
    show_changes(Sources.of(files, dump, kubeconfig, context, policy, at, money, _named(cluster)), top, output)


def _named(cluster: str | None) -> bool:
    """Take the variables of the installation that a person named; return whether one was."""
    if cluster:
        from functions.cli.input.profiles import use_profile

        use_profile(cluster, None)
    return bool(cluster)
