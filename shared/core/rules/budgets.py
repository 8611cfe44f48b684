"""What the budgets, rates, windows and freezes of the policy allow at one moment (docs/decisions/budgets.md)."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime

from shared.core.policy import KARPENTERS_REASONS, Budget, Freeze, NamespaceRate, Rate, Schedule
from shared.core.policy.schedule import active
from shared.core.reasons import DrainReason
from shared.core.records.state import Start
from shared.errors import BadInput


class Calendar:
    """One moment, and which schedules are active then; each schedule is looked up once."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._active: dict[Schedule, bool | None] = {}

    def active(self, schedule: Schedule | None) -> bool | None:
        """Return whether the schedule is active; no schedule always is; None when it cannot be read."""
        if schedule is None:
            return True
        if schedule not in self._active:
            self._active[schedule] = None
            with suppress(BadInput):
                self._active[schedule] = active(schedule, self.now)
        return self._active[schedule]


def limit_now(budgets: Iterable[Budget], reason: DrainReason, nodes: int, calendar: Calendar) -> int | None:
    """Return how many of `nodes` nodes may be in disruption at once for that reason; None = no limit."""
    # The most restrictive active budget wins (docs/acceptance.md row 70). One schedule that cannot be read makes it 0
    # for every reason (row 66): it fails closed.
    rows = [(budget, calendar.active(budget.schedule)) for budget in budgets]
    if any(is_active is None for _, is_active in rows):
        return 0
    holding = (budget for budget, is_active in rows if is_active and applies(budget, reason))
    return min((budget.nodes.of(nodes) for budget in holding), default=None)


def applies(budget: Budget, reason: DrainReason) -> bool:
    # One of a person is bound by all (docs/decisions/people.md).
    known = budget.reasons.difference(KARPENTERS_REASONS)
    if budget.reasons and not known:
        return False
    return not known or reason is DrainReason.MANUAL or reason.value in known


def starts_left(rate: Rate, starts: Iterable[Start], nodes: int, now: datetime) -> int:
    """Return how many drains may still start: those of the last period are taken off, never below zero."""
    recent = sum(1 for start in starts if start.at > now - rate.per)
    return max(rate.nodes.of(nodes) - recent, 0)


def moved_lately(rate: NamespaceRate, starts: Iterable[Start], namespace: str, now: datetime) -> int:
    """Return how many pods of a namespace the drains of the last period move, each counted when it was claimed."""
    return sum(start.pods.get(namespace, 0) for start in starts if start.at > now - rate.per)


def window_open(windows: tuple[Schedule, ...] | None, calendar: Calendar) -> bool:
    """Return whether an allow-window is open; no list of windows = always, an empty list = never."""
    return windows is None or any(calendar.active(window) for window in windows)


def frozen_until(freezes: Sequence[Freeze], now: datetime) -> datetime | None:
    """Return when the freezes in force end, those that follow without a gap among them; None where none is in force."""
    until = None
    while freeze := freeze_in_force(freezes, until or now):
        until = freeze.end
    return until


def freeze_in_force(freezes: Iterable[Freeze], now: datetime) -> Freeze | None:
    """Return a freeze that holds now, from its start until before its end."""
    return next((freeze for freeze in freezes if freeze.start <= now < freeze.end), None)
