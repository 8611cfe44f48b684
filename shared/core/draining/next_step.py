"""One drain, seen as a reconciler: from what stands now to the one next step.

`next_step` looks at the drain's record, the node as it is, the claim and the policy, and says what to do;
asked again it gives the same answer, so a killed, doubled or late step does no harm (docs/decisions/steps.md).
Must not act, and must not remember: the drainer carries steps out and writes the record.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.annotation import read_annotation
from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT, LEAVING_TAINTS
from shared.core.cluster.snapshot import Node, Pod
from shared.core.draining.completion import drained, leave, place_awaited, replacement_pending, replacements_start
from shared.core.draining.evicting import evict
from shared.core.draining.lateness import late
from shared.core.draining.observation import Observation, drain_context
from shared.core.draining.steps import Await, Cordon, GiveBack, RecordPhase, Settle, Step
from shared.core.policy import Policy
from shared.core.reasons import Halt, Outcome, PodBlock
from shared.core.records.evictions import REFUSED_FOR_GOOD, EvictionAnswer
from shared.core.records.state import Claim, DrainPhase, DrainRecord
from shared.core.rules.pods import WAITS, judge, movable

CORDON_SETTLES: Final = timedelta(seconds=5)
"""A scheduler that had not yet seen the cordon may bind a pod in this time (Karpenter's MinDrainTime)."""
WAITS_ITS_TURN: Final = frozenset({PodBlock.PDB_EXHAUSTED, PodBlock.TOO_FEW_AVAILABLE, PodBlock.ROLLING_OUT})
"""Blocks that only delay an eviction once the drain has begun, at most until its deadline."""


def next_step(record: DrainRecord, observed: Observation, now: datetime) -> Step:
    """Return the next step of a drain whose claim was granted (phases claimed to drained)."""
    for rule in _RULES[record.phase]:
        step = rule(record, observed, now)
        if step is not None:
            return step
    return Await()


def grace_seconds(pod: Pod, most: timedelta) -> int:
    """Return the grace period to ask for: the pod's own, at most `most` (docs/acceptance.md row 85)."""
    return min(pod.spec.grace_seconds, int(most.total_seconds()))


def deadline(claim: Claim, pods: Iterable[Pod]) -> datetime:
    """Return when a drain is given back: the timeout plus the longest capped grace (docs/acceptance.md row 89)."""
    longest = max((grace_seconds(pod, claim.settings.max_grace) for pod in pods), default=0)
    return claim.since + claim.settings.timeout + timedelta(seconds=longest)


def must_stop(policy: Policy | None, pool: str, *, paused: bool) -> str:
    """Return why running drains are given back now (`paused`, `dryRun`, `enabled`), or an empty string."""
    if paused:
        return "pause flag"
    if policy is None:
        return ""
    reasons = {"paused": policy.paused, "dryRun": policy.dry_run, "enabled: false": not policy.pool(pool).enabled}
    return next((word for word, holds in reasons.items() if holds), "")


def _node_gone(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del record, now
    return Settle(Outcome.REMOVED) if observed.node is None else None


def _released(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del now
    held = observed.claim is not None and observed.claim.order_id == record.order.order_id
    return None if held else GiveBack(Halt.RELEASED, "the claim has been ended")


def _stopped(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del record, now
    pool = observed.claim.pool if observed.claim else ""
    word = must_stop(observed.policy, pool, paused=observed.paused)
    return GiveBack(Halt.PAUSED, word) if word else None


def _already_cordoned(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """A crash between the patch and its record: the node already carries our taint."""
    del now
    assert observed.node is not None  # noqa: S101 - _node_gone stands before this rule
    return RecordPhase(DrainPhase.CORDONED) if observed.node.drain_taint == record.order.order_id else None


def _taken_back(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """The same crash, and since then a person has removed our taint: the annotation of that patch still tells."""
    del now
    note = read_annotation(observed.node) if observed.node else None
    ours = note is not None and note.order_id == record.order.order_id
    return GiveBack(Halt.OVERRULED, untainted(observed.node)) if observed.node and ours else None


def untainted(node: Node) -> str:
    """Return what happened to a node of which only our taint was removed; empty where something else did."""
    alone = node.unschedulable and node.drain_taint is None and read_annotation(node) is not None
    return "Our taint was removed and the cordon was not; our annotation says whose it is." if alone else ""


def _going_away(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Somebody else takes the node away in this moment: it is not ours to cordon."""
    del record, now
    taint = next((key for key in LEAVING_TAINTS if observed.node and observed.node.has_taint(key)), None)
    return GiveBack(Halt.GOING_AWAY, taint) if taint else None


def _autoscaler_deletes(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """The autoscaler moves the pods itself: we wait for the node's end, or for its failure, and evict nothing more.

    Beyond the deadline no longer than it has for a node that we have drained.
    """
    if observed.node is None or not observed.node.has_taint(AUTOSCALER_DELETING_TAINT):
        return None
    most = observed.claim.settings.watchdog if observed.claim else timedelta(0)
    given_up = record.deadline is not None and now >= record.deadline + most
    return drained(record, observed, now) or (None if given_up else Await())


def _cordoned_by_other(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del record, now
    assert observed.node is not None  # noqa: S101 - _node_gone stands before this rule
    if observed.node.unschedulable or observed.node.drain_taint is not None:
        return GiveBack(Halt.CORDONED_BY_OTHER)
    return None


def _cordon(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del record, now
    return Cordon(observed.node) if observed.node else None


def _overruled(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Our taint was removed, or `unschedulable` cleared under it: a person wants the node, or the autoscaler failed.

    After a failed deletion the autoscaler clears `unschedulable` on nodes that it did not cordon, too; the taint
    has kept pods away meanwhile, and the cordon is set again (docs/decisions/healing.md).
    """
    del now
    node = observed.node
    assert node is not None  # noqa: S101 - _node_gone stands before this rule
    if node.drain_taint != record.order.order_id:
        return GiveBack(Halt.OVERRULED, untainted(node))
    if node.unschedulable:
        return None
    return (
        Cordon(node)
        if uncordoned_by_autoscaler(node, observed.deletion_failed_at, record.cordoned_at)
        else GiveBack(Halt.OVERRULED)
    )


def uncordoned_by_autoscaler(node: Node, failed_at: datetime | None, cordoned_at: datetime | None) -> bool:
    """Return whether it was the autoscaler that cleared a cordon: it is deleting the node, or failed to since.

    Events carry whole seconds, so a failure in the very second of the cordon counts.
    """
    if node.has_taint(AUTOSCALER_DELETING_TAINT):
        return True
    return failed_at is not None and cordoned_at is not None and failed_at > cordoned_at - timedelta(seconds=1)


def _cordon_settles(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del observed
    settled_at = (record.cordoned_at or now) + CORDON_SETTLES
    return Await(settled_at - now) if now < settled_at else None


def _refused_for_good(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    del now
    present = {pod.uid for pod in observed.pods}
    for key, row in sorted(record.pods.items()):
        if row.answer in REFUSED_FOR_GOOD and row.uid in present:
            why = Halt.SEVERAL_PDBS if row.answer == EvictionAnswer.SEVERAL_PDBS else Halt.EVICTION_FORBIDDEN
            return GiveBack(why, f"{key}: {row.detail}")
    return None


def _pod_blocks(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """A pod slipped in before all had seen the cordon: one that blocks is a failure, one that merely waits is not."""
    context = drain_context(record, observed, now)
    staying = (pod for pod in movable(observed.pods, now) if pod.deleting is None)
    found = [each for pod in staying for each in judge(pod, context) if each.reason not in WAITS_ITS_TURN]
    for each in sorted(found, key=lambda each: each.reason in WAITS):
        why = Halt.POD_WAITS if each.reason in WAITS else Halt.POD_BLOCKS
        return GiveBack(why, f"{each.object}: {each.reason.value}")
    return None


Rule = Callable[[DrainRecord, Observation, datetime], Step | None]
_RULES: Final[dict[DrainPhase, tuple[Rule, ...]]] = {
    DrainPhase.CLAIMED: (
        _node_gone, _released, _already_cordoned, _taken_back, _stopped, _going_away, _cordoned_by_other, late, _cordon,
    ),
    DrainPhase.CORDONED: (
        # the world moved on without us
        _node_gone, _released, _overruled,
        # we must stop
        _stopped, _refused_for_good, replacement_pending,
        # the cordon has to be seen by all before pods are counted
        _cordon_settles,
        # the end: what is empty, or becomes so without us, is no failure at the deadline
        _autoscaler_deletes, drained, late,
        # work
        _pod_blocks, place_awaited, evict,
    ),
    DrainPhase.DRAINED: (_node_gone, _released, _overruled, replacement_pending, replacements_start, leave),
}  # fmt: skip
"""What may happen in each phase, in order; the first rule that speaks decides."""
