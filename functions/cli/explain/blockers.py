"""What stands in the way, by reason: what it is about, what it means, what the autoscaler calls it, what can be done.

Must not judge: all of it was said by the core.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from functions.cli.explain.grid import facts
from functions.cli.plan.node_views import BlockerView
from shared.core.reasons import Unremovable

_MOST: Final = 6
"""Pods of one reason that are named; all of them stand in the list of pods."""


def blockers(found: Sequence[BlockerView]) -> Table:
    """Return each reason once, with all that it is about."""
    table = facts()
    for number, (reason, own) in enumerate(by_reason(found).items(), start=1):
        table.add_row(f"{number}.", Text(reason, style="bold"))
        for line in lines(own):
            table.add_row("", line)
    return table


def by_reason(found: Iterable[BlockerView]) -> dict[str, list[BlockerView]]:
    """Return what was found by its reason; that pods block is said by the pods' own reasons, where there are any."""
    rows: dict[str, list[BlockerView]] = {}
    for each in found:
        rows.setdefault(each.reason, []).append(each)
    if len(rows) > 1:
        rows.pop(Unremovable.BLOCKED_BY_POD.value, None)
    return rows


def lines(own: Sequence[BlockerView]) -> Iterator[str]:
    """Yield what a reason is about, what it means, and what can be done."""
    first, rest = own[0], len(own) - _MOST
    yield from filter(None, (" ".join(part for part in (each.object, each.detail) if part) for each in own[:_MOST]))
    if rest > 0:
        yield f"and {rest:,} more"
    yield first.sentence
    if first.message_id:
        yield f"The cluster autoscaler calls it {first.message_id}."
    yield first.remedy
