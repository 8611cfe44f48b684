"""Why a drained node still stands, as far as it can be told."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses, scale_down_of
from shared.core.cluster.node import NodePool
from shared.core.draining.completion import NOT_KNOWN, reasons_not_deleted
from tests.builders import NOW, node, our_taint, pod, taint

OURS = (our_taint(),)
POOL = NodePool("a")
GOING = (taint(names.AUTOSCALER_DELETING_TAINT),)


def told(*others: Any, pool: NodePool | None = POOL, said: str = "", pods: tuple[Any, ...] = (), **changes: Any) -> str:
    classes = ComputeClasses(changes.pop("classes", {}))
    drained = node("n1", **{"unschedulable": True, "taints": OURS, **changes})
    rule = scale_down_of(drained, pool, "BALANCED", classes)
    return reasons_not_deleted(drained, pods, [drained, *others], pool, rule, said, NOW)


def of_class(daemon_cpu: float = 0, **said: Any) -> str:
    """What is told of a node of a ComputeClass with a DaemonSet's pod."""
    return told(node("n2"), labels={names.COMPUTE_CLASS_LABEL: "web"}, classes={"web": AutoscalingPolicy(**said)},
                pods=(pod("d", on="n1", owner="DaemonSet/d", cpu=daemon_cpu, memory=0),))  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        pytest.param(NOT_KNOWN, told(node("n2")), id="nothing can be shown"),
        pytest.param("The autoscaler's message: failed to drain node.", told(node("n2"), said="failed to drain node."),
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
        pytest.param("ComputeClass web lets it wait 60 min before it deletes an unneeded node.",
                     of_class(delay=timedelta(hours=1)), id="its ComputeClass asks for patience"),
        pytest.param("Pool a lets it wait 60 min before it deletes an unneeded node.",
                     told(node("n2"), pool=NodePool("a", consolidation_delay=timedelta(hours=1))), id="its pool does"),
        pytest.param("ComputeClass web could not be read; it may set how long the autoscaler waits.",
                     told(node("n2"), labels={names.COMPUTE_CLASS_LABEL: "web"}), id="its ComputeClass is not known"),
        pytest.param("Under consolidationThreshold 0 of ComputeClass web it deletes only nodes that nothing is asked "
                     "of: if it counts DaemonSet pods there, it never deletes this one; write 1 or more.",
                     of_class(daemon_cpu=0.1, threshold=Fraction(0)), id="a reaper may count DaemonSets"),
        pytest.param(NOT_KNOWN, of_class(threshold=Fraction(0)), id="DaemonSets that ask for nothing"),
        pytest.param(NOT_KNOWN, of_class(daemon_cpu=0.1, threshold=Fraction(1, 10)), id="nor under a threshold"),
    ],
)  # fmt: skip
def test_what_keeps_a_drained_node_is_shown_in_a_sentence(expected: str, found: str) -> None:
    assert found == expected


def test_the_autoscalers_words_come_first_and_the_rest_follows() -> None:
    found = told(node("n2"), said="could not drain.", pool=NodePool("a", min_total=2))

    assert found == "The autoscaler's message: could not drain. Pool a is at its minimum: 2 nodes, minimum 2."
