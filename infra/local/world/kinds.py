"""The kinds that the simulated API server serves, by the names Kubernetes gives them."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class ApiKind:
    """One resource: `plural` names it in paths, `counts_generations` if its spec changes are numbered.

    `counts_annotations`: its own annotations are numbered with its spec (kubernetes pkg/registry/apps/deployment,
    PrepareForUpdate; no other kind served here does so).
    `custom`: it is served once an object of it is there, as if its definition had come with the first one.
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
