"""The rows of a fleet in words: the same cells on a terminal and in markdown. Must not draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from functions.cli.fleet.view import FleetRow, FleetView
from functions.cli.format import count
from functions.cli.plan import fleet
from functions.cli.plan.view import PlanView

TITLES: Final = ("nodes", "now", "alone", "at rest", "bound", "saved")
"""Money is by the month; `alone` is what the autoscaler alone comes to."""
STATE: Final = "ebb"
_UNKNOWN: Final = "-"


@dataclass(frozen=True, slots=True)
class FleetLine:
    """One line of the table, and the sentences that belong below it."""

    cells: tuple[str, ...]
    below: tuple[str, ...] = ()


def titles(view: FleetView) -> tuple[str, ...]:
    return (count(len(view.rows), "cluster"), *TITLES, *((STATE,) if _has_states(view) else ()))


def lines(view: FleetView, top: int | None) -> tuple[FleetLine, ...]:
    """Return a line for each cluster; a cluster that could not be read is never left out."""
    shown = shown_rows(view, top)
    found = [FleetLine(_cells(row, view), _below(row)) for row in shown]
    left = len(view.rows) - len(shown)
    return (*found, *((FleetLine((f"… {left} more", *("",) * (len(titles(view)) - 1))),) if left else ()))


def shown_rows(view: FleetView, top: int | None) -> tuple[FleetRow, ...]:
    """Return the first rows as they are sorted, and behind them all that could not be read."""
    if top is None:
        return view.rows
    return (*view.rows[:top], *(row for row in view.rows[top:] if row.faults))


def total(view: FleetView) -> tuple[str, ...]:
    """Return the cells of the sum: of all clusters that were read."""
    partial = next((each.mark for each in view.views if each.partial), "")
    name = f"all {len(view.views)}{' that were read' if view.not_read else ''}{partial}"
    state = (states(view),) if _has_states(view) else ()
    return (name, *_figures(view.views), *state)


def states(view: FleetView) -> str:
    """Return `2 dry run, 1 failing`: how many installations each word is true of."""
    counted = view.counts()
    words = {word: number for word, number in counted.items() if word != "installations" and number}
    return ", ".join(f"{number:,} {word.replace('_', ' ')}" for word, number in words.items())


def _cells(row: FleetRow, view: FleetView) -> tuple[str, ...]:
    mark = row.view.mark if row.view else ""
    state = (row.state,) if _has_states(view) else ()
    return (f"{row.title}{mark}", *_figures([row.view] if row.view else []), *state)


def _figures(views: Sequence[PlanView]) -> tuple[str, ...]:
    if not views:
        return (_UNKNOWN,) * len(TITLES)
    nodes, now = f"{sum(each.totals.nodes for each in views):,}", fleet.month_now(views)
    ladder, money = fleet.summed(views), fleet.money_of(views)
    if ladder is None or money is None:
        return (nodes, now, *(fleet.UNKNOWN,) * (len(TITLES) - 2))
    rungs = (money.month(each) for each in (ladder.alone, ladder.at_rest, ladder.bound))
    return (nodes, now, *rungs, money.saved_month(ladder.at_rest))


def _below(row: FleetRow) -> tuple[str, ...]:
    """Return what is amiss, each as a sentence: why it was not read, and why its installation fails."""
    troubles = tuple(sentence for _, sentence in row.installation.troubles) if row.installation else ()
    paused = (f"Paused: {row.installation.paused_for}",) if row.installation and row.installation.paused_for else ()
    return (*row.faults, *paused, *troubles)


def _has_states(view: FleetView) -> bool:
    return any(row.state for row in view.rows)
