"""What the autoscaler takes beside a policy's passes, and when: by hand from its ten minutes and its 100 s a node."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.forecast.scenarios import Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import MOST_ROUNDS, Rest, find_steady_state, left_alone
from shared.adapters.prices import load
from shared.core.cluster.names import HOSTNAME_LABEL, POOL_LABEL
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Volume
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy

MINUTE = timedelta(minutes=1)
TWO_SMALL = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=1), pod("q", on="n2", cpu=1)])


def forecast(snapshot: Snapshot, **pool: Any) -> Scenarios:
    return scenarios_of(Situation(snapshot, ClusterState(), policy(cpu_limit=Fraction(1), **pool)), {}, load())


@pytest.mark.parametrize("ripe", [5, 30])
def test_what_the_autoscaler_takes_by_itself_is_left_to_it(ripe: int) -> None:
    told = forecast(TWO_SMALL, consolidate_after=ripe * MINUTE)

    assert (told.order, told.begins) == (("n1",), {})


def test_of_eight_empty_nodes_the_autoscaler_takes_four_within_twenty_minutes() -> None:
    """Ten minutes, and 135 s for each; then the marks are old enough, and the policy takes the other four."""
    full = pod("full", on="n8", cpu=3)
    nine = cluster([node(f"n{n}") for n in range(9)], [full])
    told = forecast(nine, consolidate_after=20 * MINUTE, max_nodes_per_pass=9)

    assert (told.at_rest.gone, list(told.begins.values())) == (8, [NOW + 20 * MINUTE] * 4)


def test_the_policy_leaves_room_for_pods_of_nodes_that_the_autoscaler_has_announced() -> None:
    """The last node takes the pod of either; the policy may not move the one, nor the autoscaler the other."""
    small = pod("small", on="n1", cpu=1, owner="ReplicaSet/small", volumes=(Volume("v", "emptyDir"),))
    large = pod("large", on="n2", cpu=2.1, owner="ReplicaSet/large")
    full = pod("full", on="n3", cpu=5.5, owner="ReplicaSet/full")
    told = forecast(cluster([node("n1"), node("n2"), node("n3", cpu=8)], [small, large, full]))

    assert told.order == ("n1",)


def test_a_drain_ends_when_the_autoscaler_has_deleted_the_node() -> None:
    """Half a minute of grace, the ten minutes for which a node must be unneeded, and 90 s for its machine."""
    full = [pod("p", on="n1", cpu=2.2), pod("q", on="n2", cpu=5)]
    told = forecast(cluster([node("n1"), node("n2", cpu=8)], full))

    assert (told.begins, told.by) == ({"n1": NOW}, NOW + 12 * MINUTE)


def test_the_next_pass_does_not_wait_for_all_that_the_autoscaler_has_announced() -> None:
    """Of two nodes with pods of one workload one goes at a time; the autoscaler is at its 24 nodes for 50 minutes."""
    own = [node(f"n{place}") for place in (1, 2)]
    others = [node(f"local{place:02}") for place in range(24)]
    local = (Volume("v", "emptyDir"),)
    pods = [
        pod("full", on="home", cpu=40, owner="ReplicaSet/full"),
        *(pod(f"p{each.name}", on=each.name, cpu=2.1) for each in own),
        *(
            pod(f"p{other.name}", on=other.name, cpu=0.5, owner=f"ReplicaSet/{other.name}", volumes=local)
            for other in others
        ),
    ]
    seen = cluster([node("home", cpu=64, memory=256, pool="b"), *own, *others], pods, pools=FIXED)

    assert forecast(seen).begins.keys() == {"n1", "n2"}


def test_where_the_first_node_is_kept_for_good_the_next_goes_in_its_place() -> None:
    """There is room for the pod of one of them; the dearer one is in a pool whose window never opens."""
    nodes = [node("a1", machine="n2-standard-4"), node("b1", pool="b"), node("full", cpu=8, pool="c")]
    pods = [pod(f"p{each.name}", on=each.name, cpu=2.1, owner=f"ReplicaSet/{each.name}") for each in nodes[:2]]
    rules = policy(windows=())
    rules = replace(rules, pools={**rules.pools, "b": policy("b").pools["b"]})
    seen = cluster(nodes, [*pods, pod("large", on="full", cpu=5.5, owner="ReplicaSet/large")])
    told = scenarios_of(Situation(seen, ClusterState(), rules), {}, load())

    assert told.begins == {"b1": NOW}


FIXED = {"b": NodePool("b", autoscaled=False)}


def test_a_node_whose_drain_was_tried_in_vain_is_asked_for_no_more() -> None:
    """Every order of the proof leaves `ssd` to the large pod; the scheduler puts the small one there, the last node."""
    nodes = [node("a", cpu=8, memory=32), node("plain", pool="b"), node("ssd", pool="b", labels={"disk": "ssd"})]
    pods = [
        pod("a-small", on="a", cpu=1, owner="ReplicaSet/small"),
        pod("large", on="a", cpu=3.5, owner="ReplicaSet/large", node_selector={"disk": "ssd"}),
    ]
    situation = Situation(cluster(nodes, pods, pools=FIXED), ClusterState(), policy(cpu_limit=Fraction(1)))
    rest = find_steady_state(situation, {}, load()).rest

    assert (rest.gone, rest.rounds) == (0, 2)


def one_after_another(count: int) -> Snapshot:
    """Each pod may move to `home` once the one before it, of the node that the autoscaler asks last, is there."""

    def beside(number: int) -> tuple[PodTerm, ...]:
        before = LabelSelector((Requirement("app", "In", (f"w{number - 1}",)),))
        return (PodTerm(HOSTNAME_LABEL, before, ("default",)),)

    nodes = [node("home", cpu=64, memory=256, pool="b"), *(node(f"n{place:02}") for place in range(count))]
    pods = [
        pod(f"p{number}", on=f"n{count - number:02}", owner=f"ReplicaSet/w{number}", affinity=beside(number),
            node_selector={POOL_LABEL: "b"})
        for number in range(1, count + 1)
    ]  # fmt: skip
    return cluster(nodes, [pod("p0", on="home", cpu=40, owner="ReplicaSet/w0"), *pods], pools=FIXED)


def test_the_autoscaler_reaches_a_steady_state_next_to_a_policy_that_wants_nothing() -> None:
    told = scenarios_of(Situation(one_after_another(2), ClusterState(), Policy()), {}, load())

    assert (told.alone.gone, told.at_rest.gone) == (2, 2)


def test_the_autoscaler_that_would_go_on_after_its_last_round_is_not_in_steady_state() -> None:
    rest = left_alone(Rest(one_after_another(MOST_ROUNDS + 1)))

    assert (rest.gone, rest.is_rest) == (MOST_ROUNDS, False)
