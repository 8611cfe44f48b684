"""Which pods are asked for now, which forbid it, and whether their place has to be proved first.

The planner's picture is minutes old at the first eviction. So until a pod has moved the fit is proved on what stands
now, right before something could be moved; from then on the drain goes on, and what was moved is watched.
Rules of `next_step`; must not act.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.draining.eviction_order import due_now, in_this_round
from shared.core.draining.observation import Drain, Observation, Proof
from shared.core.draining.steps import Evict, GiveBack, Prove, Step
from shared.core.outcomes import Halt
from shared.core.reasons import PodBlock
from shared.core.records.drain_record import DrainRecord
from shared.core.records.evictions import REFUSED_FOR_GOOD, EvictionAnswer
from shared.core.rules.pods import WAITS, judge, movable

PROOF_STANDS_FOR: Final = timedelta(seconds=20)
"""How old the picture that the proof rests on may be at the first eviction."""
NEXT_LOOK: Final = timedelta(seconds=2)
"""The look after the proof begins within this time, and no second round of evictions does."""
SHUT_BUDGETS: Final = frozenset({PodBlock.PDB_EXHAUSTED, PodBlock.PDB_NEVER_ALLOWS})
ONLY_DELAYS: Final = SHUT_BUDGETS | {PodBlock.TOO_FEW_AVAILABLE, PodBlock.ROLLING_OUT, PodBlock.SURGE_NOT_READY}
"""Blocks that only delay an eviction once the drain has begun, at most until its deadline."""


def evict(drain: Drain) -> Step | None:
    """Ask for the pods whose turn it is; the first one goes only where there is room now."""
    record, observed, now = drain.record, drain.observed, drain.now
    due = due_now(record, observed, drain.pod_rules.policy.unprotected, now)
    sure = has_moved(record, observed) or _is_proved(drain)
    most = observed.claim.settings.max_parallel_evictions if observed.claim else 1
    asked = (pod for pod in due if sure or not _is_held(pod, drain))
    now_due = in_this_round(asked, record, observed.working, most, now)
    if not now_due:
        return None
    return unproved(drain) or Evict(now_due)


def refused_for_good(drain: Drain) -> Step | None:
    """The eviction API has refused a pod in a way that no repetition changes."""
    present = {pod.uid for pod in drain.observed.pods}
    for key, row in sorted(drain.record.pods.items()):
        if row.answer in REFUSED_FOR_GOOD and row.uid in present:
            why = Halt.SEVERAL_PDBS if row.answer == EvictionAnswer.SEVERAL_PDBS else Halt.EVICTION_FORBIDDEN
            return GiveBack(why, f"{key}: {row.detail}")
    return None


def pod_blocks(drain: Drain) -> Step | None:
    """A pod slipped in before all had seen the cordon: one that blocks is a failure, one that merely waits is not."""
    staying = (pod for pod in movable(drain.observed.pods, drain.now) if pod.deleting is None)
    found = [each for pod in staying for each in judge(pod, drain.pod_rules) if each.reason not in ONLY_DELAYS]
    for each in sorted(found, key=lambda each: each.reason in WAITS):
        why = Halt.POD_WAITS if each.reason in WAITS else Halt.POD_BLOCKS
        return GiveBack(why, f"{each.object}: {each.reason.value}")
    return None


def has_moved(record: DrainRecord, observed: Observation) -> bool:
    """Whether a pod has left by our hand; of an answer that was lost the pod tells, whether it is gone or on its way.

    From then on the drain goes on, and what was moved is watched: there is nothing to prove any more.
    """
    staying = {pod.uid for pod in observed.pods if pod.deleting is None}
    rows = record.pods.values()
    return any(row.moved or (row.may_leave and row.uid not in staying) for row in rows)


def _is_held(pod: Pod, drain: Drain) -> bool:
    """Whether a budget has refused the pod and is shut: until it opens no proof is worth its reading."""
    row = drain.record.pods.get(pod.key)
    refused = row is not None and row.uid == pod.uid and row.answer == EvictionAnswer.BUDGET
    return refused and any(each.reason in SHUT_BUDGETS for each in judge(pod, drain.pod_rules))


def unproved(drain: Drain) -> Step | None:
    """Until a pod has moved the fit is proved on what stands now: the planner's picture is minutes old."""
    if has_moved(drain.record, drain.observed):
        return None
    if drain.observed.proof is None or not _is_proved(drain):
        return Prove()
    against = drain.observed.proof.against
    return GiveBack(Halt.STALE, "; ".join(each.sentence for each in against)) if against else None


def stands_until(proof: Proof) -> datetime:
    """Return until when a proof stands: as long as its picture is young, and always for the look that follows it.

    Else a cluster whose reading takes longer than that would never be proved. One that speaks against the drain stands
    as long from its end: the node is looked at anew before it is given back, and that moves nothing.
    """
    young = proof.at if proof.against else proof.taken_at
    return max(young + PROOF_STANDS_FOR, proof.at + NEXT_LOOK)


def _is_proved(drain: Drain) -> bool:
    proof = drain.observed.proof
    return proof is not None and drain.now < stands_until(proof)
