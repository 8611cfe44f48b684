"""`ebb explain`: gather, make the plan once, find what each word means and print its page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import typer
from rich.console import Console

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain import as_json, markdown, node_page, pod_page
from functions.cli.explain.resolve import Meant, meant
from functions.cli.explain.usage import ShownUsage, usage_of
from functions.cli.input.inputs import NO_MARKS, Sources, gather, remembered
from functions.cli.input.options import AnswerFormat
from functions.cli.output.documents import print_document
from functions.cli.output.terminal import printing
from functions.cli.plan.sentences import show_notes, show_odd, show_rests_on
from functions.cli.plan.view import PlanView, view_of
from shared.core.planning.make_plan import make_plan
from shared.core.rules.situation import Situation
from shared.errors import BadInput


@dataclass(frozen=True)
class PageSource:
    """What every page is drawn from."""

    view: PlanView
    explainer: Explainer
    usage: ShownUsage


def explain_all(sources: Sources, words: Iterable[str], output: AnswerFormat) -> None:
    """Print a page for each word, what all of it rests on below; what means nothing is said at the end.

    Raises:
        BadInput: words mean nothing in the cluster, or more than one thing: a sentence for each.
    """
    inputs = gather(sources)
    past = remembered(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    found, refused = _each_meant(situation, words)
    if found:
        plan, usage = make_plan(situation, past.marks, inputs.prices), usage_of(sources)
        said = tuple(past.note if note == NO_MARKS else note for note in inputs.notes)
        notes = (*said, usage.note) if usage.note else said
        view = view_of(plan, notes=notes, partial=inputs.partial)
        _print(PageSource(view, Explainer(situation, plan), usage), found, output)
    if refused:
        raise BadInput("\n".join(refused))


def _each_meant(situation: Situation, words: Iterable[str]) -> tuple[Sequence[Meant], Sequence[str]]:
    """Return what is meant, and a sentence for each word that is no one thing: the others are answered all the same."""
    found, refused = [], []
    for word in words:
        try:
            found.append(meant(situation, word))
        except BadInput as failure:
            refused.append(str(failure))
    return found, refused


def _print(known: PageSource, found: Sequence[Meant], output: AnswerFormat) -> None:
    if output is AnswerFormat.MARKDOWN:
        typer.echo(markdown.page(known.view, known.explainer, found, known.usage))
        return
    if output is not AnswerFormat.TABLE:
        explained = (as_json.explained(known.view, known.explainer, each, known.usage) for each in found)
        print_document(as_json.document(known.view, explained), output, known.view.notes)
        return
    with printing() as console:
        if known.view.partial:  # then all of it has to be known first
            show_notes(console, known.view.notes)
        else:
            show_odd(console, known.view.notes)
        for number, each in enumerate(found):
            if number:
                console.print()
            _show(console, known, each)
        if not known.view.partial:
            console.print()
            show_rests_on(console, known.view.notes)


def _show(console: Console, known: PageSource, what: Meant) -> None:
    view, explainer, usage = known.view, known.explainer, known.usage
    if what.workload:
        pod_page.show_workload(console, view, explainer, what)
    elif what.pods:
        (pod,) = what.pods
        pod_page.show(console, view, *explainer.pod(pod), usage.pods.get(pod.key), pod)
    else:
        node_page.show(console, view, what.node, explainer.node(what.node), usage.nodes.get(what.node))
