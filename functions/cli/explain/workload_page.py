"""One workload: where its pods are, what keeps each, where each would go, and how many nodes it alone keeps.

Must not judge: the core has said all of it.
"""

from collections.abc import Sequence

from rich.console import Console

from functions.cli.explain import place_table
from functions.cli.explain.blockers import blockers
from functions.cli.explain.meant import Meant
from functions.cli.explain.place_table import kept_by, place_of
from functions.cli.explain.workload_pods import PodRow, kept_alone, rows_of
from functions.cli.format import count, monthly
from functions.cli.plan.view import PlanView, blocker_view
from shared.core.cluster.pod import Pod
from shared.core.planning.explanation import Explainer, NodeExplanation, PodPlace


def show(console: Console, view: PlanView, explainer: Explainer, what: Meant) -> None:
    """Print the page."""
    rows = rows_of(explainer, what.pods)
    console.print(what.workload, style="bold")
    nodes = {node.decision.name for _, node, _ in rows}
    console.print(f"{count(len(rows), 'pod')} on {count(len(nodes), 'node')}; {_kept(rows)}.\n")
    titles = ("pod", "on", "which is", "would go to", "kept by")
    pools = {each.name: each.decision.pool for each in view.nodes}
    place_table.show(console, titles, [_cells(view, *row) for row in rows], (1, 3), pools)
    found = [blocker_view(each) for _, _, place in rows if place for each in place.blockers]
    if found:
        console.print("\nWhat keeps its pods:")
        console.print(blockers(found))


def _kept(rows: Sequence[PodRow]) -> str:
    alone = kept_alone(rows)
    if not alone:
        return "it keeps no node by itself"
    return f"it alone keeps {count(len(alone), 'node')} of {monthly(sum(alone.values()))} a month"


def _cells(view: PlanView, pod: Pod, node: NodeExplanation, place: PodPlace | None) -> place_table.Cells:
    target, kept = (place_of(place), kept_by(place)) if place else ("with its node", "")
    return pod.key, pod.node, view.node(node.decision.name).verdict, target, kept
