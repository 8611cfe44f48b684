"""The Cluster port over the Kubernetes API.

Reads are consistent (no resourceVersion is asked for) and paged. Writes are a patch on the version read, an eviction
with a UID, or an event; nothing here deletes a pod or a node.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from shared.adapters.clock import system_time
from shared.adapters.kubernetes import events, node_objects, wire, writes
from shared.adapters.kubernetes.buffer_lists import read_buffers, read_classes
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.adapters.kubernetes.fold import PodFolder
from shared.adapters.kubernetes.namespace_limits import read_limits
from shared.adapters.kubernetes.storage_lists import read_storage
from shared.adapters.kubernetes.vertical_autoscalers import read_autoscalers
from shared.adapters.kubernetes.workloads import Controllers
from shared.core.cluster.autoscaling import Buffers, ComputeClasses
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import Deployment, PodDisruptionBudget, Workload
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import Gone, Retryable, Stale
from shared.port_types import ClusterReading, Eviction, Traffic

_nodes: Final = msgspec.json.Decoder(wire.Page[wire.Node])
_pods: Final = msgspec.json.Decoder(wire.Page[wire.Pod])
_budgets: Final = msgspec.json.Decoder(wire.Page[wire.PodDisruptionBudget])
_namespaces: Final = msgspec.json.Decoder(wire.Page[wire.Namespace])
_node: Final = msgspec.json.Decoder(wire.Node)
_raw_node: Final = msgspec.json.Decoder(node_objects.RawNode)


class KubernetesCluster:
    """Implements `shared.ports.Cluster`."""

    def __init__(self, client: KubernetesClient, now: Callable[[], datetime] = system_time) -> None:
        """`now` dates events that are written for people."""
        self._client = client
        self._controllers = Controllers(client)
        self._now = now

    def read(self) -> ClusterReading:
        """Read nodes, then pods, PodDisruptionBudgets, namespaces and workloads, then what only some clusters have."""
        read_list, reading = self._client.read_list, self.read_nodes_and_pods()
        pods = reading.pods
        reading = replace(
            reading,
            disruption_budgets=self.disruption_budgets(),
            namespaces=read_list(Call("list", "namespaces", "/api/v1/namespaces"), _namespaces, _read_namespaces),
            workloads=self._controllers.all(),
            storage=self.storage() if uses_claims(pods) else NO_CLAIMS,
            autoscalers=read_autoscalers(self._client),
        )
        buffers, classes = read_buffers(self._client)
        limits = read_limits(self._client)
        return replace(reading, buffers=buffers, compute_classes=classes, limits=limits)

    def read_nodes_and_pods(self) -> ClusterReading:
        return ClusterReading(self.all_nodes(), self._pods({}), disruption_budgets=(), namespaces={})

    def node(self, name: str) -> Node:
        return self._ask_for_node(Call("get", "nodes", _node_path(name)))

    def all_nodes(self) -> tuple[Node, ...]:
        return self._client.read_list(Call("list", "nodes", "/api/v1/nodes"), _nodes, _read_nodes)

    def unbound_pods(self) -> tuple[Pod, ...]:
        return self._pods({"fieldSelector": "spec.nodeName="})

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        return self._pods({"fieldSelector": f"spec.nodeName={node}"})

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        call = Call("list", "poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets")
        return self._client.read_list(call, _budgets, _read_budgets)

    def workloads_of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read ReplicaSets, their Deployments and StatefulSets by name; other controllers are not known."""
        return self._controllers.of(controllers)

    def storage(self) -> Storage:
        return read_storage(self._client)

    def buffers(self) -> Buffers:
        return read_buffers(self._client)[0]

    def compute_classes(self) -> ComputeClasses:
        return read_classes(self._client)

    def take(self, node: Node, order_id: str, since: datetime) -> Node:
        """Cordon, taint and annotate in one patch; foreign taints keep every field (timeAdded)."""
        fresh, raw = self._read_afresh(node)
        _check_version(node, fresh)
        return self._patch(node, node_objects.take_patch(fresh, raw.taints, order_id, since))

    def give_back(self, node: Node, order_id: str) -> Node:
        """Undo `take` of that order; a node that is not that order's is returned as it stands now."""
        fresh, raw = self._read_afresh(node)
        patch = node_objects.give_back_patch(fresh, raw, order_id)
        if patch is None:
            return fresh
        _check_version(node, fresh)
        return self._patch(node, patch)

    def set_soft_taint(self, node: Node, *, held: bool) -> Node:
        """Write or remove the taint; foreign taints keep every field."""
        fresh, raw = self._read_afresh(node)
        _check_version(node, fresh)
        return self._patch(node, node_objects.soft_taint_patch(fresh, raw.taints, held=held))

    def evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool = False) -> Eviction:
        """Ask for the eviction; an API that gives no answer means LATER, as any outage does here."""
        try:
            return self._evict(pod, grace_seconds, dry_run=dry_run)
        except Retryable as outage:
            return Eviction(EvictionAnswer.LATER, str(outage))

    def _evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool) -> Eviction:
        path = f"/api/v1/namespaces/{segment(pod.spec.namespace)}/pods/{segment(pod.name)}/eviction"
        query = {"dryRun": "All"} if dry_run else {}
        body = writes.eviction_body(pod, grace_seconds, dry_run=dry_run)
        return writes.answer(pod, self._client.send(Call("create", "pods/eviction", path, query, body)))

    def deployment(self, name: str) -> Deployment:
        return writes.read_deployment(self._client, name)

    def restart(self, deployment: Deployment, stamp: str, *, dry_run: bool = False) -> Deployment:
        return writes.restart(self._client, deployment, stamp, dry_run=dry_run)

    def set_deletion_cost(self, pod: Pod, cost: int | None) -> bool:
        return writes.set_cost(self._client, pod, cost)

    def traffic(self) -> Traffic:
        return self._client.meter.read()

    def deletion_begun_at(self, node: str) -> datetime | None:
        return events.deletion_begun_at(self._client, node)

    def deletion_failure(self, node: str) -> str:
        return events.deletion_failure(self._client, node)

    def scale_ups(self) -> Mapping[str, datetime]:
        return events.scale_ups(self._client)

    def note(self, node: Node, reason: str, message: str) -> None:
        events.note(self._client, node, reason, message, self._now())

    def _pods(self, query: Mapping[str, str]) -> tuple[Pod, ...]:
        return self._client.read_list(Call("list", "pods", "/api/v1/pods", query), _pods, _read_pods)

    def _read_afresh(self, node: Node) -> tuple[Node, node_objects.RawNode]:
        call = Call("get", "nodes", _node_path(node.name))
        body = self._client.ask(call)
        with readable(call):
            fresh, raw = node_objects.node(_node.decode(body)), _raw_node.decode(body)
        if fresh.uid != node.uid:
            raise Gone(f"node {node.name}: another node bears its name now.")
        return fresh, raw

    def _patch(self, node: Node, patch: Mapping[str, Any]) -> Node:
        return self._ask_for_node(Call("patch", "nodes", _node_path(node.name), body=patch))

    def _ask_for_node(self, call: Call) -> Node:
        body = self._client.ask(call)
        with readable(call):
            return node_objects.node(_node.decode(body))


def _check_version(node: Node, fresh: Node) -> None:
    if fresh.resource_version != node.resource_version:
        raise Stale(f"node {node.name}: changed since it was read.")


def _node_path(name: str) -> str:
    return f"/api/v1/nodes/{segment(name)}"


def _read_nodes(items: Iterator[wire.Node]) -> tuple[Node, ...]:
    return tuple(map(node_objects.node, items))


def _read_pods(items: Iterator[wire.Pod]) -> tuple[Pod, ...]:
    return tuple(map(PodFolder().fold, items))


def _read_budgets(items: Iterator[wire.PodDisruptionBudget]) -> tuple[PodDisruptionBudget, ...]:
    return tuple(map(node_objects.disruption_budget, items))


def _read_namespaces(items: Iterator[wire.Namespace]) -> dict[str, Mapping[str, str]]:
    return {each.metadata.name: each.metadata.labels or {} for each in items}
