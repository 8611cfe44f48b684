"""`ebb explain`: gather, make the plan once, find what each word means and print its page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain import as_json
from functions.cli.explain.pages import NodeNamer, node_page, pod_page, workload_page
from functions.cli.explain.resolve import Meant, resolve_name, rows_of
from functions.cli.input.inputs import gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.answers import PagePart, print_answer
from functions.cli.output.terminal import IN_A_FILE
from functions.cli.plan.view import PlanView, view_of
from shared.core.planning.make_plan import make_plan
from shared.core.planning.waves import remaining_nodes
from shared.core.rules.situation import Situation
from shared.errors import BadInput


@dataclass(frozen=True)
class PageSource:
    view: PlanView
    explainer: Explainer

    def pages(self, found: Iterable[Meant], width: int) -> Iterator[Iterator[PagePart]]:
        namer = NodeNamer({node.name: node.decision.pool for node in self.view.nodes}, cut=width < IN_A_FILE)
        return (self._page(what, namer, width) for what in found)

    def document(self, found: Iterable[Meant]) -> dict[str, Any]:
        return as_json.document(self.view, (as_json.explain_one(self.view, self.explainer, what) for what in found))

    def _page(self, what: Meant, namer: NodeNamer, width: int) -> Iterator[PagePart]:
        rows = rows_of(self.explainer, what.pods)
        if what.workload:
            return workload_page(self.view, what.workload, rows, namer, width)
        if rows:
            return pod_page(self.view, rows[0], namer)
        return node_page(self.view, self.explainer.node(what.node), namer, width)


def explain_all(sources: Sources, words: Iterable[str], output: AnswerFormat) -> None:
    """Print a page for each word, and the notes below; BadInput at the end has a sentence for each unclear word."""
    inputs = gather(sources)
    past = recall_passes(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    found, refused = _resolve_names(situation, words)
    if found:
        wave = remaining_nodes(past.wave, situation)
        plan = make_plan(situation, past.marks, inputs.prices, wave=wave)
        view = view_of(plan, notes=past.notes_of(inputs), partial=inputs.partial)
        source = PageSource(view, Explainer(situation, plan))
        pages, document = partial(source.pages, found), partial(source.document, found)
        print_answer(output, pages, document, view.notes, partial=bool(view.partial))
    if refused:
        raise BadInput("\n".join(refused))


def _resolve_names(situation: Situation, words: Iterable[str]) -> tuple[Sequence[Meant], Sequence[str]]:
    found, refused = [], []
    for word in words:
        try:
            found.append(resolve_name(situation, word))
        except BadInput as failure:
            refused.append(str(failure))
    return found, refused
