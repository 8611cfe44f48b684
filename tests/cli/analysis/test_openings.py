"""Which line of the policy closes a gate, and until when. NOW is Wednesday, 2026-03-04 22:00 UTC."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.openings import Closed, describe_gate
from shared.core.policy import Budget, BudgetUntil, Limit, Policy, Schedule
from shared.core.reasons import DrainReason
from shared.core.records.state import ClusterState
from shared.core.rules.counts import count_nodes
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import blockers
from tests.builders import NOW, node, policy

HOUR = timedelta(hours=1)
N1, N2 = node("n1"), node("n2")
NIGHT = Schedule("0 20 * * *", 10 * HOUR)
NOON = Schedule("0 12 * * *", 2 * HOUR)


def _closed(rules: Policy, **state: Any) -> list[Closed]:
    counts = count_nodes([N1, N2], {}, ClusterState(**state), rules, NOW)
    proposed = ProposedDrain(counts, N1, DrainReason.UNDERUTILIZED)
    return [describe_gate(blocker, proposed) for blocker in blockers(counts, N1, DrainReason.UNDERUTILIZED)]


@pytest.mark.parametrize(
    ("expected", "rules"),
    [
        pytest.param(NOW + 14 * HOUR, policy(windows=(NOON,)), id="at noon"),
    ],
)
def test_a_window_is_closed_until(expected: datetime | None, rules: Policy) -> None:
    assert [closed.until for closed in _closed(rules)] == [expected]


@pytest.mark.parametrize(
    ("expected", "rules"),
    [
        pytest.param('"0 12 * * *" for 2h (UTC)', policy(windows=(NOON,)), id="a window"),
        pytest.param('nodes: 0, "0 20 * * *" for 10h (UTC)',
                     policy(budgets=(Budget(Limit(percent=90)), Budget(Limit(count=0), NIGHT))), id="what binds"),
        pytest.param("awaitingDeletion: 0", policy(cluster_wide={"budget_until": BudgetUntil.REPLACED,
                                                                "awaiting_deletion": Limit(count=0)}), id="the cap"),
    ],
)  # fmt: skip
def test_it_is_shown_which_line_of_the_policy_it_is(expected: str, rules: Policy) -> None:
    assert [closed.which for closed in _closed(rules)] == [expected]
