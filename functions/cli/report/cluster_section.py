"""Nodes, workloads and pods, now and at rest: what the picture of the cluster and the look-up are drawn from.

Nodes stand in the plan's order, and what is said of them there is not said again. Must not decide anything.
"""

from collections.abc import Iterator
from typing import Any, Final

from functions.cli.format import monthly
from functions.cli.plan.node_views import NodeView
from functions.cli.report.keeping import KeptNodes, kept_by
from functions.cli.report.material import Material
from functions.cli.report.tables import table
from shared.core.cluster.pod import Pod

NODE_COLUMNS: Final = (
    "zone",
    "machine",
    "spot",
    "cpu",
    "memory",
    "month",
    "gone",
    "moves",
    "verdict",
    "reason",
    "when",
)
POD_COLUMNS: Final = ("name", "workload", "node", "cpu", "memory", "at_rest")
WORKLOAD_COLUMNS: Final = ("name", "goes_with_its_node", "keeps", "month")
NOWHERE: Final = -1
_MIB: Final = 20
_WITH_ITS_NODE: Final = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers whose pods go with their nodes; a mirror pod's is its node."""


def nodes(material: Material) -> dict[str, Any]:
    """Return what the plan does not say of each node, in millicores and MiB; `gone`: not there at rest."""
    return table(NODE_COLUMNS, (_node(material, each) for each in material.view.nodes))


def workloads_and_pods(material: Material) -> dict[str, Any]:
    """Return both lists; pods name their workload and nodes by place, -1 is nowhere (pending, or gone with its node).

    Pods that have ended ask for nothing any more and are left out.
    """
    living = [pod for pod in material.now.pods if not pod.phase.finished]
    found: dict[str, int] = {}
    kinds: dict[str, bool] = {}
    for pod in living:
        name = material.workload_of(pod)
        found.setdefault(name, len(found))
        kinds[name] = bool(pod.spec.owner and pod.spec.owner.kind in _WITH_ITS_NODE)
    kept = kept_by(material)
    rows = ((name, kinds[name], kept.get(name, KeptNodes())) for name in found)
    return {
        "workloads": table(WORKLOAD_COLUMNS, ((*own, its.nodes, monthly(its.cost)) for *own, its in rows)),
        "pods": table(POD_COLUMNS, _pods(material, living, found)),
    }


def _node(material: Material, node: NodeView) -> tuple[Any, ...]:
    known = material.now.node_by_name[node.name]
    gone = node.name not in material.rest.node_by_name
    return (
        known.zone,
        known.machine,
        known.spot,
        known.allocatable.cpu,
        known.allocatable.memory >> _MIB,
        monthly(node.decision.cost),
        gone,
        material.moves_from(node.name) if gone else 0,
        node.verdict,
        node.reason,
        node.when,
    )


def _pods(material: Material, living: list[Pod], workloads: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    at, rest = material.number, material.places_at_rest
    for pod in living:
        asked = pod.requests
        yield (
            pod.name,
            workloads[material.workload_of(pod)],
            at.get(pod.node, NOWHERE),
            asked.cpu,
            asked.memory >> _MIB,
            at.get(rest.get(pod.key, ""), NOWHERE),
        )
