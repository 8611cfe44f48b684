"""What the autoscaler takes beside a policy's passes, and when: by hand from its ten minutes and its 100 s a node."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.forecast.ladder import Ladder, ladder
from shared.adapters.prices import load
from shared.core.cluster.pod import Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy

MINUTE = timedelta(minutes=1)
TWO_SMALL = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=1), pod("q", on="n2", cpu=1)])


def climbed(snapshot: Snapshot, **pool: Any) -> Ladder:
    return ladder(Situation(snapshot, ClusterState(), policy(cpu_limit=Fraction(1), **pool)), {}, load())


@pytest.mark.parametrize(
    ("expected", "ripe"),
    [
        pytest.param({"n1": NOW + 5 * MINUTE}, 5, id="the policy before the autoscaler's ten minutes are over"),
        pytest.param({}, 30, id="else the autoscaler"),
    ],
)
def test_a_node_that_both_want_is_taken_by(expected: dict[str, Any], ripe: int) -> None:
    told = climbed(TWO_SMALL, consolidate_after=ripe * MINUTE)

    assert (told.order, told.begins) == (("n1",), expected)


def test_of_eight_empty_nodes_the_autoscaler_takes_six_within_twenty_minutes() -> None:
    """Ten minutes, and 100 s for each; then the marks are old enough, and the policy takes the other two."""
    full = pod("full", on="n8", cpu=3)
    nine = cluster([node(f"n{n}") for n in range(9)], [full])
    told = climbed(nine, consolidate_after=20 * MINUTE, max_nodes_per_pass=9)

    assert (told.at_rest.gone, list(told.begins.values())) == (8, [NOW + 20 * MINUTE] * 2)


def test_the_policy_leaves_room_for_pods_of_nodes_that_the_autoscaler_has_announced() -> None:
    """The last node takes the pod of either; the policy may not move the one, nor the autoscaler the other."""
    small = pod("small", on="n1", cpu=1, owner="ReplicaSet/small", volumes=(Volume("v", "emptyDir"),))
    large = pod("large", on="n2", cpu=2.1, owner="ReplicaSet/large")
    full = pod("full", on="n3", cpu=5.5, owner="ReplicaSet/full")
    told = climbed(cluster([node("n1"), node("n2"), node("n3", cpu=8)], [small, large, full]))

    assert told.order == ("n1",)


def test_a_drain_ends_when_the_autoscaler_has_deleted_the_node() -> None:
    """Half a minute of grace, the ten minutes for which a node must be unneeded, and a minute for its machine."""
    told = climbed(TWO_SMALL)

    assert (told.begins, told.by) == ({"n1": NOW}, NOW + 11 * MINUTE + timedelta(seconds=30))


def test_where_the_first_node_is_kept_for_good_the_next_goes_in_its_place() -> None:
    """There is room for the pod of one of them; the dearer one is in a pool whose window never opens."""
    nodes = [node("a1", machine="n2-standard-4"), node("b1", pool="b"), node("full", cpu=8, pool="c")]
    pods = [pod(f"p{each.name}", on=each.name, cpu=2.1, owner=f"ReplicaSet/{each.name}") for each in nodes[:2]]
    rules = policy(windows=())
    rules = replace(rules, pools={**rules.pools, "b": policy("b").pools["b"]})
    seen = cluster(nodes, [*pods, pod("large", on="full", cpu=5.5, owner="ReplicaSet/large")])
    told = ladder(Situation(seen, ClusterState(), rules), {}, load())

    assert told.begins == {"b1": NOW}
