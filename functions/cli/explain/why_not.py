"""`ebb why-not`: tries single changes of cluster and policy; prints them by harm, then by the money that each frees."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from functions.cli.analysis.changes import Harm, how
from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.forecast.at_rest import PolicyAtRest, policy_at_rest
from functions.cli.analysis.forecast.relaxations import Held
from functions.cli.analysis.forecast.what_if import AsRecommended, Freed, WhyNot, why_not
from functions.cli.analysis.recommendations import Oversized
from functions.cli.analysis.shapes.advice import least_cost
from functions.cli.explain.parts import PagePart, as_text, show
from functions.cli.input.inputs import gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.documents import print_document, text
from functions.cli.output.format import count, dollars, dollars_a_month, monthly, rfc3339, some, whole_money
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.output.terminal import printing
from functions.cli.plan.as_json import money
from functions.cli.plan.scenarios import DEFAULTS, POLICY, month_with_saving, relaxation
from functions.cli.plan.sentences import is_odd, other_types, show_odd, show_rests_on
from shared.collector import no_search_for_cycles
from shared.core.cluster.node import Node
from shared.core.planning.prices import GIB
from shared.core.reasons import Unremovable
from shared.core.rules.situation import Situation
from shared.errors import BadInput

SCHEMA: Final = 1


def document(found: WhyNot, cluster: str) -> dict[str, Any]:
    """Return what json.dumps takes; changes that were tried come with what they free, in the order of the table."""
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "at_rest": _at_rest(found.base),
        "changes": [_change(each) for each in found.freed],
        "hopeless": [_held(each) for each in found.hopeless],
        "passing": [_held(each) for each in found.passing],
        "not_tried": [_held(each) for each in found.left],
        "recommended_requests": _recommended(found.recommended) if found.recommended else None,
    }


def _at_rest(base: PolicyAtRest) -> dict[str, Any]:
    """Return the scenario `policy_at_rest`: what is gone until the steady state, and what is left."""
    left, rest = base.rest.snapshot.nodes, base.rest
    return {
        "nodes": len(base.situation.snapshot.nodes) - len(left),
        "saving_per_hour": money(dollars(base.saving)),
        "nodes_left": len(left),
        "cost_per_month": float(round(dollars_a_month(base.prices.of_all(left)), 2)),
        "bill_per_hour": None if base.bill.is_list else money(dollars(base.bill.of_all(left))),
        "by": rfc3339(rest.by) if rest.by else None,
        "is_rest": rest.is_rest,
    }


def _change(freed: Freed) -> dict[str, Any]:
    return {
        **_held(freed.held),
        "frees_nodes": freed.nodes,
        "frees_per_hour": money(dollars(freed.saving)),
        "harm": freed.subject.harm.name.lower(),
        "how": how(freed.subject),
        "is_rest": freed.is_rest,
    }


def _held(held: Held) -> dict[str, Any]:
    subject = held.subject
    return {
        "reason": subject.reason.value,
        "object": subject.object or None,
        "detail": subject.detail or None,
        "nodes": list(held.nodes),
        "holds_per_hour": money(dollars(held.cost)),
    }


def _recommended(found: AsRecommended) -> dict[str, Any]:
    return {
        "frees_nodes": found.nodes,
        "frees_per_hour": money(dollars(found.saving)),
        "is_rest": found.is_rest,
        "workloads": [_oversized(each) for each in found.workloads],
    }


def _oversized(each: Oversized) -> dict[str, Any]:
    """Return amounts of all pods together, in millicores and bytes."""
    requested, recommended = ({"cpu": at.cpu, "memory": at.memory} for at in (each.requested, each.recommended))
    own = {"workload": each.workload, "pods": each.pods, "requested": requested, "recommended": recommended}
    return {**own, "difference_per_hour": money(dollars(each.cost))}


_HEADROOM: Final = "The share of each remaining node that the policy keeps free."
"""The reason's own sentence is about a single node."""
_HARM: Final[Mapping[Harm, str]] = {
    Harm.NONE: "",
    Harm.REPLICA: "needs a second replica",
    Harm.WEAKENS: "weakens a protection: ask its owner first",
}
AT_LEAST: Final = "+: at least so much. The search was cut short."
SAVES: Final = "Savings{what} of each change alone, safest first:"
MORE: Final = "--top N evaluates more changes."
REQUESTS: Final = "Write the recommended requests into the templates, or let the autoscalers do it (updateMode)."
LESS_MEMORY: Final = (
    "Less memory is recommended{workloads}. Compare it with the peaks: pods above their memory requests are evicted "
    "first when a node runs out."
)
NOTHING: Final = "No change that was evaluated saves more."


def _base(found: WhyNot, whose: str) -> str:
    """Return what is there now, and what is left in the policy's steady state, as `ebb plan` shows it."""
    base = found.base
    nodes, left = base.situation.snapshot.nodes, base.rest.snapshot.nodes
    paid, listed = _months(base.bill.of_all, base), _months(base.prices.of_all, base)
    beside = ("", "") if base.bill.is_list else tuple(f" ({each} at list prices)" for each in listed)
    return (
        f"{count(len(nodes), 'node')} for {paid[0]} a month now{beside[0]}. With Ebb, {whose}: "
        f"{count(len(left), 'node')} for {paid[1]}{beside[1]} in steady state."
    )


def _months(cost: Callable[[Iterable[Node]], int], base: PolicyAtRest) -> tuple[str, str]:
    """Return a month of now, and one of the steady state."""
    now, rest = cost(base.situation.snapshot.nodes), cost(base.rest.snapshot.nodes)
    return monthly(now), whole_money(month_with_saving(now, rest), of=rest)


def _others(found: WhyNot) -> Iterator[str]:
    """Yield a sentence for each group of changes that are not in the table."""
    idle = [each.held for each in found.freed if not each.saving]
    rows = (
        (idle, "{changes} would free nothing alone: {names}."),
        (found.hopeless, "{changes} cannot free anything, by the bound: {names}."),
        ((*found.left, *found.passing), "{changes} not evaluated (at most {most} a month): {names}."),
    )
    yield from (_of_group(text, held) for held, text in rows if held)
    if found.left:
        yield MORE


def _of_group(text: str, held: Sequence[Held]) -> str:
    names = some([relaxation(each.subject) for each in held], 4)
    return text.format(changes=count(len(held), "change"), names=names, most=monthly(sum(each.cost for each in held)))


_CHANGES: Final = (
    Column("saves/month", right=True), Column("nodes", right=True), Column("change", wraps=True, style=BOLD),
    Column("meaning", wraps=True, below=True), Column("harm", wraps=True, below=True, style="yellow"),
    Column("how", code=True, wraps=True, below=True, style="cyan"),
)  # fmt: skip


def page(found: WhyNot, cluster: str, whose: str, notes: Sequence[str], more: Sequence[str] = ()) -> str:
    """Return the changes as one page of markdown."""
    title = f"# What single changes would save: {text(cluster or 'the cluster')}"
    return "\n\n".join((title, as_text(parts(found, whose, more)), *(f"> {text(note)}" for note in notes)))


def parts(found: WhyNot, whose: str, more: Sequence[str] = ()) -> Iterator[PagePart]:
    """Yield the policy's steady state, what single changes save beyond it, `more` sentences, and the other changes."""
    freeing = [each for each in found.freed if each.saving]
    yield _base(found, whose)
    yield SAVES.format(what="" if found.base.bill.is_list else " on the bill") if freeing else NOTHING
    if freeing:
        is_whole = all(each.is_rest for each in freeing)
        yield Table.of(_CHANGES, map(_row, freeing), foot="" if is_whole else AT_LEAST)
    if found.recommended:
        yield from _if_as_recommended(found.recommended)
    yield from more
    yield from _covered(found.base)
    yield from _others(found)


def _covered(base: PolicyAtRest) -> Iterator[str]:
    """Yield how many nodes stay because commitments pay for them: no change of policy or cluster frees money there."""
    reason = Unremovable.COVERED_BY_COMMITMENT
    details = [each.blockers[-1].detail for each in base.decisions if each.reason == reason.value]
    if details:
        what = f"{count(len(details), 'node')} ({reason.value}: {some(sorted(set(details)))})"
        yield f"Kept by commitments: {what}. {reason.remedy}"


def _if_as_recommended(found: AsRecommended) -> Iterator[str]:
    """Yield what smaller requests free, and what to do for them."""
    these = "this workload" if len(found.workloads) == 1 else f"these {len(found.workloads):,} workloads"
    month = f"{monthly(found.saving)} a month{'' if found.is_rest else ' or more'}"
    would = f"{count(found.nodes, 'more node')} would go: {month}" if found.nodes else "no more node would go"
    yield f"If {these} requested what VerticalPodAutoscalers recommend, {would}."
    largest = some([_in_words(each) for each in found.workloads])
    yield " ".join((f"The largest: {largest}.", *remedies(found.workloads)))


def remedies(workloads: Sequence[Oversized]) -> Iterator[str]:
    """Yield how their requests become smaller, and what that risks."""
    yield REQUESTS
    less = sum(each.less_memory for each in workloads)
    if less:
        yield LESS_MEMORY.format(workloads="" if less == len(workloads) else f" for {less:,} of them")


def _in_words(each: Oversized) -> str:
    cpu, memory = amounts(each)
    return f"{each.workload} (CPU {cpu}, memory {memory} GiB)"


def amounts(each: Oversized) -> tuple[str, str]:
    """Return the CPUs and the GiB of all pods, as requested and as recommended: `36.0 to 9.6`."""
    rows = (each.requested, each.recommended)
    cpus, gibs = [f"{row.cpu / 1000:,.1f}" for row in rows], [f"{row.memory / GIB:,.1f}" for row in rows]
    return " to ".join(cpus), " to ".join(gibs)


def _row(freed: Freed) -> Sequence[str]:
    subject, saves = freed.subject, f"{monthly(freed.saving)}{'' if freed.is_rest else '+'}"
    meaning = _HEADROOM if subject.reason is Exclusion.ROOM else f"{subject.reason}: {subject.reason.sentence}"
    return saves, f"{freed.nodes:,}", relaxation(subject), meaning, _HARM[subject.harm], how(subject)


UNPRICED = "why-not: no price is known for these machines, and changes are ranked by money; name a table with --prices."
PARTIAL = "why-not: the dump is partial ({why}), so what a change would free is unknown."


def show_changes(sources: Sources, most: int, output: AnswerFormat) -> None:
    """Print which single changes would free most money: for people with the notes, for tools with these on stderr.

    Raises:
        BadInput: the dump does not hold the whole cluster, or its machines have no price.
    """
    inputs = gather(sources)
    if inputs.partial:
        raise BadInput(PARTIAL.format(why=inputs.partial))
    if not inputs.prices.of_all(inputs.snapshot.nodes):
        raise BadInput("\n".join((*filter(is_odd, inputs.notes), UNPRICED)))
    past = recall_passes(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    with reading_line(inputs.snapshot.cluster, doing="Planning") as phase, no_search_for_cycles():
        phase("steady state")
        base = policy_at_rest(situation, past.marks or {}, inputs.prices)
        found = why_not(base, most, lambda at, of: phase(f"change {at} of {of}"))
        more = other_types(base.bill.of_all(base.rest.snapshot.nodes), least_cost(situation, base.bill))
    notes = past.notes_of(inputs)
    cluster, whose = inputs.snapshot.cluster, POLICY if inputs.own_policy else DEFAULTS
    if output is AnswerFormat.MARKDOWN:
        typer.echo(page(found, cluster, whose, notes, more))
    elif output is not AnswerFormat.TABLE:
        print_document(document(found, cluster), output, notes)
    else:
        with printing() as console:
            show_odd(console, notes)
            show(console, parts(found, whose, more))
            console.print()
            show_rests_on(console, notes)
