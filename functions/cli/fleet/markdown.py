"""The fleet as markdown: to paste into an issue, a merge request or a chat. Must not put anything together."""

from collections.abc import Iterator, Sequence
from typing import Final

from functions.cli.fleet.cells import TITLES, lines, titles, total
from functions.cli.fleet.view import FleetHold, FleetView
from functions.cli.format import count, monthly, some
from functions.cli.markdown_text import code, table, text
from functions.cli.plan.blocker_table import HEADINGS
from functions.cli.plan.legend import HOLDING, WordKind

_CLUSTERS: Final = 3
_REASONS: Final = 10


def page(view: FleetView, top: int | None) -> str:
    """Return the fleet as one page."""
    parts = [f"# {count(len(view.rows), 'cluster')}", _clusters(view, top)]
    if view.headline:
        parts.append(f"**{text(view.headline)}**")
    parts += _amiss(view)
    parts += [_held(view.holds, kind) for kind in HOLDING if any(each.entry.kind is kind for each in view.holds)]
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _clusters(view: FleetView, top: int | None) -> str:
    rows = [(code(first), *map(text, others)) for first, *others in (row.cells for row in lines(view, top))]
    name, *others = total(view)
    if len(view.rows) > 1:
        rows.append((f"**{text(name)}**", *(f"**{text(cell)}**" if cell else "" for cell in others)))
    return table(titles(view), rows, TITLES)


def _amiss(view: FleetView) -> Iterator[str]:
    told = [(row.cells[0], sentence) for row in lines(view, None) for sentence in row.below]
    if told:
        yield "## What is amiss"
        yield "\n".join(f"- {code(title)} {text(sentence)}" for title, sentence in told)


def _held(holds: Sequence[FleetHold], kind: WordKind) -> str:
    own = [each for each in holds if each.entry.kind is kind]
    rows = (
        (code(each.entry.word), text(each.entry.sentence), text(some(each.clusters_in_words, _CLUSTERS)),
         f"{each.entry.nodes:,}", monthly(each.entry.cost))
        for each in own[:_REASONS]
    )  # fmt: skip
    left = f"\n\n… {len(own) - _REASONS} more" if len(own) > _REASONS else ""
    heads = ("reason", "meaning", "clusters", "nodes", "holds/mo")
    return f"## {HEADINGS[kind]}\n\n{table(heads, rows, ('nodes', 'holds/mo'))}{left}"
