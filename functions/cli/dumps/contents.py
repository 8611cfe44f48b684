"""What a dump has to hold, in the words of `kubectl get`, and its objects: each once, with the newest timestamp."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import msgspec

from functions.cli.dumps.homes import ClusterSigns, Home, PlacedNode, home_of
from shared.adapters.kubernetes import (
    buffer_objects,
    namespace_limits,
    node_objects,
    storage_lists,
    vertical_autoscalers,
    wire,
)
from shared.adapters.kubernetes.buffer_objects import BufferRows
from shared.adapters.kubernetes.malformed_objects import MalformedObjects
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.adapters.kubernetes.workloads import OTHERS, Controller, other, pods_of_others, workloads
from shared.core.cluster.names import KUBE_SYSTEM
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, Resources
from shared.core.cluster.returning import VerticalAutoscalers
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.errors import BadInput
from shared.ports import ClusterReading

_SHORT: Final = {
    "persistentvolumeclaims": "pvc",
    "persistentvolumes": "pv",
    "storageclasses": "sc",
    "limitranges": "limits",
    "resourcequotas": "quota",
}
RESOURCES: Final[Mapping[str, str]] = {
    "Node": "nodes",
    "Pod": "pods",
    "PodDisruptionBudget": "pdb",
    "Namespace": "namespaces",
    "ReplicaSet": "rs",
    "Deployment": "deploy",
    "StatefulSet": "sts",
    "ReplicationController": "rc",
    "Job": "jobs",
    **{rows.kind: _SHORT.get(rows.resource, rows.resource) for rows in storage_lists.ALL},
    **{kind: _SHORT[resource] for kind, resource in namespace_limits.KINDS.items()},
}
"""By kind: its name for `kubectl get`."""
OPTIONAL: Final[Mapping[str, str]] = {
    vertical_autoscalers.KIND: f"{vertical_autoscalers.RESOURCE}.{vertical_autoscalers.GROUP}",
    **buffer_objects.KINDS,
}
"""The same of kinds that only some clusters have, as `kubectl api-resources -o name` prints them: `kubectl get` fails
where one is not there."""


def kubectl_get(options: Sequence[str] = (), also: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of the command, with kubectl's options first; `also` names optional kinds of the cluster."""
    return ("kubectl", *options, "get", ",".join((*RESOURCES.values(), *also)), "-A", "-o", "json")


class PrintedTimes(wire.Partial, frozen=True):
    """The times of a condition, or of a manager's fields."""

    time: wire.Time | None = None
    last_transition_time: wire.Time | None = None
    last_heartbeat_time: wire.Time | None = None


class PrintedMeta(wire.Partial, frozen=True):
    name: str = ""
    creation_timestamp: wire.Time | None = None
    managed_fields: list[PrintedTimes] | None = None


class PrintedStatus(wire.Partial, frozen=True):
    start_time: wire.Time | None = None
    conditions: list[PrintedTimes] | None = None


class Printed(wire.Partial, frozen=True):
    """An item's times that lie in the past when it is printed (a deletionTimestamp lies ahead)."""

    metadata: PrintedMeta = PrintedMeta()
    status: PrintedStatus = PrintedStatus()

    def times(self) -> Iterator[datetime]:
        rows = (*(self.metadata.managed_fields or ()), *(self.status.conditions or ()))
        given = (time for row in rows for time in (row.time, row.last_transition_time, row.last_heartbeat_time))
        return filter(None, (self.metadata.creation_timestamp, self.status.start_time, *given))


_LARGEST: Final = Resources.of({CPU: 100_000 * 1_000, MEMORY: 1 << 50})
"""Far more than the largest machine on offer has: 1,920 vCPUs and 32 TiB. Sums of such amounts fit into 64 bits."""
_LATEST: Final = datetime(3000, 1, 1, tzinfo=UTC)
"""Long before the last time that a clock can show: a plan adds days to that of the snapshot."""
Bytes = bytes | msgspec.Raw
_printed: Final = msgspec.json.Decoder(Printed)
_node: Final = msgspec.json.Decoder(PlacedNode)
_pod: Final = msgspec.json.Decoder(wire.Pod)
_budget: Final = msgspec.json.Decoder(wire.PodDisruptionBudget)
_controller: Final = msgspec.json.Decoder(Controller)
_namespace: Final = msgspec.json.Decoder(wire.AnyObject)
_CONTROLLERS: Final = ("ReplicaSet", "Deployment", "StatefulSet", *OTHERS)
_KEYED: Final[Mapping[str, Callable[[Bytes], Any]]] = {
    "PodDisruptionBudget": lambda raw: node_objects.disruption_budget(_budget.decode(raw)),
    "LimitRange": namespace_limits.range_from_dump,
    "ResourceQuota": namespace_limits.quota_from_dump,
}
_MAY_BE_EMPTY: Final = (storage_lists.ATTACHMENTS.resource, storage_lists.DRIVERS.resource)
"""Lists that can be empty where pods use claims."""


def _check_size(amounts: Resources) -> None:
    if any(amounts.get(axis) > most for axis, most in _LARGEST.amounts):
        raise BadInput("it has or requests more CPU or memory than any machine")


class DumpContents:
    """What has been read so far. `ignored` counts items of kinds that no plan needs; `newest` is the latest time."""

    def __init__(self, folder: PodDecoder | None = None) -> None:
        self._folder = folder or PodDecoder()
        self._odd = MalformedObjects()
        self._storage = storage_lists.StorageRows()
        self._buffers = BufferRows()
        self._rows: dict[str, dict[str, Any]] = {kind: {} for kind in (*RESOURCES, *OPTIONAL)}
        self.adders: Mapping[str, Callable[[Bytes], object]] = {
            "Node": self._add_node,
            "Pod": partial(self._keep, "Pod", self._read_pod),
            "Namespace": self._add_namespace,
            vertical_autoscalers.KIND: self._add_autoscaler,
            **{kind: partial(self._add_controller, kind) for kind in _CONTROLLERS},
            **{kind: partial(self._keep, kind, read) for kind, read in _KEYED.items()},
            **{kind: partial(self._buffers.add, name.partition(".")[0]) for kind, name in buffer_objects.KINDS.items()},
            **{rows.kind: partial(rows.add, self._storage.rows[rows.resource]) for rows in storage_lists.ALL},
        }
        self.newest = datetime.min.replace(tzinfo=UTC)
        self.ignored: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.homes: set[Home] = set()
        self.kube_system: set[str] = set()

    @property
    def nodes(self) -> dict[str, Node]:
        return self._rows["Node"]

    @property
    def pods(self) -> dict[str, Pod]:
        return self._rows["Pod"]

    def add(self, kind: str, raw: Bytes) -> None:
        """Keep one object; the first of a name is kept. Raises BadInput, msgspec.ValidationError: it is malformed."""
        if kind not in self.adders:
            self.ignored[kind or "no kind"] += 1
            return
        printed = _printed.decode(raw)
        if not printed.metadata.name:
            raise BadInput(f"this {kind} has no metadata.name")
        self.adders[kind](raw)
        self.kinds[kind] += 1
        self.newest = max((self.newest, *printed.times()))
        if self.newest > _LATEST:
            raise BadInput(f"it has a time after the year {_LATEST.year}")

    @property
    def signs(self) -> ClusterSigns:
        return ClusterSigns.of(self.kube_system, self.homes, self.nodes.values())

    def to_reading(self) -> ClusterReading:
        rows, pods = self._rows, self.pods.values()
        found = workloads(rows["ReplicaSet"].values(), rows["Deployment"], rows["StatefulSet"].values())
        counted = pods_of_others(pods)
        for kind in OTHERS:
            for controller in rows[kind].values():
                found |= other(kind, counted, controller)
        return ClusterReading(
            tuple(self.nodes.values()),
            tuple(pods),
            tuple(rows["PodDisruptionBudget"].values()),
            rows["Namespace"],
            found,
            self._read_storage(pods),
            VerticalAutoscalers(tuple(rows[vertical_autoscalers.KIND].values()), faults=self._odd.faults),
            self._buffers.read_dumped(),
            self._buffers.read_classes(),
            limits=NamespaceLimits(tuple(rows["LimitRange"].values()), tuple(rows["ResourceQuota"].values())),
        )

    def _read_storage(self, pods: Iterable[Pod]) -> Storage:
        """Return the storage that was printed; an empty list counts as left out of the command."""
        if not uses_claims(pods):
            return NO_CLAIMS
        rows = self._storage.rows
        self._storage.unread = [name for name in rows if not rows[name] and name not in _MAY_BE_EMPTY]
        return self._storage.storage()

    def _keep(self, kind: str, read: Callable[[Bytes], Any], raw: Bytes) -> None:
        found = read(raw)
        self._rows[kind].setdefault(found.key, found)

    def _add_node(self, raw: Bytes) -> None:
        printed = _node.decode(raw)
        node = node_objects.node(printed)
        _check_size(node.allocatable)
        self.homes.add(home_of(printed))
        self.nodes.setdefault(node.name, node)

    def _read_pod(self, raw: Bytes) -> Pod:
        pod = self._folder.decode(_pod.decode(raw))
        _check_size(pod.requests)
        return pod

    def _add_namespace(self, raw: Bytes) -> None:
        meta = _namespace.decode(raw).metadata
        if meta.name == KUBE_SYSTEM and meta.uid:
            self.kube_system.add(meta.uid)
        self._rows["Namespace"].setdefault(meta.name, meta.labels or {})

    def _add_controller(self, kind: str, raw: Bytes) -> None:
        found = _controller.decode(raw)
        self._rows[kind].setdefault(f"{found.metadata.namespace}/{found.metadata.name}", found)

    def _add_autoscaler(self, raw: Bytes) -> None:
        for found in self._odd.skip_malformed(
            vertical_autoscalers.RESOURCE, iter((raw,)), vertical_autoscalers.from_dump
        ):
            self._rows[vertical_autoscalers.KIND].setdefault(found.key, found)
