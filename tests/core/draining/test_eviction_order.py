"""Whose turn it is: how many pods of a workload without a PodDisruptionBudget are asked for at once."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.drain import Observation
from shared.core.draining.evicting import counted_at, due_now
from shared.core.policy import Limit
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
    return [each.name for each in due_now(drain, seen, limit, NOW)]


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


def test_the_only_replica_goes() -> None:
    assert due(*pods(1), workload=Workload(NAME, 1, 1)) == ["p0"]


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


@pytest.mark.parametrize(
    ("expected", "ago"),
    [
        pytest.param(["p0"], 5, id="an eviction that was refused: after five seconds"),
        pytest.param([], 4.9, id="not before"),
    ],
)
def test_a_pod_rests_before_it_is_asked_for_again(expected: list[str], ago: float) -> None:
    row = let_go("p0", ago=ago, answer="budget")

    assert due(*pods(1), workload=Workload(NAME, 4, 4), pods=row) == expected
