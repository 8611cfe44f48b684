"""`ebb why-not`: tries single changes of cluster and policy, and prints them by the money that each frees."""

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.forecast.ladder import PolicyAtRest
from functions.cli.analysis.lifting import Subject
from functions.cli.analysis.what_if import Freed, Held, WhyNot, why_not
from functions.cli.explain import why_not_words
from functions.cli.explain.why_not_words import how
from functions.cli.input.inputs import NO_MARKS, gather, remembered
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.documents import code, print_document, table, text
from functions.cli.output.format import dollars, dollars_a_month, rfc3339
from functions.cli.output.terminal import printing
from functions.cli.plan.ladder import DEFAULTS, POLICY
from functions.cli.plan.sentences import show_odd, show_rests_on
from shared.collector import no_search_for_cycles
from shared.core.rules.situation import Situation
from shared.errors import BadInput

SCHEMA: Final = 1


def document(found: WhyNot, cluster: str) -> dict[str, Any]:
    """Return what json.dumps takes; changes that were tried come with what they free, the most money first."""
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "at_rest": _at_rest(found.base),
        "changes": [_change(each) for each in found.freed],
        "hopeless": [_held(each) for each in found.hopeless],
        "passing": [_held(each) for each in found.passing],
        "not_tried": [_held(each) for each in found.left],
    }


def _at_rest(base: PolicyAtRest) -> dict[str, Any]:
    """Return the rung `policy_at_rest` of the ladder: what is gone until then, and what is left."""
    left, rest = base.rest.snapshot.nodes, base.rest
    return {
        "nodes": len(base.situation.snapshot.nodes) - len(left),
        "saving_per_hour": _money(dollars(base.saving)),
        "nodes_left": len(left),
        "cost_per_month": float(round(dollars_a_month(base.prices.of_all(left)), 2)),
        "by": rfc3339(rest.by) if rest.by else None,
        "is_rest": rest.is_rest,
    }


def _change(freed: Freed) -> dict[str, Any]:
    return {
        **_held(freed.held),
        "frees_nodes": freed.nodes,
        "frees_per_hour": _money(dollars(freed.saving)),
        "how": how(freed.subject),
        "is_rest": freed.is_rest,
    }


def _held(held: Held) -> dict[str, Any]:
    return {**_subject(held.subject), "nodes": list(held.nodes), "holds_per_hour": _money(dollars(held.cost))}


def _subject(subject: Subject) -> dict[str, Any]:
    return {"reason": subject.reason.value, "object": subject.object or None, "detail": subject.detail or None}


def _money(amount: Fraction) -> float:
    return float(round(amount, 4))


_TITLES: Final = ("frees/mo", "nodes", "without", "meaning", "how")
_FIGURES: Final = _TITLES[:2]


def page(found: WhyNot, cluster: str, whose: str, notes: Sequence[str]) -> str:
    """Return the changes as one page."""
    title = f"# What single changes would free: {text(cluster or 'the cluster')}"
    return "\n\n".join(
        (title, text(why_not_words.base(found, whose)), *_changes(found), *(f"> {text(note)}" for note in notes))
    )


def _changes(found: WhyNot) -> Iterator[str]:
    freeing = why_not_words.freeing(found)
    yield text(why_not_words.FREES if freeing else why_not_words.NOTHING)
    if freeing:
        yield table(_TITLES, map(_cells, freeing), _FIGURES)
        if not why_not_words.is_whole(freeing):
            yield text(why_not_words.AT_LEAST)
    yield from map(text, why_not_words.others(found))


def _cells(freed: Freed) -> Sequence[str]:
    subject = freed.subject
    return (
        why_not_words.frees(freed),
        f"{freed.nodes:,}",
        code(why_not_words.named(subject)),
        text(why_not_words.meaning(subject)),
        code(how(subject)),
    )


def show(console: Console, found: WhyNot, whose: str) -> None:
    """Print what the policy comes to, what single changes free beyond it, and what was not tried."""
    console.print(why_not_words.base(found, whose))
    freeing = why_not_words.freeing(found)
    if freeing:
        console.print(f"{why_not_words.FREES}\n")
        console.print(_table(freeing))
        if not why_not_words.is_whole(freeing):
            console.print(f"\n{why_not_words.AT_LEAST}")
    else:
        console.print(why_not_words.NOTHING)
    for number, line in enumerate(why_not_words.others(found)):
        console.print(line if number else f"\n{line}", style="dim")


def _table(freed: Sequence[Freed]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("frees/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("without", overflow="fold")
    for each in freed:
        table.add_row(
            why_not_words.frees(each), f"{each.nodes:,}", Text(why_not_words.named(each.subject), style="bold")
        )
        table.add_row("", "", why_not_words.meaning(each.subject))
        table.add_row("", "", Text(how(each.subject), style="cyan"))
    return table


UNPRICED = "why-not: no price is known for these machines, and changes are ranked by money; name a table with --prices."
PARTIAL = "why-not: the dump is partial ({why}), so nobody can say what a change would free."


def show_changes(sources: Sources, most: int, output: AnswerFormat) -> None:
    """Print which single changes would free most money: for people with the notes, for tools with these on stderr.

    Raises:
        BadInput: the dump does not hold the whole cluster, or its machines have no price.
    """
    inputs = gather(sources)
    if inputs.partial:
        raise BadInput(PARTIAL.format(why=inputs.partial))
    if not inputs.prices.of_all(inputs.snapshot.nodes):
        raise BadInput(UNPRICED)
    past = remembered(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    with no_search_for_cycles():
        found = why_not(situation, past.marks or {}, inputs.prices, most, _told)
    notes = tuple(past.note if note == NO_MARKS else note for note in inputs.notes)
    cluster, whose = inputs.snapshot.cluster, POLICY if inputs.own_policy else DEFAULTS
    if output is AnswerFormat.MARKDOWN:
        typer.echo(page(found, cluster, whose, notes))
    elif output is not AnswerFormat.TABLE:
        print_document(document(found, cluster), output, notes)
    else:
        with printing() as console:
            show_odd(console, notes)
            show(console, found, whose)
            console.print()
            show_rests_on(console, notes)


def _told(done: int, of_all: int) -> None:
    """Say on a terminal how far it is; the line goes with the end."""
    if sys.stderr.isatty():
        text = f"Planning without change {done + 1} of {of_all} …" if done < of_all else ""
        typer.echo(f"\r\x1b[K{text}", nl=False, err=True)
