"""The kinds that the simulated API server serves, and how its selectors choose among their objects.

Source of the selectors' rules: k8s.io/apimachinery/pkg/labels, k8s.io/component-helpers/scheduling.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class ApiKind:
    """One resource, named `plural` in paths; a `custom` one is served once such an object is there."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    counts_generations: bool = False
    """Whether changes of its spec are numbered."""
    custom: bool = False
    fields: tuple[str, ...] = ()
    """What a fieldSelector may name."""

    @property
    def root(self) -> str:
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_EVENT_FIELDS = ("reason", "type", *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid")))
_APPS = ("ReplicaSet", "StatefulSet", "DaemonSet")

KINDS: dict[str, ApiKind] = {
    kind.plural: kind
    for kind in (
        ApiKind("nodes", "Node", namespaced=False),
        ApiKind("namespaces", "Namespace", namespaced=False),
        ApiKind("pods", "Pod", fields=("spec.nodeName",)),
        ApiKind("events", "Event", fields=_EVENT_FIELDS),
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
        ApiKind("deployments", "Deployment", "apps", counts_generations=True),
        *(ApiKind(f"{name.lower()}s", name, "apps", counts_generations=True) for name in _APPS),
    )
}

PLURAL_OF_KIND: dict[str, str] = {kind.kind: kind.plural for kind in KINDS.values()}
Labels = Mapping[str, str]


_OPERATORS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}
"""Whether a requirement holds for a label's value (None: absent)."""


def _all_hold(expressions: list[Json] | None, labels: Labels) -> bool:
    return all(
        _OPERATORS[row["operator"]](labels.get(row["key"]), row.get("values") or []) for row in expressions or ()
    )


def matches(selector: Json | None, labels: Labels) -> bool:
    """A metav1.LabelSelector against labels: an absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: dict[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and _all_hold(
        selector.get("matchExpressions"), labels
    )


def field_of(thing: Any, path: str) -> str:
    """What stands at a path of dotted steps; empty where nothing does."""
    for step in path.split("."):
        thing = thing.get(step) if isinstance(thing, dict) else None
    return "" if thing is None else str(thing)


def node_selector_holds(selector: Json | None, node: Json) -> bool:
    """A v1.NodeSelector against a node: terms are alternatives; an absent selector admits every node."""
    terms = [term.get("matchExpressions") for term in (selector or {}).get("nodeSelectorTerms") or []]
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return selector is None or any(term and _all_hold(term, labels) for term in terms)
