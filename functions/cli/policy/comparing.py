"""`ebb policy diff`: two policies, and if a cluster was named, what each drains and its steady state.

The same sections on a terminal, and as markdown for a pull request.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

import typer
from rich.console import Console

from functions.cli.analysis.forecast.scenarios import Scenario, Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.input.files import read_policy
from functions.cli.input.inputs import Inputs, PastPasses, as_warnings, gather, odd_policy, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.answers import print_document, show_notes
from functions.cli.output.format import by_the_minute, clock, count, moment, some, whole_money, yearly
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import BOLD, Column, Table, as_markdown, draw
from functions.cli.output.terminal import printing
from functions.cli.output.visible import details, text
from functions.cli.plan.scenarios import BOUND, ScenarioMoney, paid_cost
from functions.cli.plan.sentences import VERDICTS
from functions.cli.policy.diff import (
    UNKNOWN,
    DrainsCompared,
    Impact,
    PolicyChange,
    PolicyDiff,
    document,
    real_drains,
    settings,
)
from functions.cli.policy.words import meaning_of
from shared.adapters.process import no_search_for_cycles
from shared.core.planning.bill import Bill
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan, Verdict
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import Commitments
from shared.core.rules.situation import Situation
from shared.errors import BadInput

_WITHOUT_MARKS: Final = PastPasses(
    note="No marks are known here, so nodes wait that the planner may have marked long ago; see --assume-marked."
)
NO_CLUSTER: Final = "Name a cluster to see how many nodes, and from when."


def print_diff(
    old: Path, new: Path, sources: Sources, *, assume_marked: bool, output: AnswerFormat = AnswerFormat.TABLE
) -> None:
    """Print what a change of policy would change: settings always, verdicts where a cluster or a dump was named.

    Raises BadInput also for an option that needs a cluster, and BadPolicy with every fault of the first bad policy.
    """
    asked = {"--assume-marked": assume_marked, "--at": sources.at, "--commitments": sources.commitments}
    needing = [option for option, value in asked.items() if value]
    if needing and not sources.has_cluster:
        raise BadInput(f"{needing[0]}: it needs a cluster; add --dump FILE.")
    first, other = (read_policy(path) for path in (old, new))
    inputs = gather(sources, first) if sources.has_cluster else None
    impact = impact_of(inputs, other, assume_marked=assume_marked) if inputs else None
    found = PolicyDiff(settings(first, other), drains_of(inputs, first, other), impact)
    if output is AnswerFormat.MARKDOWN:
        typer.echo(write_markdown(found))
    elif output is not AnswerFormat.TABLE:
        print_document(document(found), output, found.notes)
    else:
        with printing() as console:
            show(console, found)


def drains_of(inputs: Inputs | None, first: Policy, other: Policy) -> DrainsCompared:
    """Return the real drains of both policies; if the cluster is not known as a whole, only whether there are any."""
    known = inputs if inputs and is_whole(inputs) else None
    with reading_line("the drains of both policies", doing="Planning"), no_search_for_cycles():
        before, after = (real_drains(known, policy) for policy in (first, other))
    unknown = "" if known else UNKNOWN if inputs else NO_CLUSTER
    return DrainsCompared(before, after, known.snapshot.taken_at if known else None, unknown)


def is_whole(inputs: Inputs) -> bool:
    """Whether a forecast can be made: all pods are known, and there are nodes."""
    return not inputs.partial and bool(inputs.snapshot.nodes)


def impact_of(inputs: Inputs, other: Policy, *, assume_marked: bool) -> Impact:
    """Return the steady state of a cluster under the policy that the inputs have, and under another."""
    prices, past = inputs.prices, recall_passes(inputs, assume_marked=True) if assume_marked else _WITHOUT_MARKS
    policies = inputs.policy, inputs.committed_under(other)
    given = [Situation(inputs.snapshot, past.state, policy) for policy in policies]
    with reading_line("both policies", doing="Planning"), no_search_for_cycles():
        before, after = (make_plan(situation, past.marks, prices) for situation in given)
        asked = given if is_whole(inputs) else ()
        steady = (find_steady_state(one, past.marks or {}, prices, assume_marked=assume_marked) for one in asked)
        runs = list(map(scenarios_of, steady))
    # Else a policy that names other commitments than before would seem to change what is paid for equal nodes.
    billed = tuple(_paid_by(run, policies[1].commitments, prices, runs[-1].bound) for run in runs)
    own = past.notes_of(inputs)
    odd = as_warnings(odd_policy(other, inputs.snapshot, prices))
    return Impact(before, after, billed, (*own, *(note for note in odd if note not in own)))


def _paid_by(scenarios: Scenarios, commitments: Commitments, prices: Prices, bound: Scenario) -> Scenarios:
    if scenarios.begun is None or scenarios.left is None:
        return scenarios
    begun, left = scenarios.begun, scenarios.left
    bill = Bill.of(prices, commitments, begun.nodes, begun.taken_at)
    now, rest = (None if bill.is_list else bill.cost_of(moment.nodes) for moment in (begun, left))
    billed, billed_rest = replace(scenarios.now, bill=now), replace(scenarios.at_rest, bill=rest)
    return replace(scenarios, now=billed, at_rest=billed_rest, bound=bound)


MOST: Final = 60_000  # Letters of a page: a comment on GitHub has room for 65,536.
MORE: Final = "*There is more than a comment holds: `ebb policy diff -o json` prints everything.*"
TITLE: Final = "### What this policy would change"
_NODES: Final = 20
_MEANING: Final = "what it is"  # A terminal has no room for it.


@dataclass(frozen=True, slots=True)
class DiffSection:
    """A title, a sentence below it, and a table; markdown folds away what may be long."""

    title: str
    table: Table | None = None
    lead: str = ""
    folded: bool = False


def sections(found: PolicyDiff) -> Iterator[DiffSection]:
    """Yield what changes, besides the sentence on real drains and the headline."""
    yield DiffSection("Settings", _settings(found.settings)) if found.settings else DiffSection("No setting changes.")
    impact = found.impact
    if impact is None:
        return
    before, nodes = impact.before, count(len(impact.before.decisions), "node")
    figures = (*compare_figures(impact.scenarios, before.taken_at), *_verdict_rows(before, impact.after))
    where = f"{before.cluster}, {moment(before.taken_at)}: {nodes}"
    yield DiffSection("What it means", Table.of([Column(""), *map(_figure, ("before", "after"))], figures), where)
    if found.verdicts:
        verdicts = count(len(before.decisions), "verdict")
        title = f"{len(found.verdicts):,} of {verdicts} would change at this moment"
        yield DiffSection(title, _moved_table(found.verdicts), folded=True)
    else:
        yield DiffSection(f"No verdict changes: all {nodes} keep theirs at this moment.")


def _figure(title: str) -> Column:
    return Column(title, right=True)


def _word(title: str) -> Column:
    return Column(title, code=True, wraps=True)


def _settings(changed: Sequence[PolicyChange]) -> Table:
    cells = ((row.place, row.name, row.old, row.new, meaning_of(row.place, row.name)) for row in changed)
    return Table.of((*map(_word, ("where", "setting", "before", "after")), Column(_MEANING, wraps=True)), cells)


def _verdict_rows(before: Plan, after: Plan) -> Iterator[tuple[str, ...]]:
    old, new = before.counts(), after.counts()
    for verdict in Verdict:
        pair = old.get(verdict.value, 0), new.get(verdict.value, 0)
        if any(pair):
            yield f"nodes now: {VERDICTS[verdict]}", *map("{:,}".format, pair)


def _moved_table(moved: Sequence[PolicyChange]) -> Table:
    cells = []
    for (old, new), changes in groupby(moved, key=lambda change: (change.old, change.new)):
        names = [change.name for change in changes]
        cells.append((old, new, f"{len(names):,}", some(names, _NODES)))
    return Table.of((_word("before"), _word("after"), _figure("nodes"), _word("which")), cells)


def show(console: Console, found: PolicyDiff) -> None:
    if not found.same:
        console.print(f"{found.drains.sentence}\n", style=BOLD)
    show_notes(console, found.notes)
    if found.same:
        console.print(found.same)
        return
    for section in sections(found):
        console.print(section.title, style=BOLD)
        if section.lead:
            console.print(section.lead)
        if section.table:
            draw(console, section.table.without_columns({_MEANING}))
        console.print()
    if found.impact:
        console.print(headline(found.impact.scenarios))


def write_markdown(found: PolicyDiff) -> str:
    if found.same:
        return f"{TITLE}\n\n{found.same}"
    parts = [TITLE, f"**{text(found.drains.sentence)}**"]
    if found.impact:
        parts.append(f"**{headline(found.impact.scenarios)}**")
    parts += map(_as_markdown, sections(found))
    if found.notes:
        parts.append(details("What this rests on", "\n".join(f"- {text(note)}" for note in found.notes)))
    return _fit(parts)


def _as_markdown(section: DiffSection) -> str:
    if section.table is None:
        return section.title
    table = as_markdown(section.table)
    if section.folded:
        return details(section.title, table)
    return "\n\n".join(filter(None, (f"#### {section.title}", text(section.lead), table)))


def _fit(parts: Sequence[str]) -> str:
    """Return the parts that a comment has room for, and a note if it has no room for all."""
    kept: list[str] = []
    room = MOST - len(MORE)
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            return "\n\n".join((*kept, MORE))
        kept.append(part)
    return "\n\n".join(kept)


def headline(scenarios: Sequence[Scenarios]) -> str:
    if not scenarios:
        return UNKNOWN
    old, new = (run.at_rest for run in scenarios)
    before, after = map(ScenarioMoney, scenarios)
    less = before.left(old) - after.left(new)
    ends = f"{count(new.nodes, 'node')} for {after.month(new)} a month"
    if paid_cost(old) == paid_cost(new):
        return f"The steady state stays the same: {ends}."
    return (
        f"The steady state becomes {ends}, from {old.nodes:,} for {before.month(old)}: "
        f"{whole_money(abs(less))} a month {'less' if less > 0 else 'more'} ({yearly(abs(less))} a year)."
    )


def compare_figures(scenarios: Sequence[Scenarios], now: datetime) -> Iterator[tuple[str, ...]]:
    runs = [(run, ScenarioMoney(run)) for run in scenarios]
    for title, figure in _FIGURES.items():
        cells = [figure(run, money, now) for run, money in runs]
        if cells and all(cells):
            yield title, *cells


_FIGURES: Final[Mapping[str, Callable[[Scenarios, ScenarioMoney, datetime], str]]] = {
    "now, a month": lambda run, money, _: money.month(run.now),
    "nodes in steady state": lambda run, *_: f"{run.at_rest.nodes:,}",
    "a month in steady state": lambda run, money, _: money.month(run.at_rest),
    "the same at list prices": lambda run, money, _: money.listed.month(run.at_rest) if money.listed else "",
    "saved, a month": lambda run, money, _: whole_money(money.saving_of(run.at_rest)),
    "steady state by (UTC)": lambda run, _, now: clock(by_the_minute(run.by), now) if run.by else "-",
    "evictions until then": lambda run, *_: f"{run.at_rest.evictions:,}",
    f"{BOUND}, a month": lambda run, money, _: money.month(run.bound),
}
"""What each figure of a steady state is; one that a run has not is left out."""
