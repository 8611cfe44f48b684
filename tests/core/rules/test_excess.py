from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster.resources import NOTHING
from shared.core.cluster.selectors import Toleration
from shared.core.records.state import ClusterState
from tests.builders import NOW, claim, cluster, node, only_empty, our_taint, pod, policy, taint
from tests.core.planning.passes import half_full, ordered, plan, verdicts
from tests.depth import cases

HALF_A_DAY = timedelta(hours=12)


@cases(
    "expected, expires",
    ("three under-used nodes are enough", ["n2"], None),
    ("of which one has expired: two are not", [], timedelta(days=1)),
)
@pytest.mark.acceptance(34)
def test_an_expired_node_does_not_count_as_underused(expected: list[str], expires: timedelta | None) -> None:
    """The oldest stays for a pod without a controller; it would fill the count all the same."""
    young = [node(name, created=NOW - HALF_A_DAY) for name in ("n2", "n3")]
    pods = [pod("bare", on="n1", owner=None), pod("p2", on="n2", cpu=1), pod("p3", on="n3", cpu=1.1)]

    made = plan(only_empty(cluster([node("n1"), *young], pods)), policy(required_count=3, expire_after=expires))

    assert ordered(made) == expected
    assert expected or verdicts(made)["n2"] == ("keep", "too_few_underutilized")


def test_the_excess_is_shown_in_units_of_a_node_that_is_still_to_go() -> None:
    """The big node is the least used one, and on its way out."""
    leaving = node("n0", cpu=8, memory=32, unschedulable=True, taints=(our_taint(),))
    stay = half_full("n1", "n2", cpu=2)

    made = plan(cluster([leaving, *stay.nodes], stay.pods), state=ClusterState(claims={"uid-n0": claim("n0")}))

    assert made.excess == {"a": Fraction(1), "": Fraction(1)}


@cases(
    "expected, ignored",
    ("a taint that the policy ignores", ["n1"], frozenset({"team"})),
    ("a taint that it does not", [], frozenset()),
)
@pytest.mark.acceptance(42)
def test_the_room_on_tainted_nodes_is_excess_where_the_taint_is_ignored(
    expected: list[str], ignored: frozenset[str]
) -> None:
    """Half of the pool bears the taint, so it is not the pool's own. One node's room alone is an excess of 1.5."""
    nodes = [node("n1"), node("n2"), *(node(name, taints=(taint("team"),)) for name in ("n3", "n4"))]
    at_home = (Toleration("team", "Exists"),)
    pods = [pod(f"p-{any_node.name}", on=any_node.name, cpu=1, tolerations=at_home) for any_node in nodes]

    made = plan(only_empty(cluster(nodes, pods)), policy(excess_threshold=2, ignore_taints=ignored))

    assert ordered(made) == expected
    assert made.excess["a"] == (3 if ignored else Fraction(3, 2))
    assert expected or verdicts(made)["n1"] == ("keep", "no_excess")


@pytest.mark.acceptance(42)
def test_a_pool_behind_its_own_taint_is_consolidated_like_any_other() -> None:
    """Ten GPU nodes, an eighth full: their taint lies on all of them, and all their pods tolerate it."""
    nodes = [node(f"n{number}", taints=(taint("nvidia.com/gpu"),)) for number in range(10)]
    at_home = (Toleration("nvidia.com/gpu", "Exists"),)
    pods = [pod(f"p-{any_node.name}", on=any_node.name, cpu=0.5, tolerations=at_home) for any_node in nodes]

    made = plan(only_empty(cluster(nodes, pods)), policy(excess_threshold=2))

    assert ordered(made) == ["n0"]
    assert made.excess == {"a": Fraction(35, 4), "": Fraction(35, 4)}


@pytest.mark.acceptance(26)
def test_a_pools_excess_is_its_own_however_much_room_other_pools_have() -> None:
    small = half_full("n1", "n2", "n3", cpu=2)
    big = node("b1", cpu=32, memory=128, pool="b")

    made = plan(cluster([*small.nodes, big], small.pods), policy(excess_threshold=2))

    assert ordered(made) == []
    assert verdicts(made)["n1"] == ("keep", "no_excess")
    assert (made.excess["a"], made.excess["b"]) == (Fraction(3, 2), Fraction(1))
    assert made.excess[""] == Fraction(38, 32), "in units of the emptiest node, which is the big one"


@pytest.mark.acceptance(17)
def test_a_nodes_decision_shows_the_load_with_its_daemons_and_without() -> None:
    daemons = [pod("agent", on="n1", cpu=1, memory=4, owner="DaemonSet/agent")]
    system = [pod("dns", on="n1", cpu=0.4, memory=2, namespace="kube-system")]

    made = plan(cluster([node("n1"), node("n2")], [*daemons, *system]))

    told = made.decisions[0]
    assert (told.cpu_ratio, told.memory_ratio) == (Fraction(7, 20), Fraction(3, 8))
    assert (told.movable_cpu_ratio, told.movable_memory_ratio) == (Fraction(1, 10), Fraction(1, 8))


def test_whom_estafette_would_count_is_shown_about_each_node_whatever_else_keeps_it() -> None:
    nodes = [node("full"), node("guarded"), node("idle"), node("other", pool="b"), node("young", created=NOW)]
    pods = [pod("big", on="full", cpu=3.5), pod("bare", on="guarded", owner=None)]

    made = plan(cluster(nodes, pods))

    told = {decision.name: decision.underutilized for decision in made.decisions}
    assert told == {"full": False, "guarded": True, "idle": True, "other": False, "young": False}


@pytest.mark.acceptance(24)
@pytest.mark.parametrize("size", [{"cpu": 0}, {"memory": 0}], ids=["no CPU", "no memory"])
def test_a_node_that_reports_half_a_size_is_shown_without_any(size: dict[str, Any]) -> None:
    told = plan(cluster([node("n1", **size), node("n2")], [pod("p", on="n1")])).decisions[0]

    assert (told.allocatable, told.requested) == (NOTHING, NOTHING)
    assert (told.cpu_ratio, told.memory_ratio, told.score) == (None, None, None)
