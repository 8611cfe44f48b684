"""Several clusters: a report of each, and their sum. Never one merged cluster: no pod moves from one to another.

Must not decide anything: it adds up what the views hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep
from functions.cli.format import dollars_a_month, monthly, whole_money
from functions.cli.markdown_text import table, text
from functions.cli.plan.ladder_json import rungs
from functions.cli.plan.ladder_money import LadderMoney
from functions.cli.plan.ladder_rows import headline
from functions.cli.plan.layout import GAP
from functions.cli.plan.view import PlanView

SCHEMA: Final = 1
PARTIAL: Final = "Partial: "
UNKNOWN: Final = "unknown"
_LINE: Final = 72
_SUMS: Final = ("nodes", "pods", "pending_pods", "orders", "cost_per_hour", "saving_per_hour", "saving_per_month")


def document(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    """Return the plan's JSON of one cluster as it is, or that of several with their sum."""
    if len(documents) == 1:
        return documents[0]
    return {"schema": SCHEMA, "clusters": list(documents), **sums(documents, views)}


def sums(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    """Return `ladder` and `totals` of several plans together."""
    totals: dict[str, Any] = {name: _sum(name, [each["totals"] for each in documents]) for name in _SUMS}
    ladder = summed(views)
    return {"ladder": rungs(ladder) if ladder else [], "totals": {"clusters": len(documents), **totals}}


def end_of_report(console: Console, views: Sequence[PlanView]) -> None:
    """Draw a line below the report of one of several clusters."""
    if len(views) > 1:
        console.print()
        console.print("-" * min(console.width, _LINE), style="dim")
        console.print()


def show_total(console: Console, views: Sequence[PlanView], whose: str) -> None:
    """Print a row a cluster and their sum, and in the end what it comes to; of one cluster its report has it."""
    if len(views) > 1:
        console.print(_table(views))
        console.print()
        console.print(whole_headline(views, whose))


def markdown(views: Sequence[PlanView], whose: str) -> tuple[str, ...]:
    """Return the sum of several clusters as a table of markdown and a sentence; of one cluster nothing."""
    if len(views) == 1:
        return ()
    titles, *rows = _rows(views)
    whole = table(titles, (tuple(map(text, row)) for row in rows), titles[1:])
    return whole, f"**{text(whole_headline(views, whose))}**"


def ladders_of(views: Sequence[PlanView]) -> tuple[Ladder, ...]:
    return tuple(view.ladder.ladder for view in views if view.ladder)


def money_of(views: Sequence[PlanView]) -> LadderMoney | None:
    """Return the money of `summed`: each month is the sum of what is printed of the clusters."""
    whole = summed(views)
    return LadderMoney(whole, ladders_of(views)) if whole else None


def month_now(views: Sequence[PlanView]) -> str:
    """Return what all of them cost now, those without a ladder too, as the sum of what is printed of each."""
    return _column([view.totals.cost for view in views])[-1]


def summed(views: Sequence[PlanView]) -> Ladder | None:
    """Return the sum of the ladders; None where no cluster has one."""
    ladders = ladders_of(views)
    if not ladders:
        return None
    return Ladder(
        now=_step([each.now for each in ladders]),
        alone=_step([each.alone for each in ladders]),
        at_rest=_step([each.at_rest for each in ladders]),
        relaxed=(),
        bound=_step([each.bound for each in ladders]),
        by=max((each.by for each in ladders if each.by), default=None),
        held_up={},
        never={},
        untried=any(each.untried for each in ladders),
    )


def _step(steps: Sequence[LadderStep]) -> LadderStep:
    sums = {name: sum(getattr(each, name) for each in steps) for name in ("nodes", "cost", "evictions", "gone")}
    return replace(steps[0], **sums)


def whole_headline(views: Sequence[PlanView], whose: str) -> str:
    ladder, whole = summed(views), [view for view in views if view.ladder]
    if ladder is None:
        return f"{PARTIAL}of no cluster it is known what could go."
    told = headline(ladder, whose, max(view.taken_at for view in whole), ladders_of(views))
    return told if len(whole) == len(views) else f"{PARTIAL}of {len(whole)} of {len(views)} clusters: {told}"


def _table(views: Sequence[PlanView]) -> Table:
    titles, *rows, total = _rows(views)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    table.add_row(*total, style="bold")
    return table


def _rows(views: Sequence[PlanView]) -> tuple[tuple[str, ...], ...]:
    """Return the titles, a row a cluster, and their sum; money is by the month."""
    most = any(view.potential for view in views)
    titles = (f"{len(views)} clusters", "nodes", "now", "autoscaler alone", "at rest", "bound")
    marked = next((view.mark for view in views if view.partial), "")
    names = (*(f"{view.cluster}{view.mark}" for view in views), f"all{marked}")
    nodes = (*(f"{view.totals.nodes:,}" for view in views), f"{sum(view.totals.nodes for view in views):,}")
    columns = [names, nodes, _column([view.totals.cost for view in views]), *_rungs(views)]
    if most:
        columns.append(_column([view.potential.saving if view.potential else None for view in views]))
    return ((*titles, *(("potential",) if most else ())), *zip(*columns, strict=True))


def _rungs(views: Sequence[PlanView]) -> Iterator[tuple[str, ...]]:
    """Yield a column for each rung: of each cluster what its own report says, and the sum of that."""
    whole, money = summed(views), money_of(views)
    for rung in ("alone", "at_rest", "bound"):
        total = money.month(getattr(whole, rung)) if money else UNKNOWN
        yield (*(_rung(view, rung) for view in views), total)


def _rung(view: PlanView, rung: str) -> str:
    money = money_of([view])
    return money.month(getattr(summed([view]), rung)) if money else UNKNOWN


def _column(amounts: Sequence[int | None]) -> tuple[str, ...]:
    """Return what is printed of each cluster, as in its own report, and of all: the sum of what is printed."""
    known = [each for each in amounts if each is not None]
    if not known:
        return (UNKNOWN,) * (len(amounts) + 1)
    total = whole_money(sum(round(dollars_a_month(each)) for each in known), of=sum(known))
    return (*(UNKNOWN if each is None else monthly(each) for each in amounts), total)


def _sum(name: str, totals: Sequence[dict[str, Any]]) -> int | float:
    found = sum(each[name] for each in totals)
    return round(found, 4) if isinstance(found, float) else found
