"""Why a drained node still stands, as far as it can be told."""

from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.draining.why_not_deleted import NOT_KNOWN, reasons_not_deleted
from tests.builders import NOW, node, our_taint, pod, taint

OURS = (our_taint(),)
POOL = NodePool("a")
GOING = (taint(names.AUTOSCALER_DELETING_TAINT),)


def told(*others: Any, pool: NodePool | None = POOL, said: str = "", pods: tuple[Any, ...] = (), **changes: Any) -> str:
    drained = node("n1", **{"unschedulable": True, "taints": OURS, **changes})
    return reasons_not_deleted(drained, pods, [drained, *others], pool, said, NOW)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        pytest.param(NOT_KNOWN, told(node("n2")), id="nothing can be told"),
        pytest.param("The autoscaler said: failed to drain node.", told(node("n2"), said="failed to drain node."),
                     id="its own words"),
        pytest.param("Pool a is at its minimum: 1 nodes in z, minimum 1.",
                     told(node("n2", zone="y"), pool=NodePool("a", min_per_zone=1)), id="the zone is at its minimum"),
        pytest.param("Pool a is at its minimum: 2 nodes, minimum 2.", told(node("n2"), pool=NodePool("a", min_total=2)),
                     id="the pool is at its minimum"),
        pytest.param("Pool a is at its minimum: 1 nodes, minimum 1.",
                     told(node("n2", taints=GOING), pool=NodePool("a", min_total=1)),
                     id="a node that is being deleted is no part of the pool"),
        pytest.param("Pool a is at its minimum: 2 nodes, minimum 2.",
                     told(node("n2"), node("n3", pool="b"), pool=NodePool("a", min_total=2)),
                     id="another pool's node is no part of it either"),
        pytest.param("Autoscaling of pool a is off.", told(node("n2"), pool=NodePool("a", autoscaled=False)),
                     id="autoscaling was switched off"),
        pytest.param("An upgrade of pool a is under way.", told(node("n2"), pool=NodePool("a", upgrading=True)),
                     id="an upgrade has begun"),
        pytest.param("GKE reports no pool a.", told(node("n2"), pool=None), id="the pool was deleted"),
        pytest.param(f"The node's annotation {names.SCALE_DOWN_DISABLED} is true.",
                     told(node("n2"), annotations={names.SCALE_DOWN_DISABLED: "true"}), id="a person forbids it"),
        pytest.param("1 pods are on the node, default/p first.", told(node("n2"), pods=(pod("p", on="n1"),)),
                     id="a pod came back"),
        pytest.param("The autoscaler has begun to delete it.",
                     told(node("n2"), taints=(*OURS, *GOING)), id="it is at it"),
        pytest.param("The autoscaler counts it as unneeded and has not waited long enough yet.",
                     told(node("n2"), taints=(*OURS, taint(names.AUTOSCALER_CANDIDATE_TAINT))), id="it is about to"),
    ],
)  # fmt: skip
def test_what_keeps_a_drained_node_is_told_in_a_sentence(expected: str, found: str) -> None:
    assert found == expected


def test_the_autoscalers_words_come_first_and_the_rest_follows() -> None:
    found = told(node("n2"), said="could not drain.", pool=NodePool("a", min_total=2))

    assert found == "The autoscaler said: could not drain. Pool a is at its minimum: 2 nodes, minimum 2."
