"""What pages are made of: a page is a row of parts, drawn on a terminal and as markdown from the same values."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text

from functions.cli.analysis.explanation import PodPlace
from functions.cli.input.options import AnswerFormat
from functions.cli.output.documents import code, print_document, text
from functions.cli.output.format import count, group, shorten_names
from functions.cli.output.tables import BOLD, Column, Table, as_markdown, draw
from functions.cli.output.terminal import IN_A_FILE, facts, printing
from functions.cli.plan.sentences import show_notes, show_odd, show_rests_on
from shared.core.reasons import Blocker, Unremovable

Fact = tuple[str, str | Text]


@dataclass(frozen=True)
class Title:
    name: str


@dataclass(frozen=True)
class Facts:
    rows: tuple[Fact, ...]


@dataclass(frozen=True)
class Causes:
    found: tuple[Blocker, ...]


PagePart = Title | Facts | Causes | Table | str


def show(console: Console, parts: Iterable[PagePart]) -> None:
    """Print a page; a sentence begins a paragraph unless a table or the title stands before it."""
    before: PagePart = Table(())
    for part in parts:
        if isinstance(part, str) and not isinstance(before, Title | Table):
            console.print()
        if isinstance(part, Table):
            draw(console, part)
        elif isinstance(part, Title | str):
            console.print(part if isinstance(part, str) else Text(part.name, style=BOLD))
        else:
            console.print(facts(part.rows if isinstance(part, Facts) else _number_causes(part)))
        before = part


Pages = Callable[[int], Iterable[Iterable[PagePart]]]
"""The pages of an answer for a width, which is `IN_A_FILE` where nothing has to be cut."""


def print_answer(
    output: AnswerFormat,
    pages: Pages,
    document: Callable[[], dict[str, Any]],
    notes: Sequence[str],
    title: str = "",
    *,
    partial: bool = False,
) -> None:
    """Print pages with their notes: for people, as markdown, or as a document for a tool."""
    if output is AnswerFormat.MARKDOWN:
        typer.echo(write_markdown(pages, notes, title))
    elif output is not AnswerFormat.TABLE:
        print_document(document(), output, notes)
    else:
        with printing() as console:
            _show_answer(console, pages, notes, partial=partial)


def _show_answer(console: Console, pages: Pages, notes: Sequence[str], *, partial: bool) -> None:
    """Print the notes of a partial answer first: then the whole has to be known before."""
    (show_notes if partial else show_odd)(console, notes)
    for number, parts in enumerate(pages(console.width)):
        if number:
            console.print()
        show(console, parts)
    if not partial:
        console.print()
        show_rests_on(console, notes)


def write_markdown(pages: Pages, notes: Sequence[str], title: str = "") -> str:
    heads = (f"# {text(title)}",) if title else ()
    bodies = ("\n\n".join(map(_write_part, parts)) for parts in pages(IN_A_FILE))
    return "\n\n".join((*heads, *bodies, *(f"> {text(note)}" for note in notes)))


def _write_part(part: PagePart) -> str:
    match part:
        case Title(name):
            return f"# {code(name)}"
        case Facts(rows):
            return "\n".join(f"- {word}: {text(str(value))}" for word, value in rows)
        case Causes(found):
            return "\n".join(line for word, own in by_reason(found).items() for line in _cause(word, own))
        case Table():
            return as_markdown(part)
    return text(part)


def _cause(word: str, own: Sequence[Blocker]) -> Iterator[str]:
    yield f"1. {code(word)}"
    yield from (f"   - {text(line)}" for line in describe_reason(own))


def _number_causes(causes: Causes) -> Iterator[Fact]:
    for number, (reason, own) in enumerate(by_reason(causes.found).items(), start=1):
        yield f"{number}.", Text(reason, style=BOLD)
        yield from (("", line) for line in describe_reason(own))


_MOST: Final = 6
"""Pods of one reason that are named; all of them stand in the list of pods."""


def by_reason(found: Iterable[Blocker]) -> dict[str, list[Blocker]]:
    """Return what was found by its reason; `blocked_by_pod` is left out if pods have reasons of their own."""
    rows = group((blocker.reason.value, blocker) for blocker in found)
    if len(rows) > 1:
        rows.pop(Unremovable.BLOCKED_BY_POD.value, None)
    return rows


def describe_reason(own: Sequence[Blocker]) -> Iterator[str]:
    first, rest = own[0].reason, len(own) - _MOST
    yield from filter(
        None, (" ".join(part for part in (blocker.object, blocker.detail) if part) for blocker in own[:_MOST])
    )
    if rest > 0:
        yield f"and {rest:,} more"
    yield first.sentence
    if first.message_id:
        yield f"The cluster autoscaler calls it {first.message_id}."
    yield first.remedy


_FEW: Final = 3
"""Nodes of a pool that are named."""
_MOST_POOLS: Final = 4
_NO_POOL: Final = "no pool"


class NodeNamer:
    """Names nodes of one cluster; `cut` leaves out what the names of a pool begin with, for a terminal."""

    def __init__(self, pools: Mapping[str, str], *, cut: bool) -> None:
        self.pools, self._all = pools, group((pool, name) for name, pool in pools.items())
        self._short = shorten_names(pools)[0] if cut else {}

    def text(self, names: Iterable[str], leaving: str = "") -> str:
        """Return the nodes in words, the most of a pool first; `leaving` is the node that a pool counts without."""
        own_of = group((self.pools[name], name) for name in names)
        found = sorted(own_of.items(), key=lambda row: (-len(row[1]), row[0]))
        parts = [self._of_pool(pool, own, leaving) for pool, own in found[:_MOST_POOLS]]
        rest = found[_MOST_POOLS:]
        if rest:
            parts.append(f"{sum(len(own) for _, own in rest):,} of {count(len(rest), 'more pool')}")
        return "; ".join(parts)

    def _of_pool(self, pool: str, own: Sequence[str], leaving: str) -> str:
        name, others = pool or _NO_POOL, [node for node in self._all[pool] if node != leaving]
        if len(own) == len(others) and len(own) > 1:
            return f"all {len(own):,} of {name}"
        first = ", ".join(self._short.get(node, node) for node in sorted(own)[:_FEW])
        more = f" and {len(own) - _FEW:,} more" if len(own) > _FEW else ""
        return f"{first}{more} of {name}"


NOWHERE = "nowhere"
NOT_SAID = "unknown"
NONE = "-"
WITH_ITS_NODE: Final = "with its node"
_WORDS: Final = frozenset({NOWHERE, NOT_SAID, NONE, WITH_ITS_NODE})


def place_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], nodes: Sequence[int], namer: NodeNamer, width: int
) -> Table:
    """Return one line for each row; if it does not fit, a pool stands for what names in the columns `nodes` share."""
    whole = Table.of([Column(title, code=True, wraps=True) for title in titles], rows)
    pools = {name: namer.pools.get(name, "") for at in nodes for name in whole.columns[at].cells if name not in _WORDS}
    if not pools or whole.width <= width:
        return whole
    names, lost = shorten_names(pools)
    short = {name: f"{pools[name]} {own}".lstrip() for name, own in names.items()}

    def shortened(column: Column) -> Column:
        return replace(column, cells=tuple(short.get(cell, cell) for cell in column.cells))

    columns = (shortened(column) if at in nodes else column for at, column in enumerate(whole.columns))
    return replace(whole, columns=tuple(columns), lead=lost)


def place_of(place: PodPlace) -> str:
    return NOT_SAID if place.landing.fixed else place.landing.node or NOWHERE


def kept_by(place: PodPlace) -> str:
    return ", ".join(dict.fromkeys(blocker.reason.value for blocker in place.blockers))
