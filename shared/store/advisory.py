"""What is good to know and may be unreadable: read it, or say that it is missing and go on. Both functions read so.

Must not decide what holds without it: who asks names that.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from shared.answers import ClusterReading
from shared.core.cluster.buffers import CLASSES, Buffers
from shared.core.cluster.returning import VerticalAutoscalers
from shared.errors import EbbError
from shared.ports import Cluster

T = TypeVar("T")
_IF_IT_LASTS: Final = ". If that lasts, apply infra/rbac.yaml again."
MOST_FAULTS: Final = 3
"""So many objects that cannot be read are told; others of a kind are mostly odd in the same way."""


class LogEvent(Protocol):
    """Writes a line of the log."""

    def __call__(self, event: str, message: str, *, severity: str, **fields: object) -> None: ...


def read_optional(log_event: LogEvent, event: str, what: str, read: Callable[[], T], otherwise: T) -> T:
    """Return what was read; what cannot be read is said, and nothing waits for it."""
    try:
        return read()
    except EbbError as fault:
        log_event(event, f"Going on without {what}: {fault}", severity="WARNING", reason="advice_missing")
        return otherwise


def odd_buffers(buffers: Buffers) -> str:
    """Return what it means that buffers, templates or ComputeClasses cannot be read; empty where all can."""
    return _odd("The room that these ask for is not kept, for they cannot be read", buffers.faults)


def odd_autoscalers(autoscalers: VerticalAutoscalers) -> str:
    """Return the same of VerticalPodAutoscalers."""
    return _odd("Moved pods may come back larger than is known, for these cannot be read", autoscalers.faults)


def _odd(what: str, faults: Sequence[str]) -> str:
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return f"{what}: {'; '.join(faults[:MOST_FAULTS])}{more}." if faults else ""


def warn_of_unread(log_event: LogEvent, event: str, reading: ClusterReading) -> None:
    """Log what it means for the drains that lists could not be read, or hold objects that cannot be read."""
    for sentence in filter(None, _unread(reading)):
        log_event(event, sentence, severity="WARNING", reason="advice_missing")


def _unread(reading: ClusterReading) -> Iterator[str]:
    """Yield a sentence for each kind of list; empty where all of it was read.

    Storage is unread after an update whose rights were not applied. Without ComputeClasses it is not known how the
    autoscaler deletes their nodes: the profile's values count.
    """
    held = reading.buffers
    classes = "; nor does it know how long the autoscaler waits with nodes of ComputeClasses"
    again = ". Apply infra/rbac.yaml again."
    yield _missing("Pods with volume claims stay where they are: Ebb may not list", reading.storage.unread, again)
    yield odd_autoscalers(reading.autoscalers)
    yield _missing("Moved pods may come back larger than is known: Ebb could not list", reading.autoscalers.unread)
    yield _missing("A moved pod may come back larger, later or not at all: Ebb could not list", reading.limits.unread)
    yield odd_buffers(held)
    more = classes if CLASSES in held.unread else ""
    yield _missing("The room of capacity buffers is not kept: Ebb could not list", held.unread, more + _IF_IT_LASTS)


def _missing(what: str, lists: Sequence[str], remedy: str = _IF_IT_LASTS) -> str:
    return f"{what} {', '.join(lists)}{remedy}" if lists else ""


def deletion_begun_at(log_event: LogEvent, event: str, cluster: Cluster, node: str) -> datetime | None:
    """Return when the autoscaler last began to delete the node; what cannot be read counts as nothing said."""
    what = f"what the autoscaler said of {node}"
    return read_optional(log_event, event, what, lambda: cluster.deletion_begun_at(node), None)
