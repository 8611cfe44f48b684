"""Hard topology spread, case by case, as the scheduler's PodTopologySpread plugin judges it.

Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, common.go): matching pods of the
domain, plus the pod if it matches itself, minus the least of all eligible domains, is at most maxSkew.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.core.cluster.names import HOSTNAME_LABEL, OUR_TAINT, ZONE_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import LabelSelector, Requirement, SpreadConstraint, Taint, Toleration
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints.constraint import ConstraintInput
from shared.core.placement.constraints.topology_spread import TopologySpread, TopologySpreadState
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from tests.builders import NOW, announced_taint, cluster, node, our_taint, pod, taint
from tests.core.placement.test_host_ports import taken
from tests.depth import cases

WEB = LabelSelector((Requirement("app", "In", ("web",)),))
SOON = announced_taint()
ZONES = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c")]


def spread(key: str = ZONE_LABEL, selector: LabelSelector | None = WEB, **changes: Any) -> tuple[SpreadConstraint]:
    return (SpreadConstraint(key, selector, **changes),)


def webs(*places: str, **changes: Any) -> list[Pod]:
    return [pod(f"web{number}", on=place, **changes) for number, place in enumerate(places)]


def feasible(nodes: list[Node], pods: list[Pod], **spec: Any) -> list[str]:
    """Return where one more pod may go."""
    asking = pod("zz", **{"hard_spread": spread(), **spec})
    arrays = ClusterArrays(cluster(nodes, [*pods, asking]))
    taking = Packing(arrays, PACKED).taking(arrays.kind_of[asking.spec])
    return [any_node.name for any_node, takes in zip(arrays.nodes, taking, strict=True) if takes]


ALL = ["a1", "b1", "c1"]


@cases(
    "expected, there, asked",
    ("even: anywhere", ALL, ["a1", "b1", "c1"], {}),
    ("not where there is one more already", ["b1", "c1"], ["a1"], {}),
    ("an empty domain counts as 0", ["c1"], ["a1", "b1"], {}),
    ("a wider skew", ALL, ["a1"], {"max_skew": 2}),
    ("others", ALL, ["a1", "b1"], {"selector": LabelSelector((Requirement("app", "In", ("db",)),))}),
    ("no selector counts nobody", ALL, ["a1", "a1"], {"selector": None}),
    ("nor does an empty one", ALL, ["a1", "a1"], {"selector": LabelSelector()}),
    ("fewer domains than asked: the least is 0", [], ["a1", "b1", "c1"], {"min_domains": 4}),
    ("as many domains as asked", ALL, ["a1", "b1", "c1"], {"min_domains": 3}),
    ("pods of another template do not count", ALL, ["a1"], {"match_label_keys": ("hash",)}),
    ("a key it lacks is passed over", ["b1", "c1"], ["a1"], {"match_label_keys": ("none",)}),
    ("no node has the key", [], [], {"key": "rack"}),
)
def test_where_one_more_may_go(expected: list[str], there: list[str], asked: dict[str, Any]) -> None:
    labels = {"app": "web", "hash": "new"}
    there_now = webs(*there, labels={"app": "web", "hash": "old"})
    assert feasible(ZONES, there_now, labels=labels, hard_spread=spread(**asked)) == expected


def test_a_pod_that_does_not_match_itself_counts_only_the_others() -> None:
    there = webs("a1", "a1", "b1")
    assert feasible(ZONES, there, labels={"app": "db"}) == ["b1", "c1"]


@cases(
    "expected, there",
    ("of another namespace", ALL, webs("a1", namespace="other")),
    ("on its way out", ALL, webs("a1", deleting=NOW)),
    ("a daemon counts", ["b1", "c1"], webs("a1", owner="DaemonSet/web")),
)
def test_which_pods_count(expected: list[str], there: list[Pod]) -> None:
    assert feasible(ZONES, there) == expected


def test_a_terminating_pod_does_not_lift_the_least() -> None:
    for owner in ("ReplicaSet/web", "StatefulSet/web"):
        there = [*webs("a1", "b1"), pod("dying", on="c1", deleting=NOW, owner=owner)]
        assert not {"a1", "b1"} & set(feasible(ZONES, there))


@cases(
    "expected, spec, asked",
    ("nodes that the selector excludes are no domain", ["a1", "b1"], {}, {}),
    ("unless affinity is ignored", [], {}, {"honours_affinity": False}),
)
def test_which_nodes_are_domains_by_affinity(expected: list[str], spec: dict[str, Any], asked: dict[str, Any]) -> None:
    nodes = [*(replace(row, labels={**row.labels, "disk": "ssd"}) for row in ZONES[:2]), ZONES[2]]
    found = feasible(nodes, webs("a1", "b1"), node_selector={"disk": "ssd"}, hard_spread=spread(**asked), **spec)
    assert found == expected


@cases(
    "expected, tolerations, honours",
    ("a tainted node is a domain", [], (), False),
    ("unless taints are honoured", ["a1", "b1"], (), True),
    ("which a toleration undoes", ["c1"], (Toleration("gpu", "Exists"),), True),
)
def test_which_nodes_are_domains_by_taints(
    expected: list[str], tolerations: tuple[Toleration, ...], honours: bool
) -> None:
    nodes = [*ZONES[:2], replace(ZONES[2], taints=(taint("gpu"),))]
    asked = spread(honours_taints=honours)
    assert feasible(nodes, webs("a1", "b1"), tolerations=tolerations, hard_spread=asked) == expected


@cases(
    "expected, there",
    ("their domain may become the emptiest, which closes the others", ["c2"], ["a1", "b1", "c1"]),
    ("but they may also stay, which closes theirs", [], ["a1", "b1", "c1", "c1"]),
)
def test_pods_of_a_node_that_may_go_are_not_relied_on(expected: list[str], there: list[str]) -> None:
    nodes = [*ZONES[:2], replace(ZONES[2], unschedulable=True), node("c2", zone="c")]
    assert feasible(nodes, webs(*there)) == expected


def test_a_node_without_one_of_several_keys_is_no_domain_of_any() -> None:
    nodes = [*ZONES, node("d1", zone="d", labels={"rack": "r"})]
    both = (*spread(), *spread("rack"))
    assert feasible(nodes, webs("a1"), hard_spread=both) == ["d1"]
    assert feasible(nodes, webs("d1"), hard_spread=both) == ["d1"]


def test_all_of_several_constraints_hold() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("b2", zone="b")]
    hosts = [replace(any_node, labels={**any_node.labels, HOSTNAME_LABEL: any_node.name}) for any_node in nodes]
    assert feasible(hosts, webs("a1"), hard_spread=(*spread(), *spread(HOSTNAME_LABEL))) == ["b1", "b2"]


PAIR = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("b2", zone="b")]


@cases(
    "expected, nodes, pods",
    ("to the other node of the zone", ["a1"], PAIR, webs("a1", "b1", hard_spread=spread())),
    ("the zone's only node", [], [PAIR[0], *PAIR[2:]], webs("a1", "b1", hard_spread=spread())),
    ("the zone's only node, which is no domain once it is tainted", ["a1"], [PAIR[0], *PAIR[2:]],
     webs("a1", "b1", hard_spread=spread(honours_taints=True))),
    ("but stays one for those that tolerate our taint", [], [PAIR[0], *PAIR[2:]],
     webs("a1", "b1", hard_spread=spread(honours_taints=True), tolerations=(Toleration(OUR_TAINT, "Exists"),))),
    ("but then there are too few domains", [], [PAIR[0], *PAIR[2:]],
     webs("a1", "b1", hard_spread=spread(honours_taints=True, min_domains=2))),
    ("two leave one after another", ["a1"], PAIR, webs("a1", "a1", "b1", "b1", hard_spread=spread())),
    ("a skew that has the empty domain", ["a1"], [PAIR[0], *PAIR[2:]],
     webs("a1", "b1", hard_spread=spread(max_skew=2))),
)  # fmt: skip
def test_a_node_goes_if_its_pods_may_go_elsewhere_while_it_stands_and_when_it_is_gone(
    expected: list[str], nodes: list[Node], pods: list[Pod]
) -> None:
    assert taken(cluster(nodes, pods), "a1") == expected


def test_what_another_pod_left_behind_may_not_be_relied_on() -> None:
    """a's daemon keeps the zone from being the emptiest only as long as its node stands."""
    asks = spread(max_skew=1)
    daemon = pod("daemon", on="a1", owner="DaemonSet/web")
    leaves = pod("web", on="a1", hard_spread=asks)
    snapshot = cluster([node("a1", zone="a"), node("a2", zone="a", cpu=0.05), *PAIR[2:]], [daemon, leaves, *webs("b1")])
    assert taken(snapshot, "a1") == []


def test_a_place_found_may_not_be_lost_by_what_leaves_later() -> None:
    """While b and c hold one each, a takes the first; once the one in c has left for a, it would not any more."""
    free = pod("web2", on="c1", node_selector={ZONE_LABEL: "a"})
    pods = [*webs("a1", "b1", hard_spread=spread()), free]
    nodes = [*PAIR, node("c1", zone="c")]
    assert taken(cluster(nodes, pods), "a1", "c1") == ["a1"]
    assert taken(cluster(nodes, pods), "c1", "a1") == ["c1"]
    wide = [*webs("a1", "b1", hard_spread=spread(max_skew=2)), free]
    assert taken(cluster(nodes, wide), "a1", "c1") == ["a1", "c1"]


def test_no_place_is_lost_where_another_order_of_moves_would_have_kept_it() -> None:
    """Packed, pods pile up in one zone as far as the skew goes; then those that leave go where they are missed."""
    nodes = [node(f"n{place:02}", zone="abc"[place % 3]) for place in range(24)]
    pods = [
        pod(f"web{place}", on=any_node.name, hard_spread=spread(max_skew=3)) for place, any_node in enumerate(nodes)
    ]
    order = [any_node.name for any_node in nodes[:12]]
    assert taken(cluster(nodes, pods), *order) == order


def test_places_that_were_lost_before_keep_no_node() -> None:
    """What waits goes to a, and so does what leaves a departing node; of that the drain of x1 is not guilty."""
    in_a: dict[str, Any] = {"node_selector": {ZONE_LABEL: "a"}}
    asks = spread(max_skew=2, honours_affinity=False)
    pods = [pod("waits", hard_spread=asks, **in_a), pod("leaves", on="gone", **in_a), pod("web", on="x1", **in_a)]
    going = node("gone", zone="c", taints=(our_taint(),), unschedulable=True)
    small = node("x1", zone="a", cpu=0.15)
    simulation = Simulation.of(cluster([ZONES[0], small, ZONES[1], going], pods), ["gone"])
    assert simulation.try_remove("x1") is None


def test_a_node_on_its_way_out_is_a_domain_until_it_is_gone() -> None:
    going = node("c1", zone="c", taints=(our_taint(),), unschedulable=True)
    assert feasible([*ZONES[:2], going], webs("a1", "b1")) == []
    assert feasible([*ZONES[:2], going], webs("a1", "b1", "c1")) == []
    assert feasible([*ZONES[:2], going], webs("a1", "b1"), hard_spread=spread(honours_taints=True)) == ["a1", "b1"]


@cases(
    "expected, announced",
    ("one that is announced stands yet", [], [node("a2", zone="a", taints=(SOON,))]),
    ("announced elsewhere", ["a1"], [node("d1", zone="b", taints=(SOON,))]),
    ("the zone's only node", ["a1"], []),
)
def test_an_announced_node_is_a_domain_of_those_too_that_honour_taints(
    expected: list[str], announced: list[Node]
) -> None:
    """Its taint is soft: the scheduler leaves out only what bears NoSchedule or NoExecute (filtering.go)."""
    pods = webs("a1", "b1", hard_spread=spread(honours_taints=True))
    snapshot = cluster([PAIR[0], *announced, *PAIR[2:]], pods)
    simulation = Simulation.of(snapshot, announced=[row.name for row in announced])

    simulation.try_remove("a1")

    assert list(simulation.taken) == expected


def test_equal_constraints_of_many_classes_are_one_rule_over_one_topology() -> None:
    each: dict[str, Any] = {"on": "a1", "labels": {"app": "web"}, "hard_spread": spread()}
    pods = [pod(f"p{number}", owner=f"ReplicaSet/{number}", **each) for number in range(5)]
    assert feasible(ZONES, pods, hard_spread=spread(max_skew=6)) == ["a1", "b1", "c1"]
    assert feasible(ZONES, pods, hard_spread=spread(max_skew=5)) == ["b1", "c1"]


@cases(
    "expected, silent",
    ("its node may be back, and the pod never come to b", [], {"ready": False}),
    ("while b has two for good", ["a1"], {"ready": True, "zone": "b"}),
)
def test_what_may_never_come_makes_no_domain_fuller_for_others(expected: list[str], silent: dict[str, Any]) -> None:
    """b is the emptiest. The pod of the node that is not Ready has room there alone; a1's find it in their zone."""
    nodes = [
        node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"),
        node("c1", zone="c", pods=2), replace(node("x", zone=silent.get("zone", "c")), ready=silent["ready"]),
    ]  # fmt: skip
    pods = webs("a1", "a1", "a2", "b1", "c1", "c1", "x", hard_spread=spread())
    assert taken(cluster(nodes, pods), "a1") == expected


Change = Callable[[TopologySpreadState], None]


def state_of(nodes: list[Node], **asked: Any) -> TopologySpreadState:
    """Return the counts of an empty cluster whose second class spreads itself; the first asks for nobody."""
    kind, other = pod("web", hard_spread=spread(**asked)), pod("db", hard_spread=spread(selector=None, **asked))
    snapshot = cluster(nodes, [other, kind])
    arrays = ClusterArrays(snapshot)
    return TopologySpread(ConstraintInput(snapshot, [other.spec, kind.spec], arrays.node_filters)).state()


def test_a_place_is_lost_by_a_domain_that_is_one_again() -> None:
    """While c is tainted, a may hold two; once c is open and empty, a holds too many."""
    state = state_of(ZONES, honours_taints=True)
    state.add(1, 0)
    state.add(1, 1)
    state.close(2)
    state.place(1, 0)
    assert state.find_misplaced() is None

    state.reopen(2)
    assert state.find_misplaced() == 1


@cases(
    "made, taken_back",
    ("its node is open again", lambda state: state.close(0), lambda state: state.reopen(0)),
    ("a pod is not evicted after all", lambda state: state.evict(1, 0), lambda state: state.evict(1, 0, -1)),
)
def test_a_place_is_lost_once_what_made_room_for_it_is_taken_back(made: Change, taken_back: Change) -> None:
    state = state_of(ZONES)
    made(state)
    state.place(1, 0, 2)
    assert state.find_misplaced() is None

    taken_back(state)
    assert state.find_misplaced() == 1


@pytest.mark.parametrize("honours", [True, False], ids=["taints are honoured", "taints are ignored"])
def test_pods_that_leave_a_tainted_node_are_in_the_way_of_their_like_unless_taints_are_honoured(honours: bool) -> None:
    state = state_of([PAIR[0], PAIR[1], PAIR[2]], honours_taints=honours)
    state.add(1, 0, 2)
    state.close(0)
    state.leave(1, 0, 2)

    assert state.allows(1, 1) is honours


@pytest.mark.parametrize("taints", [(), (SOON,)], ids=["not announced", "announced"])
def test_pods_that_leave_are_counted_alike_before_their_node_is_closed_and_after(taints: tuple[Taint, ...]) -> None:
    state = state_of([node("a1", zone="a", taints=taints), *ZONES[1:]], honours_taints=True)
    before = [state.allows(1, place) for place in range(3)]

    state.close(0)
    state.evict(1, 0)
    state.reopen(0)
    state.evict(1, 0, -1)

    assert [state.allows(1, place) for place in range(3)] == before


def test_a_cordoned_node_whose_removal_was_taken_back_goes_as_at_the_first_time() -> None:
    """Without b there are too few domains, and a takes no pod beside another."""
    asks = spread(honours_taints=True, min_domains=2)
    nodes = [*PAIR[:2], node("b1", zone="b", unschedulable=True)]
    packing = Packing(ClusterArrays(cluster(nodes, webs("a1", "a2", hard_spread=asks))), PACKED)
    packing.undo(packing.remove(2, []))

    assert packing.remove(2, []).succeeded
    assert not packing.remove(0, [0]).succeeded


def test_pods_are_packed_again_after_a_try_that_spread_them_in_vain() -> None:
    """n2 is in the emptiest zone no more, and the fullest node all the same."""
    nodes = [node(f"n{place}", zone=zone) for place, zone in enumerate("abcab")]
    pods = webs(*(any_node.name for any_node in nodes), hard_spread=spread(max_skew=2))
    simulation = Simulation.of(cluster(nodes, pods), robust=False)

    assert [simulation.try_remove(name) is None for name in ("n0", "n2", "n1")] == [True, False, True]
    assert {move.node for moves in simulation.assignments.moves().values() for move in moves} == {"n2"}
