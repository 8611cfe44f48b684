from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.drain import Observation
from shared.core.draining.evicting import EVICTIONS_A_ROUND, ROUND, counted_at, due_now, in_this_round, share_of_round
from shared.core.policy import DrainSettings, Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from tests.builders import NOW, claim, node, order, pdb, pod, pod_class
from tests.depth import cases

QUARTER = Limit(percent=25)
WEB, OTHER = pod_class(owner="ReplicaSet/web"), pod_class(owner="ReplicaSet/web-new")
NAME = "default/Deployment/web"


def pods(number: int, **changes: Any) -> tuple[Pod, ...]:
    return tuple(pod(f"p{index}", on="n1", kind=WEB, **changes) for index in range(number))


def due(*present: Pod, workload: Workload | None = None, limit: Limit = QUARTER, **record: Any) -> list[str]:
    """Return the names of the pods whose turn it is; the workload was read just now."""
    known = {WEB.workload: workload, OTHER.workload: workload} if workload else {}
    seen = Observation(node("n1"), claim("n1"), present, workloads=known, workloads_at=NOW)
    drain = DrainRecord(order=order(), phase=DrainPhase.CORDONED, **record)
    return [row.name for row in due_now(drain, seen, limit, NOW)]


def let_go(name: str, *, ago: float, answer: str = "granted") -> dict[str, PodProgress]:
    at = NOW - timedelta(seconds=ago)
    return {f"default/{name}": PodProgress(uid=f"uid-{name}", answer=answer, owner=WEB.workload, at=at)}


@cases(
    "expected, workload, limit",
    ("not known: one by one", ["p0"], None, QUARTER),
    ("a quarter of four is one", ["p0"], Workload(NAME, 4, 4), QUARTER),
    ("a quarter of eight is two", ["p0", "p1"], Workload(NAME, 8, 8), QUARTER),
    ("one is lost elsewhere already", ["p0"], Workload(NAME, 8, 7), QUARTER),
    ("two are lost elsewhere already", [], Workload(NAME, 8, 6), QUARTER),
    ("never all replicas at once", ["p0", "p1"], Workload(NAME, 3, 3), Limit(percent=100)),
    ("a plain number", ["p0", "p1", "p2"], Workload(NAME, 9, 9), Limit(count=3)),
    ("at least one", ["p0"], Workload(NAME, 8, 8), Limit(count=0)),
)
def test_as_many_go_at_once_as_the_policy_lets_be_away(
    expected: list[str], workload: Workload | None, limit: Limit
) -> None:
    assert due(*pods(3), workload=workload, limit=limit) == expected


@cases(
    "expected, first, workload",
    ("leaving and still counted as available", [], {"deleting": NOW}, Workload(NAME, 4, 4)),
    ("leaving and counted as away", [], {"deleting": NOW, "ready": False}, Workload(NAME, 4, 3)),
    ("leaving and replaced", ["p1"], {"deleting": NOW, "ready": False}, Workload(NAME, 4, 4)),
    ("not known: until it is gone", [], {"deleting": NOW, "ready": False}, None),
    ("the one that is away already goes", ["p0"], {"ready": False}, Workload(NAME, 4, 3)),
)
def test_a_pod_that_is_away_is_counted_once(expected: list[str], first: dict[str, Any], workload: Any) -> None:
    leaving, waiting = pods(2)
    assert due(replace(leaving, **first), waiting, workload=workload) == expected


@cases(
    "expected, row",
    ("let go four seconds before: the status may not show it yet", [], let_go("gone", ago=4)),
    ("let go five seconds before: the status shows it", ["p0"], let_go("gone", ago=5)),
    ("refused: it never left", ["p0"], let_go("gone", ago=4, answer="budget")),
)
def test_a_pod_just_let_go_counts_until_the_status_can_show_it(
    expected: list[str], row: dict[str, PodProgress]
) -> None:
    assert due(*pods(1), workload=Workload(NAME, 4, 4), pods=row) == expected


def test_the_replica_sets_of_one_deployment_share_what_may_be_away() -> None:
    old, new = pod("a", on="n1", kind=WEB), pod("b", on="n1", kind=OTHER)
    assert due(old, new, workload=Workload(NAME, 4, 4, rolling=True)) == ["a"]


def test_a_pdb_keeps_order_by_itself_however_many_are_away() -> None:
    seen = Observation(node("n1"), claim("n1"), pods(2), (pdb("web", app="web"),), {WEB.workload: Workload(NAME, 2, 0)})
    drain = DrainRecord(order=order(), phase=DrainPhase.CORDONED)
    assert due_now(drain, seen, QUARTER, NOW) == pods(2)


def test_a_pod_that_was_let_go_is_seen_away_by_all_after_a_controllers_lag_and_the_age_of_a_shared_reading() -> None:
    progress = {**let_go("p", ago=10), **let_go("q", ago=4)}
    drain = DrainRecord(order=order(), phase=DrainPhase.CORDONED, pods=progress)
    assert counted_at(drain) == NOW - timedelta(seconds=4) + timedelta(seconds=5 + 3)
    assert counted_at(DrainRecord(order=order(), phase=DrainPhase.CORDONED)) is None


PODS = tuple(pod(f"p{number}", on="n1") for number in range(5))


def asked(**ago: float) -> DrainRecord:
    """A drain that asked for these pods so many seconds ago, in vain."""
    rows = {
        f"default/{name}": PodProgress(uid=f"uid-{name}", answer="budget", at=NOW - timedelta(seconds=seconds))
        for name, seconds in ago.items()
    }
    return DrainRecord(order=order(), phase=DrainPhase.CORDONED, pods=rows)


def chosen(record: DrainRecord, working: int, most: int = 20, due: tuple[Pod, ...] = PODS) -> list[str]:
    return [row.name for row in in_this_round(due, record, working, most, NOW)]


@cases(
    "expected, record, working, most",
    ("alone: all at once", ["p0", "p1", "p2", "p3", "p4"], asked(), 1, 20),
    ("alone, but the policy shows three", ["p0", "p1", "p2"], asked(), 1, 3),
    ("eighteen drains: two each", ["p0", "p1"], asked(), 18, 20),
    ("thirty drains: one each", ["p0"], asked(), 30, 20),
    ("the round is not over", [], asked(p0=2), 1, 20),
    ("what was never asked for comes first", ["p1"], asked(p0=3), 30, 20),
    ("then what was asked for longest ago", ["p3"], asked(p0=6, p1=7, p2=8, p3=9, p4=5), 30, 20),
    ("five hundred drains: one each all the same", ["p1"], asked(p0=3), 500, 20),
)
def test_a_drain_asks_for_its_share(expected: list[str], record: DrainRecord, working: int, most: int) -> None:
    assert chosen(record, working, most) == expected


@given(st.integers(min_value=0, max_value=EVICTIONS_A_ROUND))
def test_all_drains_together_stay_within_the_rate(working: int) -> None:
    assert share_of_round(working) >= 1
    assert working * share_of_round(working) <= EVICTIONS_A_ROUND


def test_a_full_node_is_asked_empty_within_its_deadline_however_many_drain() -> None:
    assert 110 * ROUND / share_of_round(10_000) < DrainSettings().timeout


def test_every_pod_is_asked_for_however_long_others_are_refused() -> None:
    rows: dict[str, float] = {}
    for _ in PODS:
        (name,) = chosen(asked(**rows), working=36)
        rows = {**{row: ago + 3 for row, ago in rows.items()}, name: 3}

    assert sorted(rows) == ["p0", "p1", "p2", "p3", "p4"]
