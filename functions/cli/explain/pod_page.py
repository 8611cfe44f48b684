"""One pod in sentences: what keeps it and its node, where it would go, and which rules exclude which nodes.

Must not judge: the core has said all of it.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.explain.blockers import blockers
from functions.cli.explain.grid import facts
from functions.cli.explain.named_nodes import NodeNamer
from functions.cli.explain.place_table import NONE, place_of
from functions.cli.explain.usage import used
from functions.cli.format import count, moment
from functions.cli.plan.view import PlanView, blocker_view
from functions.cli.remedies import REMEDIES
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import Resources
from shared.core.placement.exclusions import NodeChoice
from shared.core.planning.explanation import NodeExplanation, PodPlace


def show(
    console: Console,
    view: PlanView,
    node: NodeExplanation,
    place: PodPlace | None,
    measured: Resources | None,
    pod: Pod,
) -> None:
    """Print the page; a pod without a place of its own goes with its node."""
    console.print(pod.key, style="bold")
    grid = _facts(view, node, place, pod)
    if measured is not None:
        grid.add_row("uses", f"{used(measured, pod.requests)} (informs only)")
    console.print(grid)
    if place is None:
        console.print("\nIt keeps no node: it is a DaemonSet's, a mirror or finished pod, and goes with its node.")
        return
    if place.blockers:
        console.print("\nWhat keeps the pod where it is:")
        console.print(blockers([blocker_view(each) for each in place.blockers]))
    else:
        console.print("\nThe pod itself may be moved.")
    if not place.landing.fixed:
        console.print()
        pools = {each.name: each.decision.pool for each in view.nodes}
        _choice(console, place.landing.choice, NodeNamer(pools, cut=console.is_terminal), pod.node)


def _facts(view: PlanView, node: NodeExplanation, place: PodPlace | None, pod: Pod) -> Table:
    grid, on = facts(), view.node(pod.node)
    grid.add_row("node", pod.node)
    verdict = ": ".join(part for part in (on.verdict, on.decision.reason, on.sentence) if part)
    grid.add_row("which is", verdict)
    grid.add_row("of", pod.spec.workload or "no controller")
    grid.add_row("asks for", ", ".join(_asked(pod)))
    if pod.spec.raised_by:
        grid.add_row("comes back as", f"{_amounts(pod.spec.requests)}, by {' and '.join(pod.spec.raised_by)}")
    if place is not None:
        grid.add_row("would go to", place_of(place))
        grid.add_row("or else to", place.landing.runner_up or NONE)
        grid.add_row("budget", "; ".join(map(_budget, place.budgets)) or "no PodDisruptionBudget")
        if node.takes.rounds > 1:
            grid.add_row("its node", f"waits for {count(node.takes.rounds, 'round')} under {node.takes.limit}")
    grid.add_row("seen at", moment(view.taken_at))
    return grid


def _asked(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield _amounts(pod.requests)
    rules = {
        "a node selector": spec.node_selector,
        "node affinity": spec.node_terms,
        "pod affinity": spec.affinity,
        "pod anti-affinity": spec.anti_affinity,
        "topology spread": spec.hard_spread,
        "host ports": spec.host_ports,
    }
    yield from (word for word, rule in rules.items() if rule)


def _amounts(given: Resources) -> str:
    return f"{given.cpu}m CPU, {given.memory >> 20:,} MiB"


def _budget(budget: PodDisruptionBudget) -> str:
    return (
        f"{budget.key} allows {budget.disruptions_allowed} now, "
        f"{budget.current_healthy} of {budget.expected_pods} healthy"
    )


def _choice(console: Console, choice: NodeChoice, namer: NodeNamer, source: str) -> None:
    able = f": {namer.said(choice.where.names, source)}" if choice.open else ""
    console.print(f"Of {count(choice.nodes, 'other node')} {choice.open:,} could take it now{able}.")
    if not choice.excluded:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("nodes", justify="right")
    table.add_column("alone", justify="right")
    table.add_column("excluded by", no_wrap=True)
    table.add_column("meaning")
    for each in choice.excluded:
        rule = f"{each.rule.value} {each.detail}".strip()
        table.add_row(f"{each.nodes:,}", f"{each.alone:,}", rule, each.rule.sentence)
        table.add_row("", "", "", namer.said(each.where.names, source))
        table.add_row("", "", "", Text(REMEDIES[each.rule], style="dim"))
    console.print(table)
    console.print("alone: nodes that no other rule excludes; they would be open without it.", style="dim")
