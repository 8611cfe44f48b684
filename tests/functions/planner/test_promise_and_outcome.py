"""Promise against outcome on a whole Ebb: what is missing has a reason, and what went is missing nowhere."""

import random
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.core.cluster.node import NodePool
from shared.core.records.ledger import Sums
from shared.core.records.week import shortfall
from tests.builders import NOW, committed, node, pod, policy
from tests.depth import cases
from tests.fakes import failing
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import deliver_and_remove, drained
from tests.functions.planner.test_weekly import HOUR, MONDAYS, announced, cluster, ledger_of, run_until


def watch_until(ebb: FakeEbb, end: datetime, *, step: timedelta = 6 * HOUR) -> None:
    """Tick with a drainer that gets no order."""
    while ebb.clock.now() < end:
        ebb.tick(schedule_time=ebb.clock.now().isoformat())
        ebb.bus.published.clear()
        ebb.pass_time(hours=step / HOUR)


def remove(ebb: FakeEbb, *names: str) -> None:
    """Let the nodes and their pods go."""
    for name in names:
        del ebb.cluster.nodes[name]
        for key in [found.key for found in ebb.cluster.pods.values() if found.node == name]:
            ebb.cluster.pods.pop(key)


def why_less(week: Mapping[str, Any]) -> dict[str, float]:
    return {row["reason"]: row["cost"] for row in week["shortfall"]}


def test_what_others_removed_has_its_own_amount_in_a_shortfall() -> None:
    ebb = cluster()
    watch_until(ebb, NOW + 36 * HOUR)
    remove(ebb, "n0", "n1", "n2")
    watch_until(ebb, MONDAYS[1] + 6 * HOUR)
    first, second = announced(ebb)
    assert (first["removed_by_others"], first["removed_by_ebb"]) == (3, 0)
    assert why_less(second)["removed_by_others"] > 0
    assert sum(why_less(second).values()) == pytest.approx(second["promised"], abs=0.02)


def test_a_cluster_that_stays_smaller_without_a_rhythm_keeps_its_promise() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[2] + 6 * HOUR, step=6 * HOUR)
    weeks = announced(ebb)
    assert weeks[-1]["promised"] > weeks[-1]["saved"] == 0
    assert [week["shortfall"] for week in weeks] == [[], [], []]
    assert all(shortfall(sums) == () for sums in ledger_of(ebb).months.values())
    assert "older removals add" in weeks[-1]["text"]


def test_what_others_removed_lacks_nothing_if_commitments_pay_for_it() -> None:
    ebb = cluster(policy=policy(cluster_wide={"commitments": committed("e2", vcpu=24, gib=96)}))
    watch_until(ebb, NOW + 12 * HOUR)
    remove(ebb, "n0", "n1", "n2")
    watch_until(ebb, NOW + 36 * HOUR)
    assert [(sums.gone, sums.by_others) for sums in ledger_of(ebb).months.values()] == [(3, 0)]


def test_on_the_first_day_no_removal_is_older() -> None:
    ebb = cluster()
    run_until(ebb, NOW + 20 * HOUR)
    sums = [sums for sums in ledger_of(ebb).months.values() if sums.own]
    assert [(one.saved > 0, one.older) for one in sums] == [(True, 0)]


@cases("rows, exists", ("exists", 1, True), ("deleted", 0, False))
def test_what_is_away_from_an_empty_pool_counts_while_the_pool_exists(rows: int, exists: bool) -> None:
    ebb = cluster(policy=policy(pool="b"), b=NodePool("b"))
    ebb.cluster.put(node("m0", pool="b"))
    run_until(ebb, NOW + 6 * HOUR)
    assert "m0" not in ebb.cluster.nodes
    if not exists:
        ebb.pools.pools = {"a": NodePool("a")}
    run_until(ebb, MONDAYS[0] + HOUR, step=3 * HOUR)
    assert sum(pool.own.nodes for pool in ledger_of(ebb).pools.values()) == rows
    assert len(ebb.remembered().removed) == rows


def test_a_node_that_was_blocked_from_the_first_day_is_blamed_for_nothing() -> None:
    ebb = cluster()
    ebb.cluster.put(node("n6"), pod("bare", on="n6", cpu=1, owner=None))
    watch_until(ebb, NOW + 36 * HOUR)
    ebb.cluster.put(*(pod(f"more{index}", on=f"n{index}", cpu=2.5, owner=f"ReplicaSet/m{index}") for index in range(6)))
    watch_until(ebb, MONDAYS[1] + 6 * HOUR)
    week = announced(ebb)[-1]
    assert "not_replicated" in {row["reason"] for row in week["blockers"]}
    assert why_less(week).keys() >= {"fewer_removable"}
    assert "not_replicated" not in why_less(week)


@cases(
    "ebb_drains, luck, others, back",
    ("steady", True, 1, 0, 0),
    ("steady, ticks lost and doubled", True, 0.6, 0, 0),
    ("the autoscaler removes, too", True, 1, 0.6, 0.3),
    ("nodes go and come, ticks lost and doubled", True, 0.6, 0.3, 0.4),
    ("nodes come back", True, 1, 0, 0.1),
    ("without drains", False, 0.8, 0.05, 0.05),
)
def test_over_a_month_the_sums_are_those_of_the_events(
    ebb_drains: bool, luck: float, others: float, back: float
) -> None:
    ebb, dice = cluster(), random.Random(7)  # noqa: S311 - a draw, no secret
    seen, gone, came = set[str](), Counter[str](), 0
    while ebb.clock.now() < MONDAYS[3] + 6 * HOUR:
        for _ in range(1 + (dice.random() > luck) if dice.random() < luck else 0):
            ebb.tick(schedule_time=ebb.clock.now().isoformat())
            seen = set(ebb.cluster.nodes)
        before = set(ebb.cluster.nodes)
        if ebb_drains:
            deliver_and_remove(ebb)
        ebb.bus.published.clear()
        gone["ebb"] += len(before - ebb.cluster.nodes.keys())
        if dice.random() < others and len(ebb.cluster.nodes) > 2:
            name = min(ebb.cluster.nodes)
            gone["others"] += name in seen and not ebb.cluster.nodes[name].drain_taint
            gone["ebb"] += bool(ebb.cluster.nodes[name].drain_taint)
            remove(ebb, name)
        if dice.random() < back:
            came += 1
            ebb.cluster.put(node(f"m{came}", created=ebb.clock.now() + HOUR / 2))
        ebb.pass_time(hours=6)
    ebb.tick()
    sums = Sums()
    for of_month in ledger_of(ebb).months.values():
        sums = sums.plus(of_month)
        assert_adds_up(of_month)
    assert (sums.own, sums.gone - sums.own) == (gone["ebb"], gone["others"])
    assert (gone["ebb"] > 0, gone["others"] > 0) == (ebb_drains, others > 0)
    published = sum(week["removed_by_ebb"] + week["removed_by_others"] for week in announced(ebb))
    assert published + sum(week.gone for week in ledger_of(ebb).weeks.values()) == gone.total()
    if not others and not back:
        _, *later = announced(ebb)  # in a first week of few passes the drains' own time is a fifth
        assert [week["shortfall"] for week in later] == [[]] * (len(MONDAYS) - 1)


def assert_adds_up(sums: Sums) -> None:
    rows = shortfall(sums)
    assert not rows or sum(row.amount for row in rows) == sums.promised - sums.saved - sums.older


def test_a_drain_that_settles_after_the_last_pass_of_a_week_counts_once() -> None:
    ebb = cluster()
    watch_until(ebb, MONDAYS[0] - 2 * HOUR, step=3 * HOUR)
    ebb.pass_time(hours=(MONDAYS[0] - HOUR / 5 - ebb.clock.now()) / HOUR)
    ebb.clock.moves.append(lambda: remove(ebb, *drained(ebb)))
    ebb.tick()
    ebb.carry_on()
    settled = ebb.log.of("drain_result")
    assert ebb.clock.now() < MONDAYS[0]
    ebb.pass_time(minutes=15)
    run_until(ebb, MONDAYS[1] + HOUR, step=6 * HOUR)
    weeks = announced(ebb)
    gone = 6 - len(ebb.cluster.nodes)
    assert sum(week["removed_by_ebb"] for week in weeks) == gone >= len(settled) > 0
    assert sum(week["removed_by_others"] for week in weeks) == 0


def test_a_drain_whose_node_is_gone_counts_though_it_could_not_be_settled() -> None:
    ebb = cluster()
    ebb.tick()
    ebb.carry_on()
    ebb.pass_time(minutes=5)
    remove(ebb, *drained(ebb))
    ebb.state.meanwhile["put", "drains"] = failing(ValueError("not now"))
    ebb.tick()
    counted = [(sums.own, sums.gone) for sums in ledger_of(ebb).months.values()]
    ebb.state.meanwhile.clear()
    ebb.pass_time(minutes=5)
    ebb.tick()
    gone = 6 - len(ebb.cluster.nodes)
    assert counted == [(sums.own, sums.gone) for sums in ledger_of(ebb).months.values()] == [(gone, gone)]
    assert gone > 0
