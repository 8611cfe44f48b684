"""A drain ends as stale only for room that it needs itself; n1, n2, … are drained in the order of their claims."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.admission import lost_place, may_move
from shared.core.placement import Simulation
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.state import ClusterState
from tests.builders import NOW, claim, cluster, node, order, our_taint, pod, taint
from tests.depth import cases

DRAINED: dict[str, Any] = {"taints": (our_taint(),), "unschedulable": True}


def picture(*needs: float, free: float, others: Collection[Any] = (), **last: Any) -> Snapshot:
    """Return one node for each drain, with a pod of so many cores, and one more with so many free."""
    drained = [node(f"n{place}", cpu=8, **DRAINED) for place, _ in enumerate(needs, 1)]
    leaving = [pod(f"p{place}", on=f"n{place}", cpu=cpu) for place, cpu in enumerate(needs, 1)]
    return cluster([*drained, node("rest", cpu=free, **last)], [*leaving, *others])


def claims(count: int) -> ClusterState:
    """The higher the number, the younger the claim, whatever order they are written in."""
    ages = {
        f"uid-n{place}": claim(f"n{place}", order_id=f"order-{place}", since=NOW + timedelta(seconds=place))
        for place in reversed(range(1, count + 1))
    }
    return ClusterState(claims=ages)


def stale(snapshot: Snapshot, *, moving: Collection[str] = (), claimed: int = 0) -> list[str]:
    """Return the drains that have lost their place, each asked for itself."""
    drains = [any_node for any_node in snapshot.nodes if any_node.name.startswith("n")]
    state = claims(claimed or len(drains))
    return [drain.name for drain in drains if lost_place(drain, snapshot, state, moving)]


@cases(
    "expected, snapshot",
    ("there is room for all", [], picture(1, 1, 1, 1, free=4)),
    ("room for one less", ["n4"], picture(1, 1, 1, 1, free=3)),
    ("one pod fits nowhere at all", ["n2"], picture(1, 5, 1, 1, free=3)),
    ("that of the first claim", ["n1"], picture(5, 1, 1, 1, free=3)),
    ("the room that one leaves goes to the next", ["n3"], picture(1, 1, 2, 1, free=3)),
)
def test_as_many_drains_are_stale_as_the_room_that_is_gone_asks_for(expected: list[str], snapshot: Snapshot) -> None:
    assert stale(snapshot) == expected


def pending(cpu: float, **spec: Any) -> Pod:
    return pod("w", cpu=cpu, phase=Phase.PENDING, **spec)


@cases(
    "expected, waiting",
    ("it takes room that one of three needs", ["n3"], pending(1)),
    ("that two of three need", ["n2", "n3"], pending(2)),
    ("it fits nowhere", [], pending(9)),
    ("no node has what it asks for", [], pending(1, node_selector={"gpu": "a"})),
)
def test_a_pending_pod_makes_stale_whose_room_it_takes(expected: list[str], waiting: Pod) -> None:
    assert stale(picture(1, 1, 1, free=3, others=[waiting])) == expected


def test_a_pending_pod_that_fits_elsewhere_makes_nobody_stale() -> None:
    beside = picture(1, 1, 1, free=3, others=[pending(1, node_selector={"gpu": "a"})])
    elsewhere = cluster([*beside.nodes, node("gpu", cpu=1, labels={"gpu": "a"})], beside.pods)

    assert stale(elsewhere) == []


@cases(
    "expected, moving",
    ("nobody evicts: the youngest has no place", ["n3"], []),
    ("the eldest does", ["n3"], ["n1"]),
    ("the youngest does: its pods come before those that stand still", ["n2"], ["n3"]),
)
def test_what_has_begun_to_move_goes_on_and_keeps_its_room(expected: list[str], moving: list[str]) -> None:
    seen = picture(1, 1, 1, free=2)

    assert [name for name in stale(seen, moving=moving) if name not in moving] == expected


def test_a_drain_that_moves_and_has_lost_its_place_makes_nobody_else_stale() -> None:
    assert stale(picture(9, 1, 1, free=2), moving=["n1"]) == ["n1"]


def test_a_drain_that_moves_takes_the_room_for_what_still_fits_of_it() -> None:
    others = [pod("p1b", on="n1", cpu=9)]

    assert stale(picture(1, 1, 1, free=2, others=others), moving=["n1"]) == ["n1", "n3"]
    assert stale(picture(1, 1, 1, free=2, others=others)) == ["n1"]


@cases(
    "expected, others",
    ("it takes the room", True, {"q": 1.0}),
    ("as far as it fits", True, {"q": 1.0, "r": 9.0}),
    ("what fits nowhere takes none", False, {"r": 9.0}),
)
def test_what_the_autoscaler_moves_keeps_its_room(expected: bool, others: dict[str, float]) -> None:
    deleted = node("d", cpu=16, taints=(taint(names.AUTOSCALER_DELETING_TAINT),), unschedulable=True)
    ours = picture(1, free=1)
    seen = cluster([*ours.nodes, deleted], [*ours.pods, *(pod(key, on="d", cpu=cpu) for key, cpu in others.items())])

    assert bool(lost_place(seen.node_by_name["n1"], seen, claims(1), ())) is expected


@cases(
    "expected, free, lost",
    ("there is room for both", [], 2, 0),
    ("two never rest on one room", ["n1", "n2"], 1, 0),
    ("it comes before an older claim", ["n1", "n2"], 1, 1),
)
def test_what_is_on_a_claimed_node_that_is_not_ready_takes_its_room_once(
    expected: list[str], free: float, lost: int
) -> None:
    """It is ended in any case, and is to have a place whatever becomes of the drain."""
    seen = picture(1, 1, free=free)
    nodes = [replace(row, ready=place != lost) for place, row in enumerate(seen.nodes)]

    assert stale(cluster(nodes, seen.pods)) == expected


def test_a_place_that_only_packing_finds_is_enough() -> None:
    """Spread over the two others, the small pods leave no room for the large one: a plan would keep the node."""
    moved = [pod("a-small", on="n1", cpu=1), pod("b-small", on="n1", cpu=1), pod("c-large", on="n1", cpu=2)]
    others = [node("x", cpu=3), node("y", cpu=2)]
    seen = cluster([node("n1", **DRAINED), *others], [*moved, pod("d", on="x", cpu=1)])

    assert Simulation.of(seen, cordoned_untouched=("n1",)).try_remove("n1") is not None
    assert lost_place(seen.node_by_name["n1"], seen, claims(1), ()) == ()


def test_a_claimed_node_takes_nothing_though_it_is_not_cordoned_yet() -> None:
    """n2 is the younger claim: it is not to go before n1, and there is room on it until its cordon."""
    seen = cluster([node("n1", **DRAINED), node("n2", cpu=8), node("rest", cpu=0.5)], [pod("p1", on="n1", cpu=1)])

    assert lost_place(seen.node_by_name["n1"], seen, claims(2), ())


def test_of_two_claims_of_one_moment_every_instance_puts_the_same_first() -> None:
    seen = picture(1, 1, free=1)
    state = ClusterState(claims={f"uid-{name}": claim(name, order_id=name) for name in ("n2", "n1")})

    assert [bool(lost_place(any_node, seen, state, ())) for any_node in seen.nodes[:2]] == [False, True]


def test_a_drain_whose_own_claim_is_there_no_more_comes_last() -> None:
    seen = picture(1, 1, free=1)

    assert lost_place(seen.nodes[1], seen, claims(1), ())
    assert lost_place(seen.nodes[0], seen, ClusterState(claims={"uid-n2": claims(2).claims["uid-n2"]}), ())


def record(phase: str, *answers: str) -> DrainRecord:
    rows = {f"default/{answer}": PodProgress(uid=f"uid-{answer}", answer=answer, at=NOW) for answer in answers}
    return DrainRecord(order=order(), phase=DrainPhase(phase), pods=rows)


@cases(
    "expected, known",
    ("its node is not cordoned", False, record("claimed")),
    ("it has asked for nothing", False, record("cordoned")),
    ("nothing was granted", False, record("cordoned", "budget", "conflict")),
    ("a pod was let go", True, record("cordoned", "budget", "granted")),
    ("the answer is not written yet", True, record("cordoned", "asked")),
    ("the answer was lost", True, record("cordoned", "later")),
    ("all were", True, record("drained", "granted")),
    ("it is being returned: the others stay", False, record("halting", "granted")),
    ("nothing is known of it", True, None),
)
def test_a_drain_moves_pods_once_one_may_have_been_let_go(expected: bool, known: DrainRecord | None) -> None:
    assert may_move(known) is expected
