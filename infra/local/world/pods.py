"""What Kubernetes reads off a pod: ready, finished, terminating, owned; and conditions of any object."""

from infra.local.clocks import stamp
from infra.local.world.kinds import Json

MIRROR = "kubernetes.io/config.mirror"


def labels_of(thing: Json) -> dict[str, str]:
    labels: dict[str, str] = thing["metadata"].get("labels") or {}
    return labels


def annotations_of(thing: Json) -> dict[str, str]:
    annotations: dict[str, str] = thing["metadata"].get("annotations") or {}
    return annotations


def phase_of(pod: Json) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def node_of(pod: Json) -> str:
    return str(pod["spec"].get("nodeName") or "")


def condition_of(thing: Json, name: str) -> Json | None:
    conditions: list[Json] = thing.get("status", {}).get("conditions") or []
    for item in conditions:  # the world's most frequent question: a generator would take twice as long
        if item["type"] == name:
            return item
    return None


def is_ready(thing: Json) -> bool:
    """A pod's or node's Ready condition is True."""
    return (condition_of(thing, "Ready") or {}).get("status") == "True"


def is_finished(pod: Json) -> bool:
    return phase_of(pod) in {"Succeeded", "Failed"}


def is_terminating(thing: Json) -> bool:
    return "deletionTimestamp" in thing["metadata"]


def is_healthy(pod: Json) -> bool:
    """Healthy as a disruption budget counts it: ready and not on its way out."""
    return is_ready(pod) and not is_terminating(pod)


def is_unschedulable(pod: Json) -> bool:
    scheduled = condition_of(pod, "PodScheduled") or {}
    return scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"


def controller_of(thing: Json) -> Json | None:
    """The owner reference that controls the object, or None."""
    owners: list[Json] = thing["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def owner_kind(pod: Json) -> str:
    return str((controller_of(pod) or {}).get("kind", ""))


def stays_behind(pod: Json) -> bool:
    """Pods that no drain moves: of a DaemonSet, mirrored from the node, or finished."""
    return owner_kind(pod) == "DaemonSet" or MIRROR in annotations_of(pod) or is_finished(pod)


def set_condition(thing: Json, now: float, condition: Json) -> None:
    """Put a condition (type, status, reason, message) in place; the transition time moves with the status."""
    status: Json = thing.setdefault("status", {})
    conditions: list[Json] = status.setdefault("conditions", [])
    old = condition_of(thing, condition["type"])
    moved = stamp(now)
    if old is not None and old["status"] == condition["status"]:
        moved = old.get("lastTransitionTime", moved)
    fresh = {**condition, "lastTransitionTime": moved}
    if old is None:
        conditions.append(fresh)
    else:
        conditions[conditions.index(old)] = fresh
