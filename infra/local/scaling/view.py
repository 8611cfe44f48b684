"""What the simulated autoscaler reads in one loop, its way to the API, and the settings by which it acts (seconds).

Sources: cluster-autoscaler's FAQ, its flags and pkg/utils/taints; of GKE's two profiles the values that are public (the
chart of GoogleCloudPlatform/cluster-autoscaler). A group is one pool in one zone (a managed instance group).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from typing import Any

import msgspec

from infra.local.clocks import seconds_of, stamp
from infra.local.http_messages import JSON, MERGE_PATCH, Handler, HttpRequest, RefusedCall
from infra.local.scenario import MachinePool
from infra.local.world.kinds import KINDS, Json
from infra.local.world.kubelet import DEFAULT_GRACE
from infra.local.world.pods import (
    Disks,
    claims_of,
    disks_of,
    event_about,
    is_terminating,
    labels_of,
    node_of,
    owner_kind,
    stays_behind,
    taints_of,
)


@dataclass(frozen=True)
class AutoscalerSettings:
    """`fail_deletions` names nodes whose deletion fails at the cloud; `deletion` is how long the cloud takes.

    `parallelism` bounds all removals under way, `drain_parallelism` those of nodes with pods that have to move (the
    default of max-drain-parallelism). `recheck` is how long a node that could not go is not looked at again.
    """

    scan_interval: float = 10.0
    threshold: float = 0.5
    unneeded_time: float = 600.0
    deletion: float = 60.0
    delay_after_failure: float = 180.0
    delay_after_delete: float = 10.0
    parallelism: int = 10
    drain_parallelism: int = 1
    recheck: float = 300.0
    eviction_time: float = 120.0
    grace_headroom: float = 30.0
    fail_deletions: frozenset[str] = field(default_factory=frozenset)


BALANCED = AutoscalerSettings(parallelism=100)
OPTIMIZE_UTILIZATION = replace(
    BALANCED,
    scan_interval=5.0,
    threshold=0.85,
    unneeded_time=60.0,
    recheck=20.0,
    delay_after_failure=5.0,
    delay_after_delete=5.0,
)


AGENT = "cluster-autoscaler"
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
BUDGETS = "poddisruptionbudgets"
RESERVED = ("buffer.gke.io/standby-capacity-node", "cloud.google.com/autopilot-managed-node")
CLASS_LABEL = "cloud.google.com/compute-class"
_TERMINATING_HEADROOM = 30.0
_BUFFER = "CapacityBuffer"
_ACTIVE = "buffer.x-k8s.io/active-capacity"

Group = tuple[str, str]


def is_reserved(node: Json) -> bool:
    """Does GKE keep the node for a capacity buffer, or manage it by itself? Scale-down skips both."""
    return any(labels_of(node).get(key) == "true" for key in RESERVED)


def has_taint(node: Json, key: str) -> bool:
    return any(taint["key"] == key for taint in taints_of(node))


def without_taint(node: Json, key: str) -> list[Json]:
    return [taint for taint in taints_of(node) if taint["key"] != key]


def group_of(node: Json) -> Group:
    labels = labels_of(node)
    return labels.get("cloud.google.com/gke-nodepool", ""), labels.get("topology.kubernetes.io/zone", "")


def is_movable(pod: Json) -> bool:
    """A pod that would have to run elsewhere if the node went; a terminating one still counts."""
    return not stays_behind(pod)


def is_long_terminating(pod: Json, now: float) -> bool:
    """Past its grace and some headroom after its deadline: the autoscaler waits no longer for such a pod."""
    if not is_terminating(pod):
        return False
    grace = pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return bool(seconds_of(pod["metadata"]["deletionTimestamp"]) + grace + _TERMINATING_HEADROOM < now)


def is_chunk(pod: Json) -> bool:
    return owner_kind(pod) == _BUFFER


def _template_key(buffer: Json) -> tuple[str, str]:
    reference = (buffer.get("status") or {}).get("podTemplateRef") or {}
    return buffer["metadata"]["namespace"], reference.get("name", "")


def _chunks(buffer: Json, template: Json | None) -> Iterator[Json]:
    """The pods that stand for the buffer's room."""
    meta, spec = buffer["metadata"], buffer.get("spec") or {}
    if template is None or spec.get("provisioningStrategy", _ACTIVE) != _ACTIVE:
        return
    owner = {"kind": _BUFFER, "name": meta["name"], "uid": meta["uid"], "controller": True}
    for number in range(buffer["status"].get("replicas") or 0):
        yield {
            "metadata": {
                "name": f"capacity-buffer-{meta['name']}-{number + 1}",
                "namespace": meta["namespace"],
                "uid": f"{meta['uid']}-{number + 1}",
                "creationTimestamp": meta["creationTimestamp"],
                "labels": (template.get("metadata") or {}).get("labels") or {},
                "ownerReferences": [owner],
            },
            "spec": dict(template["spec"]),
            "status": {"phase": "Pending"},
        }


@dataclass(frozen=True)
class View:
    """The cluster as one loop sees it; `read` lists a kind that is rarely needed, once."""

    nodes: list[Json]
    pods: list[Json]
    pools: Mapping[str, MachinePool]
    read: Callable[[str], Sequence[Json]] = field(default=lambda _: ())

    @cached_property
    def _by_node(self) -> Mapping[str, list[Json]]:
        by_node: defaultdict[str, list[Json]] = defaultdict(list)
        for pod in self.pods:
            by_node[node_of(pod)].append(pod)
        return by_node

    @cached_property
    def budgets(self) -> Sequence[Json]:
        """The disruption budgets; read only if a node with pods may go."""
        return self.read(BUDGETS)

    @cached_property
    def disks(self) -> Disks:
        """What stands behind volumes; read only if a pod has a claim."""
        return disks_of(self.read) if any(any(claims_of(pod)) for pod in self.pods) else Disks()

    @cached_property
    def buffers(self) -> Sequence[Json]:
        return self.read("capacitybuffers")

    @cached_property
    def chunks(self) -> Sequence[Json]:
        """The pods that stand for what capacity buffers hold."""
        templates = {
            (item["metadata"]["namespace"], item["metadata"]["name"]): item["template"]
            for item in (self.read("podtemplates") if self.buffers else ())
        }
        return [chunk for buffer in self.buffers for chunk in _chunks(buffer, templates.get(_template_key(buffer)))]

    @cached_property
    def _class_policies(self) -> Mapping[str, Json]:
        any_class = any(CLASS_LABEL in labels_of(node) for node in self.nodes)
        classes = self.read("computeclasses") if any_class else ()
        return {item["metadata"]["name"]: item["spec"].get("autoscalingPolicy") or {} for item in classes}

    def pods_on(self, node: Json) -> list[Json]:
        return self._by_node.get(node["metadata"]["name"], [])

    def movers(self, node: Json, now: float) -> list[Json]:
        """The pods that would have to run elsewhere if the node went."""
        return [pod for pod in self.pods_on(node) if is_movable(pod) and not is_long_terminating(pod, now)]

    def pool_of(self, node: Json) -> MachinePool | None:
        return self.pools.get(group_of(node)[0])

    def settings_of(self, node: Json, settings: AutoscalerSettings) -> AutoscalerSettings:
        """The settings with what the node's ComputeClass sets for nodes without GPUs."""
        policy = self._class_policies.get(labels_of(node).get(CLASS_LABEL, ""), {})
        if (percent := policy.get("consolidationThreshold")) is not None:
            settings = replace(settings, threshold=percent / 100)
        if (minutes := policy.get("consolidationDelayMinutes")) is not None:
            settings = replace(settings, unneeded_time=minutes * 60.0)
        return settings

    def sizes(self) -> Counter[Group]:
        """Nodes per group, cordoned and unready ones included."""
        return Counter(group_of(node) for node in self.nodes)


class Client:
    """The few calls an autoscaler makes, of any Kubernetes API; each raises RefusedCall on any failure.

    It shares nothing with Ebb's adapters, so a fault of theirs cannot hide here.
    """

    def __init__(self, api: Handler) -> None:
        self._api = api

    def _call(self, method: str, path: str, body: Json | None = None, content_type: str = JSON) -> Any:
        sent = b"" if body is None else msgspec.json.encode(body)
        headers = {"content-type": content_type, "user-agent": AGENT, "accept": JSON}
        answer = self._api(HttpRequest(method, path, {}, headers, sent))
        if not 200 <= answer.status < 300:  # noqa: PLR2004 - the HTTP success range
            raise RefusedCall(method, path, answer.status, answer.body.decode(errors="replace"))
        return msgspec.json.decode(answer.body)

    def list_objects(self, plural: str) -> list[Json]:
        """All objects of a kind; none of a custom kind that the cluster does not have."""
        try:
            items: list[Json] = self._call("GET", f"{KINDS[plural].root}/{plural}")["items"]
        except RefusedCall as refused:
            if refused.status != HTTPStatus.NOT_FOUND or not KINDS[plural].custom:
                raise
            return []
        return items

    def evict(self, pod: Json, grace: int) -> None:
        meta = pod["metadata"]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta["name"]}}
        options = {"deleteOptions": {"gracePeriodSeconds": grace}}
        self._call("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction", {**body, **options})

    def patch_node(self, node: Json, spec: Json) -> Json:
        """Merge `spec` into the node as it was read; RefusedCall 409 if it has changed since."""
        meta = node["metadata"]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "spec": spec}
        patched: Json = self._call("PATCH", f"/api/v1/nodes/{meta['name']}", body, MERGE_PATCH)
        return patched

    def patch_buffer(self, buffer: Json, status: Json) -> None:
        meta, root = buffer["metadata"], KINDS["capacitybuffers"].root
        path = f"{root}/namespaces/{meta['namespace']}/capacitybuffers/{meta['name']}/status"
        self._call("PATCH", path, {"status": status}, MERGE_PATCH)

    def delete_node(self, name: str) -> None:
        self._call("DELETE", f"/api/v1/nodes/{name}")

    def create_node(self, node: Json) -> None:
        self._call("POST", "/api/v1/nodes", node)

    def report(self, about: Json, kind: str, reason: str, message: str, at: float) -> None:
        event = event_about(about, kind, reason, message, AGENT, stamp(at))
        self._call("POST", f"/api/v1/namespaces/{event['metadata']['namespace']}/events", event)
