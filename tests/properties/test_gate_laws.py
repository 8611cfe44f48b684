"""When a gate opens, against a reference that asks the gate at each half hour; all that can change does so then."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.openings import opens_at
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, NamespaceRate, Policy, Rate, Schedule
from shared.core.reasons import DrainReason
from shared.core.records.state import Backoff, Breaker, ClusterState, Start
from shared.core.rules.budgets import Calendar
from shared.core.rules.counts import count_nodes
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import GATES
from tests.builders import NOW, claim, node, policy
from tests.depth import examples

STEP, HORIZON = timedelta(minutes=30), timedelta(days=2)
CRONS = ("0 21 * * *", "30 */6 * * *", "0 12 * * mon-fri", "30 1 1 1 *")
T = TypeVar("T")


class Dice:
    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)  # noqa: S311 - it makes no secret

    def steps(self, least: int, most: int) -> timedelta:
        return self._dice.randint(least, most) * STEP

    def some(self, most: int, make: Callable[[], T]) -> tuple[T, ...]:
        return tuple(make() for _ in range(self._dice.randint(0, most)))

    def perhaps(self, make: Callable[[], T]) -> T | None:
        return make() if self._dice.random() < 0.7 else None

    def schedule(self) -> Schedule:
        return Schedule(self._dice.choice(CRONS), self.steps(1, 12), "UTC")

    def limit(self, least: int) -> Limit:
        return Limit(count=self._dice.randint(least, 2))

    def budget(self) -> Budget:
        return Budget(self.limit(0), self.perhaps(self.schedule))

    def freeze(self) -> Freeze:
        start = NOW + self.steps(-30, 30)
        return Freeze(start, start + self.steps(1, 40))

    def rate(self) -> Rate:
        return Rate(self.limit(1), self.steps(1, 40))

    def start(self) -> Start:
        return Start(NOW + self.steps(-40, 0), self._dice.choice("ab"), {"shop": self._dice.randint(0, 3)})

    def policy(self) -> Policy:
        pool: dict[str, Any] = {
            "budgets": self.some(2, self.budget),
            "windows": self.perhaps(lambda: self.some(2, self.schedule)),
            "rate": self.perhaps(self.rate),
            "time_since_last_addition": self.perhaps(lambda: self.steps(1, 60)),
        }
        cluster_wide = {
            "budgets": self.some(2, self.budget),
            "freezes": self.some(3, self.freeze),
            "rate": self.perhaps(self.rate),
            "evictions_per_namespace": self.perhaps(lambda: NamespaceRate(self._dice.randint(1, 4), self.steps(1, 40))),
            "time_gap": self.steps(1, 60),
            "budget_until": self._dice.choice(list(BudgetUntil)),
            "awaiting_deletion": self.limit(0),
            "time_since_last_addition": self.steps(1, 60),
        }
        return policy(**pool, cluster_wide=cluster_wide)

    def proposed(self) -> ProposedDrain:
        nodes = [node(f"n{pool}{n}", pool=pool, created=NOW + self.steps(-60, 0)) for pool in "ab" for n in range(2)]
        first, second, *_ = nodes
        state = ClusterState(
            claims=self.perhaps(lambda: {second.uid: claim(second.name)}) or {},
            breakers=self.perhaps(lambda: {"a": Breaker(NOW + self.steps(-20, 60), "pending")}) or {},
            backoffs=self.perhaps(lambda: {first.uid: Backoff("n", NOW + self.steps(-20, 60), STEP, "failed")}) or {},
            last_scale_down=self.perhaps(lambda: NOW + self.steps(-60, 0)),
            starts=self.some(4, self.start),
        )
        counts = count_nodes(nodes, {}, state, self.policy(), NOW).with_moved_pods({first.uid: {"shop": 2}})
        return ProposedDrain(counts, first, DrainReason.UNDERUTILIZED)


def at(time: datetime, proposed: ProposedDrain) -> ProposedDrain:
    return replace(proposed, counts=replace(proposed.counts, now=time, calendar=Calendar(time)))


@examples(200)
@given(seed=st.integers(0, 10**9))
def test_a_closed_gate_is_open_at_the_time_that_it_names_and_at_none_before(seed: int) -> None:
    proposed = Dice(seed).proposed()
    for gate in GATES:
        if blocker := gate.rule(proposed):
            asked = (NOW + count * STEP for count in range(1, HORIZON // STEP + 1))
            first = next((time for time in asked if gate.rule(at(time, proposed)) is None), None)
            opens = opens_at(gate, proposed, HORIZON)

            assert opens == first or (first is None and opens is not None and opens > NOW + HORIZON)
            assert "until" not in blocker.detail or f"until {opens.isoformat() if opens else None}" in blocker.detail
