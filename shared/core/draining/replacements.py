"""Which pods replace those that a drain moved, which nodes a drain holds for them, and which drain gives its node back.

Replacements are counted, so each of twenty drains that moved pods of one workload misses the one that waits. One node
for each is enough, if it is the right one: `_rank` orders them; where it has not helped, the next follows one look
later. Every drain computes this for all from what all read alike, but for the snapshot: held nodes take nothing new.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import structs
from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import READ_WRITE_ONCE_POD, Storage, claim_keys
from shared.core.cluster.workloads import UNKNOWN, Workload, mark
from shared.core.draining.drain import Observation, OtherDrain, OtherDrains
from shared.core.placement.demand import takers
from shared.core.records.drain_record import DrainPhase, DrainRecord, Replicas
from shared.core.records.state import Backoff, Claim


def claims_on_their_way_out(pods: Iterable[Pod]) -> frozenset[str]:
    going = (pod for pod in pods if pod.deleting is not None and not pod.phase.finished)
    return frozenset(key for pod in going for key in claim_keys(pod))


def for_one_pod(claims: Iterable[str], storage: Storage) -> frozenset[str]:
    found = ((key, storage.claims.get(key)) for key in claims)
    return frozenset(key for key, claim in found if claim is not None and READ_WRITE_ONCE_POD in claim.access_modes)


def waiting_for_a_place(pod: Pod, held: frozenset[str], held_at: datetime | None) -> Pod:
    """Return a waiting pod with the time since when it waits for no other's claim."""
    # `held_at` is when one was last seen held.
    claims = frozenset(claim_keys(pod))
    since = pod.unschedulable_since
    if since is None or not claims:
        return pod
    if claims & held:
        return replace(pod, unschedulable_since=None)
    return pod if held_at is None else replace(pod, unschedulable_since=max(since, held_at))


WHOLE_SECONDS: Final = timedelta(seconds=1)  # The API cuts its times to whole seconds.


def with_baselines(record: DrainRecord, observed: Observation, pods: Iterable[Pod]) -> dict[str, Replicas | None]:
    """Return the record's notes, with the workloads added of which these pods are the first to be evicted."""
    controllers = {pod.spec.workload for pod in pods}
    added = {controller: _baseline(observed, name_of(observed, controller)) for controller in sorted(controllers)}
    return {**added, **record.before}


def replicas_before(record: DrainRecord, observed: Observation, pods: Iterable[Pod]) -> dict[str, Any]:
    """Return what the record keeps before these pods move: how their workloads and the capacity buffers stand."""
    buffers = record.buffers or (dict(observed.proof.buffers) if observed.proof else {})
    return {"before": with_baselines(record, observed, pods), "buffers": buffers}


def missing_replicas(record: DrainRecord, observed: Observation) -> tuple["MovedWorkload", ...]:
    """Return the workloads that were moved and lack replicas now, by name."""
    return tuple(row for row in moved_workloads(record, observed) if row.missing > 0)


def is_late(pod: Pod, grace: timedelta, now: datetime) -> bool:
    return pod.unschedulable_since is not None and now - pod.unschedulable_since > grace


@dataclass(frozen=True, slots=True)
class MovedWorkload:
    """A workload that was moved: how it stood, how it stands, and how many replicas it asks for."""

    name: str
    before: Replicas | None
    now: Replicas | None
    wanted: int | None
    waiting: tuple[Pod, ...]  # Its pods without a node that came after the cordon.

    def __str__(self) -> str:
        return f"{self.name} (replicas without a node: {self.missing})"

    @property
    def missing(self) -> int:
        """How many replicas have lost their node; of what nobody counts, the pods that wait."""
        return len(self.waiting) if self.unbound is None else self.unbound

    @property
    def unbound(self) -> int | None:
        """How many replicas have lost their node; None where nobody counts them."""
        if self.before is None or self.now is None:
            return None
        return self._at_most(self.before.bound) - self.now.bound

    @property
    def is_short(self) -> bool:
        return bool(self.before and self.now and self.now.available < self._at_most(self.before.available))

    def _at_most(self, replicas: int) -> int:
        return replicas if self.wanted is None else min(replicas, self.wanted)


def moved_workloads(record: DrainRecord, observed: Observation) -> tuple[MovedWorkload, ...]:
    """Return the workloads that were moved, by name; of the notes on a Deployment's ReplicaSets the highest counts."""
    rows: dict[str, MovedWorkload] = {}
    for controller, before in sorted(record.before.items()):
        name = moved_name(record, observed, controller)
        notes = [note for note in (before, rows[name].before if name in rows else None) if note is not None]
        most = max(notes, key=lambda note: (note.bound, note.available), default=None)
        wanted, pods = _workload(observed, name).wanted, waiting(observed, name)
        ours = tuple(pod for pod in pods if came_after(record.cordoned_at, pod))
        rows[name] = MovedWorkload(name, most, _replicas(observed, name), wanted, ours)
    return tuple(rows[name] for name in sorted(rows))


def _replicas(observed: Observation, name: str) -> Replicas | None:
    workload = _workload(observed, name)
    if workload.created is None or workload.available is None:
        return None
    bound = max(workload.created - len(waiting(observed, name)), 0)
    return Replicas(bound=bound, available=workload.available, workload=name)


def _baseline(observed: Observation, name: str) -> Replicas | None:
    """Return how a workload stands before its first eviction, with the replacements that are still to come."""
    # They come for what others let end: left out, each would stand for one of ours (podReplacementPolicy).
    workload, found = _workload(observed, name), _replicas(observed, name)
    if found is None or not workload.replaced_at_end or workload.created is None or workload.wanted is None:
        return found
    to_come = min(workload.terminating or 0, max(workload.wanted - workload.created, 0))
    return structs.replace(found, bound=found.bound + to_come)


def _workload(observed: Observation, name: str) -> Workload:
    """Return what any of its controllers has: each ReplicaSet is read with its Deployment's counts."""
    known = observed.workloads.items()
    return next((found for controller, found in known if (found.name or controller) == name), UNKNOWN)


def name_of(observed: Observation, controller: str) -> str:
    """Return the workload's name, which the ReplicaSets of one Deployment share."""
    return observed.workloads.get(controller, UNKNOWN).name or controller


def moved_name(record: DrainRecord, observed: Observation, controller: str) -> str:
    """Return the name of a workload that was moved; of a ReplicaSet that is deleted by now, the one that was noted."""
    before = record.before.get(controller)
    noted = before.workload if before else ""
    return noted if noted and controller not in observed.workloads else name_of(observed, controller)


def waiting(observed: Observation, name: str) -> tuple[Pod, ...]:
    living = (pod for pod in observed.unbound if pod.deleting is None and not pod.phase.finished)
    return tuple(pod for pod in living if name_of(observed, pod.spec.workload) == name)


def came_after(cordoned_at: datetime | None, pod: Pod) -> bool:
    """Return whether the pod waits only since the cordon: one that waited before is no replacement of ours."""
    since = pod.unschedulable_since or pod.created
    return cordoned_at is None or since is None or since >= cordoned_at - WHOLE_SECONDS


BETWEEN_MESSAGES: Final = timedelta(seconds=5)  # A drain that has no step for longer gives nothing back.
NEXT_AFTER: Final = timedelta(seconds=5)  # How long a node that was returned is trusted to help: one look.


def given_way_for(
    record: DrainRecord, claim: Claim, observed: Observation, others: OtherDrains, now: datetime
) -> tuple[str, ...]:
    """Return the keys of the waiting pods for which this drain gives its node back; none where it is for others to."""
    # One that has left its node to the autoscaler has no step that would give it back.
    records = ((drain, drain.record) for drain in others.drains)
    at_work = (
        drain
        for drain, known in records
        if known.phase is not DrainPhase.SETTLED and not known.is_silent(now, BETWEEN_MESSAGES)
    )
    drains = (OtherDrain(claim.since, record), *at_work)
    found = (
        (pod, chosen)
        for row in missing_replicas(record, observed)
        for pod, chosen in _by_pod(row.name, drains, observed, others, claim.settings.pending_grace, now)
    )
    return tuple(pod.key for pod, chosen in found if chosen.record is record)


def _by_pod(
    workload: str,
    drains: Collection[OtherDrain],
    observed: Observation,
    others: OtherDrains,
    grace: timedelta,
    now: datetime,
) -> Iterator[tuple[Pod, OtherDrain]]:
    lacking: dict[str, tuple[OtherDrain, int]] = {}
    for drain in drains:
        rows = missing_replicas(drain.record, observed)
        lacking[drain.record.order.order_id] = drain, sum(row.missing for row in rows if row.name == workload)
    left = [drain for drain, missing in lacking.values() if missing]
    late = [pod for pod in waiting(observed, workload) if is_late(pod, grace, now)]
    ours = [pod for pod in late if any(_may_give_way(drain, pod) for drain in left)]
    in_turn = sorted(ours, key=lambda pod: (pod.unschedulable_since or now, pod.key))
    first = in_turn[: max((missing for _, missing in lacking.values()), default=0)]
    due = {pod.key: _drains_due(pod, others.backoffs, grace, now) for pod in first}
    homes = _homes([pod for pod in first if due[pod.key]], drains, others.snapshot) if len(left) > 1 else {}
    for pod in first:
        able = [drain for drain in left if _may_give_way(drain, pod)]
        ranks = {id(drain): _rank(drain, observed, pod, homes.get(pod.key, ())) for drain in able}
        for chosen in sorted(able, key=lambda drain: ranks[id(drain)])[: due[pod.key]]:
            left.remove(chosen)
            yield pod, chosen


def _rank(
    drain: OtherDrain, observed: Observation, pod: Pod, homes: Collection[str]
) -> tuple[bool, bool, bool, bool, float, float, str]:
    """Order drains: what gives way for the pod already comes first, then what has a node on which it fits."""
    # Of these what ends in any case, then what moved a pod of that very name (a StatefulSet's), then whose last
    # eviction before the pod was created is the latest. Among equals the youngest claim: it loses the least.
    record = drain.record
    row = record.pods.get(pod.key)
    return (
        pod.key not in record.gave_way_for,
        record.order.node not in homes,
        record.phase is not DrainPhase.HALTING,
        row is None or not row.moved,
        -_last_eviction(record, observed, pod),
        -drain.since.timestamp(),
        record.order.order_id,
    )


def _last_eviction(record: DrainRecord, observed: Observation, pod: Pod) -> float:
    """Return when the drain last moved a pod of that workload for certain, before this one was created."""
    name, made = name_of(observed, pod.spec.workload), pod.created
    rows = (row for row in record.pods.values() if row.moved and moved_name(record, observed, row.owner) == name)
    before = (row.at for row in rows if made is None or row.at < made + WHOLE_SECONDS)
    return max((at.timestamp() for at in before), default=float("-inf"))


def _homes(
    late: Collection[Pod], drains: Iterable[OtherDrain], snapshot: Snapshot | None
) -> Mapping[str, Collection[str]]:
    """Return by key of a waiting pod the nodes of these drains that would take it; nothing without a snapshot."""
    # The snapshot may be older than the evictions: what was moved since is left out, and the waiting pods are put in.
    if snapshot is None or not late:
        return {}
    records = [drain.record for drain in drains]
    gone = {row.uid for record in records for row in record.pods.values() if row.moved} | {pod.uid for pod in late}
    pods = sorted((*(pod for pod in snapshot.pods if pod.uid not in gone), *late), key=lambda pod: pod.key)
    uids = {record.node_uid for record in records}
    held = [node for node in snapshot.nodes if node.uid in uids]
    return takers(dataclasses.replace(snapshot, pods=tuple(pods)), held, late)


def _drains_due(pod: Pod, backoffs: Iterable[Backoff], grace: timedelta, now: datetime) -> int:
    """Return how many drains are to give way for a pod by now."""
    # One where the last has had a look's time to help, and one more for each further grace: one may be silent.
    key, since = mark(pod.key), pod.unschedulable_since or now
    returned = (row.since for row in backoffs if row.since >= since and key in row.gave_way_for)
    begin = max((since + grace, *(at + NEXT_AFTER for at in returned)))
    return 0 if now < begin else 1 + (now - begin) // grace


def _may_give_way(drain: OtherDrain, pod: Pod) -> bool:
    """Whether the drain may give way for the pod: one that already does for others does not for this one as well."""
    given = drain.record.gave_way_for
    return came_after(drain.record.cordoned_at, pod) and (not given or pod.key in given)
