"""What each pool may be made of: machine types, and new nodes of them as the pool would get them.

A new node is a live node of the pool and zone with another machine. Where a live node has that type, what it offers
counts; elsewhere GKE's formula, less what firmware and kernel take of the pool's own nodes. Sources of the tables:
cloud.google.com/compute/docs (general-purpose-machines, compute-optimized-machines),
cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes (reservations).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass, is_mirror
from shared.core.cluster.resources import ACCELERATORS, CPU, MEMORY, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import GIB, Prices
from shared.core.policy.values import Capacity
from shared.core.rules.unmodelled import admits
from shared.core.rules.utilization import own_taints

_MIB: Final = 1024**2
SHAPES: Final = ("standard", "highmem", "highcpu")
_N1: Final = (1, 2, 4, 8, 16, 32, 64, 96)
_N2: Final = (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)
_N4: Final = (2, 4, 8, 16, 32, 48, 64, 80)
_C2D: Final = (2, 4, 8, 16, 32, 56, 112)
_C3: Final = (4, 8, 22, 44, 88, 176)
_C3D: Final = (4, 8, 16, 30, 60, 90, 180, 360)
_SIZES: Final[Mapping[str, Sequence[Sequence[int]]]] = {
    "e2": ((2, 4, 8, 16, 32), (2, 4, 8, 16), (2, 4, 8, 16, 32)),
    "n1": (_N1, _N1[1:], _N1[1:]),
    "n2": (_N2, _N2, _N2[:-1]),
    "n2d": ((*_N2, 224), _N2[:-1], (*_N2, 224)),
    "n4": (_N4, _N4, _N4),
    "c2": ((4, 8, 16, 30, 60), (), ()),
    "c2d": (_C2D, _C2D, _C2D),
    "c3": (_C3, _C3, _C3),
    "c3d": (_C3D, _C3D, _C3D),
    "t2a": ((1, 2, 4, 8, 16, 32, 48), (), ()),
    "t2d": ((1, 2, 4, 8, 16, 32, 48, 60), (), ()),
}
"""By family the vCPUs of its machines, one row for each of `SHAPES`."""
FAMILIES: Final = tuple(_SIZES)
ARM: Final = frozenset({"t2a"})  # Families on which images for other processors do not run.
SHARED_CORE: Final = ("e2-micro", "e2-small", "e2-medium")


@dataclass(frozen=True, slots=True)
class MachineType:
    name: str
    family: str
    size: Capacity


def types_of(family: str, prices: Prices) -> Iterator[MachineType]:
    """Yield the predefined machine types of a family that the price table knows; shared cores are not among them."""
    for shape, sizes in zip(SHAPES, _SIZES.get(family, ((),) * len(SHAPES)), strict=True):
        for vcpus in sizes:
            found = machine_type(f"{family}-{shape}-{vcpus}", prices)
            if found is not None:
                yield found


def machine_type(name: str, prices: Prices) -> MachineType | None:
    """Return a machine type by its name; None where the name or the price table does not show its size."""
    found = prices.size(name)
    return None if found is None else MachineType(name, *found)


_CPU_TIERS: Final = ((1_000, 60), (1_000, 10), (2_000, 5), (None, Fraction(5, 2)))
"""Millicores, and how many of a thousand of them GKE reserves: 6 %, 1 %, 0.5 %, 0.25 %."""
_MEMORY_TIERS: Final = ((4 * GIB, 250), (4 * GIB, 200), (8 * GIB, 100), (112 * GIB, 60), (None, 20))
"""Bytes, and how many of a thousand of them GKE reserves: 25 %, 20 %, 10 %, 6 %, 2 %."""
_OF_A_SHARED_CORE: Final = 940  # Of two vCPUs that burst, 1,060 millicores are reserved.
_OF_LESS_THAN_A_GIB: Final = 255 * _MIB
_EVICTION: Final = 100 * _MIB  # What the kubelet keeps so that it can evict in time.


@cache
def allocatable(machine: MachineType) -> Resources:
    """Return what GKE documents as allocatable; real nodes offer a little less memory (`offers` takes it off)."""
    cpu = round(machine.size.vcpu * 1000)
    memory = round(machine.size.gib * GIB)
    own = _OF_A_SHARED_CORE if machine.name in SHARED_CORE else cpu - _reserved_amount(cpu, _CPU_TIERS)
    kept = _OF_LESS_THAN_A_GIB if memory < GIB else _reserved_amount(memory, _MEMORY_TIERS)
    return Resources.of({CPU: own, MEMORY: max(memory - kept - _EVICTION, 0)})


def _reserved_amount(amount: int, tiers: Sequence[tuple[int | None, int | Fraction]]) -> int:
    reserved = Fraction(0)
    for size, share in tiers:
        part = amount if size is None else min(amount, size)
        reserved += Fraction(part) * share / 1000
        amount -= part
    return -(-reserved.numerator // reserved.denominator)


_SHARE: Final = Fraction(1, 8)
"""Of what a pool's pods request no machine carries more, unless those of today do: what one failure takes along."""
_KERNEL: Final = Fraction(1, 40)  # What firmware and kernel take of a machine's memory where no live node shows it.
_MOST_KERNEL: Final = Fraction(1, 10)
_MIN_PLATFORM_LABEL: Final = "cloud.google.com/requested-min-cpu-platform"
_BY_HYPERDISK: Final = frozenset({"n4", "c3", "c3d"})
"""Families on which the number of disks that can be attached depends on the machine."""
_HYPERDISK_ALONE: Final = frozenset({"n4"})
"""Families that attach no Persistent Disk (compute docs, machine types that support Hyperdisk)."""
_MEMORY_LABEL: Final = "cloud.google.com/gke-memory-gb-scaling-level"
"""By the memory that the machine reports, which is not known before: a pod that asks for it is put on no new node."""
_OF_MACHINES: Final = (names.MACHINE_LABEL, "beta.kubernetes.io/instance-type")


@dataclass(frozen=True)
class PoolOffer:
    """One pool: its nodes that are counted, and the machine types that it may have."""

    pool: str
    nodes: tuple[Node, ...]
    types: tuple[MachineType, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def machine(self) -> str:
        found = Counter(node.machine for node in self.nodes)
        return min(found, key=lambda name: (-found[name], name))

    @property
    def zones(self) -> Mapping[str, int]:
        return dict(sorted(Counter(node.zone for node in self.nodes).items()))


@dataclass(frozen=True, slots=True)
class NewGroup:
    """New nodes that are alike: a pool, a machine type and a zone."""

    pool: str
    machine: str
    zone: str


def offers(snapshot: Snapshot, prices: Prices, families: Collection[str] = ()) -> tuple[PoolOffer, ...]:
    """Return an offer for each pool with nodes that are counted; `families` are those that pools may change to."""
    rows = ((pool, tuple(node for node in nodes if not node.outside)) for pool, nodes in snapshot.nodes_by_pool.items())
    return tuple(_offer(PoolOffer(pool, nodes), snapshot, prices, families) for pool, nodes in rows if pool and nodes)


def _offer(plain: PoolOffer, snapshot: Snapshot, prices: Prices, families: Collection[str]) -> PoolOffer:
    own, keeps = machine_type(plain.machine, prices), _keeps_its_type(plain.nodes) or _is_named(plain.pool, snapshot)
    if own is None or keeps or any(prices.of(node).estimated for node in plain.nodes):
        why = keeps or f"{plain.machine or 'its machine type'} is not in the price table: it stays"
        return replace(plain, types=(own,) if own else (), unknown=(why,))
    notes = list(_keeps_its_family(plain.nodes))
    crossed = () if notes else tuple(sorted(set(families) - {own.family}))
    left_out = {family: _why_not(family, own.family, snapshot) for family in crossed}
    other = [family for family in crossed if not left_out[family]]
    known = [own, *(kind for family in (own.family, *other) for kind in types_of(family, prices))]
    slower = "{} and {} do not run equally fast, and not every zone has {}: measure first"
    notes += (left_out[family] or slower.format(family, own.family, family) for family in crossed)
    fitting = _of_fitting_size(known, own, plain, snapshot)
    if own.name in SHARED_CORE:
        notes.append("shared cores burst, other machine types do not: compare use before you change them")
    if snapshot.storage.csi_nodes and any(kind.family in _BY_HYPERDISK for kind in fitting):
        notes.append("how many disks each of these machine types can attach: taken from the pool's nodes")
    return replace(plain, types=tuple(dict.fromkeys(fitting)), unknown=tuple(notes))


def _keeps_its_type(nodes: Sequence[Node]) -> str:
    """Return why the pool keeps its machine type; empty where it need not."""
    if any(node.labels.get(names.GPU_LABEL) or any(map(node.allocatable.get, ACCELERATORS)) for node in nodes):
        return "accelerators: the machine type stays"
    if any(
        node.labels.get(key) == "true" for node in nodes for key in (names.EPHEMERAL_SSD_LABEL, names.RAW_SSD_LABEL)
    ):
        return "local SSDs: the machine type stays"
    return ""


def _is_named(pool: str, snapshot: Snapshot) -> str:
    """Return why a pool that pods select by its name keeps its machine type; empty where none do."""
    if any(_names(spec, pool) for spec in {pod.spec for pod in snapshot.pods if not pod.phase.finished}):
        return f"pods select it by {names.POOL_LABEL}: the machine type stays, because a new pool has another name"
    return ""


def _names(spec: PodClass, pool: str) -> bool:
    rows = [rule for term in spec.node_terms or () for rule in term.expressions if rule.key == names.POOL_LABEL]
    by_affinity = any(rule.operator == "In" and pool in rule.values for rule in rows)
    return by_affinity or spec.node_selector.get(names.POOL_LABEL) == pool


def _keeps_its_family(nodes: Sequence[Node]) -> Iterator[str]:
    if any(node.spot for node in nodes):
        yield "Spot: the family stays; whether Spot machines of another type are to be had is not known"
    if any(node.labels.get(_MIN_PLATFORM_LABEL) for node in nodes):
        yield "a minimum CPU platform: the family stays"


def _why_not(family: str, own: str, snapshot: Snapshot) -> str:
    """Return why pods of one family could not run on machines of the other; empty if they could."""
    if (family in ARM) != (own in ARM):
        return f"{family} has other processors, for which images must be built: left out"
    if (family in _HYPERDISK_ALONE) != (own in _HYPERDISK_ALONE) and any(pod.spec.uses_claims for pod in snapshot.pods):
        return f"{family} and {own} attach other kinds of disks, and pods here have volumes: left out"
    return ""


def _of_fitting_size(
    known: Iterable[MachineType], own: MachineType, plain: PoolOffer, snapshot: Snapshot
) -> list[MachineType]:
    """Return those that carry an eighth at most of what pods request that it admits, or as much as its own type."""
    counts = Counter(pod.spec for pod in snapshot.pods if not pod.spec.stays and not pod.phase.finished)
    requested = {CPU: 0, MEMORY: 0}
    for spec, count in counts.items():
        if admits(spec, plain.nodes[0]):
            requested = {axis: amount + count * spec.requests.get(axis) for axis, amount in requested.items()}
    most = max(_SHARE, _share(own, requested))
    return [kind for kind in known if kind == own or _share(kind, requested) <= most]


def _share(machine: MachineType, requested: Mapping[str, int]) -> Fraction:
    cpu, memory = machine.size.vcpu * 1000, machine.size.gib * GIB
    return min(Fraction(cpu) / max(requested[CPU], 1), Fraction(memory) / max(requested[MEMORY], 1))


class NewNodes:
    """Makes new nodes of pools, and the snapshot in which they stand empty."""

    def __init__(self, snapshot: Snapshot, offered: Sequence[PoolOffer]) -> None:
        self.snapshot = snapshot
        self._like: dict[tuple[str, str], Node] = {}  # By pool and zone a live node, Ready if there is one.
        self._live: dict[str, Resources] = {}  # By machine type the least that live nodes offer.
        for node in sorted(snapshot.nodes, key=lambda node: (not node.ready, node.unschedulable, node.name)):
            self._like.setdefault((node.pool, node.zone), node)
            if node.ready:
                known = self._live.get(node.machine, node.allocatable)
                least = {name: min(known.get(name), node.allocatable.get(name)) for name in (CPU, MEMORY)}
                self._live[node.machine] = Resources.of(least)
        self._taints = {offer.pool: sorted(own_taints(offer.nodes), key=lambda one: one.key) for offer in offered}
        self._types = {kind.name: kind for offer in offered for kind in offer.types}

    def node(self, group: NewGroup, number: int) -> Node:
        like, machine = self._like[group.pool, group.zone], self._types[group.machine]
        name = f"new-{group.pool}-{machine.name}-{group.zone}-{number:03d}"
        labels = {**like.labels, **_labels_of(machine, like), names.HOSTNAME_LABEL: name}
        if machine.name != like.machine:
            labels.pop(_MEMORY_LABEL, None)
        return replace(
            like, name=name, uid=name, labels=labels, taints=tuple(self._taints[group.pool]), annotations={},
            unschedulable=False, ready=True, once_ready=True, conditions=frozenset(),
            allocatable=self._allocatable(machine, like),
        )  # fmt: skip

    def _allocatable(self, machine: MachineType, like: Node) -> Resources:
        if machine.name == like.machine:
            return like.allocatable
        offered = self._live.get(machine.name) or self._by_formula(machine, like)
        return Resources.of({**dict(like.allocatable.amounts), CPU: offered.cpu, MEMORY: offered.memory})

    def _by_formula(self, machine: MachineType, like: Node) -> Resources:
        """Return what GKE documents, less what the pool's own node offers less than documented."""
        plain, own = allocatable(machine), self._types.get(like.machine)
        cpu, kernel = 0, _KERNEL
        if own is not None:
            documented = allocatable(own)
            cpu = max(documented.cpu - like.allocatable.cpu, 0)
            lost = Fraction(documented.memory - like.allocatable.memory) / (own.size.gib * GIB)
            kernel = min(max(lost, Fraction(0)), _MOST_KERNEL)
        memory = plain.memory - round(kernel * machine.size.gib * GIB)
        return Resources.of({CPU: max(plain.cpu - cpu, 0), MEMORY: max(memory, 0)})

    def added_to(self, seen: Snapshot, wanted: Mapping[NewGroup, int]) -> Snapshot:
        """Return a snapshot of the cluster with so many new nodes of each group, and their static pods, besides."""
        nodes, pods, csi = list(seen.nodes), list(seen.pods), dict(seen.storage.csi_nodes)
        for group, count in wanted.items():
            like = self._like[group.pool, group.zone]
            attaching = self.snapshot.storage.csi_nodes.get(like.name)
            own = self.snapshot.pods_by_node[like.name]
            static = [pod for pod in own if is_mirror(pod.spec) and not pod.phase.finished]
            for number in range(count):
                new = self.node(group, number)
                nodes.append(new)
                pods += [_copy_pod(pod, new) for pod in static]
                if attaching:
                    csi[new.name] = attaching
        return replace(
            seen, nodes=tuple(sorted(nodes, key=lambda node: node.name)),
            pods=tuple(sorted(pods, key=lambda pod: pod.key)), storage=replace(seen.storage, csi_nodes=csi),
        )  # fmt: skip

    def groups(self, pool: str, machine: str) -> Iterator[NewGroup]:
        return (NewGroup(pool, machine, zone) for name, zone in sorted(self._like) if name == pool)


def _labels_of(machine: MachineType, like: Node) -> dict[str, str]:
    values = {
        "cloud.google.com/machine-family": machine.family,
        "cloud.google.com/gke-cpu-scaling-level": str(machine.size.vcpu),
        **dict.fromkeys(_OF_MACHINES, machine.name),
    }
    return {key: value for key, value in values.items() if key in like.labels}


def _copy_pod(pod: Pod, node: Node) -> Pod:
    return structs.replace(pod, name=f"{pod.name}-{node.name}", uid=f"{pod.uid}-{node.name}", node=node.name)
