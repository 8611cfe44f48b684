"""Pods that leave without a gap: the drain restarts their Deployment and waits until its controller has ended them.

Surges come before all evictions, so that one that fails has moved no other pod. What was asked is in the drain's
record before it is written to the Deployment, so that one that fails undoes it (docs/decisions/single-replicas.md).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment
from shared.core.draining.cordon import CORDON_SETTLES
from shared.core.draining.drain import Await, Drain, Restart, ReturnNode, Step
from shared.core.draining.evicting import fit_not_proved
from shared.core.draining.replacements import came_after, is_late, name_of, waiting
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainRecord, Surge
from shared.core.rules.pods import movable
from shared.core.rules.surges import deployment_findings, is_surged

_COUNTED: Final = frozenset({"ReplicaSet", "StatefulSet"})  # Controllers whose workloads are read.


def surge(drain: Drain) -> Step | None:
    """Restart what is to leave without a gap, where there is room now; then wait, and evict nothing meanwhile."""
    if _is_unread(drain):
        return Await()
    staying = surging_pods(drain)
    if not staying:
        return None
    rows = _by_deployment(drain, staying)
    written = {name for name, restart in drain.record.surges.items() if restart.written}
    due = min(rows.keys() - written, default=None)
    return Await() if due is None else fit_not_proved(drain) or Restart(due, rows[due])


def _by_deployment(drain: Drain, pods: Iterable[Pod]) -> dict[str, tuple[Pod, ...]]:
    rows: dict[str, tuple[Pod, ...]] = {}
    for pod in pods:
        name = name_of(drain.observed, pod.spec.workload)
        rows[name] = (*rows.get(name, ()), pod)
    return rows


def surging_pods(drain: Drain) -> tuple[Pod, ...]:
    """Return the pods on the node that leave without a gap and are not on their way out, by key."""
    # One whose Deployment was restarted for this drain stays among them, whatever its annotation is since.
    staying = (pod for pod in movable(drain.observed.pods, drain.now) if pod.deleting is None)

    def surges(pod: Pod) -> bool:
        return is_surged(pod.spec, drain.pod_rules) or name_of(drain.observed, pod.spec.workload) in drain.record.surges

    return tuple(sorted(filter(surges, staying), key=lambda pod: pod.key))


def _is_unread(drain: Drain) -> bool:
    """Whether a pod was bound after its workload could be read: what that one asks for is not known yet."""
    # It may be a single one, and an annotation of its Deployment may ask for no gap whatever the policy is.
    read, cordoned = drain.observed.workloads_at, drain.record.cordoned_at
    if read is None or cordoned is None or read >= cordoned + CORDON_SETTLES:
        return False
    moving, known = movable(drain.observed.pods, drain.now), drain.observed.workloads
    owners = ((pod.spec.owner, pod.spec.workload) for pod in moving)
    return any(owner is not None and owner.kind in _COUNTED and name not in known for owner, name in owners)


def surge_ended(drain: Drain) -> Step | None:
    """A restart has failed while an old pod still stands: no room, no progress, or somebody undid it."""
    standing = _by_deployment(drain, surging_pods(drain)) if drain.record.surges else {}
    restarted = ((name, restart) for name, restart in sorted(drain.record.surges.items()) if name in standing)
    found = (_pending(drain, name) or _undone(drain, name, restart) for name, restart in restarted)
    return next((step for step in found if step is not None), None)


def _pending(drain: Drain, name: str) -> Step | None:
    claim, now = drain.observed.claim, drain.now
    if claim is None:
        return None
    new = (pod for pod in waiting(drain.observed, name) if came_after(drain.record.cordoned_at, pod))
    late = min((pod.key for pod in new if is_late(pod, claim.settings.pending_grace, now)), default="")
    return ReturnNode(ReturnReason.SURGE_PENDING, late) if late else None


def _undone(drain: Drain, name: str, restart: Surge) -> Step | None:
    """Judge only by what was read after the restart was written."""
    workloads, read = drain.observed.workloads.values(), drain.observed.workloads_at
    deployment = next((workload.deployment for workload in workloads if workload.name == name), None)
    if not restart.written or read is None or read <= restart.at or deployment is None:
        return None
    if deployment.uid != restart.uid or deployment.stamp != drain.order_id:
        return ReturnNode(ReturnReason.SURGE_FAILED, f"{name}: somebody has undone the restart")
    if deployment.observed and not deployment.progressing:
        return ReturnNode(ReturnReason.SURGE_FAILED, f"{name}: its progress deadline has passed")
    return None


def why_not_restart(found: Deployment, pods: tuple[Pod, ...]) -> str:
    """Return what keeps a Deployment, read in this moment, from being restarted for these pods."""
    # Empty if nothing does.
    # Every pod must be of its newest template and available, and all of them on the node.
    if not found.settled or found.deleting:
        return "it is not settled"
    if found.wanted != len(pods):
        return f"{found.wanted} replicas are wanted, and {len(pods)} are on the node"
    return next((f"{finding.reason.sentence} ({finding.detail})" for finding in deployment_findings(found)), "")


def asked_of(found: Deployment, now: datetime) -> Surge:
    return Surge(uid=found.uid, before=found.stamp, template=found.template, at=now, generation=found.generation)


def is_taken_back(found: Deployment, restart: Surge, order_id: str) -> bool:
    """Whether a restart whose answer was lost stood there, and somebody has undone it."""
    # Our write changes the spec once, on the version that was read: where it stood and stands no more, the generation
    # has grown by two. Two changes by others look the same, so nothing is restarted then either.
    asked_before = found.uid == restart.uid and not restart.written and restart.generation > 0
    return asked_before and found.stamp != order_id and found.generation > restart.generation + 1


def stamp_to_restore(found: Deployment, restart: Surge, order_id: str) -> str | None:
    """Return what replaces our stamp when the drain fails; None if there is nothing of ours to undo."""
    # A template that somebody else has changed since stays as they left it, and so does one that is rolled out: to go
    # back would restart its pods once more.
    is_ours = found.uid == restart.uid and found.stamp == order_id and found.template == restart.template
    is_over = found.observed and found.created == found.updated
    return restart.before if is_ours and not is_over else None


def take_back_by_hand(name: str) -> str:
    namespace, _, called = name.split("/", 2)
    return f"where it still waits for a pod, take it back: kubectl -n {namespace} rollout undo deployment {called}"


def left_to_people(record: DrainRecord) -> str:
    """Return which restarts only a person can undo now, and how; empty if there are none."""
    stuck = sorted(name for name, restart in record.surges.items() if restart.stuck)
    return "; ".join(f"{name}: {take_back_by_hand(name)}" for name in stuck)


def restarts(record: DrainRecord) -> Iterator[tuple[str, Surge]]:
    """Yield the restarts that a failed drain has to look at; none once all that it moved has left its node."""
    if record.drained_at is None:
        yield from sorted(record.surges.items())
