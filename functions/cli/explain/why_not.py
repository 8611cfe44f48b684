"""`ebb why-not`: tries single changes of cluster and policy; prints them by harm, then by the money that each frees."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from functions.cli.analysis.blocked import BlockedBy, blocked_nodes
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, find_steady_state
from functions.cli.analysis.forecast.what_if import Freed, Held, WhyNot, why_not
from functions.cli.input.inputs import gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.answers import PagePart, is_odd, print_answer
from functions.cli.output.format import count, dollars_a_month, json_dollars, monthly, rfc3339, some, whole_money
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.plan.as_json import blocked_document
from functions.cli.plan.scenarios import DEFAULTS, POLICY, month_with_saving
from functions.cli.plan.tables import OWNERS, blocked_table
from shared.adapters.process import no_search_for_cycles
from shared.core.cluster.node import Node
from shared.core.planning.make_plan import make_plan
from shared.core.planning.waves import remaining_nodes
from shared.core.reasons import Unremovable
from shared.core.rules.situation import Situation
from shared.errors import BadInput

SCHEMA: Final = 1


def document(found: WhyNot, cluster: str, blocked: BlockedBy | None = None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "at_rest": _at_rest(found.base),
        "changes": [_change(freed) for freed in found.freed],
        "hopeless": [_held_document(held) for held in found.hopeless],
        "passing": [_held_document(held) for held in found.passing],
        "not_tried": [_held_document(held) for held in found.left],
        "kept_by": blocked and blocked_document(blocked),
    }


def _at_rest(base: PolicyAtRest) -> dict[str, Any]:
    """Return the scenario `policy_at_rest`: what is gone until the steady state, and what is left."""
    left, rest = base.rest.snapshot.nodes, base.rest
    return {
        "nodes": len(base.situation.snapshot.nodes) - len(left),
        "saving_per_hour": json_dollars(base.saving),
        "nodes_left": len(left),
        "cost_per_month": float(round(dollars_a_month(base.prices.cost_of(left)), 2)),
        "bill_per_hour": None if base.bill.is_list else json_dollars(base.bill.cost_of(left)),
        "by": rfc3339(rest.by),
        "is_rest": rest.is_rest,
    }


def _change(freed: Freed) -> dict[str, Any]:
    return {
        **_held_document(freed.held),
        "frees_nodes": freed.nodes,
        "frees_per_hour": json_dollars(freed.saving),
        "harm": freed.relaxation.row.harm.name.lower(),
        "how": freed.relaxation.remedy,
        "is_rest": freed.rest.is_rest,
    }


def _held_document(held: Held) -> dict[str, Any]:
    relaxation = held.relaxation
    return {
        "reason": relaxation.reason.value,
        "object": relaxation.object or None,
        "detail": relaxation.detail or None,
        "nodes": list(held.nodes),
        "holds_per_hour": json_dollars(held.cost),
    }


AT_LEAST: Final = "+: at least so much. The search was cut short."
SAVES: Final = "Savings{what} of each change alone, safest first:"
MORE: Final = "--top N evaluates more changes."
NOTHING: Final = "No change that was evaluated saves more."


def _base(found: WhyNot, whose: str) -> str:
    """Return what is there now, and what is left in the policy's steady state, as `ebb plan` shows it."""
    base = found.base
    nodes, left = base.situation.snapshot.nodes, base.rest.snapshot.nodes
    paid, listed = _months(base.bill.cost_of, base), _months(base.prices.cost_of, base)
    beside = ("", "") if base.bill.is_list else tuple(f" ({amount} at list prices)" for amount in listed)
    return (
        f"{count(len(nodes), 'node')} for {paid[0]} a month now{beside[0]}. With Ebb, {whose}: "
        f"{count(len(left), 'node')} for {paid[1]}{beside[1]} in steady state."
    )


def _months(cost: Callable[[Iterable[Node]], int], base: PolicyAtRest) -> tuple[str, str]:
    now, rest = cost(base.situation.snapshot.nodes), cost(base.rest.snapshot.nodes)
    return monthly(now), whole_money(month_with_saving(now, rest), of=rest)


def _others(found: WhyNot) -> Iterator[str]:
    idle = [freed.held for freed in found.freed if not freed.saving]
    rows = (
        (idle, "{changes} would free nothing alone: {names}."),
        (found.hopeless, "{changes} cannot free anything, by the bound: {names}."),
        ((*found.left, *found.passing), "{changes} not evaluated (at most {most} a month): {names}."),
    )
    yield from (_of_group(text, held) for held, text in rows if held)
    if found.left:
        yield MORE


def _of_group(text: str, held: Sequence[Held]) -> str:
    names = some([one.relaxation.name for one in held], 4)
    return text.format(changes=count(len(held), "change"), names=names, most=monthly(sum(one.cost for one in held)))


_CHANGES: Final = (
    Column("saves/month", right=True), Column("nodes", right=True), Column("change", wraps=True, style=BOLD),
    Column("meaning", wraps=True, below=True), Column("harm", wraps=True, below=True, style="yellow"),
    Column("how", code=True, wraps=True, below=True, style="cyan"),
)  # fmt: skip


def parts(found: WhyNot, whose: str, blocked: BlockedBy | None = None) -> Iterator[PagePart]:
    freeing = [freed for freed in found.freed if freed.saving]
    yield _base(found, whose)
    yield SAVES.format(what="" if found.base.bill.is_list else " on the bill") if freeing else NOTHING
    if freeing:
        is_whole = all(freed.rest.is_rest for freed in freeing)
        yield Table.of(_CHANGES, map(_row, freeing), foot="" if is_whole else AT_LEAST)
    yield from _covered_sentences(found.base)
    yield from _others(found)
    if blocked and blocked.rows:
        yield f"{OWNERS.format(by=blocked.by)}:"
        yield blocked_table(blocked)


def _covered_sentences(base: PolicyAtRest) -> Iterator[str]:
    """Yield how many nodes stay because commitments pay for them: no change of policy or cluster frees money there."""
    reason = Unremovable.COVERED_BY_COMMITMENT
    details = [decision.blockers[-1].detail for decision in base.decisions if decision.reason == reason.value]
    if details:
        what = f"{count(len(details), 'node')} ({reason.value}: {some(sorted(set(details)))})"
        yield f"Kept by commitments: {what}. {reason.remedy}"


def _row(freed: Freed) -> Sequence[str]:
    change, saves = freed.relaxation, f"{monthly(freed.saving)}{'' if freed.rest.is_rest else '+'}"
    return saves, f"{freed.nodes:,}", change.name, change.sentence, change.row.harm.sentence, change.remedy


UNPRICED = "why-not: no price is known for these machines, and changes are ranked by money; name a table with --prices."
PARTIAL = "why-not: the dump is partial ({why}), so what a change would free is unknown."


def show_changes(sources: Sources, most: int, output: AnswerFormat, by: str = "") -> None:
    """Print which single changes would free most money. BadInput: a partial dump, or machines without a price."""
    inputs = gather(sources)
    if inputs.partial:
        raise BadInput(PARTIAL.format(why=inputs.partial))
    if not inputs.prices.cost_of(inputs.snapshot.nodes):
        raise BadInput("\n".join((*filter(is_odd, inputs.notes), UNPRICED)))
    past = recall_passes(inputs, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    with reading_line(inputs.snapshot.cluster, doing="Planning") as phase, no_search_for_cycles():
        phase("steady state")
        base = find_steady_state(situation, past.marks or {}, inputs.prices)
        found = why_not(base, most, lambda at, of: phase(f"change {at} of {of}"))
    notes = past.notes_of(inputs)
    cluster, whose = inputs.snapshot.cluster, POLICY if inputs.own_policy else DEFAULTS
    plan = make_plan(situation, past.marks, inputs.prices, wave=remaining_nodes(past.wave, situation)) if by else None
    blocked = blocked_nodes(plan, inputs.snapshot, by) if plan else None
    print_answer(
        output,
        lambda _: (parts(found, whose, blocked),),
        lambda: document(found, cluster, blocked),
        notes,
        f"What single changes would save: {cluster or 'the cluster'}",
    )
