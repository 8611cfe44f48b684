"""Whose restart hangs, as Deployments say it: their owners may have written anything there."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.healing.healing_input import HealingInput
from shared.core.healing.repairs import LOOKED_FOR, MOST, MOST_REFUSED, hanging, in_turn, restart_repairs
from shared.core.records.drain_record import DrainPhase, DrainRecord, Surge
from shared.core.records.state import ClusterState
from tests.builders import NOW, claim, cluster, node, order, policy

WAITS = Deployment(name="default/Deployment/web", uid="u", created=2, updated=1, stamp="order")
COPY = replace(WAITS, name="default/Deployment/web-copy", uid="v")
FREE = ClusterState()


def workloads(*deployments: Deployment) -> dict[str, Workload]:
    return {deployment.name: Workload(deployment.name, 1, 1, deployment=deployment) for deployment in deployments}


def seen(*deployments: Deployment) -> Snapshot:
    return cluster([node("n1")], workloads=workloads(*deployments))


@pytest.mark.parametrize(
    ("expected", "stamp", "state"),
    [
        pytest.param({"order"}, "order", FREE, id="a drain's"),
        pytest.param(set(), "order", ClusterState(claims={"uid-n1": claim("n1")}), id="one that is at work"),
        pytest.param(set(), "", FREE, id="nobody's"),
        pytest.param(set(), "x" * 2000, FREE, id="longer than any id"),
        pytest.param(set(), "../order", FREE, id="no id"),
    ],
)
def test_only_what_may_be_an_orders_id_is_looked_for(expected: set[str], stamp: str, state: ClusterState) -> None:
    assert set(hanging(workloads(replace(WAITS, stamp=stamp)).values(), state)) == expected


@pytest.mark.parametrize("deployments", [(WAITS, COPY), (COPY, WAITS)], ids=["the copy last", "the copy first"])
def test_a_copy_of_a_deployment_hides_none_that_hangs(deployments: tuple[Deployment, ...]) -> None:
    record = DrainRecord(
        order=order(),
        phase=DrainPhase.SETTLED,
        node_uid="uid-n1",
        updated_at=NOW,
        surges={WAITS.name: Surge(uid="u", at=NOW)},
    )
    found = HealingInput(seen(*deployments), FREE, {"order": record}, policy(), NOW)

    (repair,) = restart_repairs(found)

    assert repair.detail.startswith(f"{WAITS.name} ")


@pytest.mark.parametrize(
    ("expected", "surge"),
    [
        pytest.param(1, Surge(uid="u", at=NOW), id="never looked at since"),
        pytest.param(1, Surge(uid="u", at=NOW, looked_at=6), id="changed since the look"),
        pytest.param(0, Surge(uid="u", at=NOW, looked_at=7), id="not changed since"),
        pytest.param(0, Surge(uid="v", at=NOW), id="another has its name"),
        pytest.param(1, Surge(uid="u", at=NOW, refused=MOST_REFUSED - 1), id="refused, but not often"),
        pytest.param(0, Surge(uid="u", at=NOW, refused=MOST_REFUSED), id="refused too often"),
    ],
)
def test_a_release_is_published_only_where_it_may_have_an_effect(expected: int, surge: Surge) -> None:
    record = DrainRecord(
        order=order(), phase=DrainPhase.SETTLED, node_uid="uid-n1", updated_at=NOW, surges={WAITS.name: surge}
    )
    found = HealingInput(seen(replace(WAITS, generation=7)), FREE, {"order": record}, policy(), NOW)

    assert len(list(restart_repairs(found))) == expected


INTERVAL = timedelta(minutes=5)


@pytest.mark.parametrize("count", [1, MOST, MOST + 1, 2 * MOST, 25, 100, 12 * MOST])
@pytest.mark.parametrize("late", [(0, 0, 0), (-20, 30, 2), (140, -140, 0)], ids=["on time", "about on time", "far off"])
def test_every_stamp_has_its_turn_within_the_hour_and_a_pass_reads_a_few(count: int, late: tuple[int, ...]) -> None:
    found = [f"drain-{number}" for number in range(count)]
    passes = int(LOOKED_FOR / INTERVAL)

    turns = [
        in_turn(found, NOW + number * INTERVAL + timedelta(seconds=late[number % len(late)]), INTERVAL)
        for number in range(passes)
    ]

    assert {order_id for turn in turns for order_id in turn} == set(found)
    assert all(len(turn) == len(set(turn)) <= MOST for turn in turns)


def test_where_nothing_hangs_nobody_has_a_turn() -> None:
    assert in_turn((), NOW, INTERVAL) == ()
