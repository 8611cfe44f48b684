"""The kinds that the simulated API server serves, and how its selectors choose among their objects.

Source of the selectors' rules: k8s.io/apimachinery/pkg/labels and pkg/fields, k8s.io/component-helpers/scheduling.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class ApiKind:
    """One resource: `plural` names it in paths, `counts_generations` if its spec changes are numbered.

    `counts_annotations`: its own annotations are numbered with its spec (kubernetes pkg/registry/apps/deployment,
    PrepareForUpdate; no other kind served here does so).
    `custom`: it is served once such an object is there, as if its definition had come with the first one.
    """

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    counts_generations: bool = False
    counts_annotations: bool = False
    custom: bool = False
    more_fields: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """What a fieldSelector may name."""
        return ("metadata.name", *(("metadata.namespace",) if self.namespaced else ()), *self.more_fields)

    @property
    def root(self) -> str:
        """The path below which the API has it."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_POD_FIELDS = ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.hostNetwork", "status.phase")
_EVENT_FIELDS = (
    "reason",
    "type",
    *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion", "fieldPath")),
)
_APPS = ("ReplicaSet", "StatefulSet", "DaemonSet")

KINDS: dict[str, ApiKind] = {
    kind.plural: kind
    for kind in (
        ApiKind("nodes", "Node", namespaced=False, more_fields=("spec.unschedulable",)),
        ApiKind("namespaces", "Namespace", namespaced=False, more_fields=("status.phase",)),
        ApiKind("pods", "Pod", more_fields=_POD_FIELDS),
        ApiKind("events", "Event", more_fields=_EVENT_FIELDS),
        ApiKind("replicationcontrollers", "ReplicationController", counts_generations=True),
        ApiKind("persistentvolumes", "PersistentVolume", namespaced=False),
        ApiKind("persistentvolumeclaims", "PersistentVolumeClaim"),
        ApiKind("poddisruptionbudgets", "PodDisruptionBudget", "policy", counts_generations=True),
        ApiKind("jobs", "Job", "batch", counts_generations=True),
        ApiKind("verticalpodautoscalers", "VerticalPodAutoscaler", "autoscaling.k8s.io", custom=True),
        ApiKind("storageclasses", "StorageClass", "storage.k8s.io", namespaced=False),
        ApiKind("csinodes", "CSINode", "storage.k8s.io", namespaced=False),
        ApiKind("csidrivers", "CSIDriver", "storage.k8s.io", namespaced=False),
        ApiKind("volumeattachments", "VolumeAttachment", "storage.k8s.io", namespaced=False),
        ApiKind("podtemplates", "PodTemplate"),
        ApiKind("limitranges", "LimitRange"),
        ApiKind("resourcequotas", "ResourceQuota"),
        ApiKind("capacitybuffers", "CapacityBuffer", "autoscaling.x-k8s.io", "v1beta1", custom=True),
        ApiKind("computeclasses", "ComputeClass", "cloud.google.com", namespaced=False, custom=True),
        ApiKind("priorityclasses", "PriorityClass", "scheduling.k8s.io", namespaced=False),
        ApiKind("deployments", "Deployment", "apps", counts_generations=True, counts_annotations=True),
        *(ApiKind(f"{name.lower()}s", name, "apps", counts_generations=True) for name in _APPS),
    )
}

PLURAL_OF_KIND: dict[str, str] = {kind.kind: kind.plural for kind in KINDS.values()}


def find(group: str, version: str, plural: str) -> ApiKind | None:
    """The kind served at a path, or None; events are served by both of their groups."""
    kind = KINDS.get(plural)
    groups = {kind.group, "events.k8s.io"} if kind and plural == "events" else {kind.group if kind else ""}
    return kind if kind and group in groups and version == kind.version else None


Labels = Mapping[str, str]
_SET = re.compile(r"^\s*(\S+)\s+(in|notin)\s*\(([^)]*)\)\s*$")
_SPLIT = re.compile(r",(?![^(]*\))")


def _exceeds(value: str | None, limit: str, sign: int) -> bool:
    """Whether an integer is larger (sign 1) or smaller (-1) than the limit; no integer is neither."""
    if value is None or not all(re.fullmatch(r"-?\d+", text) for text in (value, limit)):
        return False
    return sign * int(value) > sign * int(limit)


def requirement_holds(value: str | None, operator: str, values: Sequence[str]) -> bool:
    """Does one requirement hold for a label's value (None: absent)? ValueError names an unknown operator."""
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _exceeds(value, values[0], 1)
        case "Lt":
            return _exceeds(value, values[0], -1)
    raise ValueError(f"{operator!r} is not a selector operator: use In, NotIn, Exists, DoesNotExist, Gt or Lt")


def _all_hold(expressions: list[Json] | None, value_of: Callable[[str], str | None]) -> bool:
    return all(
        requirement_holds(value_of(item["key"]), item["operator"], item.get("values") or [])
        for item in expressions or ()
    )


def matches(selector: Json | None, labels: Labels) -> bool:
    """A metav1.LabelSelector against labels: an absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: dict[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and _all_hold(
        selector.get("matchExpressions"), labels.get
    )


def _holds_in_text(part: str, labels: Labels) -> bool:
    if set_based := _SET.match(part):
        key, operator, listed = set_based.groups()
        values = [item.strip() for item in listed.split(",")]
        return requirement_holds(labels.get(key), "In" if operator == "in" else "NotIn", values)
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        if sign in part:
            key, _, value = part.partition(sign)
            return (labels.get(key.strip()) == value.strip()) is equal
    text = part.strip()
    return labels.get(text[1:].strip()) is None if text.startswith("!") else text in labels


def text_matches(text: str, labels: Labels) -> bool:
    """A `labelSelector` query (equality and set based, joined by commas) against labels."""
    return all(_holds_in_text(part, labels) for part in _parts(text))


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in _SPLIT.split(text) if part.strip())


def _field(thing: Any, path: str) -> str:
    for step in path.split("."):
        thing = thing.get(step) if isinstance(thing, dict) else None
    return "" if thing is None else str(thing)


@lru_cache(maxsize=1024)
def _field_parts(text: str) -> tuple[tuple[str, bool, str], ...]:
    parts = []
    for part in filter(None, text.split(",")):
        sign = "!=" if "!=" in part else "="
        path, _, value = part.replace("==", "=").partition(sign)
        parts.append((path.strip(), sign == "=", value.strip()))
    return tuple(parts)


def field_paths(text: str) -> list[str]:
    """The paths that a `fieldSelector` query asks for."""
    return [path for path, _, _ in _field_parts(text)]


def fields_match(text: str, thing: Json) -> bool:
    """A `fieldSelector` query (`path=value`, `path!=value`) against an object."""
    return all((_field(thing, path) == value) is equal for path, equal, value in _field_parts(text))


def _term_holds(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return _all_hold(expressions, labels.get) and _all_hold(fields, partial(_field, node))


def node_selector_holds(selector: Json | None, node: Json) -> bool:
    """A v1.NodeSelector against a node: terms are alternatives; an absent selector admits every node."""
    return selector is None or any(_term_holds(term, node) for term in selector.get("nodeSelectorTerms") or [])
