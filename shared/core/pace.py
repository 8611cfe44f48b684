"""How fast a drain may ask for evictions, so that all drains in flight together stay kind to the API server.

Each drain takes its share by the number of claims it sees standing: nobody has to talk to anybody. What is asked for
least recently comes first, so that pods whose budget stays closed never keep others from being asked for.
Must not judge whether a pod may go, nor whose turn it is.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.snapshot import Pod
from shared.core.state import DrainRecord

EVICTIONS_A_SECOND: Final = 12
"""Of all drains of a cluster together. Cordons, events and what is given back fit beside it under 20 writes a second
(the limit that Ebb promises; cluster-autoscaler's client asks at most 5 a second by default, --kube-client-qps)."""
ROUND: Final = timedelta(seconds=3)
"""Each round writes the drain's record twice, and Firestore sustains one write a second to a document
(https://cloud.google.com/firestore/docs/best-practices)."""


def in_this_round(due: Iterable[Pod], record: DrainRecord, claims: int, most: int, now: datetime) -> tuple[Pod, ...]:
    """Return the pods to ask for now: none until a round has passed, then the drain's share, at most `most`."""
    count, pause = share(claims)
    if any(now - row.at < pause for row in record.pods.values()):
        return ()
    return tuple(sorted(due, key=lambda pod: _asked_at(pod, record))[: min(count, most)])


def share(claims: int) -> tuple[int, timedelta]:
    """Return how many evictions each of so many drains may ask for in a round, and how long its round lasts."""
    claims = max(claims, 1)
    count = int(EVICTIONS_A_SECOND * ROUND.total_seconds() / claims)
    if count:
        return count, ROUND
    return 1, timedelta(seconds=claims / EVICTIONS_A_SECOND)


def _asked_at(pod: Pod, record: DrainRecord) -> float:
    row = record.pods.get(pod.key)
    return row.at.timestamp() if row is not None and row.uid == pod.uid else 0.0
