"""`ebb why-not`: gather, let the core try the changes, print. Must not decide anything."""

import sys

import typer

from functions.cli.analysis.what_if import why_not
from functions.cli.documents import print_document
from functions.cli.inputs import NO_MARKS, Sources, gather
from functions.cli.options import AnswerFormat
from functions.cli.plan.ladder_rows import DEFAULTS, POLICY
from functions.cli.plan.notes import show_odd, show_rests_on
from functions.cli.plan.remembered import remembered
from functions.cli.terminal import printing
from functions.cli.why_not import as_json, markdown, page
from shared.collector import no_search_for_cycles
from shared.core.rules.situation import Situation
from shared.errors import BadInput

PARTIAL = "why-not: the dump is partial ({why}), so nobody can say what a change would free."


def show_changes(sources: Sources, most: int, output: AnswerFormat) -> None:
    """Print which single changes would free most money: for people with the notes, for tools with these on stderr.

    Raises:
        BadInput: the dump does not hold the whole cluster.
    """
    inputs = gather(sources)
    if inputs.partial:
        raise BadInput(PARTIAL.format(why=inputs.partial))
    past = remembered(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    with no_search_for_cycles():
        found = why_not(situation, past.marks or {}, inputs.prices, most, _told)
    notes = tuple(past.note if note == NO_MARKS else note for note in inputs.notes)
    cluster, whose = inputs.snapshot.cluster, POLICY if inputs.own_policy else DEFAULTS
    if output is AnswerFormat.MARKDOWN:
        typer.echo(markdown.page(found, cluster, whose, notes))
    elif output is not AnswerFormat.TABLE:
        print_document(as_json.document(found, cluster), output, notes)
    else:
        with printing() as console:
            show_odd(console, notes)
            page.show(console, found, whose)
            console.print()
            show_rests_on(console, notes)


def _told(done: int, of_all: int) -> None:
    """Say on a terminal how far it is; the line goes with the end."""
    if sys.stderr.isatty():
        text = f"Planning without change {done + 1} of {of_all} …" if done < of_all else ""
        typer.echo(f"\r\x1b[K{text}", nl=False, err=True)
