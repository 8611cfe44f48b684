"""The cluster's document changed by compare-and-set: read, compute, write, and again when somebody was first."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from shared.core.records.state import ClusterState
from shared.errors import Retryable, Stale
from shared.port_types import CLUSTER_KEY
from shared.ports import Clock, State

TRIES: Final = 12
FIRST_PAUSE: Final = 0.05


def read_cluster(state: State) -> tuple[ClusterState, str | None, datetime]:
    """Return the document (an empty one when there is none yet), its version and the state's time."""
    found = state.get(CLUSTER_KEY)
    return found.value or ClusterState(), found.version, found.read_at


def change_cluster(
    state: State, clock: Clock, change: Callable[[ClusterState, datetime], ClusterState | None]
) -> ClusterState:
    """Apply a change atomically and return the document as it then stands; None from `change` writes nothing.

    `change` may run several times and must have no effect of its own; what it raises passes through.

    Raises:
        Retryable: others were first every time.
    """
    for attempt in range(TRIES):
        before, version, read_at = read_cluster(state)
        after = change(before, read_at)
        if after is None or after == before:
            return before
        try:
            state.put(CLUSTER_KEY, after, version)
        except Stale:
            clock.sleep(FIRST_PAUSE * (attempt + 1))
        else:
            return after
    raise Retryable("state", f"the cluster's document was changed by others {TRIES} times in a row")
