"""Windows in which nothing can ever go, because a budget of 0 is active for all the time that they are open.

The openings of one year are looked at, clock changes included; which year does not matter, and no clock is read.
Must not warn of a window that is open for a minute.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from shared.core.policy.schedule import hits, last_hit
from shared.core.policy.values import Budget, Limit, Schedule

NONE: Final = frozenset({Limit(count=0), Limit(percent=0)})
_YEAR: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LONG: Final = timedelta(days=366)
_MOST_OPENINGS: Final = 500
"""More than one a day; of a window that opens more often nothing is said."""
_MOST_BLOCKS: Final = 50
"""One after the other; of a window that takes more to be shut nothing is said."""


def shut_windows(windows: Sequence[Schedule], budgets: Sequence[Budget]) -> tuple[int, ...]:
    """Return the places of the windows that lie wholly inside the time of budgets of 0."""
    blocks = [each.schedule for each in budgets if each.nodes in NONE and not each.reasons and each.schedule]
    return tuple(place for place, window in enumerate(windows) if blocks and _is_shut(window, blocks))


def _is_shut(window: Schedule, blocks: Sequence[Schedule]) -> bool:
    openings = list(islice(hits(window, _YEAR, _YEAR + _LONG), _MOST_OPENINGS + 1))
    if not 0 < len(openings) <= _MOST_OPENINGS:
        return False
    return all(_is_covered(each, each + window.duration, blocks) for each in openings)


def _is_covered(start: datetime, end: datetime, blocks: Sequence[Schedule]) -> bool:
    """Whether at every instant from start until before end one of the blocks is active."""
    covered = start
    for _ in range(_MOST_BLOCKS):
        until = max(_active_until(block, covered) for block in blocks)
        if until <= covered:
            return False
        covered = until
        if covered >= end:
            return True
    return False


def _active_until(block: Schedule, now: datetime) -> datetime:
    """Return when the block's last hit ends; now or earlier where it is not active."""
    hit = last_hit(block, now)
    return now if hit is None else hit + block.duration
