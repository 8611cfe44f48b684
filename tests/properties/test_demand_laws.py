"""Laws of demand over arbitrary small clusters, judged pod by pod by the checker that also judges plans."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node
from shared.core.cluster.pod import is_daemon
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.demand import as_returned, nodes_to_return
from tests.builders import NOW, cluster, our_taint, pod
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import clusters


@examples(150)
@given(clusters(), st.integers(0, 15))
def test_a_held_node_is_returned_exactly_where_the_pod_fits_there_and_on_no_open_node(
    snapshot: Snapshot, choice: int
) -> None:
    kind = snapshot.pods[choice % len(snapshot.pods)].spec
    held, others = snapshot.nodes[:2], snapshot.nodes[2:]
    pods = [*snapshot.pods, pod("waits", kind=kind, unschedulable_since=NOW)]
    picture = cluster([*map(_held, held), *others], pods, namespaces=snapshot.namespaces, storage=snapshot.storage)
    freed = replace(picture, nodes=cluster([*map(as_returned, map(_held, held)), *others]).nodes)

    def fits(nodes: tuple[Node, ...]) -> bool:
        return any(faults(freed, {f"{kind.namespace}/waits": node.name}, ()) == [] for node in nodes)

    helps = not is_daemon(kind) and fits(held) and not fits(others)
    found = nodes_to_return(picture, [node for node in picture.nodes if node.name in {node.name for node in held}])

    # where nodes may go both are counted on the safe side: such a pod may ask for a node that it could do without
    assert kind.hard_spread or kind.affinity or bool(found) is helps
    assert all(faults(freed, {node.pod.key: name}, ()) == [] for name, node in found.items())


def _held(node: Node) -> Node:
    foreign = tuple(taint for taint in node.taints if taint.key != our_taint().key)
    return replace(node, ready=True, unschedulable=True, taints=(*foreign, our_taint(node.name)))
