"""What Kubernetes reads off an object: a pod's state, owner and requests, its disks, and the conditions of anything."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from math import ceil

from kubernetes.utils.quantity import parse_quantity

from infra.local.clocks import stamp
from infra.local.world.kinds import Json

MIRROR = "kubernetes.io/config.mirror"


def labels_of(thing: Json) -> dict[str, str]:
    labels: dict[str, str] = thing["metadata"].get("labels") or {}
    return labels


def annotations_of(thing: Json) -> dict[str, str]:
    annotations: dict[str, str] = thing["metadata"].get("annotations") or {}
    return annotations


def taints_of(node: Json) -> list[Json]:
    taints: list[Json] = node["spec"].get("taints") or []
    return taints


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
    owners: list[Json] = thing["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def owned_by(owner: Json) -> list[Json]:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    return [{**reference, "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]


def owner_kind(pod: Json) -> str:
    return str((controller_of(pod) or {}).get("kind", ""))


def stays_behind(pod: Json) -> bool:
    """Pods that no drain moves: of a DaemonSet, mirrored from the node, or finished."""
    return owner_kind(pod) == "DaemonSet" or MIRROR in annotations_of(pod) or is_finished(pod)


def event_about(thing: Json, kind: str, reason: str, message: str, component: str, at: str) -> Json:
    """A core/v1 Event; `kind` is of the object, which an item of a list does not carry, `at` is RFC 3339."""
    meta = thing["metadata"]
    involved = {"apiVersion": "v1", "kind": kind, "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{meta['name']}.", "namespace": meta.get("namespace", "default")},
        "involvedObject": {**involved, "namespace": meta.get("namespace", "")},
        "reason": reason,
        "message": message,
        "type": "Warning" if "Failed" in reason else "Normal",
        "source": {"component": component},
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }


def set_condition(thing: Json, now: float, condition: Json) -> None:
    """Put a condition (type, status, reason, message) in place; the transition time moves with the status."""
    status: Json = thing.setdefault("status", {})
    conditions: list[Json] = status.setdefault("conditions", [])
    place = next((place for place, old in enumerate(conditions) if old["type"] == condition["type"]), None)
    if place is None:
        conditions.append({**condition, "lastTransitionTime": stamp(now)})
        return
    old = conditions[place]
    moved = old.get("lastTransitionTime") if old["status"] == condition["status"] else None
    conditions[place] = {**condition, "lastTransitionTime": moved or stamp(now)}


@lru_cache(maxsize=4096)
def units(resource: str, text: object) -> int:
    """A whole number of units as the scheduler counts them: millicores of CPU, else units, rounded up."""
    value: Decimal = parse_quantity(str(text))
    return ceil(value * 1000 if resource == "cpu" else value)


Resources = dict[str, int]
"""Units by resource: millicores of CPU, else units such as bytes."""


def amounts(container: Json) -> Resources:
    given: Json = (container.get("resources") or {}).get("requests") or {}
    return {name: units(name, value) for name, value in given.items()}


def sum_requests(parts: Iterable[Resources]) -> Resources:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total


def pod_requests(pod: Json) -> Resources:
    """What the pod's containers request; scenarios have no init containers. The pod itself is not counted here."""
    return sum_requests(map(amounts, pod["spec"].get("containers") or ()))


DISK_KINDS = ("persistentvolumeclaims", "persistentvolumes")
"""The kinds that a `Disks` is made of."""


def claims_of(pod: Json) -> Iterator[tuple[str, str]]:
    for volume in pod["spec"].get("volumes") or []:
        if name := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield pod["metadata"]["namespace"], name


@dataclass(frozen=True)
class Disks:
    """The volume's name of each claim (empty: not bound), and the volumes by name."""

    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    volumes: dict[str, Json] = field(default_factory=dict)

    def volume(self, key: tuple[str, str]) -> Json | None:
        return self.volumes.get(self.claims.get(key, ""))

    def attached_volumes(self, pod: Json) -> set[str]:
        return {self.claims[key] for key in claims_of(pod) if self.volume(key) is not None}

    def is_held_elsewhere(self, pod: Json, pods: Sequence[Json]) -> bool:
        """Whether a disk of the pod is still attached to another node, where a pod that uses it has not ended."""
        own = self.attached_volumes(pod)
        others = (other for other in pods if node_of(other) not in {"", node_of(pod)} and not is_finished(other))
        return bool(own) and any(not own.isdisjoint(self.attached_volumes(other)) for other in others)


def disks_of(read: Callable[[str], Sequence[Json]]) -> Disks:
    """What stands behind volumes; `read` lists a kind. Without claims nothing else is read."""
    found = {(claim["metadata"]["namespace"], claim["metadata"]["name"]): claim for claim in read(DISK_KINDS[0])}
    claims = {key: claim["spec"].get("volumeName", "") for key, claim in found.items()}
    return Disks(claims, {volume["metadata"]["name"]: volume for volume in read(DISK_KINDS[1])} if claims else {})
