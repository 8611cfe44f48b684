"""How a drain ended, for a person: the exit code, the sentence of its reason, and what can be done about it.

Pure. The sentences are those of the reasons themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from functions.cli.analysis.remedies import REMEDIES
from functions.cli.errors import WRONG
from functions.cli.output.format import span
from shared.core.outcomes import Halt, Outcome, Refusal
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.records.drain_record import DrainPhase, DrainRecord, Objection
from shared.core.records.orders import Order
from shared.core.records.state import Claim

_DONE: Final = frozenset({Outcome.REMOVED, Outcome.WOULD_DRAIN})
_AGAIN: Final = "Look at the node and its pods, then run ebb drain again once the back-off in ebb status is over."
_ONGOING: Final = "Nothing to do; ebb status shows the drain that holds the node."

REFUSAL_REMEDIES: Final[Mapping[str, str]] = {
    Refusal.MALFORMED.value: "Run the version of ebb that the functions run.",
    Refusal.OTHER_CLUSTER.value: "Set EBB_CLUSTER and EBB_TOPIC to those of one cluster.",
    Refusal.EXPIRED.value: "Run ebb drain again; if it expires again, look at the push subscription and the drainer.",
    Refusal.OLD_GENERATION.value: _ONGOING,
    Refusal.ALREADY_SETTLED.value: "Run ebb drain again: it makes a new order.",
    Refusal.NODE_UNKNOWN.value: "Check the name with kubectl get nodes: the node may be gone, or in another cluster.",
    Refusal.NODE_REPLACED.value: "Run ebb drain again if the node that bears the name now is meant.",
    Refusal.OTHER_NODE.value: "Leave order_id out: the message then has an id of its own.",
    Refusal.CLAIMED_BY_OTHER.value: _ONGOING,
    Refusal.POLICY_INVALID.value: "Run ebb policy check FILE and fix what it names.",
    Refusal.PREFLIGHT.value: "Fix what the eviction API named, or wait until the disruption budget has room.",
}
HALT_REMEDIES: Final[Mapping[str, str]] = {
    Halt.DEADLINE.value: "Give the workload more replicas or its disruption budget more room, or raise drain.timeout.",
    Halt.PAUSED.value: "Run ebb resume, or set paused, dryRun or enabled in the policy, then run ebb drain again.",
    Halt.EVICTION_FORBIDDEN.value: "Fix what the API server or the webhook named, then run ebb drain again.",
    Halt.SEVERAL_PDBS.value: REMEDIES[PodBlock.SEVERAL_PDBS],
    Halt.POD_BLOCKS.value: "Run ebb explain NODE to see what the pod says.",
    Halt.POD_WAITS.value: "Run ebb drain again once the pod is done; ebb explain NODE says what it waits for.",
    Halt.REPLACEMENT_PENDING.value: "Find room for the pod: kubectl describe pod says what it lacks.",
    Halt.SURGE_PENDING.value: "Find room for one more such pod: its namespace's events say what the new one lacked.",
    Halt.SURGE_FAILED.value: "See with kubectl rollout status why the Deployment makes no progress; mend its template.",
    Halt.SURGE_REFUSED.value: (
        "Apply infra/options/surge.yaml or mend the webhook, as the detail says; or set singleReplicas otherwise."
    ),
    Halt.DEMAND.value: "Nothing to do: the room is needed.",
    Halt.BUFFER.value: "Nothing to do: the buffer needs the room.",
    Halt.BREAKER.value: "See with kubectl describe pod why the moved pod found no place; the breaker closes by itself.",
    Halt.WATCHDOG.value: "See in the autoscaler's events why it kept the empty node (kubectl describe node).",
    Halt.ORPHAN.value: _AGAIN,
    Halt.RELEASED.value: "Nothing to do; after 24 h the node may go again.",
    Halt.OVERRULED.value: "Nothing to do; after 24 h the node may go again.",
    Halt.CORDONED_BY_OTHER.value: REMEDIES[Unremovable.CORDONED_BY_OTHER],
    Halt.GOING_AWAY.value: "Nothing to do: the node goes by itself.",
    Halt.STALE.value: "Run ebb drain again once there is room; ebb explain NODE says what is short of it.",
}
"""By word: halts and other reasons share words and differ in what helps."""
_OBJECTION_REMEDIES: Final[Mapping[str, str]] = {
    **{reason.value: remedy for reason, remedy in REMEDIES.items()},
    Unremovable.BLOCKED_BY_POD.value: "Run ebb explain NODE to see what each pod says.",
}
_REFUSED: Final[Mapping[str, str]] = {**_OBJECTION_REMEDIES, **REFUSAL_REMEDIES}


@dataclass(frozen=True, slots=True)
class Ending:
    """The exit code and the sentences that go with it."""

    code: int
    sentences: tuple[str, ...]
    objections: tuple[str, ...] = ()
    """Each thing that stood in the way, with its remedy; printed after the first sentence."""


def ending_of(record: DrainRecord, claim: Claim | None) -> Ending | None:
    """Return how the drain ended for whoever ordered it; None while it goes on."""
    if record.phase is DrainPhase.DRAINED:
        return _drained(record, claim)
    if record.phase is not DrainPhase.SETTLED:
        return None
    node, outcome = record.order.node, record.outcome
    if outcome in _DONE:
        said = f"{node}: {outcome}. {sentence((Outcome,), outcome)}"
        return Ending(0, (said, *_would_restart(record), *_policy_is_dry(record)))
    if any(each.reason != record.why for each in record.objections):
        return Ending(WRONG, (_first(record), *_remark(record)), objections(record))
    return Ending(WRONG, (_why(record), *_remedy(record)))


def unclaimed(order: Order) -> Ending:
    """Return the end of an order that no drainer has taken before it expired."""
    word = Refusal.EXPIRED
    return Ending(
        WRONG,
        (f"{order.node}: {Outcome.REFUSED.value}, {word.value}. {word.sentence}", REFUSAL_REMEDIES[word.value]),
    )


def unfinished(order: Order, after: timedelta) -> Ending:
    """Return what is said when the person's patience ends before the drain does."""
    return Ending(WRONG, (f"{order.node}: not done after {span(after)}.", *goes_on(order)))


def goes_on(order: Order) -> tuple[str, ...]:
    """Return what a person can do who stops watching."""
    return (f"Order {order.order_id} goes on: ebb status shows it, ebb release {order.node} ends it.",)


def sentence(kinds: Iterable[type[Reason]], word: str) -> str:
    """Return the sentence of a word among some kinds of reasons; empty for a word of a newer version."""
    return next((reason.sentence for kind in kinds for reason in kind if reason.value == word), "")


def why_sentence(record: DrainRecord) -> str:
    """Return the sentence of a settled record's reason, with its details."""
    kinds = (Refusal, Unremovable, PodBlock) if record.outcome == Outcome.REFUSED else (Halt,)
    said = sentence(kinds, record.why)
    if record.detail.startswith(said):  # the details of a refusal are whole sentences, the reason's own first
        return record.detail
    return f"{said} {record.detail}".strip()


def _drained(record: DrainRecord, claim: Claim | None) -> Ending:
    node = record.order.node
    watchdog = f" It is given back if it still stands after {span(claim.settings.watchdog)}." if claim else ""
    return Ending(0, (f"{node}: drained. The cluster autoscaler deletes it next.{watchdog}",))


def _would_restart(record: DrainRecord) -> tuple[str, ...]:
    """The detail of a dry run are the Deployments whose pods would leave without a gap."""
    return (f"It {record.detail}.",) if record.outcome == Outcome.WOULD_DRAIN and record.detail else ()


def _policy_is_dry(record: DrainRecord) -> tuple[str, ...]:
    if record.outcome != Outcome.WOULD_DRAIN or record.order.dry_run:
        return ()
    return ("The policy says dryRun: true; set dryRun: false to let drains start.",)


def objections(record: DrainRecord) -> tuple[str, ...]:
    """Return what stood in an order's way, one sentence each with its remedy."""
    rows = [each for each in record.objections if each.reason != Unremovable.BLOCKED_BY_POD] or record.objections
    return tuple(_objection(each, record.order.node) for each in rows)


def _objection(row: Objection, node: str) -> str:
    about = ", ".join(part for part in (row.object, row.detail) if part)
    said = (f"{row.reason}{f' ({about})' if about else ''}:", sentence((Unremovable, PodBlock), row.reason))
    return " ".join(part for part in (*said, _OBJECTION_REMEDIES.get(row.reason, "").replace("NODE", node)) if part)


def _first(record: DrainRecord) -> str:
    said = sentence((Unremovable, PodBlock), record.why)
    return f"{record.order.node}: {record.outcome}, {record.why}. {said}".strip()


def _remark(record: DrainRecord) -> tuple[str, ...]:
    return (record.remark,) if record.remark else ()


def _why(record: DrainRecord) -> str:
    return f"{record.order.node}: {record.outcome}, {record.why}. {why_sentence(record)}"


def _remedy(record: DrainRecord) -> tuple[str, ...]:
    known = _REFUSED if record.outcome == Outcome.REFUSED else HALT_REMEDIES
    pods = _OBJECTION_REMEDIES.get(record.detail.rpartition(": ")[2], "") if record.why == Halt.POD_BLOCKS else ""
    remedy = (pods or known.get(record.why, "")).replace("NODE", record.order.node)
    return (remedy,) if remedy else ()
