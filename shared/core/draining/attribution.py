"""Which drains give their nodes back when replacements of pods that several have moved find no node.

Replacements are counted, so each of twenty drains that moved pods of one workload is owed the one that waits. One
node for each waiting pod is enough: as many drains give way as pods wait, and where that has not helped one more for
each further `pendingGrace`. Every drain reckons this for all of them from what all read alike (the claims, the drains'
records, the waiting pods, the nodes given back lately), so that nobody has to talk to anybody.
Must not judge for how long a replacement may wait at all; that is in the claim's settings.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import mark
from shared.core.draining.observation import Observation, OtherDrain, OtherDrains
from shared.core.draining.replacements import came_after, moved_name, owed, waiting
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import Backoff, Claim

BETWEEN_MESSAGES: Final = timedelta(seconds=5)
"""How long a drain may be without a step between two of its messages; one that is for longer gives nothing back."""


def given_way_for(
    record: DrainRecord, claim: Claim, observed: Observation, others: OtherDrains, now: datetime
) -> tuple[str, ...]:
    """Return the keys of the waiting pods for which this drain gives its node back; none where it is for others to."""
    drains = (OtherDrain(claim.since, record), *(each for each in others.drains if _is_at_work(each.record, now)))
    found = (
        (pod, chosen)
        for row in owed(record, observed)
        for pod, chosen in _by_pod(row.workload, drains, observed, others.backoffs, claim.settings.pending_grace, now)
    )
    return tuple(pod.key for pod, chosen in found if chosen.record is record)


def _by_pod(
    workload: str,
    drains: Iterable[OtherDrain],
    observed: Observation,
    backoffs: Collection[Backoff],
    grace: timedelta,
    now: datetime,
) -> Iterator[tuple[Pod, OtherDrain]]:
    """Yield who gives way for which pod of a workload: the pods in the order in which they began to wait."""
    owing = {each.record.order.order_id: (each, _missing(each.record, observed, workload)) for each in drains}
    left = sorted(
        (each for each, missing in owing.values() if missing), key=lambda each: _rank(each, observed, workload)
    )
    late = [pod for pod in _late(observed, workload, grace, now) if any(_may_owe(each, pod) for each in left)]
    for pod in late[: max((missing for _, missing in owing.values()), default=0)]:
        for _ in range(_drains_due(pod, grace, now) - _given_back_for(pod, backoffs)):
            chosen = next((each for each in left if _may_owe(each, pod)), None)
            if chosen is not None:
                left.remove(chosen)
                yield pod, chosen


def _rank(drain: OtherDrain, observed: Observation, workload: str) -> tuple[bool, bool, float, str]:
    """Order drains: what ends already, then what has moved a pod for certain; of those the youngest claim first.

    The youngest is the likeliest cause, and gives up the least.
    """
    record = drain.record
    certain = any(row.moved and moved_name(record, observed, row.owner) == workload for row in record.pods.values())
    ends = record.phase is DrainPhase.HALTING
    return not ends, not certain, -drain.since.timestamp(), record.order.order_id


def _missing(record: DrainRecord, observed: Observation, workload: str) -> int:
    return sum(row.missing for row in owed(record, observed) if row.workload == workload)


def _late(observed: Observation, workload: str, grace: timedelta, now: datetime) -> list[Pod]:
    pods = [pod for pod in waiting(observed, workload) if _drains_due(pod, grace, now)]
    return sorted(pods, key=lambda pod: (pod.unschedulable_since or now, pod.key))


def _drains_due(pod: Pod, grace: timedelta, now: datetime) -> int:
    """Return how many drains are to have given way for a pod by now: one for each grace that has passed."""
    if pod.unschedulable_since is None:
        return 0
    whole, rest = divmod(now - pod.unschedulable_since, grace)
    return whole if rest else whole - 1


def _may_owe(drain: OtherDrain, pod: Pod) -> bool:
    """Whether the drain may give way for the pod: one that already does for others does not for this one as well."""
    given = drain.record.gave_way_for
    return came_after(drain.record.cordoned_at, pod) and (not given or pod.key in given)


def _given_back_for(pod: Pod, backoffs: Iterable[Backoff]) -> int:
    """Count the nodes that were given back for the pod since it began to wait."""
    key, since = mark(pod.key), pod.unschedulable_since
    return sum(since is not None and each.since >= since and key in each.gave_way_for for each in backoffs)


def _is_at_work(record: DrainRecord, now: datetime) -> bool:
    """Whether a step looks at the drain, or may any moment: one that has left its node to the autoscaler does not."""
    return record.phase is not DrainPhase.SETTLED and not record.is_silent(now, BETWEEN_MESSAGES)
