"""How fast a drain may ask for evictions, so that all drains in flight together stay kind to the API server.

Each drain takes its share by the number of claims whose pods have not moved yet: nobody has to talk to anybody, and
what only waits for the autoscaler asks for nothing. What was asked for least recently comes first, so that pods whose
budget stays closed never keep others from being asked for.
Must not judge whether a pod may go, nor whose turn it is.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Pod
from shared.core.records.state import DrainRecord

ROUND: Final = timedelta(seconds=3)
"""Each round writes the drain's record twice, and Firestore sustains one write a second to a document
(https://cloud.google.com/firestore/docs/best-practices)."""
EVICTIONS_A_ROUND: Final = 36
"""Of all drains together: twelve a second, which leaves room for cordons and events under twenty writes a second."""


def in_this_round(due: Iterable[Pod], record: DrainRecord, working: int, most: int, now: datetime) -> tuple[Pod, ...]:
    """Return the pods to ask for now: none until a round has passed, then the drain's share, at most `most`."""
    if any(now - row.at < ROUND for row in record.pods.values()):
        return ()
    return tuple(sorted(due, key=lambda pod: _asked_at(pod, record))[: min(share(working), most)])


def share(working: int) -> int:
    """Return how many evictions each of so many drains may ask for in a round.

    At least one. More than 36 that move pods at once are only where budgets allow them, in clusters whose API server
    is larger too.
    """
    return max(1, EVICTIONS_A_ROUND // max(working, 1))


def _asked_at(pod: Pod, record: DrainRecord) -> float:
    row = record.pods.get(pod.key)
    return row.at.timestamp() if row is not None and row.uid == pod.uid else 0.0
