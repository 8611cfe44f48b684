"""Since when a node could go: a mark is set once, keeps its time while unbroken, and is lost when broken.

Source: estafette's marks
(docs/acceptance.md rows 29 to 33); with disabled pools cleared (docs/acceptance.md row 5) and with a limit to silence
(docs/decisions/budgets.md).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from shared.core.records.state import Mark, PoolMarks

INTERVAL: Final = timedelta(minutes=5)
"""How far apart passes are expected where nothing else is set (EBB_INTERVAL_SECONDS)."""
SILENCE: Final = timedelta(minutes=15)
"""Marks survive at least so long a silence of the planner; nobody knows what happened in a longer one."""
MISSED_PASSES: Final = 3
NO_MARKS: Final = PoolMarks()


def silence(interval: timedelta) -> timedelta:
    """Return after how long without a pass nobody knows any more what happened; `interval` lies between two passes."""
    return max(MISSED_PASSES * interval, SILENCE)


def update_marks(
    old: Mapping[str, PoolMarks],
    could_go: Mapping[str, tuple[str, str]],
    now: datetime,
    last_pass: datetime | None,
    interval: timedelta,
) -> dict[str, PoolMarks]:
    """Return the marks after this pass, by pool; a pool that lost its last mark stays with none.

    Args:
        old: the marks as stored.
        could_go: node UID to name and pool, for each node of an enabled pool that could go now.
        now: the state's time.
        last_pass: when the last pass was completed; None = never.
        interval: the time between two passes.
    """
    trusted = last_pass is not None and now - last_pass < silence(interval)
    rows: dict[str, dict[str, Mark]] = {pool: {} for pool in old}
    for uid, (name, pool) in sorted(could_go.items()):
        known = old.get(pool, NO_MARKS).marks.get(uid) if trusted else None
        rows.setdefault(pool, {})[uid] = Mark(name, known.since if known else now)
    return {pool: PoolMarks(marks=marks) for pool, marks in sorted(rows.items())}


def changed_pools(old: Mapping[str, PoolMarks], new: Mapping[str, PoolMarks]) -> tuple[str, ...]:
    """Return the pools whose document must be written; in a steady state none (docs/acceptance.md row 32)."""
    return tuple(pool for pool in sorted({*old, *new}) if old.get(pool, NO_MARKS) != new.get(pool, NO_MARKS))


def removable_at(mark: Mark, consolidate_after: timedelta | None) -> datetime | None:
    """Return when the mark is old enough; None = Never."""
    return None if consolidate_after is None else mark.since + consolidate_after


def is_old_enough(mark: Mark, consolidate_after: timedelta | None, now: datetime) -> bool:
    """Whether the node has been marked long enough: at exactly that time it is (docs/acceptance.md row 31)."""
    due = removable_at(mark, consolidate_after)
    return due is not None and due <= now
