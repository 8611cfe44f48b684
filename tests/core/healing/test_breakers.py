from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import READ_WRITE_ONCE_POD
from shared.core.healing.healing_input import (
    OPEN_FOR,
    HealingInput,
    after_failures,
    after_scale_ups,
    after_stranded_pods,
    breaker_over,
    evicted_workloads,
)
from shared.core.healing.repairs import find_repairs
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.orders import Origin
from shared.core.records.state import Backoff, Breaker, ClusterState, Lease
from tests.builders import NOW, claim, cluster, mounts, node, order, pod, pod_class, policy, storage, volume_claim
from tests.depth import cases

MOVED = {"default/old": PodProgress(uid="u", answer="granted", owner="default/ReplicaSet/web", at=NOW)}


def waits(owner: str = "ReplicaSet/web", seconds: int = 21) -> Pod:
    return pod("new", owner=owner, unschedulable_since=NOW - timedelta(seconds=seconds))


@cases(
    "expected, pods",
    ("a replacement waits longer than its grace", ["a"], [waits()]),
    ("within its grace it may still be placed", [], [waits(seconds=20)]),
    ("a pod of a workload that we did not touch", [], [waits(owner="ReplicaSet/other")]),
    ("a pod that waited before the drain began", [], [waits(seconds=61)]),
    ("nothing waits", [], []),
)
def test_a_breaker_opens_for_a_stranded_replacement(expected: list[str], pods: list[Pod]) -> None:
    records = {"order": DrainRecord(order=order(), pods=MOVED)}

    held = claim("n1", since=NOW - timedelta(seconds=60))

    opened = after_stranded_pods(cluster([node("n1")], pods), [held], records, NOW)

    assert expected == list(opened)
    assert timedelta(minutes=30) == OPEN_FOR
    assert all(row == Breaker(NOW + OPEN_FOR, "default/new found no place after a drain") for row in opened.values())


@cases(
    "expected, mode, held_at, deleting",
    ("its predecessor still holds the claim", [], READ_WRITE_ONCE_POD, None, NOW),
    ("a claim that several pods may use", ["a"], "ReadWriteOnce", None, NOW),
    ("it was free twenty seconds ago", [], READ_WRITE_ONCE_POD, NOW - timedelta(seconds=20), None),
    ("and longer ago", ["a"], READ_WRITE_ONCE_POD, NOW - timedelta(seconds=21), None),
)
def test_a_replacement_that_waits_for_its_own_claim_is_not_stranded(
    expected: list[str], mode: str, held_at: datetime | None, deleting: datetime | None
) -> None:
    records = {"order": DrainRecord(order=order(), pods=MOVED, claims_held_at=held_at)}
    new = replace(waits(seconds=59), spec=pod_class(owner="ReplicaSet/web", volumes=mounts("data")))
    old = [replace(new, name="old", node="n1", unschedulable_since=None, deleting=deleting)] if deleting else []
    seen = cluster([node("n1")], [new, *old], storage=storage(volume_claim("data", access_modes=(mode,))))

    opened = after_stranded_pods(seen, [claim("n1", since=NOW - timedelta(seconds=60))], records, NOW)

    assert list(opened) == expected


@cases(
    "expected, at",
    ("after our claim the plan was wrong", ["a"], NOW + timedelta(seconds=1)),
    ("before our claim it was somebody else's need", [], NOW - timedelta(seconds=1)),
    ("no node was added", [], None),
)
def test_a_breaker_opens_when_a_node_is_bought_for_a_moved_pod(expected: list[str], at: datetime | None) -> None:
    records = {"order": DrainRecord(order=order(), pods=MOVED)}
    grown = {"default/new": at} if at else {}

    found = after_scale_ups(
        cluster([node("n1")], [pod("new", owner="ReplicaSet/web")]), [claim("n1")], records, grown, NOW
    )

    assert expected == list(found)


@cases(
    "expected, failures",
    ("three within an hour", ["a"], [("deadline", 5), ("watchdog", 20), ("deadline", 29)]),
    ("two", [], [("deadline", 5), ("watchdog", 20)]),
    ("people are no failures", [], [("deadline", 5), ("overruled", 6), ("released", 7)]),
    ("nor is room that was needed", [], [("demand", 5), ("demand", 6), ("demand", 7)]),
    ("one of them long ago", [], [("deadline", 5), ("deadline", 6), ("deadline", 61)]),
    ("the last half an hour ago", [], [("deadline", 31), ("deadline", 40), ("deadline", 50)]),
)
def test_a_breaker_opens_after_three_failures_in_a_pool(expected: list[str], failures: list[tuple[str, int]]) -> None:
    nodes = [node(f"n{number}") for number in range(len(failures))]
    rest = timedelta(minutes=30)
    backoffs = {
        f"uid-n{number}": Backoff(f"n{number}", NOW - timedelta(minutes=ago) + rest, rest, why)
        for number, (why, ago) in enumerate(failures)
    }

    assert expected == list(after_failures(cluster(nodes), ClusterState(backoffs=backoffs), NOW))


def failing(*, opened: bool) -> HealingInput:
    """Three nodes of the pool have just failed to drain, and one drain goes on."""
    rest = timedelta(minutes=30)
    backoffs = {f"uid-n{n}": Backoff(f"n{n}", NOW - timedelta(minutes=5) + rest, rest, "deadline") for n in (2, 3, 4)}
    breakers = {"a": Breaker(NOW + timedelta(minutes=25), "3 drains failed within an hour")} if opened else {}
    state = ClusterState(claims={"uid-n1": GOING}, backoffs=backoffs, breakers=breakers)
    seen = cluster([node(f"n{number}") for number in (1, 2, 3, 4)])
    return HealingInput(seen, state, {"order": LIVING}, policy(), NOW)


GOING = claim("n1", since=NOW - timedelta(minutes=4), origin=Origin.PLANNER)
LIVING = DrainRecord(order=order(), phase=DrainPhase.CORDONED, lease=Lease("step", NOW + timedelta(seconds=20)))


def test_what_is_not_emptied_yet_is_returned_once_the_breaker_stands_for_a_release_to_find() -> None:
    opening = failing(opened=False)
    assert (list(opening.breakers), find_repairs(opening)) == (["a"], ())

    (found,) = find_repairs(failing(opened=True))
    assert (found.why, found.detail) == (ReturnReason.BREAKER, "3 drains failed within an hour")


def test_a_breaker_that_stands_open_does_not_open_again() -> None:
    assert failing(opened=True).breakers == {}


def test_one_that_has_closed_and_was_not_swept_yet_does() -> None:
    before = failing(opened=False)
    state = replace(before.state, breakers={"a": Breaker(NOW, "it has closed")})

    assert HealingInput(before.snapshot, state, before.records, before.policy, NOW).breakers == before.breakers


def test_of_several_reasons_a_pod_that_waits_now_is_shown() -> None:
    """It holds the pool for longest, and somebody can help it; that drains have failed is in their results."""
    before = failing(opened=False)
    seen = cluster(before.snapshot.nodes, [waits()])
    records = {"order": replace(LIVING, pods=MOVED)}
    bought = {"default/new": NOW - timedelta(minutes=1)}

    found = HealingInput(seen, before.state, records, before.policy, NOW, scale_ups=bought)

    assert found.breakers == found.stranded != {}


@cases(
    "expected, changes",
    ("a drain of the planner's, which begins none while it is open", True, {}),
    ("one that a person ordered all the same", False, {"origin": Origin.MANUAL}),
    ("or had ordered before", True, {"origin": Origin.MANUAL, "since": NOW - timedelta(minutes=6)}),
    ("one of another pool", False, {"pool": "b"}),
)
def test_a_breaker_ends_the_drains_that_began_before_it(expected: bool, changes: dict[str, Any]) -> None:
    held = replace(GOING, **changes)
    assert bool(breaker_over(held, failing(opened=True).state, NOW)) is expected
    assert breaker_over(held, failing(opened=True).state, NOW + timedelta(minutes=25)) is None


@cases(
    "expected, answer",
    ("let go", {"default/ReplicaSet/web"}, "granted"),
    ("kept by its budget", set(), "budget"),
    ("refused for good", set(), "forbidden"),
)
def test_a_workload_is_moved_once_a_pod_of_it_was_let_go(expected: set[str], answer: str) -> None:
    pods = {"default/old": replace(MOVED["default/old"], answer=answer)}

    assert evicted_workloads(DrainRecord(order=order(), pods=pods)) == expected
