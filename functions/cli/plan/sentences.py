"""The words of a plan: verdicts, reasons with their sentences, savings, and the notes above and below the tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Final

from functions.cli.analysis.pools import EMPTY_ONLY, next_to_ebb, pool_rules
from functions.cli.output.format import clock, count, group, monthly, percent, rounded_percent, some, span
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Plan, Potential, Verdict
from shared.core.planning.steering import steering
from shared.core.reasons import Blocker, DrainReason, PodBlock, Unremovable
from shared.core.rules.drain_time import DrainTime
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of

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
    **{reason.value: reason.sentence for kind in (DrainReason, Unremovable) for reason in kind},
}


def of_reason(word: str, blockers: Sequence[Blocker]) -> str:
    """Return the sentence of a verdict's reason, that of the blocker which gave it where one did."""
    given = (blocker.reason.sentence for blocker in blockers if blocker.reason.value == word)
    return next(given, _REASONS.get(word, ""))


def nodes_and_pods(plan: Plan) -> str:
    text = f"{count(len(plan.decisions), 'node')} with {count(plan.pods, 'pod')}"
    return f"{text} ({plan.pending:,} pending)" if plan.pending else text


def saving(plan: Plan) -> str:
    """Return what this pass saves, or why nothing; a dry run is named whether or not anything could be ordered."""
    dry = " (dry run: nothing is ordered)" if plan.dry_run else ""
    if not plan.orders:
        waiting = sum(decision.verdict is Verdict.WAITING for decision in plan.decisions)
        return (f"nothing yet: {count(waiting, 'node')} could go and must wait" if waiting else "nothing") + dry
    orders = count(len(plan.orders), "order")
    saved = f"{monthly(plan.saving)} a month by " if plan.cost else ""
    return f"{saved}{orders}{dry or ' (only shown: ebb plan orders nothing)'}"


def potential_saving(plan: Plan, potential: Potential) -> str:
    is_share = plan.cost and not is_billed(plan)
    share = f", {rounded_percent(Fraction(potential.saving, plan.cost))} of the cost" if is_share else ""
    nodes = count(len(potential.nodes), "node")
    saved = f"{monthly(potential.saving)} a month by " if plan.cost else ""
    return f"{saved}{nodes}{share}, with only the safety rules in force"


def is_billed(plan: Plan) -> bool:
    """Whether savings are those of the bill, because capacity is committed; costs are list prices."""
    return plan.savings is not None and not plan.savings.bill.is_list


def summary(plan: Plan) -> str:
    counted = [f"{VERDICTS[Verdict(word)]}: {number:,}" for word, number in plan.counts().items() if number]
    of = "the bill" if is_billed(plan) else monthly(plan.cost)
    saved = f"; {monthly(plan.saving)} of {of} a month would be saved" if plan.cost else ""
    return f"{', '.join(counted)}{saved}."


def when_it_goes(decision: NodeDecision, now: datetime, saved: int) -> str:
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
    reasons = _of_pods(decision.blockers)
    return f"pod: {reasons[0].reason.value}" if reasons else decision.reason


def about(blockers: Sequence[Blocker]) -> str:
    """Return what stands in the way: the first thing, its details, and how many more there are."""
    named = _of_pods(blockers) or tuple(blockers)
    more = f"+{len(named) - 1}" if len(named) > 1 else ""
    return " ".join(filter(None, (named[0].object, named[0].detail, more))) if named else ""


def _of_pods(blockers: Sequence[Blocker]) -> tuple[Blocker, ...]:
    if not blockers or blockers[0].reason is not Unremovable.BLOCKED_BY_POD:
        return ()
    return tuple(blocker for blocker in blockers if isinstance(blocker.reason, PodBlock))


class WordKind(StrEnum):
    GOES = "goes"
    """Why a node goes."""
    NODE = "node"
    """What names the verdict of a node that stays."""
    POD = "pod"
    """What keeps a pod on such a node; a node may have several."""
    ALSO = "also"
    """What else stands in a node's way, and names no verdict."""


HOLDING: Final = (WordKind.NODE, WordKind.POD)
"""What holds money: the others go, or are held by another word already."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One word, how many nodes it names, what they cost (micro-dollars an hour), and the objects that it is about."""

    word: str
    sentence: str
    nodes: int
    about: tuple[tuple[str, str], ...] = ()
    kind: WordKind = WordKind.NODE
    cost: int = 0

    @property
    def month(self) -> str:
        """What the nodes cost a month; a dash if no price is known for them."""
        return monthly(self.cost) if self.cost else "-"

    def some_objects(self, most: int) -> str:
        """Return the first objects and how many more there are; a detail that all of them share is shown once."""
        details = {detail for _, detail in self.about}
        if len(details) > 1 or len(self.about) == 1:
            return some([_with_detail(*pair) for pair in self.about], most)
        return _with_detail(some([name for name, _ in self.about], most), *details)


def legend(plan: Plan) -> tuple[LegendEntry, ...]:
    """Return the entries by kind, those that hold most money first."""
    rows = group((key, decision) for decision in plan.decisions for key in _keys(decision))
    named = {word for kind, word in rows if kind in {WordKind.NODE, WordKind.GOES}}
    entries = (_entry(*key, own) for key, own in rows.items() if key[0] is not WordKind.ALSO or key[1] not in named)
    order = list(WordKind)
    return tuple(sorted(entries, key=lambda entry: (order.index(entry.kind), -entry.cost, -entry.nodes, entry.word)))


def _keys(decision: NodeDecision) -> Iterator[tuple[WordKind, str]]:
    if decision.verdict is Verdict.IN_FLIGHT:
        yield WordKind.GOES, IN_FLIGHT
    elif decision.reason:
        yield (WordKind.NODE if decision.blockers else WordKind.GOES), decision.reason
    for reason in dict.fromkeys(blocker.reason for blocker in decision.blockers):
        if isinstance(reason, PodBlock):
            yield WordKind.POD, reason.value
        elif reason.value != decision.reason:
            yield WordKind.ALSO, reason.value


def _entry(kind: WordKind, word: str, own: list[NodeDecision]) -> LegendEntry:
    blockers = [blocker for decision in own for blocker in decision.blockers if blocker.reason.value == word]
    cost = sum(decision.cost for decision in own)
    return LegendEntry(word, of_reason(word, blockers), len(own), _subjects(word, own), kind, cost)


def _subjects(word: str, own: Iterable[NodeDecision]) -> tuple[tuple[str, str], ...]:
    """Return what the word is about, each once; pods stand with their own reasons."""
    if word == Unremovable.BLOCKED_BY_POD.value:
        return ()
    costly = sorted(own, key=lambda decision: (-decision.cost, decision.name))
    blockers = (
        blocker
        for decision in costly
        for blocker in decision.blockers
        if blocker.reason.value == word and blocker.object
    )
    return tuple(dict.fromkeys((blocker.object, blocker.detail) for blocker in blockers))


def _with_detail(name: str, detail: str = "") -> str:
    return f"{name} ({detail})" if detail else name


def autoscaler_note(snapshot: Snapshot, *, in_dump: bool) -> Iterator[str]:
    """Yield what the autoscaler does next to Ebb, with the pools if it does not do it everywhere."""
    rules = pool_rules(snapshot)

    def pools(own: Mapping[str, ScaleDownRule]) -> str:
        return f" of pool{'s' if len(own) > 1 else ''} {some(sorted(own))}" if len(own) < len(rules) else ""

    known = {name: rule for name, rule in rules.items() if rule.class_known}
    only_empty = {name: rule for name, rule in known.items() if rule.only_empty}
    unknown = {name: rule for name, rule in rules.items() if not rule.class_known}
    if only_empty:
        yield f"The autoscaler only deletes empty nodes{pools(only_empty)} ({EMPTY_ONLY})."
    for packs in (False, True):
        own = {name: rule for name, rule in known.items() if rule.packs is packs and not rule.only_empty}
        if own:
            fullest = max(own.values(), key=lambda rule: rule.gate)
            used = f"used up to {percent(fullest.gate)} without DaemonSets"
            yield f"The autoscaler itself empties nodes{pools(own)} that are {used}, and {next_to_ebb(fullest)}."
    if unknown:
        classes = some(sorted({rule.compute_class for rule in unknown.values()}))
        remedy = "add computeclasses to the dump" if in_dump else "let this account list computeclasses"
        what = f"Whether the autoscaler only deletes empty nodes{pools(unknown)} is unknown"
        yield f"{what}: no ComputeClass {classes} is known here; {remedy}."


_COUNTED_NOWHERE: Final = "Nodes in no pool's figures, and without a cost here: {what} (docs/decisions/neighbours.md)."


def outside_note(snapshot: Snapshot) -> tuple[str, ...]:
    standing = sum(node.stands_by for node in snapshot.nodes)
    others = [node for node in snapshot.nodes if node.outside and not node.stands_by]
    managed = sum(node.managed for node in others)
    rows = (
        (standing, "standing by for a capacity buffer"),
        (managed, "managed by Google"),
        (len(others) - managed, "of a virtual kubelet"),
    )
    what = ", ".join(f"{count(number, 'node')} {text}" for number, text in rows if number)
    return (_COUNTED_NOWHERE.format(what=what),) if what else ()


def wave_note(plan: Plan) -> Iterator[str]:
    if plan.wave:
        going = count(len(plan.wave), "node goes", "nodes go")
        yield f"Wave: {going} as one set, in this order: {some(plan.wave)}. The other nodes are room for them."
    if plan.costly:
        costly = count(len(plan.costly), "node costs", "nodes cost")
        yield f"{costly} more for the size than others: {some(plan.costly)}. Ebb's soft taint lets pods avoid them."


def steer_note(situation: Situation, plan: Plan) -> Iterator[str]:
    """Yield a sentence where the policy steers scale-in and something is to go next."""
    if not plan.next_nodes:
        return
    found = steering(plan, situation)
    pods, nodes = count(len(found.wanted), "pod"), f"{count(len(found.nodes), 'node')} ({some(list(found.nodes))})"
    if found.wanted:
        yield f"steerScaleIn: a scale-in takes {pods} on {nodes} first, by the deletion cost that Ebb writes."
    else:
        yield "steerScaleIn: on no node that goes next is a pod that a scale-in could take before others."


def surge_note(situation: Situation, plan: Plan) -> Iterator[str]:
    nodes = (situation.snapshot.node_by_name[order.node] for order in plan.orders)
    found = {
        surge.name
        for node in nodes
        for surge in surges_of(situation.moving(node.name), situation.drain_context(node.pool))[0]
    }
    if found:
        which = f"{count(len(found), 'Deployment')} ({some(sorted(found))})"
        yield f"This pass would restart {which}, so that single replicas move without a gap instead of being evicted."
