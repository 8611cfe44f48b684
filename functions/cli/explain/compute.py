"""`ebb explain`: gather, make the plan once, find what each word means and print its page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import typer
from rich.console import Console

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain import as_json
from functions.cli.explain.pages import node_page, pod_page, workload_page
from functions.cli.explain.parts import NodeNamer, PagePart, as_text, show
from functions.cli.explain.resolve import Meant, resolve_name, rows_of
from functions.cli.input.inputs import gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.documents import print_document, text
from functions.cli.output.terminal import IN_A_FILE, printing
from functions.cli.plan.sentences import show_notes, show_odd, show_rests_on
from functions.cli.plan.view import PlanView, view_of
from shared.core.planning.make_plan import make_plan
from shared.core.planning.waves import remaining_nodes
from shared.core.rules.situation import Situation
from shared.errors import BadInput


@dataclass(frozen=True)
class PageSource:
    view: PlanView
    explainer: Explainer

    def page(self, what: Meant, width: int, *, cut: bool = False) -> Iterator[PagePart]:
        rows = rows_of(self.explainer, what.pods)
        namer = NodeNamer({node.name: node.decision.pool for node in self.view.nodes}, cut=cut)
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
        _print(PageSource(view, Explainer(situation, plan)), found, output)
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


def as_markdown(known: PageSource, found: Sequence[Meant]) -> str:
    pages = (as_text(known.page(what, IN_A_FILE)) for what in found)
    return "\n\n".join((*pages, *(f"> {text(note)}" for note in known.view.notes)))


def _print(known: PageSource, found: Sequence[Meant], output: AnswerFormat) -> None:
    view = known.view
    if output is AnswerFormat.MARKDOWN:
        typer.echo(as_markdown(known, found))
    elif output is not AnswerFormat.TABLE:
        explained = (as_json.explain_one(view, known.explainer, what) for what in found)
        print_document(as_json.document(view, explained), output, view.notes)
    else:
        with printing() as console:
            _show(console, known, found)


def _show(console: Console, known: PageSource, found: Sequence[Meant]) -> None:
    if known.view.partial:  # then the whole has to be known first
        show_notes(console, known.view.notes)
    else:
        show_odd(console, known.view.notes)
    for number, what in enumerate(found):
        if number:
            console.print()
        show(console, known.page(what, console.width, cut=console.is_terminal))
    if not known.view.partial:
        console.print()
        show_rests_on(console, known.view.notes)
