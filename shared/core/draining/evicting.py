"""Which pods are asked for now, and whether their place has to be proved first.

The planner's picture is minutes old at the first eviction. So until a pod has moved the fit is proved on what stands
now, right before something could be moved; from then on the drain goes on, and what was moved is watched.
A rule of `draining`; must not act.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Pod
from shared.core.draining.eviction_order import due_now
from shared.core.draining.observation import Observation, drain_context
from shared.core.draining.pace import in_this_round
from shared.core.draining.steps import Evict, GiveBack, Prove, Step
from shared.core.reasons import Halt, PodBlock
from shared.core.records.evictions import STAYS, EvictionAnswer
from shared.core.records.state import DrainRecord
from shared.core.rules.pods import DrainContext, judge

PROOF_STANDS_FOR: Final = timedelta(seconds=20)
"""How old the proof made after the cordon may be at the first eviction."""


def evict(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Ask for the pods whose turn it is; the first one goes only where there is room now."""
    context = drain_context(record, observed, now)
    due = due_now(record, observed, context.policy.unprotected, now)
    sure = has_moved(record, observed) or _is_proved(observed, now)
    most = observed.claim.settings.max_parallel_evictions if observed.claim else 1
    asked = (pod for pod in due if sure or not _is_held(pod, record, context))
    now_due = in_this_round(asked, record, observed.working, most, now)
    if not now_due:
        return None
    return _unproved(record, observed, now) or Evict(now_due)


def has_moved(record: DrainRecord, observed: Observation) -> bool:
    """Whether a pod has left by our hand; of an answer that was lost the pod tells, whether it is gone or on its way.

    From then on the drain goes on, and what was moved is watched: there is nothing to prove any more.
    """
    staying = {pod.uid for pod in observed.pods if pod.deleting is None}
    rows = record.pods.values()
    return any(row.moved or (row.answer not in STAYS and row.uid not in staying) for row in rows)


def _is_held(pod: Pod, record: DrainRecord, context: DrainContext) -> bool:
    """Whether a budget has refused the pod and is shut: until it opens no proof is worth its reading.

    Some budgets let a pod go that is not Ready whatever they allow.
    """
    row = record.pods.get(pod.key)
    refused = row is not None and row.uid == pod.uid and row.answer == EvictionAnswer.BUDGET
    return pod.ready and refused and any(each.reason is PodBlock.PDB_EXHAUSTED for each in judge(pod, context))


def _unproved(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Until a pod has moved the fit is proved on what stands now: the planner's picture is minutes old."""
    if has_moved(record, observed):
        return None
    if observed.proof is None or not _is_proved(observed, now):
        return Prove()
    against = observed.proof.against
    return GiveBack(Halt.STALE, "; ".join(each.sentence for each in against)) if against else None


def _is_proved(observed: Observation, now: datetime) -> bool:
    return observed.proof is not None and now - observed.proof.at < PROOF_STANDS_FOR
