"""The line of a plan that says where the autoscaler only deletes empty nodes, and where it competes."""

from fractions import Fraction

import pytest

from functions.cli.plan.sentences import autoscaler_note
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL, MANAGED_NODE
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.snapshot import Snapshot
from tests.builders import cluster, node

CLASSES = ComputeClasses({"reaper": AutoscalingPolicy(threshold=Fraction(0)), "plain": AutoscalingPolicy()})


def of(pool: str, compute_class: str = "", name: str = "") -> Node:
    return node(name or f"n-{pool}", pool=pool, labels={COMPUTE_CLASS_LABEL: compute_class})


def picture(*nodes: Node, profile: str = "BALANCED", **pools: NodePool) -> Snapshot:
    return cluster(nodes, profile=profile, compute_classes=CLASSES, pools=pools)


@pytest.mark.parametrize(
    ("expected", "snapshot"),
    [
        pytest.param([("only deletes empty nodes (",)], picture(of("a", "reaper"), of("b", "reaper")),
                     id="it reaps everywhere"),
        pytest.param([("only deletes empty nodes of pool a (",), ("nodes of pools b, c ", "50%", "competes")],
                     picture(of("a", "reaper"), of("b", "plain"), of("c")), id="in one pool of three"),
        pytest.param([("itself empties nodes that", "85%", "competes")],
                     picture(of("a"), profile="OPTIMIZE_UTILIZATION"), id="it competes everywhere"),
        pytest.param([("itself empties nodes that", "50%", "competes")],
                     picture(of("a", "reaper", "n1"), of("a", "plain", "n2")), id="a pool of two classes is one"),
        pytest.param([("ComputeClass gone", "add computeclasses")], picture(of("b", "gone")), id="nothing is known"),
        pytest.param([("only deletes empty nodes of pool a (",), ("of pool b is unknown",)],
                     picture(of("a", "reaper"), of("b", "gone")), id="the other pool is reaped"),
        pytest.param([("nodes of pool a ", "competes"), ("of pool b is unknown",)], picture(of("a"), of("b", "gone")),
                     id="it competes in the other pool"),
    ],
)  # fmt: skip
def test_each_line_shows_what_the_autoscaler_does_next_to_ebb(
    expected: list[tuple[str, ...]], snapshot: Snapshot
) -> None:
    for facts, line in zip(expected, autoscaler_note(snapshot, in_dump=True), strict=True):
        assert [fact for fact in facts if fact not in line] == []


@pytest.mark.parametrize(
    "snapshot",
    [
        pytest.param(picture(), id="an empty cluster"),
        pytest.param(picture(of("", name="n")), id="no GKE: nodes of no pool"),
        pytest.param(picture(of("a"), a=NodePool("a", autoscaled=False)), id="no autoscaler"),
        pytest.param(picture(node("m", labels={MANAGED_NODE: "true"})), id="nodes that Google manages"),
    ],
)
def test_nothing_is_shown_where_the_autoscaler_takes_nothing(snapshot: Snapshot) -> None:
    assert list(autoscaler_note(snapshot, in_dump=True)) == []


def test_a_live_cluster_has_another_remedy() -> None:
    (said,) = autoscaler_note(picture(of("b", "gone")), in_dump=False)
    assert said.endswith("let this account list computeclasses.")
