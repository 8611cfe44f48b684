"""What is said of a plan in words: of a verdict, a reason, what stands in a node's way and when it may go, the savings.

Pure: a plan's values in, text out. Must not repeat a sentence of its own for a reason: `Reason` carries it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from functions.cli.format import clock, count, monthly, span
from shared.core.planning.plan import NodeDecision, Plan, Potential, Verdict
from shared.core.reasons import Blocker, DrainReason, PodBlock, Unremovable
from shared.core.rules.drain_time import DrainTime

VERDICTS: Final = {
    Verdict.ORDER: "order",
    Verdict.WOULD_ORDER: "would order",
    Verdict.WAITING: "waiting",
    Verdict.IN_FLIGHT: "in flight",
    Verdict.KEEP: "keep",
}
IN_FLIGHT: Final = VERDICTS[Verdict.IN_FLIGHT]
_REASONS: Final[Mapping[str, str]] = {
    IN_FLIGHT: "The reason column names the order that drains the node.",
    DrainReason.EMPTY: "No pod would have to move.",
    DrainReason.UNDERUTILIZED: "Its requests are below the limits, and its pods all have a place elsewhere.",
    DrainReason.EXPIRED: "The node is older than expireAfter, and its pods all have a place elsewhere.",
    DrainReason.MANUAL: "A person asked for it.",
    **{reason.value: reason.sentence for reason in Unremovable},
}


def of_reason(word: str, blockers: Sequence[Blocker]) -> str:
    """Return the sentence of a verdict's reason, that of the blocker which gave it where one did."""
    given = (each.reason.sentence for each in blockers if each.reason.value == word)
    return next(given, _REASONS.get(word, ""))


def nodes_and_pods(nodes: int, pods: int, pending: int) -> str:
    """Return how many there are, and how many pods have no node."""
    said = f"{count(nodes, 'node')} with {count(pods, 'pod')}"
    return f"{said} ({pending:,} pending)" if pending else said


def saving(plan: Plan) -> str:
    """Return what this pass saves, or why nothing; a dry run is named whether or not anything could be ordered."""
    dry = " (dry run: nothing is ordered)" if plan.dry_run else ""
    if not plan.orders:
        waiting = sum(each.verdict is Verdict.WAITING for each in plan.decisions)
        return (f"nothing yet: {count(waiting, 'node')} could go and must wait" if waiting else "nothing") + dry
    orders = count(len(plan.orders), "order")
    return f"{monthly(plan.saving)} a month by {orders}{dry or ' (only shown: ebb plan orders nothing)'}"


def potential_saving(plan: Plan, potential: Potential) -> str:
    share = f", {potential.saving * 100 // plan.cost}% of the cost" if plan.cost else ""
    nodes = count(len(potential.nodes), "node")
    return f"{monthly(potential.saving)} a month by {nodes}{share}, with only the safety rules in force"


def summary(plan: Plan) -> str:
    counted = [f"{VERDICTS[Verdict(word)]}: {number:,}" for word, number in plan.counts().items() if number]
    return f"{', '.join(counted)}; {monthly(plan.saving)} of {monthly(plan.cost)} a month would be saved."


def when(decision: NodeDecision, now: datetime, saved: int) -> str:
    """Return when the node may go, or since when it might; `saved` is what its order saves."""
    if decision.verdict in {Verdict.ORDER, Verdict.WOULD_ORDER}:
        price = f" {monthly(saved)}/mo" if saved else ""
        turns = f", {decision.drain.rounds:,} rounds" if decision.drain and decision.drain.rounds > 1 else ""
        return f"now{price}{turns}"
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        return f"from {clock(decision.removable_at, now)}"
    if decision.marked_since is not None and decision.marked_since < now:
        return f"since {clock(decision.marked_since, now)}"
    return ""


def length(takes: DrainTime) -> str:
    """Return how long a drain takes and what its pods wait their turn for; empty where nothing moves."""
    if not takes.rounds:
        return ""
    held = f" under {takes.limit}" if takes.limit else ""
    between = " to ".join(dict.fromkeys((span(takes.least), span(takes.most))))
    return f"{count(takes.rounds, 'round')}{held}: {between}, of the {span(takes.deadline)} that it may take"


def reason_of(decision: NodeDecision) -> str:
    """Return the word that a row shows; where a pod keeps the node the pod's own: `blocked_by_pod` names no cause."""
    said = _of_pods(decision.blockers)
    return f"pod: {said[0].reason.value}" if said else decision.reason


def about(blockers: Sequence[Blocker]) -> tuple[str, ...]:
    """Return wordings of what stands in the way, longest first, the empty one last."""
    named = _of_pods(blockers) or tuple(blockers)
    if not named:
        return ("",)
    first, rest = named[0], len(named) - 1
    more = f"+{rest}" if rest else ""
    wordings = (_joined(first.object, first.detail, more), _joined(first.object, more), more, "")
    return tuple(dict.fromkeys(wordings))


def _of_pods(blockers: Sequence[Blocker]) -> tuple[Blocker, ...]:
    """Return what pods say, where that is what keeps the node: `blocked_by_pod` alone names no cause."""
    if not blockers or blockers[0].reason is not Unremovable.BLOCKED_BY_POD:
        return ()
    return tuple(each for each in blockers if isinstance(each.reason, PodBlock))


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
