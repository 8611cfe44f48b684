"""Which pods are asked for now, which forbid it, and whether their place has to be proved first. Rules of `next_step`.

A workload without a PodDisruptionBudget is treated as if it had the policy's `unprotected` for maxUnavailable, at
least one and never all at once (docs/decisions/evictions.md), also where other drains move its pods. Drains in flight
share each round. The pod asked for least recently comes first, so that a closed budget never keeps others back.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.workloads import UNKNOWN, Workload, mark
from shared.core.draining.drain import Drain, Evict, Observation, Proof, Prove, ReturnNode, Step
from shared.core.policy import Limit
from shared.core.reasons import PodBlock, ReturnReason
from shared.core.records.drain_record import REFUSED_FOR_GOOD, DrainRecord, EvictionAnswer
from shared.core.rules.drain_time import RETRY_AFTER
from shared.core.rules.pods import judge, movable

PROOF_STANDS_FOR: Final = timedelta(seconds=20)  # How old the snapshot of a proof may be at the first eviction.
NEXT_LOOK: Final = timedelta(seconds=2)  # The look after the proof begins within it, a second round does not.
SHUT_BUDGETS: Final = frozenset({PodBlock.PDB_EXHAUSTED, PodBlock.PDB_NEVER_ALLOWS, PodBlock.PDB_UNCOUNTED})


def evict(drain: Drain) -> Step | None:
    record, observed, now = drain.record, drain.observed, drain.now
    due = due_now(record, observed, drain.pod_rules.policy.unprotected, now)
    sure = has_moved(record, observed) or _is_proved(drain)
    most = observed.claim.settings.max_parallel_evictions if observed.claim else 1
    evictable = (pod for pod in due if sure or not _is_held(pod, drain))
    now_due = in_this_round(evictable, record, observed.working, most, now)
    if not now_due:
        return None
    return fit_not_proved(drain) or Evict(now_due)


def refused_for_good(drain: Drain) -> Step | None:
    present = {pod.uid for pod in drain.observed.pods}
    for key, row in sorted(drain.record.pods.items()):
        if row.answer in REFUSED_FOR_GOOD and row.uid in present:
            several = row.answer == EvictionAnswer.SEVERAL_PDBS
            why = ReturnReason.SEVERAL_PDBS if several else ReturnReason.EVICTION_FORBIDDEN
            return ReturnNode(why, f"{key}: {row.detail}")
    return None


def pod_blocks(drain: Drain) -> Step | None:
    """A pod slipped in before all had seen the cordon: one that blocks is a failure, one that merely waits is not."""
    # A pod whose template names the node passes the cordon, and does so again after each eviction.
    staying = (pod for pod in movable(drain.observed.pods, drain.now) if pod.deleting is None)
    following = as_they_return(staying, drain.observed.workloads)
    found = [blocker for pod in following for blocker in judge(pod, drain.pod_rules) if not blocker.reason.row.delays]
    blocker = min(found, key=lambda blocker: blocker.reason.row.passes, default=None)
    if blocker is None:
        return None
    why = ReturnReason.POD_WAITS if blocker.reason.row.passes else ReturnReason.POD_BLOCKS
    return ReturnNode(why, f"{blocker.object}: {blocker.reason.value}")


def has_moved(record: DrainRecord, observed: Observation) -> bool:
    """Whether a pod has left by our hand; after a lost answer the pod shows it: it is gone or on its way."""
    # From then on the drain goes on, and what was moved is watched: there is nothing to prove any more.
    staying = {pod.uid for pod in observed.pods if pod.deleting is None}
    rows = record.pods.values()
    return any(row.moved or (row.may_leave and row.uid not in staying) for row in rows)


def _is_held(pod: Pod, drain: Drain) -> bool:
    """Whether a budget has refused the pod and is shut: until it opens no proof is worth its reading."""
    row = drain.record.pods.get(pod.key)
    refused = row is not None and row.uid == pod.uid and row.answer == EvictionAnswer.BUDGET
    return refused and any(blocker.reason in SHUT_BUDGETS for blocker in judge(pod, drain.pod_rules))


def fit_not_proved(drain: Drain) -> Step | None:
    """Until a pod has moved the fit is proved on what stands now: the planner's snapshot is minutes old."""
    if has_moved(drain.record, drain.observed):
        return None
    if drain.observed.proof is None or not _is_proved(drain):
        return Prove()
    against = drain.observed.proof.against
    return ReturnNode(ReturnReason.STALE, "; ".join(blocker.sentence for blocker in against)) if against else None


def expires_at(proof: Proof) -> datetime:
    """Return until when a proof stands: as long as its snapshot is young, and always for the next look."""
    # Else a cluster whose reading takes longer would never be proved. One against the drain stands from its end.
    young = proof.at if proof.against else proof.taken_at
    return max(young + PROOF_STANDS_FOR, proof.at + NEXT_LOOK)


def _is_proved(drain: Drain) -> bool:
    proof = drain.observed.proof
    return proof is not None and drain.now < expires_at(proof)


STATUS_LAG: Final = timedelta(seconds=5)
"""How long a controller may take to write into its status that a pod is away; until then we count it ourselves."""
WORKLOADS_STAND_FOR: Final = timedelta(seconds=3)  # How old a status may be that a drain of this instance has read.
ROUND: Final = timedelta(seconds=3)
"""Each round writes the drain's record twice, and Firestore sustains one write a second to a document
(https://cloud.google.com/firestore/docs/best-practices)."""
EVICTIONS_A_ROUND: Final = 36  # Of all drains: twelve a second, with room for cordons under twenty writes a second.


def due_now(record: DrainRecord, observed: Observation, unprotected: Limit, now: datetime) -> tuple[Pod, ...]:
    """Return the pods to ask for now: ordinary ones before critical ones, each group gone before the next."""
    leaving = movable(observed.pods, now)
    group = [pod for pod in leaving if not pod.spec.critical] or list(leaving)
    asked = {row.uid for row in record.pods.values() if now - row.at < RETRY_AFTER}
    evictable = [pod for pod in group if pod.deleting is None and pod.uid not in asked]
    return tuple(_in_order(evictable, record, observed, unprotected))


def _in_order(pods: Iterable[Pod], record: DrainRecord, observed: Observation, unprotected: Limit) -> Iterable[Pod]:
    """Let go what a PDB orders, what is away anyway (not Ready), and of the rest as many as may be away."""
    leaving = _leaving(record, observed)
    moved = Counter(_workload(observed, row.owner).name for row in record.pods.values() if row.moved)
    for pod in sorted(pods, key=lambda pod: pod.key):
        workload = _workload(observed, pod.spec.workload)
        guarded = any(pdb.matches(pod.spec) for pdb in observed.disruption_budgets)
        if guarded or (workload.replicas_away is not None and not pod.ready):
            yield pod
        elif _has_room(workload, observed, unprotected, leaving[workload.name]) and _is_within_claim(
            workload, observed, moved[workload.name]
        ):
            leaving[workload.name] += 1
            moved[workload.name] += 1
            yield pod


def _has_room(workload: Workload, observed: Observation, unprotected: Limit, leaving: int) -> bool:
    """Leave room for all that earlier drains move: what they let go in these seconds is seen by nobody else yet."""
    others = observed.other_claims.older.get(mark(workload.name), 0)
    return leaving + (workload.replicas_away or 0) + others < workload.may_be_away(unprotected)


def _is_within_claim(workload: Workload, observed: Observation, moved: int) -> bool:
    """Later drains leave room for as many as our claim wrote down; pods that are newer on the node wait for them."""
    key = mark(workload.name)
    written = observed.claim.moving_pods.get(key, 0) if observed.claim else 0
    return moved < written or not observed.other_claims.younger.get(key, 0)


def counted_at(record: DrainRecord) -> datetime | None:
    """Return when every drain sees in the workloads' status that the pods let go are away; None: none was let go."""
    last = max((row.at for row in record.pods.values() if row.moved), default=None)
    return None if last is None else last + STATUS_LAG + WORKLOADS_STAND_FOR


def _leaving(record: DrainRecord, observed: Observation) -> Counter[str]:
    """Count by workload the pods that are leaving and that its status may still count as available."""
    # A status that is known counts pods on their way out while they are Ready (a StatefulSet's), and those let go
    # shortly before it was read. Of an unknown one all on their way out are counted.
    found: dict[str, str] = {}
    for pod in observed.pods:
        workload = _workload(observed, pod.spec.workload)
        if pod.deleting is not None and (pod.ready or workload.replicas_away is None):
            found[pod.uid] = workload.name
    for row in record.pods.values():
        workload = _workload(observed, row.owner)
        unseen = observed.workloads_at is None or row.at > observed.workloads_at - STATUS_LAG
        if row.moved and workload.replicas_away is not None and unseen:
            found[row.uid] = workload.name
    return Counter(found.values())


def _workload(observed: Observation, controller: str) -> Workload:
    """Return what is known; ReplicaSets of one Deployment share its name and so are counted together."""
    known = observed.workloads.get(controller, UNKNOWN)
    return known if known.name else replace(known, name=controller)


def in_this_round(due: Iterable[Pod], record: DrainRecord, working: int, most: int, now: datetime) -> tuple[Pod, ...]:
    """Return the pods to ask for now: none until a round has passed, then the drain's share, at most `most`."""
    if any(now - row.at < ROUND for row in record.pods.values()):
        return ()
    # Least recently asked first; `sorted` keeps the order of those that were never asked.
    asked = {row.uid: row.at.timestamp() for row in record.pods.values()}
    return tuple(sorted(due, key=lambda pod: asked.get(pod.uid, 0.0))[: min(share_of_round(working), most)])


def share_of_round(working: int) -> int:
    """Return how many evictions each of so many drains may ask for in a round, at least one."""
    # More than 36 at once are only where budgets allow them, in clusters whose API server is larger, too.
    return max(1, EVICTIONS_A_ROUND // max(working, 1))
