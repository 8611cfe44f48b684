from datetime import timedelta
from typing import Any

import pytest
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


@pytest.mark.parametrize(
    ("expected", "workload", "limit"),
    [
        pytest.param(["p0"], None, QUARTER, id="not known: one by one"),
        pytest.param(["p0"], Workload(NAME, 4, 4), QUARTER, id="a quarter of four is one"),
        pytest.param(["p0", "p1"], Workload(NAME, 8, 8), QUARTER, id="a quarter of eight is two"),
        pytest.param(["p0"], Workload(NAME, 8, 7), QUARTER, id="one is lost elsewhere already"),
        pytest.param([], Workload(NAME, 8, 6), QUARTER, id="two are lost elsewhere already"),
        pytest.param(["p0", "p1"], Workload(NAME, 3, 3), Limit(percent=100), id="never all replicas at once"),
        pytest.param(["p0", "p1", "p2"], Workload(NAME, 9, 9), Limit(count=3), id="a plain number"),
        pytest.param(["p0"], Workload(NAME, 8, 8), Limit(count=0), id="at least one"),
    ],
)
def test_as_many_go_at_once_as_the_policy_lets_be_away(
    expected: list[str], workload: Workload | None, limit: Limit
) -> None:
    assert due(*pods(3), workload=workload, limit=limit) == expected


@pytest.mark.parametrize(
    ("expected", "first", "workload"),
    [
        pytest.param([], {"deleting": NOW}, Workload(NAME, 4, 4), id="leaving and still counted as available"),
        pytest.param([], {"deleting": NOW, "ready": False}, Workload(NAME, 4, 3), id="leaving and counted as away"),
        pytest.param(["p1"], {"deleting": NOW, "ready": False}, Workload(NAME, 4, 4), id="leaving and replaced"),
        pytest.param([], {"deleting": NOW, "ready": False}, None, id="not known: until it is gone"),
        pytest.param(["p0"], {"ready": False}, Workload(NAME, 4, 3), id="the one that is away already goes"),
    ],
)
def test_a_pod_that_is_away_is_counted_once(expected: list[str], first: dict[str, Any], workload: Any) -> None:
    leaving, waiting = pods(2)
    assert due(replace(leaving, **first), waiting, workload=workload) == expected


@pytest.mark.parametrize(
    ("expected", "row"),
    [
        pytest.param([], let_go("gone", ago=4), id="let go four seconds before: the status may not show it yet"),
        pytest.param(["p0"], let_go("gone", ago=5), id="let go five seconds before: the status shows it"),
        pytest.param(["p0"], let_go("gone", ago=4, answer="budget"), id="refused: it never left"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "record", "working", "most"),
    [
        pytest.param(["p0", "p1", "p2", "p3", "p4"], asked(), 1, 20, id="alone: all at once"),
        pytest.param(["p0", "p1", "p2"], asked(), 1, 3, id="alone, but the policy shows three"),
        pytest.param(["p0", "p1"], asked(), 18, 20, id="eighteen drains: two each"),
        pytest.param(["p0"], asked(), 30, 20, id="thirty drains: one each"),
        pytest.param([], asked(p0=2), 1, 20, id="the round is not over"),
        pytest.param(["p1"], asked(p0=3), 30, 20, id="what was never asked for comes first"),
        pytest.param(["p3"], asked(p0=6, p1=7, p2=8, p3=9, p4=5), 30, 20, id="then what was asked for longest ago"),
        pytest.param(["p1"], asked(p0=3), 500, 20, id="five hundred drains: one each all the same"),
    ],
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
