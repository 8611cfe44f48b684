"""Nodes, pods and workloads as markdown: to paste into an issue or a chat. The same words as the terminal's pages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from functions.cli.analysis.exclusions import NodeChoice
from functions.cli.analysis.explanation import Explainer
from functions.cli.explain import node_page, pod_page
from functions.cli.explain.parts import Fact, NodeNamer, by_reason, lines
from functions.cli.explain.resolve import Meant, rows_of
from functions.cli.explain.usage import ShownUsage
from functions.cli.output.documents import code, table, text
from functions.cli.plan.view import BlockerView, PlanView, blocker_view

_EXCLUDED: Final = ("nodes", "alone", "excluded by", "meaning", "which", "what to do")


def page(view: PlanView, explainer: Explainer, found: Iterable[Meant], usage: ShownUsage) -> str:
    """Return a part for each that was asked for, and at the end what all of it rests on."""
    parts = (part for each in found for part in _parts(view, explainer, each, usage))
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _parts(view: PlanView, explainer: Explainer, what: Meant, usage: ShownUsage) -> Iterator[str]:
    if what.workload:
        return _workload(view, explainer, what)
    return _pod(view, explainer, what, usage) if what.pods else _node(view, explainer, what.node, usage)


def _node(view: PlanView, explainer: Explainer, name: str, usage: ShownUsage) -> Iterator[str]:
    known, node = explainer.node(name), view.node(name)
    yield f"# {code(name)}"
    yield _facts(node_page.facts_of(view, node, known, usage.nodes.get(name)))
    if node.blockers:
        yield from (node_page.KEPT, _blockers(node.blockers))
    if known.closed:
        closed = (
            (code(word), text(meaning), text(remedy)) for word, meaning, remedy in node_page.closed_of(known.closed)
        )
        yield from (node_page.CLOSED, table(("gate", "meaning", "what to do"), closed))
    yield text(node_page.pods_title(known))
    if known.pods:
        yield _table(node_page.PODS, node_page.pod_cells(known))
        yield from map(text, node_page.fitting(known))


def _pod(view: PlanView, explainer: Explainer, what: Meant, usage: ShownUsage) -> Iterator[str]:
    (pod,) = what.pods
    node, place = explainer.pod(pod)
    yield f"# {code(pod.key)}"
    yield _facts(pod_page.facts_of(view, node, place, usage.pods.get(pod.key), pod))
    yield pod_page.moving(place)
    if place is not None and place.blockers:
        yield _blockers([blocker_view(each) for each in place.blockers])
    if place is not None and not place.landing.fixed:
        namer = NodeNamer({each.name: each.decision.pool for each in view.nodes}, cut=False)
        yield from _choice(place.landing.choice, namer, pod.node)


def _workload(view: PlanView, explainer: Explainer, what: Meant) -> Iterator[str]:
    rows = rows_of(explainer, what.pods)
    yield f"# {code(what.workload)}"
    yield text(pod_page.summed(rows))
    yield _table(pod_page.PODS, [pod_page.cells(view, *row) for row in rows])
    found = pod_page.blockers_of(rows)
    if found:
        yield from (pod_page.KEPT, _blockers(found))


def _facts(rows: Iterable[Fact]) -> str:
    return "\n".join(f"- {word}: {text(str(said))}" for word, said in rows)


def _blockers(found: Sequence[BlockerView]) -> str:
    return "\n".join(
        "\n".join((f"1. {code(reason)}", *(f"   - {text(line)}" for line in lines(own))))
        for reason, own in by_reason(found).items()
    )


def _choice(choice: NodeChoice, namer: NodeNamer, source: str) -> Iterator[str]:
    yield text(pod_page.able(choice, namer, source))
    if choice.excluded:
        rows = (
            (f"{each.nodes:,}", f"{each.alone:,}", code(f"{each.rule.value} {each.detail}".strip()),
             text(each.rule.sentence), text(namer.said(each.where.names, source)), text(each.rule.remedy))
            for each in choice.excluded
        )  # fmt: skip
        yield from (table(_EXCLUDED, rows, _EXCLUDED[:2]), pod_page.ALONE)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Names come from other people's objects: none may be markup."""
    return table(titles, (tuple(map(code, row)) for row in rows))
