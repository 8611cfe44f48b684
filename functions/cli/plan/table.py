"""The plan on a terminal: scenarios, pools, blockers, nodes, and one line that sums up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.output.format import GAP, hourly, moment, monthly
from functions.cli.plan import pools, sentences
from functions.cli.plan.ladder import LadderRow
from functions.cli.plan.nodes import show_nodes
from functions.cli.plan.sentences import HOLDING, LegendEntry, WordKind, show_notes, show_odd, show_rests_on
from functions.cli.plan.view import AskedNodes, LadderView, PlanView, shown


@dataclass(frozen=True, slots=True)
class SumDetail:
    """How many pools have a line, how many reasons of a kind, how many objects of each, and whether with meanings.

    Without these the objects stand in their place, and a reason that is about nothing by name says what it means.
    """

    pools: int | None
    reasons: int
    objects: int
    meanings: bool = True


DETAILS: Final = (
    SumDetail(None, 4, 1),
    SumDetail(None, 4, 1, meanings=False),
    SumDetail(10, 3, 1, meanings=False),
    SumDetail(6, 3, 1, meanings=False),
    SumDetail(5, 2, 1, meanings=False),
    SumDetail(4, 2, 1, meanings=False),
    SumDetail(3, 2, 1, meanings=False),
    SumDetail(3, 1, 1, meanings=False),
    SumDetail(2, 1, 1, meanings=False),
)
"""What is tried until the sum fits; the last one is printed whatever its length. A file gets the first.

What a reason is about stays longest: what it means is what the documentation says."""


TITLES: Final = ("", "nodes", "a month", "a year", "saved", "evictions a node")
SHORTER: Final = (*TITLES[:-1], "per node")
"""Where a rung's name needs the room: what it counts is said below the table."""
PER_NODE: Final = "per node: evictions for each node that goes."


def show_ladder(console: Console, ladder: LadderView) -> None:
    """Print the ladder."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    titles = TITLES if _width(ladder, TITLES) <= console.width else SHORTER
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left", overflow="fold", no_wrap=number > 0)
    for row in ladder.rows:
        table.add_row(*map(Text, cells_of(row)), style="dim" if row.relaxed else "")
    console.print(table)
    if titles is SHORTER:
        console.print(PER_NODE, style="dim")
    for sentence in ladder.sentences:
        console.print(sentence)
    console.print()


def cells_of(row: LadderRow) -> tuple[str, ...]:
    """Return what stands in a row, under `TITLES`."""
    return row.title, row.nodes, row.month, row.year, row.share, row.evictions


def _width(ladder: LadderView, titles: Sequence[str]) -> int:
    """Return the characters that a line takes whole."""
    columns = zip(titles, *map(cells_of, ladder.rows), strict=True)
    return sum(max(map(len, column)) for column in columns) + GAP * (len(titles) - 1)


HEADINGS: Final[Mapping[WordKind, str]] = {
    WordKind.GOES: "Why nodes go",
    WordKind.NODE: "Why nodes stay in this pass, and what these cost: each node counts once",
    WordKind.POD: "Pods that keep nodes, and what these cost: a node may count in several lines",
    WordKind.ALSO: "What else stands in their way",
}
HOLDS: Final = "holds/mo: what the nodes cost that it is on, not what giving it up frees: ebb why-not tells that."
_OBJECTS: Final = 3
_TITLES: Final = ("holds/mo", "nodes", "reason")
_REASON: Final = 2


def show_blockers(console: Console, entries: Sequence[LegendEntry]) -> None:
    """Print each kind under its heading, with all of its reasons."""
    for kind in WordKind:
        _show(console, kind, entries, SumDetail(None, len(entries), _OBJECTS))
    if any(each.kind in HOLDING for each in entries):
        console.print(Text(HOLDS, style="dim"))


def show_first(console: Console, entries: Sequence[LegendEntry], detail: SumDetail) -> None:
    """Print the first reasons of the two kinds that rank blockers."""
    for kind in HOLDING:
        _show(console, kind, entries, detail)


def _show(console: Console, kind: WordKind, entries: Sequence[LegendEntry], detail: SumDetail) -> None:
    own = [each for each in entries if each.kind is kind]
    if own:
        console.print()
        console.print(Text(HEADINGS[kind], style="bold"))
        console.print(_blocker_table(own, detail, console.width))


def _blocker_table(own: Sequence[LegendEntry], detail: SumDetail, width: int) -> Table:
    """Return the first reasons with money and nodes, with what they mean and the first objects that they are about."""
    most = max(
        detail.reasons, len(own) if len(own) == detail.reasons + 1 else 0
    )  # one row takes no more than "… 1 more"
    shown, rest = own[:most], own[most:]
    rows = [(monthly(entry.cost), f"{entry.nodes:,}", entry.word) for entry in shown]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for number, title in enumerate(_TITLES):
        table.add_column(title, justify="left" if number == _REASON else "right", no_wrap=True)
    table.add_column("meaning" if detail.meanings else "about")
    room = width - sum(max(map(len, column)) + GAP for column in zip(_TITLES, *rows, strict=True))
    for row, entry in zip(rows, shown, strict=True):
        table.add_row(*row, entry.sentence if detail.meanings else _about(entry, detail.objects, room))
        if detail.meanings and entry.objects:
            table.add_row("", "", "", Text(entry.some_objects(detail.objects), style="dim"))
    if rest:
        table.add_row("", "", f"… {len(rest)} more")
    return table


def _about(entry: LegendEntry, most: int, room: int) -> str:
    """Return the first objects, with their details where there is room; what it means where it is about none."""
    whole = entry.some_objects(most)
    return (whole if len(whole) <= room else entry.named_objects(most)) or entry.sentence


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
            pools.show(console, view)
            console.print()
            show_nodes(console, chosen)
            show_blockers(console, view.legend)
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
        pools.show(console, view, detail.pools)
        show_first(console, view.legend, detail)
        console.print()
        _end(console, view, HINT)


def _begin(console: Console, view: PlanView) -> None:
    """Print what comes before the pools: what is odd, and the ladder; where there is none, all that is not known."""
    if view.ladder is None and view.notes:
        show_notes(console, view.notes)
    if view.ladder:
        show_odd(console, view.notes)
        show_ladder(console, view.ladder)
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
