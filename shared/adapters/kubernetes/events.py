"""Events of the Kubernetes API: what the cluster autoscaler says of nodes and pods, and what Ebb says of a node.

The API server keeps events for an hour or so.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.core.cluster.node import Node

T = TypeVar("T")
_AUTOSCALER: Final = "cluster-autoscaler"
_SCALE_DOWN: Final = "ScaleDown"
_MARKED: Final = "marked the node as toBeDeleted"
"""How the event's message begins; of the same reason is that of the end, "node removed by cluster autoscaler"."""
_SCALE_DOWN_FAILED: Final = "ScaleDownFailed"
_TRIGGERED_SCALE_UP: Final = "TriggeredScaleUp"
_LONGEST_MESSAGE: Final = 1024
"""The API's limit for an event's message."""

_events: Final = msgspec.json.Decoder(wire.Page[wire.Event])


def deletion_begun_at(client: KubernetesClient, node: str) -> datetime | None:
    """Read when the autoscaler last marked a node as ToBeDeleted (cluster-autoscaler, actuation, taintNode).

    A failure alone does not count: where it could not mark the node, it does not clear its cordon either.
    """
    return _read(client, _of_node(node, _SCALE_DOWN), _last_mark)


def deletion_failure(client: KubernetesClient, node: str) -> str:
    """Read the message of the newest ScaleDownFailed event of a node."""
    return _read(client, _of_node(node, _SCALE_DOWN_FAILED), _last_message)


def scale_ups(client: KubernetesClient) -> Mapping[str, datetime]:
    """Read the autoscaler's TriggeredScaleUp events, by pod."""
    return _read(client, {"involvedObject.kind": "Pod", "reason": _TRIGGERED_SCALE_UP}, _newest)


def note(client: KubernetesClient, node: Node, reason: str, message: str, now: datetime) -> None:
    """Write an event as `kubectl describe node` looks for it: in namespace default, with the node's name as UID.

    Source: kubectl describe (DescribeNode sets ref.UID to the name), as the kubelet writes its own.
    """
    moment = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
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
    client.ask(Call("create", "events", "/api/v1/namespaces/default/events", body=event))


def _read(client: KubernetesClient, fields: Mapping[str, str], gather: Callable[[Iterator[wire.Event]], T]) -> T:
    selector = ",".join(f"{path}={value}" for path, value in fields.items())
    return client.read_list(Call("list", "events", "/api/v1/events", {"fieldSelector": selector}), _events, gather)


def _by_autoscaler(items: Iterator[wire.Event]) -> Iterator[tuple[datetime, wire.Event]]:
    """Yield what the autoscaler itself wrote, with its time: many may write events of its reasons."""
    for each in items:
        at = _time_of(each)
        if at is not None and _AUTOSCALER in {each.source.component, each.reporting_component}:
            yield at, each


def _of_node(node: str, reason: str) -> Mapping[str, str]:
    return {"involvedObject.kind": "Node", "involvedObject.name": node, "reason": reason}


def _time_of(event: wire.Event) -> datetime | None:
    return event.last_timestamp or event.event_time


def _last_mark(items: Iterator[wire.Event]) -> datetime | None:
    return max((at for at, each in _by_autoscaler(items) if each.message.startswith(_MARKED)), default=None)


def _last_message(items: Iterator[wire.Event]) -> str:
    dated = ((at, each.message) for at, each in _by_autoscaler(items))
    return max(dated, default=(None, ""), key=lambda row: row[0])[1]


def _newest(items: Iterator[wire.Event]) -> Mapping[str, datetime]:
    """Return the newest time by the object (namespace/name) that events are about."""
    newest: dict[str, datetime] = {}
    for at, each in _by_autoscaler(items):
        key = f"{each.involved_object.namespace}/{each.involved_object.name}"
        newest[key] = max(at, newest.get(key, at))
    return newest
