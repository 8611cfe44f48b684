"""`ebb explain`: gather, make the plan once, find what each word means and print its page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import typer
from rich.console import Console

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain import as_json
from functions.cli.explain.node_page import page as node_page
from functions.cli.explain.parts import NodeNamer, PagePart, as_text, show
from functions.cli.explain.pod_page import page as pod_page
from functions.cli.explain.pod_page import workload_page
from functions.cli.explain.resolve import Meant, resolve_name, rows_of
from functions.cli.explain.usage import ShownUsage, usage_of
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
    usage: ShownUsage

    def page(self, what: Meant, width: int, *, cut: bool = False) -> Iterator[PagePart]:
        """Return the page of one node, pod or workload; `cut` shortens the names of nodes."""
        rows, usage = rows_of(self.explainer, what.pods), self.usage
        namer = NodeNamer({node.name: node.decision.pool for node in self.view.nodes}, cut=cut)
        if what.workload:
            return workload_page(self.view, what.workload, rows, namer, width)
        if rows:
            return pod_page(self.view, rows[0], namer, usage.pods.get(rows[0][0].key))
        return node_page(self.view, self.explainer.node(what.node), namer, width, usage.nodes.get(what.node))


def explain_all(sources: Sources, words: Iterable[str], output: AnswerFormat) -> None:
    """Print a page for each word, and the notes below; unknown words are errors at the end.

    Raises:
        BadInput: words mean nothing in the cluster, or more than one thing: a sentence for each.
    """
    inputs = gather(sources)
    past = recall_passes(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    found, refused = _each_meant(situation, words)
    if found:
        wave, usage, notes = remaining_nodes(past.wave, situation), usage_of(sources), past.notes_of(inputs)
        plan = make_plan(situation, past.marks, inputs.prices, wave=wave)
        notes = (*notes, usage.note) if usage.note else notes
        view = view_of(plan, notes=notes, partial=inputs.partial)
        _print(PageSource(view, Explainer(situation, plan), usage), found, output)
    if refused:
        raise BadInput("\n".join(refused))


def _each_meant(situation: Situation, words: Iterable[str]) -> tuple[Sequence[Meant], Sequence[str]]:
    """Return what is meant, and a sentence for each word that is not one thing; the others are explained anyway."""
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
        explained = (as_json.explain_one(view, known.explainer, what, known.usage) for what in found)
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
