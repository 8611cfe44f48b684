"""Which drains give their nodes back when replacements of pods that several have moved find no node.

Replacements are counted, so each of twenty drains that moved pods of one workload is owed the one that waits. One node
for each waiting pod is enough, if it is the right one: `_rank` says how it is told. Where it has not helped, the next
follows one look later. Every drain reckons this for all of them from what all read alike (the claims, the drains'
records, the waiting pods, the nodes given back lately), so that nobody has to talk to anybody; only the picture is
each instance's own, and held nodes take nothing new.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import mark
from shared.core.draining.observation import Observation, OtherDrain, OtherDrains
from shared.core.draining.replacements import WHOLE_SECONDS, came_after, moved_name, name_of, owed, waiting
from shared.core.placement.demand import takers
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import Backoff, Claim

BETWEEN_MESSAGES: Final = timedelta(seconds=5)
"""How long a drain may be without a step between two of its messages; one that is for longer gives nothing back."""
NEXT_AFTER: Final = timedelta(seconds=5)
"""How long a node that was given back is trusted to help: one look."""


def given_way_for(
    record: DrainRecord, claim: Claim, observed: Observation, others: OtherDrains, now: datetime
) -> tuple[str, ...]:
    """Return the keys of the waiting pods for which this drain gives its node back; none where it is for others to."""
    drains = (OtherDrain(claim.since, record), *(each for each in others.drains if _is_at_work(each.record, now)))
    found = (
        (pod, chosen)
        for row in owed(record, observed)
        for pod, chosen in _by_pod(row.workload, drains, observed, others, claim.settings.pending_grace, now)
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
    """Yield who gives way for which pod of a workload: the pods in the order in which they began to wait."""
    owing = {each.record.order.order_id: (each, _missing(each.record, observed, workload)) for each in drains}
    left = [each for each, missing in owing.values() if missing]
    late = [pod for pod in _late(observed, workload, grace, now) if any(_may_owe(each, pod) for each in left)]
    first = late[: max((missing for _, missing in owing.values()), default=0)]
    due = {pod.key: _drains_due(pod, others.backoffs, grace, now) for pod in first}
    homes = _homes([pod for pod in first if due[pod.key]], drains, others.picture) if len(left) > 1 else {}
    for pod in first:
        ranked = sorted(
            (each for each in left if _may_owe(each, pod)),
            key=lambda each: _rank(each, observed, pod, homes.get(pod.key, ())),
        )
        for chosen in ranked[: due[pod.key]]:
            left.remove(chosen)
            yield pod, chosen


def _rank(
    drain: OtherDrain, observed: Observation, pod: Pod, homes: Collection[str]
) -> tuple[bool, bool, bool, bool, float, float, str]:
    """Order drains: what gives way for the pod already comes first, then what has a node on which it fits.

    Of these what ends in any case, then what moved a pod of that very name (a StatefulSet's), then whose last eviction
    before the pod was created is the latest. Among equals the youngest claim: it gives up the least.
    """
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
    late: Collection[Pod], drains: Iterable[OtherDrain], picture: Snapshot | None
) -> Mapping[str, Collection[str]]:
    """Return by key of a waiting pod the nodes of these drains that would take it; nothing without a picture.

    The picture may be older than the evictions: what was moved since is left out, and the waiting pods are put in.
    """
    if picture is None or not late:
        return {}
    records = [each.record for each in drains]
    gone = {row.uid for each in records for row in each.pods.values() if row.moved} | {pod.uid for pod in late}
    pods = sorted((*(pod for pod in picture.pods if pod.uid not in gone), *late), key=lambda pod: pod.key)
    uids = {each.node_uid for each in records}
    held = [node for node in picture.nodes if node.uid in uids]
    return takers(dataclasses.replace(picture, pods=tuple(pods)), held, late)


def _missing(record: DrainRecord, observed: Observation, workload: str) -> int:
    return sum(row.missing for row in owed(record, observed) if row.workload == workload)


def _late(observed: Observation, workload: str, grace: timedelta, now: datetime) -> list[Pod]:
    pods = [
        pod for pod in waiting(observed, workload) if pod.unschedulable_since and now - pod.unschedulable_since > grace
    ]
    return sorted(pods, key=lambda pod: (pod.unschedulable_since or now, pod.key))


def _drains_due(pod: Pod, backoffs: Iterable[Backoff], grace: timedelta, now: datetime) -> int:
    """Return how many drains are to give way for a pod by now: one, where the last one has had a look's time to help.

    One more for each further grace in which nobody has: who is in turn may have fallen silent.
    """
    since = pod.unschedulable_since or now
    begin = max((since + grace, *(at + NEXT_AFTER for at in _given_back_for(pod, backoffs))))
    return 0 if now < begin else 1 + (now - begin) // grace


def _may_owe(drain: OtherDrain, pod: Pod) -> bool:
    """Whether the drain may give way for the pod: one that already does for others does not for this one as well."""
    given = drain.record.gave_way_for
    return came_after(drain.record.cordoned_at, pod) and (not given or pod.key in given)


def _given_back_for(pod: Pod, backoffs: Iterable[Backoff]) -> Iterator[datetime]:
    """Yield when nodes were given back for the pod since it began to wait."""
    key, since = mark(pod.key), pod.unschedulable_since
    return (each.since for each in backoffs if since and each.since >= since and key in each.gave_way_for)


def _is_at_work(record: DrainRecord, now: datetime) -> bool:
    """Whether a step looks at the drain, or may any moment: one that has left its node to the autoscaler does not."""
    return record.phase is not DrainPhase.SETTLED and not record.is_silent(now, BETWEEN_MESSAGES)
