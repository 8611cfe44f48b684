"""The plan as markdown: to paste into an issue, a merge request or a chat.

The same view as the table's and the JSON's.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from functions.cli.output.documents import table, text
from functions.cli.output.format import moment, monthly, percent
from functions.cli.plan.pools import columns, name_of, rows
from functions.cli.plan.sentences import HOLDING, WordKind, nodes_and_pods
from functions.cli.plan.table import HEADINGS, HOLDS, TITLES, cells_of
from functions.cli.plan.view import AskedNodes, NodeView, PlanView, shown

_OBJECTS: Final = 3
_FIGURES: Final = frozenset({
    "nodes", "cpu", "memory", "order", "in flight", "waiting", "keep", "cost/mo", "order/mo", "goes", "goes/mo",
    "could go", "could/mo", "holds/mo", "a month", "a year", "saved", "evictions a node",
})  # fmt: skip


def page(view: PlanView, asked: AskedNodes) -> str:
    """Return the plan as one page.

    Raises:
        BadInput: a pool was asked for that the cluster does not have.
    """
    parts = [*_head(view), *_ladder(view), _pools(view)]
    if asked.lists_nodes:
        parts.append(_nodes(shown(view, asked).nodes))
    held = [_held(view, kind) for kind in HOLDING if any(each.kind is kind for each in view.legend)]
    parts += [*held, text(HOLDS)] if held else []
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _head(view: PlanView) -> Iterator[str]:
    yield f"# {text(view.cluster or 'Cluster')}, {moment(view.taken_at)}"
    totals = view.totals
    what = nodes_and_pods(totals.nodes, totals.pods, totals.pending)
    yield f"{what}, {monthly(totals.cost)} a month{view.mark}."
    yield f"**{text(view.summary)}**"
    if view.potential_saving:
        yield f"Potential: {view.potential_saving}."


def _ladder(view: PlanView) -> Iterator[str]:
    if view.ladder is None:
        return
    yield _table(TITLES, ((cells[0].strip(), *cells[1:]) for cells in map(cells_of, view.ladder.rows)))
    if view.ladder.sentences:
        yield text(" ".join(view.ladder.sentences))


def _pools(view: PlanView) -> str:
    pools = rows(view)
    given = columns(view, pools)
    titles = ("pool", "nodes", "cpu", "memory", *(each.title for each in given))
    return _table(titles, (
        (name_of(row), f"{row.nodes:,}", percent(row.cpu_ratio), percent(row.memory_ratio),
         *(each.cell(row) for each in given))
        for row in pools
    ))  # fmt: skip


def _nodes(nodes: Sequence[NodeView]) -> str:
    titles = ("node", "pool", "verdict", "reason", "because of", "cpu", "memory", "cost/mo", "when (UTC)")
    return _table(titles, (
        (node.name, node.decision.pool, node.verdict, node.reason, node.about[0], percent(node.decision.cpu_ratio),
         percent(node.decision.memory_ratio), monthly(node.decision.cost), node.when)
        for node in nodes
    ))  # fmt: skip


def _held(view: PlanView, kind: WordKind) -> str:
    rows = (
        (each.word, each.sentence, each.some_objects(_OBJECTS), f"{each.nodes:,}", monthly(each.cost))
        for each in view.legend
        if each.kind is kind
    )
    return f"## {HEADINGS[kind]}\n\n" + _table(("reason", "meaning", "about", "nodes", "holds/mo"), rows)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Names come from other people's objects: none may be markup."""
    return table(titles, (tuple(map(text, row)) for row in rows), _FIGURES)
