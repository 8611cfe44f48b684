"""Builders with short defaults, so that a test shows only what matters to it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, Buffers, CapacityBuffer, ComputeClasses
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import CLAIM, Owner, Pod, PodClass, Volume
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import MEMORY, PODS, Resources
from shared.core.cluster.selectors import LabelSelector, NodeTerm, Requirement, Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import (
    READ_WRITE_ONCE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Storage,
    StorageClass,
    VolumeAttachment,
)
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit, Policy, PoolPolicy
from shared.core.policy.values import Capacity, Commitment, Commitments
from shared.core.records.commitments import ListedCommitment, ListedResource
from shared.core.records.orders import Order, OrderKind, Origin
from shared.core.records.state import Claim

NOW = datetime(2026, 3, 4, 22, 0, tzinfo=UTC)
GIB = 1024**3
CLUSTER = "projects/p/locations/l/clusters/c"


def resources(cpu: float = 0, memory: float = 0, **others: int) -> Resources:
    """CPU in cores, memory in GiB, others in whole units (`pods=`, `nvidia_com_gpu=`)."""
    return Resources.of({"cpu": round(cpu * 1000), MEMORY: round(memory * GIB), **others})


def node(name: str, *, cpu: float = 4, memory: float = 16, pods: int = 110, pool: str = "a", **changes: Any) -> Node:
    """A Ready node of pool `a` in zone `z`, a day old; labels given are added to GKE's."""
    labels = {
        names.POOL_LABEL: pool,
        names.ZONE_LABEL: changes.pop("zone", "z"),
        names.HOSTNAME_LABEL: name,
        names.MACHINE_LABEL: changes.pop("machine", "e2-standard-4"),
        **changes.pop("labels", {}),
    }
    plain = Node(
        name=name,
        uid=f"uid-{name}",
        created=NOW - timedelta(days=1),
        resource_version="1",
        labels={key: value for key, value in labels.items() if value},
        allocatable=resources(cpu, memory, **{PODS: pods}),
    )
    return replace(plain, **changes)


def pod_class(*, owner: str | None = "ReplicaSet/web", cpu: float = 0.1, memory: float = 0.1, **spec: Any) -> PodClass:
    kind, _, name = (owner or "").partition("/")
    given = {
        "namespace": "default",
        "owner": Owner(kind, name or "web") if owner else None,
        "requests": resources(cpu, memory),
        "labels": {"app": name or "web"},
        **spec,
    }
    return PodClass(**given)


def pod_template(*containers: Container, asks: ContainerRequests | None = None, **spec: Any) -> PodClass:
    return pod_class(**{"owner": None, "labels": {"app": "web"}, "asks": asks or ContainerRequests(containers), **spec})


def pod(name: str, *, on: str = "", kind: PodClass | None = None, **changes: Any) -> Pod:
    """A Running pod of a ReplicaSet; `kind` or the fields of a PodClass (`cpu=`, `owner="Job/x"`) describe it."""
    own = set(Pod.__struct_fields__) - {"spec"}
    spec = kind or pod_class(**{key: value for key, value in changes.items() if key not in own})
    rest = {key: value for key, value in changes.items() if key in own}
    plain = Pod(name=name, uid=f"uid-{name}", spec=spec, node=on, created=NOW - timedelta(days=1))
    return structs.replace(plain, **rest)


def buffer(name: str, replicas: int = 1, **spec: Any) -> CapacityBuffer:
    ready = spec.pop("ready", None)
    chunk = pod_class(owner=f"CapacityBuffer/{name}", **{"labels": {}, **spec})
    return CapacityBuffer(chunk.namespace, name, chunk, replicas, ready)


def held(*buffers: CapacityBuffer) -> Buffers:
    return Buffers(buffers)


def pdb(name: str, *, allowed: int = 1, namespace: str = "default", **given: Any) -> PodDisruptionBudget:
    """A PodDisruptionBudget with maxUnavailable 1; what is no field of it are its pods' labels (none = all of them)."""
    own = {key: given.pop(key) for key in tuple(given) if key in PodDisruptionBudget.__dataclass_fields__}
    requirements = tuple(Requirement(key, "In", (value,)) for key, value in given.items())
    if not own.keys() & {"min_available", "max_unavailable"}:
        own["max_unavailable"] = Limit(count=1)
    return PodDisruptionBudget(namespace, name, LabelSelector(requirements), allowed, **own)


def mounts(*claims: str) -> tuple[Volume, ...]:
    return tuple(Volume(name, CLAIM, name) for name in claims)


def volume_claim(name: str, *, namespace: str = "default", **changes: Any) -> PersistentVolumeClaim:
    """A ReadWriteOnce claim bound to the volume `pv-NAME`; `volume=""` unbinds it."""
    volume = changes.pop("volume", f"pv-{name}")
    given = {"bound": bool(volume), "storage_class": "standard-rwo", "access_modes": (READ_WRITE_ONCE,), **changes}
    return PersistentVolumeClaim(namespace, name, volume, **given)


def persistent_volume(name: str, *, zone: str = "", **changes: Any) -> PersistentVolume:
    """A disk of GKE's CSI driver; `zone` ties it to nodes there."""
    terms = (NodeTerm((Requirement(names.ZONE_LABEL, "In", (zone,)),)),) if zone else None
    given = {"kind": "csi", "driver": "pd.csi.storage.gke.io", "handle": name, "node_terms": terms, **changes}
    return PersistentVolume(name, **given)


def storage_class(name: str = "standard-rwo", **changes: Any) -> StorageClass:
    """GKE's own: the volume is made where the first pod that uses it runs."""
    return StorageClass(name, **{"provisioner": "pd.csi.storage.gke.io", "waits_for_consumer": True, **changes})


def storage(
    *rows: PersistentVolumeClaim | PersistentVolume | StorageClass,
    limits: Mapping[str, CSINode] | None = None,
    attached: Mapping[str, tuple[VolumeAttachment, ...]] | None = None,
    **changes: Any,
) -> Storage:
    classes = [storage_class(), *(row for row in rows if isinstance(row, StorageClass))]
    plain = Storage(
        claims={row.key: row for row in rows if isinstance(row, PersistentVolumeClaim)},
        volumes={row.name: row for row in rows if isinstance(row, PersistentVolume)},
        classes={kind.name: kind for kind in classes},
        csi_nodes=limits or {},
        attachments=attached or {},
        unread=(),
    )
    return replace(plain, **changes)


def cluster(
    nodes: Iterable[Node],
    pods: Iterable[Pod] = (),
    *,
    pools: Mapping[str, NodePool] | None = None,
    now: datetime = NOW,
    **changes: Any,
) -> Snapshot:
    """A picture taken at NOW; pools not given are autoscaled from zero."""
    rows = tuple(sorted(nodes, key=lambda node: node.name))
    known = {row.pool: NodePool(row.pool) for row in rows if row.pool}
    plain = Snapshot(
        cluster=CLUSTER,
        began_at=now,
        taken_at=now,
        nodes=rows,
        pods=tuple(sorted(pods, key=lambda pod: pod.key)),
        pools={**known, **(pools or {})},
    )
    return replace(plain, **changes)


def only_empty(snapshot: Snapshot) -> Snapshot:
    named = tuple(replace(node, labels={**node.labels, names.COMPUTE_CLASS_LABEL: "idle"}) for node in snapshot.nodes)
    classes = ComputeClasses({"idle": AutoscalingPolicy(threshold=Fraction(0))})
    return replace(snapshot, nodes=named, compute_classes=classes)


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Taint:
    return Taint(key, effect, value)


def our_taint(order_id: str = "order") -> Taint:
    return Taint(names.OUR_TAINT, "NoSchedule", order_id)


def announced_taint(value: str = "") -> Taint:
    return Taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule", value)


def policy(pool: str = "a", *, cluster_wide: Mapping[str, Any] | None = None, **settings: Any) -> Policy:
    """A policy without gates that bites only where the test says so; `settings` are the pool's."""
    open_pool: dict[str, Any] = {
        "enabled": True,
        "required_count": 1,
        "excess_threshold": 0,
        "headroom_percent": 0,
        "consolidate_after": timedelta(0),
        "budgets": (),
        **settings,
    }
    open_cluster: dict[str, Any] = {
        "hash": "test",
        "dry_run": False,
        "minimum_nodes": 0,
        "minimum_non_tainted_nodes": 0,
        "time_since_last_addition": timedelta(0),
        "time_gap": timedelta(0),
        "budgets": (),
        "rate": None,
        "other_pools": PoolPolicy(headroom_percent=0),
        **(cluster_wide or {}),
    }
    return Policy(pools={pool: PoolPolicy(**open_pool)}, **open_cluster)


COMMITTED_UNTIL = NOW + timedelta(days=100)


def listed_commitment(
    name: str = "e2-base", *, family: str = "E2", cores: int = 12, gib: int = 48, **changes: Any
) -> ListedCommitment:
    """Return a commitment to machines as the Compute API lists it: memory in MiB."""
    amounts = (ListedResource("VCPU", cores), ListedResource("MEMORY", gib * 1024))
    given = {"status": "ACTIVE", "plan": "TWELVE_MONTH", "type": f"GENERAL_PURPOSE_{family}", "resources": amounts}
    return ListedCommitment(name=name, **{**given, **changes})


def committed(family: str = "n2", vcpu: float = 80, gib: float = 320, **more: Any) -> Commitments:
    """So much of one family is paid for anyway."""
    size = Capacity(Fraction(vcpu), Fraction(gib))
    return Commitments((Commitment(family, size, COMMITTED_UNTIL),), **more)


def claim(node_name: str, *, pool: str = "a", order_id: str = "order", **changes: Any) -> Claim:
    given: dict[str, Any] = {"since": NOW, "reason": "underutilized", "origin": "planner", "zone": "z", **changes}
    return Claim(order_id=order_id, node=node_name, pool=pool, **given)


def order(node_name: str = "n1", **changes: Any) -> Order:
    given: dict[str, Any] = {
        "kind": OrderKind.DRAIN,
        "order_id": "order",
        "cluster": CLUSTER,
        "node": node_name,
        "node_uid": f"uid-{node_name}",
        "reason": "underutilized",
        "origin": Origin.PLANNER,
        "issued_at": NOW,
        "expires_at": NOW + timedelta(minutes=10),
        "picture_at": NOW,
        **changes,
    }
    return Order(**given)
