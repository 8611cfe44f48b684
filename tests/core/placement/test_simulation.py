from typing import Any

import numpy as np

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint
from shared.core.placement import Candidate, Simulation, search
from shared.core.placement.cluster_arrays import MOST, share, shares
from shared.core.placement.packing import Move
from tests.builders import announced_taint, cluster, node, our_taint, pod, pod_class, resources
from tests.depth import cases

EVERY_WEB = LabelSelector((Requirement("app", "In", ("web",)),))


def test_a_node_refused_by_a_later_strategy_leaves_the_earlier_ones_as_they_were() -> None:
    """n1's pods fit only if packed, and would fill n3 then; refused, they do not stand in the way of n2's."""
    nodes = [node("n1"), node("n2", cpu=3), node("n3", cpu=2)]
    parts = [pod("a-small", on="n1", cpu=1), pod("b-small", on="n1", cpu=1), pod("c-large", on="n1", cpu=2)]
    simulation = Simulation.of(cluster(nodes, [*parts, pod("d", on="n2", cpu=1)]))

    refused = simulation.try_remove("n1")

    assert refused is not None
    assert not refused.detail.endswith("packed")
    assert simulation.try_remove("n2") is None
    assert [(move.pod, move.node) for move in simulation.assignments.moves()["n2"]] == [("default/d", "n3")]


def test_pods_that_fill_a_node_to_the_last_drop_fit_one_after_another() -> None:
    kind = pod_class(cpu=1, memory=4)
    pods = [pod(f"p{number}", on="n1", kind=kind) for number in range(4)]

    assert Simulation.of(cluster([node("n1"), node("n2")], pods)).try_remove("n1") is None
    assert Simulation.of(cluster([node("n1"), node("n2", cpu=3.999)], pods)).try_remove("n1") is not None


@cases(
    "fitting, too_much, other",
    ("rounded up: 334 of 3,333 millicores", 2.999, 3.0, node("n2", cpu=3.333)),
    ("none in a pool of which none is asked", 4, 4.001, node("n2", pool="b")),
)
def test_a_tenth_of_a_node_is_kept_as_headroom(fitting: float, too_much: float, other: Node) -> None:
    def fits(cpu: float) -> bool:
        picture = cluster([node("n1"), other], [pod("p", on="n1", cpu=cpu)])
        return Simulation.of(picture, headroom={"a": 10}).try_remove("n1") is None

    assert (fits(fitting), fits(too_much)) == (True, False)


@cases("expected, pods", ("one pod is all it takes", False, 1), ("two are", True, 2))
def test_headroom_neither_keeps_nor_makes_room_for_the_number_of_pods(expected: bool, pods: int) -> None:
    picture = cluster([node("n1"), node("n2", pods=pods)], [pod("p", on="n1"), pod("q", on="n2")])

    assert (Simulation.of(picture, headroom={"a": 50}).try_remove("n1") is None) is expected


def test_a_pod_of_a_departing_node_leaves_the_zone_that_it_keeps_to_itself() -> None:
    """Once it has moved within the zone it keeps others of its kind away there, and not twice."""
    alone = pod_class(cpu=1, anti_affinity=(PodTerm(names.ZONE_LABEL, EVERY_WEB, ("default",)),))
    nodes = [node("n0", taints=(our_taint(),), unschedulable=True), node("n1"), node("n2")]

    simulation = Simulation.of(cluster(nodes, [pod("p", on="n0", kind=alone)]), ["n0"])

    assert simulation.unplaced == ()
    assert [(move.pod, move.node) for move in simulation.assignments.reservations()] == [("default/p", "n1")]
    assert simulation.try_remove("n1") is None
    assert [(move.pod, move.node) for move in simulation.assignments.reservations()] == [("default/p", "n2")]


@cases("announced", ("taken by us", ()), ("announced", ("n1",)))
def test_assignments_stay_as_they_were_when_the_simulation_goes_on(announced: tuple[str, ...]) -> None:
    simulation = Simulation.of(cluster([node("n1"), node("n2")], [pod("p", on="n1")]), announced=announced)
    before = simulation.assignments
    told = before.moves(), before.reservations(), before.steps()

    assert simulation.try_remove("n1") is None
    assert [move.pod for move in simulation.assignments.moves()["n1"]] == ["default/p"]
    assert (before.moves(), before.reservations(), before.steps()) == told


def test_pending_pods_are_given_room_by_priority_and_then_by_name() -> None:
    waiting = [
        pod("a", cpu=3, phase=Phase.PENDING),
        pod("b", cpu=3, phase=Phase.PENDING, priority=1000),
        pod("c", cpu=3, phase=Phase.PENDING, priority=1000),
    ]

    simulation = Simulation.of(cluster([node("n1")], waiting))

    assert [(move.pod, move.node) for move in simulation.assignments.reservations()] == [("default/b", "n1")]


def test_of_two_sets_that_save_the_same_the_one_with_fewer_moves_is_found() -> None:
    """One of them can go; the search meets the one with less load, which is in three pieces, first."""
    nodes = [node("one-pod"), node("three-pods"), node("rest")]
    parts = [pod(f"part{number}", on="three-pods", cpu=0.5) for number in range(3)]
    pods = [pod("whole", on="one-pod", cpu=2), *parts, pod("stays", on="rest", cpu=2)]

    found = search(
        Simulation.of(cluster(nodes, pods), robust=False), [Candidate("one-pod", 10), Candidate("three-pods", 10)]
    )

    assert (found.nodes, found.saving, found.simulation.placement_count) == (("one-pod",), 10, 1)


def test_packing_takes_the_largest_pods_first() -> None:
    """Two of 3 cores and two of 1 fill two nodes of 4; the small ones first would leave 2 cores on one of them."""
    pods = [pod(name, on="n1", cpu=cpu) for name, cpu in (("a", 1), ("b", 1), ("c", 3), ("d", 3))]
    simulation = Simulation.of(cluster([node("n1", cpu=8), node("n2"), node("n3")], pods), robust=False)

    assert simulation.try_remove("n1") is None


def test_the_search_goes_on_where_its_plain_ideas_end() -> None:
    """By load, by capacity and by money alone the nodes that are found save 6; a near miss of the first saves 7."""
    loads = {"n0": (1, 0.5), "n1": (1,), "n2": (2,), "n3": (2.5,), "n4": (0.5, 0.5)}
    pods = [pod(f"{name}-{place}", on=name, cpu=cpu) for name, row in loads.items() for place, cpu in enumerate(row)]
    rows = [Candidate(name, cost) for name, cost in zip(loads, (1, 2, 3, 2, 1), strict=True)]

    assert search(Simulation.of(cluster(map(node, loads), pods), robust=False), rows).saving == 7


def test_a_copy_of_a_board_knows_which_nodes_are_on_their_way_out() -> None:
    """n0 is claimed and not yet cordoned: there is room on it, and none for anybody."""
    picture = cluster([node("n0"), node("n1")], [pod("p", on="n1", cpu=1)])
    simulation = Simulation.of(picture, ["n0"])

    assert simulation.copy().try_remove("n1") is not None
    assert simulation.try_remove("n1") is not None


def test_what_becomes_of_a_copy_is_nothing_to_the_board() -> None:
    simulation = Simulation.of(cluster([node("n1"), node("n2")], [pod("p", on="n1"), pod("q", on="n2")]))

    assert simulation.copy().try_remove("n1") is None
    assert (simulation.taken, simulation.placement_count) == ((), 0)
    assert simulation.try_remove("n2") is None


def test_the_capacity_of_a_node_is_its_share_of_a_mean_node_in_cpu_and_memory() -> None:
    subject = Simulation.of(cluster([node("n1", cpu=4, memory=16), node("n2", cpu=12, memory=16)])).arrays
    assert [subject.capacity(subject.index[name]) for name in ("n1", "n2")] == [15_000, 25_000]


def test_a_node_that_offers_next_to_nothing_has_no_share_that_outgrows_64_bits() -> None:
    free, offered = np.array([MOST, -MOST]), np.array([1, 1])
    assert shares(free, offered).tolist() == [share(MOST, 1), share(-MOST, 1)] == [2**40, -(2**40)]


def test_a_copy_knows_what_room_is_used_and_which_node_is_fullest() -> None:
    """n1's pod fits on n4 alone and makes it the fullest, where n2's goes next; n0's no longer fits there."""
    nodes = [*(node(f"n{number}") for number in range(4)), node("n4", labels={"disk": "ssd"})]
    moved = pod("a", on="n1", cpu=2.5, node_selector={"disk": "ssd"})
    rest = [
        pod("b", on="n2", cpu=0.5),
        pod("c", on="n3", cpu=1),
        pod("d", on="n0", cpu=2, node_selector={"disk": "ssd"}),
    ]
    simulation = Simulation.of(cluster(nodes, [moved, *rest]), robust=False)
    assert simulation.try_remove("n1") is None
    twin = simulation.copy()

    for row in (simulation, twin):
        assert row.try_remove("n0") is not None
        assert row.try_remove("n2") is None
        assert [move.node for move in row.assignments.moves()["n2"]] == ["n4"]


@cases(
    "expected, changes",
    ("as it is", "1 other node accepts it; none has room", {}),
    ("as it comes back", "1 other node accepts it; none has room for it as it comes back (by the template of web)",
     {"raised_by": ("the template of web",)}),
    ("by the rules of its template, too",
     "none has room for it as it comes back (by x and nodeSelector of its template and ports of its template)",
     {"raised_by": ("x",), "template_adds": ("nodeSelector", "ports")}),
)  # fmt: skip
def test_a_refusal_shows_what_a_pod_comes_back_with(expected: str, changes: dict[str, Any]) -> None:
    large = pod("p", on="n1", cpu=3, booked=resources(1), **changes)
    snapshot = cluster([node("n1"), node("n2")], [large, pod("other", on="n2", cpu=2)])
    refused = Simulation.of(snapshot).try_remove("n1")

    assert refused is not None
    assert expected in refused.detail


def test_the_node_of_a_pod_is_none_of_the_nodes_that_admit_it() -> None:
    """Though it has room for one more of them."""
    near = pod("p", on="n1", cpu=1, node_selector={"disk": "ssd"})
    nodes = [node("n1", labels={"disk": "ssd"}), node("n2"), node("n3")]
    refused = Simulation.of(cluster(nodes, [near])).try_remove("n1")

    assert refused is not None
    assert refused.detail == "no other node accepts it; none has room"


LEAVING = node("n1", taints=(announced_taint(),))


def announced_one() -> Simulation:
    return Simulation.of(cluster([LEAVING, node("n2")], [pod("p", on="n1")]), announced=["n1"])


def test_pods_of_an_announced_node_that_is_taken_move_and_are_reserved_no_more() -> None:
    simulation = announced_one()
    assert simulation.assignments.reservations() == (Move("default/p", "n2"),)

    simulation.try_remove("n1")

    assert simulation.assignments.reservations() == ()
    assert simulation.assignments.moves() == {"n1": (Move("default/p", "n2"),)}


def test_what_a_copy_takes_is_still_there_for_the_original() -> None:
    simulation = announced_one()
    simulation.copy().try_remove("n1")

    assert simulation.try_remove("n1") is None
    assert simulation.taken == ("n1",)


def test_an_announced_node_is_not_taken_where_one_way_of_packing_has_no_place_for_its_pods() -> None:
    """Its pods fit only if they are packed; the autoscaler may put them otherwise."""
    nodes = [LEAVING, node("n2", cpu=3), node("n3", cpu=2)]
    parts = [pod("a-small", on="n1", cpu=1), pod("b-small", on="n1", cpu=1), pod("c-large", on="n1", cpu=2)]
    simulation = Simulation.of(cluster(nodes, [*parts, pod("d", on="n2", cpu=1)]), announced=["n1"])

    assert simulation.announced == {"n1"}
    assert simulation.try_remove("n1") is not None
    assert simulation.taken == ()


def pinned(name: str, on: str) -> Pod:
    """A pod that may run on the node of that name alone."""
    return pod(name, on=on, owner=f"ReplicaSet/{name}", node_selector={names.HOSTNAME_LABEL: on})


def test_a_closed_node_that_is_tried_in_vain_receives_nothing_afterwards() -> None:
    seen = cluster([node("n1"), node("n2")], [pinned("s", "n1"), pod("p", on="n2")])
    simulation = Simulation.of(seen, closed=["n1"], robust=False)

    assert simulation.try_remove("n1") is not None
    assert simulation.try_remove("n2") is not None


def test_headroom_counts_for_what_waited_before_it_was_kept() -> None:
    """The one that waits takes one of two places; the other is headroom, for the next of its class, too."""
    kind = pod_class(cpu=1)
    nodes = [node("n1", cpu=1), node("n2"), node("n3")]
    full = [pod(f"full{any_node.name}", on=any_node.name, cpu=3, owner="ReplicaSet/full") for any_node in nodes[1:]]
    seen = cluster(nodes, [*full, pod("p", on="n1", kind=kind), pod("waits", kind=kind, phase=Phase.PENDING)])

    assert Simulation.of(seen).try_remove("n1") is None
    assert Simulation.of(seen, headroom={"a": 25}).try_remove("n1") is not None


def test_a_node_of_which_nobody_knows_whether_it_stays_keeps_its_domain() -> None:
    """n2 has no pod of the workload: one more on n3 would be two too many, were it to stay."""
    even = (SpreadConstraint(names.HOSTNAME_LABEL, EVERY_WEB, honours_taints=True),)
    kind = pod_class(hard_spread=even)
    nodes = [node("n1"), node("n2"), node("n3")]
    seen = cluster(nodes, [pod("p", on="n1", kind=kind), pod("q", on="n3", kind=kind)])

    assert Simulation.of(seen, ["n2"]).try_remove("n1") is None
    assert Simulation.of(seen, closed=["n2"]).try_remove("n1") is not None


def test_a_plan_is_followed_under_the_first_strategy_alone_whatever_is_proved_robustly() -> None:
    simulation = Simulation.of(cluster([node("n1"), node("n2"), node("n3")], [pod("p", on="n1")]))
    arrays = simulation.arrays
    meant = {arrays.kind_of[arrays.movable(arrays.index["n1"])[0].spec]: [arrays.index["n3"]]}
    guided = simulation.with_guide(meant)

    assert guided.try_remove("n1") is None
    assert guided.assignments.moves() == {"n1": (Move("default/p", "n3"),)}
