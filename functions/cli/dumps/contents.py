"""The objects of a dump, each once, and the newest timestamp among them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec

from functions.cli.dumps.homes import Home, NodePlace, cloud_of, home_of
from functions.cli.dumps.kinds import DEMAND
from shared.adapters.kubernetes import (
    controller_wire,
    namespace_limits,
    node_objects,
    storage_lists,
    vertical_autoscalers,
    wire,
)
from shared.adapters.kubernetes.buffer_lists import BufferRows
from shared.adapters.kubernetes.buffer_objects import COMPUTE_CLASS
from shared.adapters.kubernetes.fold import PodFolder
from shared.adapters.kubernetes.odd_objects import OddObjects
from shared.adapters.kubernetes.workloads import workloads
from shared.core.cluster.autoscaling import BUFFER_KIND
from shared.core.cluster.names import KUBE_SYSTEM
from shared.core.cluster.namespace_limits import LimitRange, NamespaceLimits, ResourceQuota
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import VerticalAutoscaler, VerticalAutoscalers
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.errors import BadInput
from shared.port_types import ClusterReading


class StampedCondition(wire.Partial, frozen=True):
    last_transition_time: wire.Time | None = None
    last_heartbeat_time: wire.Time | None = None


class StampedField(wire.Partial, frozen=True):
    time: wire.Time | None = None


class StampedMeta(wire.Partial, frozen=True):
    name: str = ""
    creation_timestamp: wire.Time | None = None
    managed_fields: list[StampedField] | None = None


class StampedStatus(wire.Partial, frozen=True):
    start_time: wire.Time | None = None
    conditions: list[StampedCondition] | None = None


class Stamped(wire.Partial, frozen=True):
    """An item's times that lie in the past when it is printed (a deletionTimestamp lies ahead)."""

    metadata: StampedMeta = StampedMeta()
    status: StampedStatus = StampedStatus()

    def times(self) -> Iterator[datetime]:
        conditions = self.status.conditions or ()
        given = chain(
            (self.metadata.creation_timestamp, self.status.start_time),
            (each.time for each in self.metadata.managed_fields or ()),
            (each.last_transition_time for each in conditions),
            (each.last_heartbeat_time for each in conditions),
        )
        return (each for each in given if each is not None)


Bytes = bytes | msgspec.Raw
Keyed = TypeVar("Keyed", VerticalAutoscaler, LimitRange, ResourceQuota)
_stamped: Final = msgspec.json.Decoder(Stamped)
_node: Final = msgspec.json.Decoder(wire.Node)
_place: Final = msgspec.json.Decoder(NodePlace)
_pod: Final = msgspec.json.Decoder(wire.Pod)
_budget: Final = msgspec.json.Decoder(wire.PodDisruptionBudget)
_controller: Final = msgspec.json.Decoder(controller_wire.Controller)
_namespace: Final = msgspec.json.Decoder(wire.Namespace)
_MAY_BE_EMPTY: Final = (storage_lists.ATTACHMENTS.resource, storage_lists.DRIVERS.resource)
"""Lists that can be empty where pods use claims."""


class DumpContents:
    """What has been read so far. `ignored` counts items of kinds that no plan needs; `demand` keeps some, undecoded."""

    def __init__(self, folder: PodFolder | None = None) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.budgets: dict[str, PodDisruptionBudget] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.replica_sets: dict[str, controller_wire.Controller] = {}
        self.deployments: dict[str, controller_wire.Controller] = {}
        self.stateful_sets: dict[str, controller_wire.Controller] = {}
        self.autoscalers: dict[str, VerticalAutoscaler] = {}
        self._odd = OddObjects()
        self.limit_ranges: dict[str, LimitRange] = {}
        self.quotas: dict[str, ResourceQuota] = {}
        self.newest = datetime.min.replace(tzinfo=UTC)
        self.ignored: Counter[str] = Counter()
        self.demand: dict[bytes, str] = {}
        self.kinds: Counter[str] = Counter()
        self.homes: set[Home] = set()
        self.clouds: set[str] = set()
        self.kube_system: set[str] = set()
        self.doubted: set[str] = set()
        """Nodes of a list of which there is a newer one."""
        self._folder = folder or PodFolder()
        self._storage = storage_lists.StorageRows()
        self._buffers = BufferRows()
        self.readers: Mapping[str, Callable[[Bytes], None]] = {
            "Node": self._node,
            "Pod": self._pod,
            "PodDisruptionBudget": self._budget,
            "Namespace": self._namespace,
            "ReplicaSet": self._controller(self.replica_sets),
            "Deployment": self._controller(self.deployments),
            "StatefulSet": self._controller(self.stateful_sets),
            vertical_autoscalers.KIND: self._autoscaler,
            "LimitRange": _keyed(self.limit_ranges, namespace_limits.range_from_dump),
            "ResourceQuota": _keyed(self.quotas, namespace_limits.quota_from_dump),
            BUFFER_KIND: self._buffers.add_buffer,
            "PodTemplate": self._buffers.add_template,
            COMPUTE_CLASS: self._buffers.add_class,
            **{each.kind: partial(each.add, self._storage.rows[each.resource]) for each in storage_lists.ALL},
        }

    def add(self, kind: str, raw: Bytes) -> None:
        """Keep one object; the first one printed under a name is kept.

        Raises:
            BadInput, msgspec.ValidationError: it is malformed.
        """
        keep = self.readers.get(kind)
        if keep is None:
            self.ignored[kind or "no kind"] += 1
            if kind in DEMAND:
                self.demand[bytes(raw)] = kind
            return
        stamped = _stamped.decode(raw)
        if not stamped.metadata.name:
            raise BadInput(f"this {kind} has no metadata.name")
        keep(raw)
        self.kinds[kind] += 1
        self.newest = max((self.newest, *stamped.times()))

    def _autoscaler(self, raw: Bytes) -> None:
        read = self._odd.left_out(vertical_autoscalers.RESOURCE, iter((raw,)), vertical_autoscalers.from_dump)
        for each in read:
            self.autoscalers.setdefault(each.key, each)

    def merge(self, other: "DumpContents") -> None:
        """Add what was printed elsewhere of the same cluster; what is known already stays."""
        for mine, theirs in zip(self._rows(), other._rows(), strict=True):  # noqa: SLF001 - of the same class
            for name, row in theirs.items():
                mine.setdefault(name, row)
        self._storage.merge(other._storage)  # noqa: SLF001 - same
        self._buffers.merge(other._buffers)  # noqa: SLF001 - same
        self._odd.found |= other._odd.found  # noqa: SLF001 - same
        self.kinds, self.ignored = self.kinds + other.kinds, self.ignored + other.ignored
        self.demand |= other.demand
        self.homes |= other.homes
        self.clouds |= other.clouds
        self.kube_system |= other.kube_system
        self.doubted |= other.doubted
        self.newest = max(self.newest, other.newest)

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return what was printed of each kind, by name."""
        buffers = (self._buffers.buffers, self._buffers.templates, self._buffers.classes)
        return (*self._rows(), *self._storage.rows.values(), *buffers)

    def _rows(self) -> tuple[dict[str, Any], ...]:
        controllers = (self.replica_sets, self.deployments, self.stateful_sets)
        limits = (self.limit_ranges, self.quotas)
        return (self.nodes, self.pods, self.budgets, self.namespaces, *controllers, self.autoscalers, *limits)

    def read(self) -> ClusterReading:
        nodes, pods, budgets = self.nodes.values(), self.pods.values(), self.budgets.values()
        found = workloads(self.replica_sets.values(), self.deployments, self.stateful_sets.values())
        return ClusterReading(
            tuple(nodes),
            tuple(pods),
            tuple(budgets),
            self.namespaces,
            found,
            self._read_storage(pods),
            VerticalAutoscalers(tuple(self.autoscalers.values()), faults=self._odd.faults),
            self._buffers.read_dumped(),
            self._buffers.read_classes(),
            limits=NamespaceLimits(tuple(self.limit_ranges.values()), tuple(self.quotas.values())),
        )

    def _read_storage(self, pods: Iterable[Pod]) -> Storage:
        """Return what was printed of it; a list of which nothing was printed counts as left out of the command."""
        if not uses_claims(pods):
            return NO_CLAIMS
        rows = self._storage.rows
        self._storage.unread = [each for each in rows if not rows[each] and each not in _MAY_BE_EMPTY]
        return self._storage.storage()

    def _node(self, raw: Bytes) -> None:
        node, place = node_objects.node(_node.decode(raw)), _place.decode(raw)
        self.homes.add(home_of(place))
        self.clouds.add(cloud_of(place))
        self.nodes.setdefault(node.name, node)

    def _pod(self, raw: Bytes) -> None:
        pod = self._folder.fold(_pod.decode(raw))
        self.pods.setdefault(pod.key, pod)

    def _budget(self, raw: Bytes) -> None:
        budget = node_objects.disruption_budget(_budget.decode(raw))
        self.budgets.setdefault(budget.key, budget)

    def _namespace(self, raw: Bytes) -> None:
        meta = _namespace.decode(raw).metadata
        if meta.name == KUBE_SYSTEM and meta.uid:
            self.kube_system.add(meta.uid)
        self.namespaces.setdefault(meta.name, meta.labels or {})

    def _controller(self, rows: dict[str, controller_wire.Controller]) -> Callable[[Bytes], None]:
        def keep(raw: Bytes) -> None:
            found = _controller.decode(raw)
            rows.setdefault(f"{found.metadata.namespace}/{found.metadata.name}", found)

        return keep


def _keyed(rows: dict[str, Keyed], read: Callable[[Bytes], Keyed]) -> Callable[[Bytes], None]:
    """Return what keeps an object under its `namespace/name`."""

    def keep(raw: Bytes) -> None:
        found = read(raw)
        rows.setdefault(found.key, found)

    return keep
