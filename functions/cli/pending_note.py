"""What is said of pods that are pending: who they are, and which of them have no place on the nodes that are there.

Nothing is said where there are none. Must not decide anything.
"""

from collections.abc import Sequence
from typing import Final

from functions.cli.format import count, some
from shared.core.cluster.pod import Pod

_PENDING: Final = "{pods} {are} pending ({names}); every figure counts the room that {they}, where there is any."
_NO_PLACE: Final = (
    "{pods} {have} no place now ({names}) and {count} in no figure; nor do nodes that the autoscaler may add."
)


def pending_note(pending: Sequence[Pod]) -> str:
    """Return who is pending; empty where nobody is."""
    if not pending:
        return ""
    are, they = ("is", "it needs") if len(pending) == 1 else ("are", "they need")
    return _PENDING.format(pods=count(len(pending), "pod"), are=are, names=_named(pending), they=they)


def no_place_note(left: Sequence[Pod]) -> str:
    """Return which of those that are pending have no place; empty where all have one."""
    have, counts = ("has", "counts") if len(left) == 1 else ("have", "count")
    pods = count(len(left), "pending pod")
    return _NO_PLACE.format(pods=pods, have=have, count=counts, names=_named(left)) if left else ""


def _named(pods: Sequence[Pod]) -> str:
    return some([pod.key for pod in pods])
