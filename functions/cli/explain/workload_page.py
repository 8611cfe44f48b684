"""One workload: where its pods are, what keeps each, where each would go, and how many nodes it alone keeps.

Must not judge: the core has said all of it.
"""

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from functions.cli.analysis.explanation import Explainer, NodeExplanation, PodPlace
from functions.cli.explain import place_table
from functions.cli.explain.blockers import blockers
from functions.cli.explain.meant import Meant
from functions.cli.explain.place_table import kept_by, place_of
from functions.cli.explain.workload_pods import PodRow, kept_alone, rows_of
from functions.cli.format import count, monthly
from functions.cli.plan.node_views import BlockerView, blocker_view
from functions.cli.plan.view import PlanView
from shared.core.cluster.pod import Pod

KEPT: Final = "What keeps its pods:"
PODS: Final = ("pod", "on", "which is", "would go to", "kept by")


def show(console: Console, view: PlanView, explainer: Explainer, what: Meant) -> None:
    """Print the page."""
    rows = rows_of(explainer, what.pods)
    console.print(what.workload, style="bold")
    console.print(f"{summed(rows)}\n")
    pools = {each.name: each.decision.pool for each in view.nodes}
    place_table.show(console, PODS, [cells(view, *row) for row in rows], (1, 3), pools)
    found = blockers_of(rows)
    if found:
        console.print(f"\n{KEPT}")
        console.print(blockers(found))


def summed(rows: Sequence[PodRow]) -> str:
    """Return how many pods it has, on how many nodes, and what it keeps."""
    nodes = {node.decision.name for _, node, _ in rows}
    return f"{count(len(rows), 'pod')} on {count(len(nodes), 'node')}; {_kept(rows)}."


def blockers_of(rows: Sequence[PodRow]) -> list[BlockerView]:
    return [blocker_view(each) for _, _, place in rows if place for each in place.blockers]


def _kept(rows: Sequence[PodRow]) -> str:
    alone = kept_alone(rows)
    if not alone:
        return "it keeps no node by itself"
    return f"it alone keeps {count(len(alone), 'node')} of {monthly(sum(alone.values()))} a month"


def cells(view: PlanView, pod: Pod, node: NodeExplanation, place: PodPlace | None) -> place_table.Cells:
    """Return a pod's row under the titles `PODS`."""
    target, kept = (place_of(place), kept_by(place)) if place else ("with its node", "")
    return pod.key, pod.node, view.node(node.decision.name).verdict, target, kept
