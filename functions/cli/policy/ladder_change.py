"""The ladder before and after a change of policy in words: rows and a sentence, the same on a terminal and in markdown.

Money is that of the two plans, and differences are those of what is printed. Must not decide anything.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.format import by_the_minute, clock, count, span, whole_money, yearly
from functions.cli.plan.ladder_money import LadderMoney

UNKNOWN: Final = "Of this cluster not all pods are known, so nothing is said of what it comes to."
SAME: Final = "="
HEADS: Final = ("", "before", "after", "difference")
_NEVER: Final = "-"


def headline(ladders: Sequence[Ladder]) -> str:
    """Return what the change comes to in the end."""
    if not ladders:
        return UNKNOWN
    old, new = (each.at_rest for each in ladders)
    before, after = map(LadderMoney, ladders)
    more = old.cost - new.cost
    comes = f"{count(new.nodes, 'node')} for {after.month(new)} a month"
    if not more:
        return f"At rest the cluster comes to the same: {comes}."
    month = whole_money(abs(after.whole_month(new) - before.whole_month(old)), of=more)
    return (
        f"At rest the cluster comes to {comes}, where it came to {old.nodes:,} for {before.month(old)}: "
        f"{month} a month {'less' if more > 0 else 'more'} ({yearly(abs(more))} a year)."
    )


def rows(ladders: Sequence[Ladder], now: datetime) -> Iterator[tuple[str, ...]]:
    """Yield what each figure is, what it was, what it will be, and by how much it differs."""
    if not ladders:
        return
    old, new = ladders
    before, after = map(LadderMoney, ladders)
    whole, cost = (
        after.whole_month(new.at_rest) - before.whole_month(old.at_rest),
        new.at_rest.cost - old.at_rest.cost,
    )
    yield "now, a month", before.month(old.now), after.month(new.now), SAME
    yield counted("nodes at rest", old.at_rest.nodes, new.at_rest.nodes)
    yield "a month at rest", before.month(old.at_rest), after.month(new.at_rest), difference(whole, cost)
    saved = before.saved_month(old.at_rest), after.saved_month(new.at_rest)
    yield "saved, a month", *saved, difference(-whole, -cost)
    yield _by(old.by, new.by, now)
    yield counted("evictions until then", old.at_rest.evictions, new.at_rest.evictions)
    yield "no plan goes below, a month", before.month(old.bound), after.month(new.bound), SAME


def counted(what: str, old: int, new: int) -> tuple[str, ...]:
    return what, f"{old:,}", f"{new:,}", f"{new - old:+,}" if old != new else SAME


def difference(whole: int, cost: int) -> str:
    """Return whole units of the currency with their sign; `cost` is the amount that they stand for."""
    return f"{'+' if cost > 0 else '-'}{whole_money(abs(whole), of=cost)}" if cost else SAME


def _by(old: datetime | None, new: datetime | None, now: datetime) -> tuple[str, ...]:
    before, after = (by_the_minute(each) if each else None for each in (old, new))
    told = (clock(each, now) if each else _NEVER for each in (before, after))
    return "at rest by (UTC)", *told, _later(before, after)


def _later(before: datetime | None, after: datetime | None) -> str:
    if before == after:
        return SAME
    if before is None or after is None:
        return _NEVER
    return f"{span(after - before)} later" if after > before else f"{span(before - after)} earlier"
