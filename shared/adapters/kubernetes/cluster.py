"""The Cluster port over the Kubernetes API.

Reads are consistent (no resourceVersion is asked for) and paged. Writes are a patch on the version read, an eviction
with a UID, or an event; nothing here deletes a pod or a node.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.kubernetes.buffer_objects import read_buffers
from shared.adapters.kubernetes.client import Item, KubernetesClient, Pages, segment
from shared.adapters.kubernetes.namespace_limits import read_limits
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.adapters.kubernetes.storage_lists import read_storage
from shared.adapters.kubernetes.transport import Call
from shared.adapters.kubernetes.vertical_autoscalers import read_autoscalers
from shared.adapters.kubernetes.workloads import Controllers, read_others
from shared.adapters.kubernetes.writes import PodWrites
from shared.adapters.process import system_time
from shared.core.cluster.autoscaling import Buffers, ComputeClasses
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.errors import Gone, Stale
from shared.ports import ClusterReading, DeletionAttempts, Traffic

T = TypeVar("T")
_nodes: Final = msgspec.json.Decoder(wire.Page[wire.Node])
_pods: Final = msgspec.json.Decoder(wire.Page[wire.Pod])
_budgets: Final = msgspec.json.Decoder(wire.Page[wire.PodDisruptionBudget])
_namespaces: Final = msgspec.json.Decoder(wire.Page[wire.AnyObject])
_node: Final = msgspec.json.Decoder(wire.Node)
_raw_node: Final = msgspec.json.Decoder(node_objects.RawNode)
_events: Final = msgspec.json.Decoder(wire.Page[wire.Event])
_SCALE_DOWN: Final = "ScaleDown"
_MARKED: Final = "marked the node as toBeDeleted"
"""How the event's message begins; of the same reason is that of the end, "node removed by cluster autoscaler"."""
_SCALE_DOWN_FAILED: Final = "ScaleDownFailed"
_LONGEST_MESSAGE: Final = 1024  # The API's limit for an event's message.


class KubernetesCluster(PodWrites):
    """Implements `shared.ports.Cluster`."""

    def __init__(self, client: KubernetesClient, now: Callable[[], datetime] = system_time) -> None:
        """`now` dates events that are written for people."""
        super().__init__(client)
        self._controllers = Controllers(client)
        self._now = now

    def read(self, *, whole: bool = True) -> ClusterReading:
        """Read nodes, then pods; then budgets, namespaces, workloads, and at last what only some clusters have."""
        nodes, pods = self.all_nodes(), self._pods()
        if not whole:
            return ClusterReading(nodes, pods, disruption_budgets=(), namespaces={})
        others, unread = read_others(self._client, pods)
        reading = ClusterReading(
            nodes,
            pods,
            disruption_budgets=self.disruption_budgets(),
            namespaces=self._list("/api/v1/namespaces", _namespaces, _labels),
            workloads={**self._controllers.all(), **others},
            storage=self.storage() if uses_claims(pods) else NO_CLAIMS,
            autoscalers=read_autoscalers(self._client),
        )
        (buffers, classes), limits = self.buffers(), read_limits(self._client)
        limits = replace(limits, unread=(*unread, *limits.unread))
        return replace(reading, buffers=buffers, compute_classes=classes, limits=limits)

    def node(self, name: str) -> Node:
        return self._client.fetch(Call("get", "nodes", _node_path(name)), _read_node)

    def all_nodes(self) -> tuple[Node, ...]:
        return self._list("/api/v1/nodes", _nodes, lambda items: tuple(map(node_objects.node, items)))

    def unbound_pods(self) -> tuple[Pod, ...]:
        return self._pods("spec.nodeName=")

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        return self._pods(f"spec.nodeName={node}")

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        path = "/apis/policy/v1/poddisruptionbudgets"
        return self._list(path, _budgets, lambda items: tuple(map(node_objects.disruption_budget, items)))

    def workloads_of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read ReplicaSets, their Deployments and StatefulSets by name; other controllers are not known."""
        return self._controllers.of(controllers)

    def storage(self) -> Storage:
        return read_storage(self._client)

    def buffers(self) -> tuple[Buffers, ComputeClasses]:
        return read_buffers(self._client)

    def deletion_attempts(self, node: str) -> DeletionAttempts:
        return self._events(f"involvedObject.kind=Node,involvedObject.name={node}", _attempts)

    def scale_ups(self) -> Mapping[str, datetime]:
        return self._events("involvedObject.kind=Pod,reason=TriggeredScaleUp", _newest)

    def traffic(self) -> Traffic:
        return self._client.meter.read()

    def take(self, node: Node, order_id: str, since: datetime) -> Node:
        fresh, raw = self._read_afresh(node)
        _check_version(node, fresh)
        return self._patch(node, node_objects.take_patch(fresh, raw.taints, order_id, since))

    def return_node(self, node: Node, order_id: str) -> Node:
        fresh, raw = self._read_afresh(node)
        patch = node_objects.return_patch(fresh, raw, order_id)
        if patch is None:
            return fresh
        _check_version(node, fresh)
        return self._patch(node, patch)

    def set_soft_taint(self, node: Node, *, held: bool) -> Node:
        fresh, raw = self._read_afresh(node)
        _check_version(node, fresh)
        return self._patch(node, node_objects.soft_taint_patch(fresh, raw.taints, held=held))

    def note(self, node: Node, reason: str, message: str) -> None:
        """Write an event as kubectl's DescribeNode looks for it: in namespace default, with the node's name as UID."""
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

    def _pods(self, selector: str = "") -> tuple[Pod, ...]:
        return self._list("/api/v1/pods", _pods, lambda items: tuple(map(PodDecoder().decode, items)), selector)

    def _events(self, selector: str, gather: Callable[[Iterator[wire.Event]], T]) -> T:
        return self._list("/api/v1/events", _events, gather, selector)

    def _list(
        self, path: str, decoder: Pages[Item], gather: Callable[[Iterator[Item]], T], field_selector: str = ""
    ) -> T:
        query = {"fieldSelector": field_selector} if field_selector else {}
        return self._client.read_list(Call("list", path.rpartition("/")[2], path, query), decoder, gather)

    def _read_afresh(self, node: Node) -> tuple[Node, node_objects.RawNode]:
        call = Call("get", "nodes", _node_path(node.name))
        fresh, raw = self._client.fetch(call, lambda body: (_read_node(body), _raw_node.decode(body)))
        if fresh.uid != node.uid:
            raise Gone(f"node {node.name}: another node has its name now.")
        return fresh, raw

    def _patch(self, node: Node, patch: Mapping[str, Any]) -> Node:
        return self._client.fetch(Call("patch", "nodes", _node_path(node.name), body=patch), _read_node)


def _read_node(body: bytes) -> Node:
    return node_objects.node(_node.decode(body))


def _check_version(node: Node, fresh: Node) -> None:
    if fresh.resource_version != node.resource_version:
        raise Stale(f"node {node.name}: changed since it was read.")


def _node_path(name: str) -> str:
    return f"/api/v1/nodes/{segment(name)}"


def _labels(items: Iterator[wire.AnyObject]) -> dict[str, Mapping[str, str]]:
    return {namespace.metadata.name: namespace.metadata.labels or {} for namespace in items}


def _by_autoscaler(items: Iterator[wire.Event]) -> Iterator[tuple[datetime, wire.Event]]:
    """Yield what the autoscaler itself wrote, with its time: others may write events of its reasons."""
    for event in items:
        at = event.last_timestamp or event.event_time
        if at is not None and "cluster-autoscaler" in {event.source.component, event.reporting_component}:
            yield at, event


def _attempts(items: Iterator[wire.Event]) -> DeletionAttempts:
    """Return when the autoscaler last marked the node; a failure to mark does not count, it leaves no cordon."""
    events = tuple(_by_autoscaler(items))
    begun = (at for at, event in events if event.reason == _SCALE_DOWN and event.message.startswith(_MARKED))
    failed = ((at, event.message) for at, event in events if event.reason == _SCALE_DOWN_FAILED)
    return DeletionAttempts(max(begun, default=None), max(failed, default=(None, ""), key=lambda row: row[0])[1])


def _newest(items: Iterator[wire.Event]) -> Mapping[str, datetime]:
    """Return the newest time by the object (namespace/name) that events are about."""
    newest: dict[str, datetime] = {}
    for at, event in _by_autoscaler(items):
        key = f"{event.involved_object.namespace}/{event.involved_object.name}"
        newest[key] = max(at, newest.get(key, at))
    return newest
