"""The Cluster port over the Kubernetes API.

Reads are consistent (no resourceVersion is asked for) and paged. Writes are a patch on the version read, an eviction
with a UID, or an event; nothing here deletes a pod or a node.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.clock import system_time
from shared.adapters.kubernetes import evictions, ownership, translate, wire
from shared.adapters.kubernetes.buffer_lists import read_buffers
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.adapters.kubernetes.controllers import Controllers
from shared.adapters.kubernetes.fold import PodFolder
from shared.adapters.kubernetes.storage_lists import read_storage
from shared.adapters.kubernetes.vertical_autoscalers import read_autoscalers
from shared.core.cluster.buffers import Buffers
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import Workload
from shared.core.records.evictions import EvictionAnswer
from shared.errors import Gone, Retryable, Stale
from shared.ports import ClusterReading, Eviction, Traffic

T = TypeVar("T")
_SCALE_DOWN_FAILED: Final = "ScaleDownFailed"
_TRIGGERED_SCALE_UP: Final = "TriggeredScaleUp"
_LONGEST_MESSAGE: Final = 1024
"""The API's limit for an event's message."""

_nodes: Final = msgspec.json.Decoder(wire.Page[wire.Node])
_pods: Final = msgspec.json.Decoder(wire.Page[wire.Pod])
_budgets: Final = msgspec.json.Decoder(wire.Page[wire.PodDisruptionBudget])
_namespaces: Final = msgspec.json.Decoder(wire.Page[wire.Namespace])
_events: Final = msgspec.json.Decoder(wire.Page[wire.Event])
_node: Final = msgspec.json.Decoder(wire.Node)
_raw_node: Final = msgspec.json.Decoder(ownership.RawNode)


class KubernetesCluster:
    """Implements `shared.ports.Cluster`."""

    def __init__(self, client: KubernetesClient, now: Callable[[], datetime] = system_time) -> None:
        """`now` only dates the events that are written for people."""
        self._client = client
        self._controllers = Controllers(client)
        self._now = now

    def read(self) -> ClusterReading:
        """Read nodes, then pods, PodDisruptionBudgets, namespaces and workloads, then what only some clusters have."""
        read_list = self._client.read_list
        nodes, pods = self.all_nodes(), self._pods({})
        return ClusterReading(
            nodes=nodes,
            pods=pods,
            disruption_budgets=self.disruption_budgets(),
            namespaces=read_list(Call("list", "namespaces", "/api/v1/namespaces"), _namespaces, _read_namespaces),
            workloads=self._controllers.all(),
            storage=self.storage() if uses_claims(pods) else NO_CLAIMS,
            autoscalers=read_autoscalers(self._client),
            buffers=self.buffers(),
        )

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
        return read_buffers(self._client)

    def take(self, node: Node, order_id: str, since: datetime) -> Node:
        """Cordon, taint and annotate in one patch; foreign taints keep every field (timeAdded)."""
        fresh, raw = self._read_afresh(node)
        _check_version(node, fresh)
        return self._patch(node, ownership.take_patch(fresh, raw.taints, order_id, since))

    def give_back(self, node: Node, order_id: str) -> Node:
        """Undo `take` of that order; a node that is not that order's is returned as it stands now."""
        fresh, raw = self._read_afresh(node)
        patch = ownership.give_back_patch(fresh, raw, order_id)
        if patch is None:
            return fresh
        _check_version(node, fresh)
        return self._patch(node, patch)

    def evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool = False) -> Eviction:
        """Ask for the eviction; an API that gives no answer means LATER, as any outage does here."""
        path = f"/api/v1/namespaces/{segment(pod.spec.namespace)}/pods/{segment(pod.name)}/eviction"
        query = {"dryRun": "All"} if dry_run else {}
        body = evictions.eviction_body(pod, grace_seconds, dry_run=dry_run)
        try:
            reply = self._client.send(Call("create", "pods/eviction", path, query, body))
        except Retryable as outage:
            return Eviction(EvictionAnswer.LATER, str(outage))
        return evictions.answer(pod, reply)

    def traffic(self) -> Traffic:
        return self._client.meter.read()

    def deletion_failed_at(self, node: str) -> datetime | None:
        """Read the autoscaler's ScaleDownFailed events of a node (cluster-autoscaler, actuation)."""
        return max(self._read_events(_failures_of(node), _newest).values(), default=None)

    def deletion_failure(self, node: str) -> str:
        """Read the message of the newest ScaleDownFailed event of a node."""
        return self._read_events(_failures_of(node), _last_message)

    def scale_ups(self) -> Mapping[str, datetime]:
        """Read the autoscaler's TriggeredScaleUp events; the API server keeps events for an hour or so."""
        return self._read_events({"involvedObject.kind": "Pod", "reason": _TRIGGERED_SCALE_UP}, _newest)

    def _read_events(self, fields: Mapping[str, str], gather: Callable[[Iterator[wire.Event]], T]) -> T:
        selector = ",".join(f"{path}={value}" for path, value in fields.items())
        call = Call("list", "events", "/api/v1/events", {"fieldSelector": selector})
        return self._client.read_list(call, _events, gather)

    def note(self, node: Node, reason: str, message: str) -> None:
        """Write an event as `kubectl describe node` looks for it: in namespace default, with the node's name as UID.

        Source: kubectl describe (DescribeNode sets ref.UID to the name), as the kubelet writes its own.
        """
        moment = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{node.name}.", "namespace": "default"},
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.name},
            "reason": reason,
            "message": message[:_LONGEST_MESSAGE],
            "type": "Normal",
            "source": {"component": "ebb"},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        self._client.ask(Call("create", "events", "/api/v1/namespaces/default/events", body=event))

    def _pods(self, query: Mapping[str, str]) -> tuple[Pod, ...]:
        return self._client.read_list(Call("list", "pods", "/api/v1/pods", query), _pods, _read_pods)

    def _read_afresh(self, node: Node) -> tuple[Node, ownership.RawNode]:
        call = Call("get", "nodes", _node_path(node.name))
        body = self._client.ask(call)
        with readable(call):
            fresh, raw = translate.node(_node.decode(body)), _raw_node.decode(body)
        if fresh.uid != node.uid:
            raise Gone(f"node {node.name}: another node bears its name now.")
        return fresh, raw

    def _patch(self, node: Node, patch: Mapping[str, Any]) -> Node:
        return self._ask_for_node(Call("patch", "nodes", _node_path(node.name), body=patch))

    def _ask_for_node(self, call: Call) -> Node:
        body = self._client.ask(call)
        with readable(call):
            return translate.node(_node.decode(body))


def _check_version(node: Node, fresh: Node) -> None:
    if fresh.resource_version != node.resource_version:
        raise Stale(f"node {node.name}: changed since it was read.")


def _node_path(name: str) -> str:
    return f"/api/v1/nodes/{segment(name)}"


def _failures_of(node: str) -> Mapping[str, str]:
    return {"involvedObject.kind": "Node", "involvedObject.name": node, "reason": _SCALE_DOWN_FAILED}


def _time_of(event: wire.Event) -> datetime | None:
    return event.last_timestamp or event.event_time


def _last_message(items: Iterator[wire.Event]) -> str:
    dated = ((at, each.message) for each in items if (at := _time_of(each)) is not None)
    return max(dated, default=(None, ""), key=lambda row: row[0])[1]


def _newest(items: Iterator[wire.Event]) -> Mapping[str, datetime]:
    """Return the newest time by the object (namespace/name) that events are about."""
    newest: dict[str, datetime] = {}
    for each in items:
        at, about = _time_of(each), each.involved_object
        if at is not None:
            key = f"{about.namespace}/{about.name}"
            newest[key] = max(at, newest.get(key, at))
    return newest


def _read_nodes(items: Iterator[wire.Node]) -> tuple[Node, ...]:
    return tuple(map(translate.node, items))


def _read_pods(items: Iterator[wire.Pod]) -> tuple[Pod, ...]:
    return tuple(map(PodFolder().fold, items))


def _read_budgets(items: Iterator[wire.PodDisruptionBudget]) -> tuple[PodDisruptionBudget, ...]:
    return tuple(map(translate.disruption_budget, items))


def _read_namespaces(items: Iterator[wire.Namespace]) -> dict[str, Mapping[str, str]]:
    return {each.metadata.name: each.metadata.labels or {} for each in items}
