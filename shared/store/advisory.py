"""What is good to know and may be unreadable: read it, or say that it is missing and go on. Both functions read so.

Must not decide what holds without it: who asks names that.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from shared.core.cluster.buffers import CLASSES, Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.storage import Storage
from shared.core.cluster.vertical_autoscaler import VerticalAutoscalers
from shared.errors import EbbError
from shared.ports import Cluster

T = TypeVar("T")
_RIGHTS: Final = "If that lasts, apply infra/rbac.yaml again."
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


def _warn_of_faults(log_event: LogEvent, event: str, sentence: str) -> None:
    if sentence:
        log_event(event, sentence, severity="WARNING", reason="advice_missing")


def warn_of_unread_storage(log_event: LogEvent, event: str, storage: Storage) -> None:
    """Say which lists of storage we may not read: an installation that was updated and whose rights were not."""
    if storage.known:
        return
    what = f"Pods with volume claims stay where they are: Ebb may not list {', '.join(storage.unread)}"
    log_event(event, f"{what}. Apply infra/rbac.yaml again.", severity="WARNING", reason="advice_missing")


def warn_of_unread_autoscalers(log_event: LogEvent, event: str, autoscalers: VerticalAutoscalers) -> None:
    """Say that VerticalPodAutoscalers are there and not ours to read: what they make of moved pods is not known."""
    _warn_of_faults(log_event, event, odd_autoscalers(autoscalers))
    if not autoscalers.unread:
        return
    what = f"Moved pods may come back larger than is known: Ebb could not list {', '.join(autoscalers.unread)}"
    log_event(event, f"{what}. {_RIGHTS}", severity="WARNING", reason="advice_missing")


def warn_of_unread_limits(log_event: LogEvent, event: str, limits: NamespaceLimits) -> None:
    """Say which lists of what namespaces limit are not ours to read: what they refuse or add is not known."""
    if not limits.unread:
        return
    what = f"A moved pod may come back larger, later or not at all: Ebb could not list {', '.join(limits.unread)}"
    log_event(event, f"{what}. {_RIGHTS}", severity="WARNING", reason="advice_missing")


def warn_of_unread_buffers(log_event: LogEvent, event: str, buffers: Buffers) -> None:
    """Say which lists of capacity buffers are there and not ours to read: the room that they hold is not kept.

    Without ComputeClasses it is not known either how the autoscaler deletes their nodes: the profile's values count.
    """
    _warn_of_faults(log_event, event, odd_buffers(buffers))
    if not buffers.unread:
        return
    what = f"The room of capacity buffers is not kept: Ebb could not list {', '.join(buffers.unread)}"
    if CLASSES in buffers.unread:
        what = f"{what}; nor does it know how long the autoscaler waits with nodes of ComputeClasses"
    log_event(event, f"{what}. {_RIGHTS}", severity="WARNING", reason="advice_missing")


def deletion_begun_at(log_event: LogEvent, event: str, cluster: Cluster, node: str) -> datetime | None:
    """Return when the autoscaler last began to delete the node; what cannot be read counts as nothing said."""
    what = f"what the autoscaler said of {node}"
    return read_optional(log_event, event, what, lambda: cluster.deletion_begun_at(node), None)
