"""Which pods replace those that a drain moved, and which nodes a drain holds for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import READ_WRITE_ONCE_POD, Storage, claim_keys
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.draining.observation import Observation
from shared.core.records.drain_record import DrainRecord, Replicas


def claims_on_their_way_out(pods: Iterable[Pod]) -> frozenset[str]:
    """Name the claims that pods use which are to end and have not."""
    going = (pod for pod in pods if pod.deleting is not None and not pod.phase.finished)
    return frozenset(key for pod in going for key in claim_keys(pod))


def for_one_pod(claims: Iterable[str], storage: Storage) -> frozenset[str]:
    """Return those of the claims that one pod at a time may use."""
    found = ((key, storage.claims.get(key)) for key in claims)
    return frozenset(key for key, claim in found if claim is not None and READ_WRITE_ONCE_POD in claim.access_modes)


def waiting_for_a_place(pod: Pod, held: frozenset[str], held_at: datetime | None) -> Pod:
    """Return a waiting pod with the time since when it waits for no claim of another's.

    Args:
        pod: one that has no node.
        held: claims for one pod at a time whose pods have not ended.
        held_at: when such a claim was last seen held, of this drain's pods.
    """
    claims = frozenset(claim_keys(pod))
    since = pod.unschedulable_since
    if since is None or not claims:
        return pod
    if claims & held:
        return replace(pod, unschedulable_since=None)
    return pod if held_at is None else replace(pod, unschedulable_since=max(since, held_at))


WHOLE_SECONDS: Final = timedelta(seconds=1)
"""The API cuts its times to whole seconds."""


@dataclass(frozen=True, slots=True)
class Owed:
    """What one workload is owed."""

    workload: str
    missing: int
    """Replicas that have no node and had one before the first eviction."""
    waiting: tuple[Pod, ...]
    """Its pods without a node that came after the cordon."""

    def __str__(self) -> str:
        return f"{self.workload} (replicas without a node: {self.missing})"


def with_baselines(record: DrainRecord, observed: Observation, pods: Iterable[Pod]) -> dict[str, Replicas | None]:
    """Return the record's notes, with the workloads added of which these pods are the first to be evicted."""
    controllers = {pod.spec.workload for pod in pods}
    return {**{each: _baseline(observed, name_of(observed, each)) for each in sorted(controllers)}, **record.before}


def owed(record: DrainRecord, observed: Observation) -> tuple[Owed, ...]:
    """Return what the workloads that were moved are owed now, by name."""
    return tuple(
        row for each in _moved_workloads(record, observed) if (row := _owed(record, observed, each)).missing > 0
    )


def short_of_replicas(record: DrainRecord, observed: Observation) -> tuple[str, ...]:
    """Return the workloads that have fewer replicas available than before their first eviction, and than they want."""
    return tuple(each.name for each in _moved_workloads(record, observed) if each.is_short)


def overdue_replacement(owes: Iterable[Owed], grace: timedelta, now: datetime) -> Pod | None:
    """Return a replacement that the scheduler has found no place for since longer than its grace."""
    waits = (pod for each in owes for pod in each.waiting)
    late = (pod for pod in waits if pod.unschedulable_since and now - pod.unschedulable_since > grace)
    return min(late, key=lambda pod: pod.key, default=None)


@dataclass(frozen=True, slots=True)
class _MovedWorkload:
    """A workload that was moved: how it stood, how it stands, and how many replicas it asks for."""

    name: str
    before: Replicas | None
    now: Replicas | None
    wanted: int | None

    @property
    def unbound(self) -> int | None:
        """How many replicas have lost their node; None where nobody counts them."""
        if self.before is None or self.now is None:
            return None
        return self._at_most(self.before.bound) - self.now.bound

    @property
    def is_short(self) -> bool:
        """Whether fewer are available than were."""
        return bool(self.before and self.now and self.now.available < self._at_most(self.before.available))

    def _at_most(self, replicas: int) -> int:
        return replicas if self.wanted is None else min(replicas, self.wanted)


def _moved_workloads(record: DrainRecord, observed: Observation) -> tuple[_MovedWorkload, ...]:
    """Return the workloads that were moved, by name; of the notes on a Deployment's ReplicaSets the highest counts."""
    rows: dict[str, _MovedWorkload] = {}
    for controller, before in sorted(record.before.items()):
        name = moved_name(record, observed, controller)
        notes = [note for note in (before, rows[name].before if name in rows else None) if note is not None]
        most = max(notes, key=lambda note: (note.bound, note.available), default=None)
        rows[name] = _MovedWorkload(name, most, _replicas(observed, name), _workload(observed, name).wanted)
    return tuple(rows[name] for name in sorted(rows))


def _owed(record: DrainRecord, observed: Observation, moved: _MovedWorkload) -> Owed:
    ours = tuple(pod for pod in waiting(observed, moved.name) if came_after(record.cordoned_at, pod))
    return Owed(moved.name, len(ours) if moved.unbound is None else moved.unbound, ours)


def _replicas(observed: Observation, name: str) -> Replicas | None:
    workload = _workload(observed, name)
    if workload.created is None or workload.available is None:
        return None
    bound = max(workload.created - len(waiting(observed, name)), 0)
    return Replicas(bound=bound, available=workload.available, workload=name)


def _baseline(observed: Observation, name: str) -> Replicas | None:
    """Return how a workload stands before its first eviction, with the replacements that are still to come.

    They come for what others let end: left out, each would stand for one of ours (podReplacementPolicy).
    """
    workload, found = _workload(observed, name), _replicas(observed, name)
    if found is None or not workload.replaced_at_end or workload.created is None or workload.wanted is None:
        return found
    to_come = min(workload.terminating or 0, max(workload.wanted - workload.created, 0))
    return structs.replace(found, bound=found.bound + to_come)


def _workload(observed: Observation, name: str) -> Workload:
    """Return what any of its controllers tells: each ReplicaSet is read with its Deployment's counts."""
    known = observed.workloads.items()
    return next((each for controller, each in known if (each.name or controller) == name), UNKNOWN)


def name_of(observed: Observation, controller: str) -> str:
    """Return the workload's name, which the ReplicaSets of one Deployment share."""
    return observed.workloads.get(controller, UNKNOWN).name or controller


def moved_name(record: DrainRecord, observed: Observation, controller: str) -> str:
    """Return the name of a workload that was moved; of a ReplicaSet that is deleted by now, the one that was noted."""
    before = record.before.get(controller)
    noted = before.workload if before else ""
    return noted if noted and controller not in observed.workloads else name_of(observed, controller)


def waiting(observed: Observation, name: str) -> tuple[Pod, ...]:
    """Return the workload's pods that have no node."""
    return tuple(
        pod
        for pod in observed.unbound
        if pod.deleting is None and not pod.phase.finished and name_of(observed, pod.spec.workload) == name
    )


def came_after(cordoned_at: datetime | None, pod: Pod) -> bool:
    """Return whether the pod waits only since the cordon: one that waited before is no replacement of ours."""
    since = pod.unschedulable_since or pod.created
    return cordoned_at is None or since is None or since >= cordoned_at - WHOLE_SECONDS
