"""How the API server deletes a pod: gracefully if a kubelet has it, at once if not.

Source: kubernetes pkg/registry/core/pod/strategy.go CheckGracefulDelete.
"""

from infra.local.clocks import seconds_of, stamp
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_terminating, node_of, set_condition
from infra.local.world.store import Store

DEFAULT_GRACE = 30


def _grace(pod: Json, asked: int | None) -> int:
    if not node_of(pod) or is_finished(pod):
        return 0
    own = pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return max(int(own if asked is None else asked), 0)


def delete_pod(store: Store, pod: Json, asked: int | None, actor: str, reason: Json | None = None) -> None:
    """Begin (or shorten) the pod's graceful end; remove it at once if its grace is zero.

    `asked` is the grace in seconds (None: the pod's own), `reason` a DisruptionTarget condition to set.
    """
    meta = pod["metadata"]
    grace, now = _grace(pod, asked), store.clock.now()
    if grace == 0:
        store.remove("pods", meta["namespace"], meta["name"], actor)
        return

    def end(thing: Json) -> None:
        deadline = now + grace
        if is_terminating(thing) and seconds_of(thing["metadata"]["deletionTimestamp"]) <= deadline:
            return
        thing["metadata"]["deletionTimestamp"] = stamp(deadline)
        thing["metadata"]["deletionGracePeriodSeconds"] = grace
        if reason is not None:
            set_condition(thing, now, reason)

    store.update("pods", meta["namespace"], meta["name"], end, actor)


def end_namespace(store: Store, namespace: Json, actor: str) -> None:
    """Begin a namespace's end: nothing new is created in it, and the garbage collector empties it."""

    def end(thing: Json) -> None:
        thing["metadata"].setdefault("deletionTimestamp", stamp(store.clock.now()))
        thing["status"] = {"phase": "Terminating"}

    store.update("namespaces", "", namespace["metadata"]["name"], end, actor)
