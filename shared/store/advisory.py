"""What is good to know and may be unreadable: read it, or say that it is missing and go on. Both functions read so.

Must not decide what holds without it: who asks names that.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar

from shared.core.cluster.buffers import Buffers
from shared.core.cluster.storage import Storage
from shared.core.cluster.vertical_autoscaler import VerticalAutoscalers
from shared.errors import EbbError
from shared.ports import Cluster

T = TypeVar("T")


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


def warn_of_unread_storage(log_event: LogEvent, event: str, storage: Storage) -> None:
    """Say which lists of storage we may not read: an installation that was updated and whose rights were not."""
    if storage.known:
        return
    what = f"Pods with volume claims stay where they are: Ebb may not list {', '.join(storage.unread)}"
    log_event(event, f"{what}. Apply infra/rbac.yaml again.", severity="WARNING", reason="advice_missing")


def warn_of_unread_autoscalers(log_event: LogEvent, event: str, autoscalers: VerticalAutoscalers) -> None:
    """Say that VerticalPodAutoscalers are there and not ours to read: what they make of moved pods is not known."""
    if not autoscalers.unread:
        return
    what = f"Moved pods may come back larger than is known: Ebb may not list {', '.join(autoscalers.unread)}"
    log_event(event, f"{what}. Apply infra/rbac.yaml again.", severity="WARNING", reason="advice_missing")


def warn_of_unread_buffers(log_event: LogEvent, event: str, buffers: Buffers) -> None:
    """Say which lists of capacity buffers are there and not ours to read: the room that they hold is not kept."""
    if not buffers.unread:
        return
    what = f"The room of capacity buffers is not kept: Ebb may not list {', '.join(buffers.unread)}"
    log_event(event, f"{what}. Apply infra/rbac.yaml again.", severity="WARNING", reason="advice_missing")


def deletion_failed_at(log_event: LogEvent, event: str, cluster: Cluster, node: str) -> datetime | None:
    """Return when the autoscaler last failed to delete the node; what cannot be read counts as nothing said."""
    what = f"what the autoscaler said of {node}"
    return read_optional(log_event, event, what, lambda: cluster.deletion_failed_at(node), None)
