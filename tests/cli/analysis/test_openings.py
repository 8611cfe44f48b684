"""Until when a gate is closed, and which line of the policy closes it. NOW is Wednesday, 2026-03-04 22:00 UTC."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.openings import Closed, closed
from shared.core.policy import Budget, Freeze, Limit, Policy, Rate, Schedule
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.state import Backoff, Breaker, ClusterState, Start
from shared.core.rules.counts import count_nodes
from shared.core.rules.gates import ProposedDrain, blockers
from tests.builders import NOW, claim, node, policy

HOUR = timedelta(hours=1)
N1, N2 = node("n1"), node("n2")
NIGHT = Schedule("0 20 * * *", 10 * HOUR)
NOON = Schedule("0 12 * * *", 2 * HOUR)
UNREADABLE = Schedule("not a cron", HOUR)


def _closed(rules: Policy, **state: Any) -> list[Closed]:
    counts = count_nodes([N1, N2], {}, ClusterState(**state), rules, NOW)
    proposed = ProposedDrain(counts, N1, DrainReason.UNDERUTILIZED)
    return [closed(each, proposed) for each in blockers(counts, N1, DrainReason.UNDERUTILIZED)]


def _at(hour: int, day: int = 5) -> datetime:
    return NOW.replace(day=day, hour=hour)


CLAIMED = {"claims": {N2.uid: claim("n2")}}


@pytest.mark.parametrize(
    ("expected", "reason", "rules", "state"),
    [
        pytest.param(NOW + HOUR, Unremovable.FROZEN,
                     policy(cluster_wide={"freezes": (Freeze(NOW - HOUR, NOW + HOUR),)}), {}, id="a freeze's end"),
        pytest.param(_at(12), Unremovable.OUTSIDE_WINDOWS, policy(windows=(NOON,)), {}, id="the next window"),
        pytest.param(None, Unremovable.OUTSIDE_WINDOWS, policy(windows=()), {}, id="never, without a window"),
        pytest.param(None, Unremovable.OUTSIDE_WINDOWS, policy(windows=(UNREADABLE,)), {}, id="an unreadable one"),
        pytest.param(_at(6), Unremovable.BUDGET, policy(budgets=(Budget(Limit(count=0), NIGHT),)), {},
                     id="the end of a budget of none"),
        pytest.param(_at(6), Unremovable.CLUSTER_BUDGET,
                     policy(cluster_wide={"budgets": (Budget(Limit(count=0), NIGHT),)}), {}, id="the cluster's own"),
        pytest.param(None, Unremovable.BUDGET, policy(budgets=(Budget(Limit(count=1)),)), CLAIMED,
                     id="a budget in use waits for its drain"),
        pytest.param(NOW + HOUR, Unremovable.RATE, policy(rate=Rate(Limit(count=1), 2 * HOUR)),
                     {"starts": (Start(NOW - HOUR, "a"),)}, id="a start leaves the period"),
        pytest.param(NOW + 2 * HOUR, Unremovable.RATE,
                     policy(rate=Rate(Limit(count=1), 2 * HOUR), cluster_wide={"rate": Rate(Limit(count=1), 3 * HOUR)}),
                     {"starts": (Start(NOW - HOUR, "a"),)}, id="it leaves the longer one of pool's and cluster's"),
        pytest.param(NOW + HOUR, Unremovable.TIME_GAP, policy(cluster_wide={"time_gap": 2 * HOUR}),
                     {"last_scale_down": NOW - HOUR}, id="the gap's end"),
        pytest.param(NOW + HOUR, Unremovable.RECENT_ADDITION,
                     policy(cluster_wide={"time_since_last_addition": 25 * HOUR}), {}, id="the addition's grace"),
        pytest.param(NOW + HOUR, Unremovable.BREAKER_OPEN, policy(),
                     {"breakers": {"a": Breaker(NOW + HOUR, "pods pending")}}, id="the breaker's end"),
        pytest.param(NOW + HOUR, Unremovable.BACKING_OFF, policy(),
                     {"backoffs": {N1.uid: Backoff("n1", NOW + HOUR, HOUR, "failed")}}, id="the back-off's end"),
        pytest.param(None, Unremovable.PAUSED, policy(cluster_wide={"paused": True}), {}, id="a pause ends when told"),
    ],
)  # fmt: skip
def test_a_gate_is_closed_until(
    expected: datetime | None, reason: Unremovable, rules: Policy, state: dict[str, Any]
) -> None:
    found = {each.blocker.reason: each.until for each in _closed(rules, **state)}
    assert found[reason] == expected


def test_when_it_opens_the_gate_itself_is_asked() -> None:
    """The noon window opens inside a budget of none: the budget's end counts for the budget alone."""
    blocked = Budget(Limit(count=0), Schedule("0 0 * * *", 24 * HOUR))
    found = {each.blocker.reason: each.until for each in _closed(policy(windows=(NOON,), budgets=(blocked,)))}
    assert found == {Unremovable.OUTSIDE_WINDOWS: _at(12), Unremovable.BUDGET: None}


@pytest.mark.parametrize(
    ("expected", "rules"),
    [
        pytest.param('"0 12 * * *" for 2h (UTC)', policy(windows=(NOON,)), id="a window"),
        pytest.param('nodes: 0, "0 20 * * *" for 10h (UTC)',
                     policy(budgets=(Budget(Limit(percent=90)), Budget(Limit(count=0), NIGHT))), id="what binds"),
    ],
)  # fmt: skip
def test_it_is_said_which_line_of_the_policy_it_is(expected: str, rules: Policy) -> None:
    assert [each.which for each in _closed(rules)] == [expected]
