"""Replacements that wait for a claim which their predecessor still holds: for its end, not for a place.

A claim for one pod at a time (ReadWriteOncePod) keeps the next pod off every node until the last one has ended, which
may take its whole grace. Only from then on can the scheduler find no place for it. Must not judge how long a
replacement may wait.
Source: kube-scheduler, plugin VolumeRestrictions (satisfyReadWriteOncePod counts pods that are being deleted).
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import READ_WRITE_ONCE_POD, Storage, claim_keys


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
