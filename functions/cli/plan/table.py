"""The plan on a terminal: the ladder, the pools, what keeps nodes, what it rests on, and one line that sums up.

The nodes themselves are listed where they were asked for. Must not decide anything.
"""

from typing import Final

from rich.console import Console
from rich.table import Table

from functions.cli.format import hourly, moment, monthly
from functions.cli.plan import blocker_table, ladder_table, node_table, pool_table, sentences
from functions.cli.plan.asked import AskedNodes, shown
from functions.cli.plan.layout import GAP
from functions.cli.plan.notes import show_notes, show_odd, show_rests_on
from functions.cli.plan.sum_detail import DETAILS, SumDetail
from functions.cli.plan.view import PlanView

SUM: Final = AskedNodes()
PARTIAL: Final = "Partial, every figure below: the nodes hold more pods than the dump has."
HINT: Final = "More: --nodes (each of them), ebb explain NODE, ebb why-not (what to change)."


def show(console: Console, view: PlanView, asked: AskedNodes = SUM) -> None:
    """Print the plan.

    Raises:
        BadInput: a pool was asked for that the cluster does not have.
    """
    chosen = shown(view, asked)
    if asked.lists_nodes:
        _begin(console, view)
        if view.nodes:
            pool_table.show(console, view)
            console.print()
            node_table.show(console, chosen)
            blocker_table.show(console, view.legend)
            console.print()
            _end(console, view)
    else:
        _sum(console, view, _detail(console, view))


def _detail(console: Console, view: PlanView) -> SumDetail:
    """Return the most that fits the screen, a line left for the prompt."""
    if not console.is_terminal:
        return DETAILS[0]
    return next((each for each in DETAILS if _lines(console, view, each) < console.height), DETAILS[-1])


def _lines(console: Console, view: PlanView, detail: SumDetail) -> int:
    with console.capture() as captured:
        _sum(console, view, detail)
    return captured.get().count("\n")


def _sum(console: Console, view: PlanView, detail: SumDetail) -> None:
    _begin(console, view)
    if view.nodes:
        pool_table.show(console, view, detail.pools)
        blocker_table.show_first(console, view.legend, detail)
        console.print()
        _end(console, view, HINT)


def _begin(console: Console, view: PlanView) -> None:
    """Print what comes before the pools: what is odd, and the ladder; where there is none, all that is not known."""
    if view.ladder is None and view.notes:
        show_notes(console, view.notes)
    if view.ladder:
        show_odd(console, view.notes)
        ladder_table.show(console, view.ladder)
    console.print(_head(view))
    if view.nodes:
        console.print()
        if view.partial:
            console.print(PARTIAL, style="yellow")


def _end(console: Console, view: PlanView, hint: str = "") -> None:
    """Print what the figures of a ladder rest on, and the one line that a reader keeps."""
    if view.ladder:
        show_rests_on(console, view.notes)
    if hint:
        console.print(hint, style="dim")
    console.print(view.summary)


def _head(view: PlanView) -> Table:
    head, totals = _grid(), view.totals
    head.add_row("Cluster", f"{view.cluster or 'unknown'}, {moment(view.taken_at)}")
    cost = f"{monthly(totals.cost)} a month ({hourly(totals.cost)} an hour)"
    nodes = sentences.nodes_and_pods(totals.nodes, totals.pods, totals.pending)
    head.add_row(f"Nodes{view.mark}", f"{nodes} for {cost}")
    head.add_row(f"This pass{view.mark}", view.saving)
    if view.potential_saving:
        head.add_row(f"Potential{view.mark}", view.potential_saving)
    return head


def _grid() -> Table:
    """Return a table of two columns: a word that is never broken, and text that wraps between words."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    return grid
