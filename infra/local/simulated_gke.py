"""The simulated GKE without servers: the world put together, one scenario in it, and what its autoscaler leaves alone.

Nothing here runs by itself: its holder steps the world, the autoscaler and the broker.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Final, Protocol

from pydantic.alias_generators import to_snake

from infra.local.clocks import ManualClock, TimeSource, stamp
from infra.local.google_apis import Broker, Bucket, ServedCluster
from infra.local.http_messages import Handler
from infra.local.kube_api import KubeApi
from infra.local.machine_types import make_node
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import BALANCED, OPTIMIZE_UTILIZATION, AutoscalerSettings
from infra.local.scenario import MachinePool, Scenario, WorkloadSpec
from infra.local.scheduling import Scheduler
from infra.local.workloads import (
    DeploymentController,
    daemon_pod,
    pod_from,
    replica_set_for,
    stateful_pod,
    sync_workloads,
    wants_daemon,
)
from infra.local.world.budgets import DisruptionController
from infra.local.world.kinds import PLURAL_OF_KIND, Json
from infra.local.world.kubelet import PREFIX, GarbageCollector, Kubelet, KubeletTimes, run, set_ready
from infra.local.world.store import Record, Store


class Controller(Protocol):
    def step(self, now: float) -> None: ...


class World:
    """All inside the cluster, not safe for threads."""

    def __init__(self, clock: TimeSource, times: KubeletTimes, *, seed: int = 0, packs: bool = False) -> None:
        self.clock = clock
        self.store = Store(clock, seed)
        self.record = Record(clock)
        self.store.listen(self.record.on_change)
        self.kubelet = Kubelet(self.store, times)
        for name in ("default", "kube-system"):
            self.store.create("namespaces", {"metadata": {"name": name}}, "bootstrap")
        self._deployments = DeploymentController(self.store)
        self.controllers: list[Controller] = [
            self.kubelet,
            GarbageCollector(self.store),
            DisruptionController(self.store),
            Scheduler(self.store, packs=packs),
        ]
        """Those that act in every step."""
        self._settled = -1

    def step(self) -> None:
        """Let every controller act once at the clock's time; those of workloads only if anything has changed."""
        now = self.clock.now()
        if self.store.revision != self._settled:
            self._deployments.step(now)
            sync_workloads(self.store)
        self._settled = self.store.revision
        for controller in self.controllers:  # their order matters only for speed: what one leaves the next picks up
            controller.step(now)

    def settle(self) -> None:
        """Step at one moment until nothing changes; RuntimeError if something still does after twenty steps."""
        for _ in range(20):
            before = self.store.revision
            self.step()
            if self.store.revision == before:
                return
        raise RuntimeError("the world still changes after twenty steps at one moment: controllers disagree")


ACTOR = "scenario"
_RUNNING_FOR = 86_400.0
"""Seconds that the first pods have been running (an untouched night's state)."""
_NODES_AGE = 172_800.0
NodeNames = dict[str, list[str]]
FirstPod = tuple[Json, str | None]
"""A pod and its node; None where the scheduler places it."""


def template_of(workload: WorkloadSpec) -> Json:
    container = {"name": "main", "image": "local/main", "resources": {"requests": dict(workload.requests)}}
    values = {"shutdown": workload.shutdown, "ready-after": workload.ready_after}
    knobs = {PREFIX + name: f"{value:g}" for name, value in values.items() if value is not None}
    if workload.never_ready:
        knobs[f"{PREFIX}never-ready"] = "true"
    spec: Json = {
        "containers": [container],
        "terminationGracePeriodSeconds": workload.grace,
        "schedulerName": "default-scheduler",
        "priority": workload.priority,
        "restartPolicy": "Never" if workload.kind == "Job" else "Always",
    }
    labels, annotations = {"app": workload.name, **workload.labels}, {**knobs, **workload.annotations}
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": {**spec, **workload.pod}}


def controller_of(workload: WorkloadSpec) -> Json:
    """The workload's controller; not stored."""
    spec: Json = {"template": template_of(workload)}
    if workload.kind == "Job":
        spec |= {"parallelism": workload.replicas, "completions": workload.replicas}
    else:
        spec["selector"] = {"matchLabels": {"app": workload.name}}
    if workload.kind in {"Deployment", "StatefulSet"}:
        spec["replicas"] = workload.replicas
    if workload.claims:
        spec["volumeClaimTemplates"] = workload.claims
    meta: Json = {"name": workload.name, "namespace": workload.namespace, "labels": {"app": workload.name}}
    return {"metadata": meta, "spec": {**spec, **workload.controller}}


def autoscaler_settings(scenario: Scenario, names: NodeNames) -> AutoscalerSettings:
    base = OPTIMIZE_UTILIZATION if scenario.profile == "OPTIMIZE_UTILIZATION" else BALANCED
    overrides = {to_snake(name): value for name, value in (scenario.autoscaler.model_extra or {}).items()}
    failing = frozenset(name for entry in scenario.autoscaler.fail_deletions for name in named_nodes(entry, names))
    return replace(base, **overrides, fail_deletions=failing)


def named_nodes(entry: str, names: NodeNames) -> list[str]:
    pool, _, span = entry.partition("/")
    first, _, last = span.partition("-")
    return [names[pool][index] for index in range(int(first), int(last or first) + 1)]


def _add_pool(world: World, pool: MachinePool, cluster: str) -> list[str]:
    names: list[str] = []
    since = world.clock.now() - _NODES_AGE
    for index in range(pool.count):
        node = make_node(pool, pool.zones[index % len(pool.zones)], cluster, f"{index:02d}{world.store.suffix(2)}")
        node["metadata"]["creationTimestamp"] = stamp(since)
        set_ready(node, since, "True")
        world.store.create("nodes", node, ACTOR)
        names.append(node["metadata"]["name"])
    return names


def _start(world: World, pod: Json, node: str | None, workload: WorkloadSpec) -> None:
    """Create one of the first pods: running already if its node is named."""
    if workload.resized:
        pod["spec"]["containers"][0]["resources"]["requests"] |= workload.resized
    if workload.never_ready:
        pod["metadata"]["annotations"].pop(f"{PREFIX}never-ready")
    if node is not None:
        since = world.clock.now() - _RUNNING_FOR
        pod["spec"]["nodeName"] = node
        pod["metadata"]["creationTimestamp"] = stamp(since)
        run(pod, since, ready=True)
    world.store.create("pods", pod, ACTOR)


def _first_pods(world: World, workload: WorkloadSpec, places: Iterator[str | None]) -> Iterator[FirstPod]:
    """The workload's first pods, not stored; its controllers are."""
    store, template = world.store, template_of(workload)
    if workload.kind == "Pod":
        meta = {**template["metadata"], "name": workload.name, "namespace": workload.namespace}
        yield {"metadata": meta, "spec": template["spec"], "status": {"phase": "Pending"}}, next(places)
        return
    owner = store.create(PLURAL_OF_KIND[workload.kind], controller_of(workload), ACTOR)
    if workload.kind == "DaemonSet":
        names = [node["metadata"]["name"] for node in store.all("nodes") if wants_daemon(owner, node)]
        yield from ((daemon_pod(owner, name), name) for name in names)
        return
    if workload.kind == "Deployment":
        owner = store.create("replicasets", replica_set_for(owner), ACTOR)
    for index in range(workload.replicas):
        is_set = workload.kind == "StatefulSet"
        yield stateful_pod(owner, f"{workload.name}-{index}") if is_set else pod_from(owner), next(places)


def _add_workload(world: World, workload: WorkloadSpec, names: NodeNames) -> None:
    places = cycle([name for entry in workload.nodes for name in named_nodes(entry, names)] or [None])
    for pod, node in _first_pods(world, workload, places):
        _start(world, pod, node, workload)
    if workload.pdb is not None:
        spec = workload.pdb.model_dump(by_alias=True, exclude_none=True)
        meta = {"name": workload.name, "namespace": workload.namespace}
        guard = {"metadata": meta, "spec": {**spec, "selector": {"matchLabels": {"app": workload.name}}}}
        world.store.create("poddisruptionbudgets", guard, ACTOR)


def build(scenario: Scenario, world: World) -> NodeNames:
    """Fill the world; returns the node names of each pool in order."""
    cluster, store = scenario.cluster.rpartition("/")[2], world.store
    names = {pool.name: _add_pool(world, pool, cluster) for pool in scenario.pools}
    for namespace in sorted({workload.namespace for workload in scenario.workloads}):
        if store.find("namespaces", "", namespace) is None:
            store.create("namespaces", {"metadata": {"name": namespace}}, ACTOR)
    for workload in scenario.workloads:
        _add_workload(world, workload, names)
    for manifest in scenario.manifests:
        store.create(PLURAL_OF_KIND[manifest["kind"]], manifest, ACTOR)
    return names


class SimulatedGke:
    """World, APIs, broker and bucket of a scenario."""

    def __init__(self, scenario: Scenario, clock: TimeSource) -> None:
        self.scenario = scenario
        self.clock = clock
        packs = scenario.profile == "OPTIMIZE_UTILIZATION"  # which brings its own scoring
        self.world = World(clock, scenario.kubelet, seed=scenario.seed, packs=packs)
        self.node_names = build(scenario, self.world)
        self.api = KubeApi(self.world.store, self.world.record)
        pools = {pool.name: pool for pool in scenario.pools}
        self.cluster = ServedCluster(scenario.cluster, pools, profile=scenario.profile)
        self.broker = Broker(clock, set(scenario.topics))
        self.bucket = Bucket()
        for name, text in scenario.objects.items():
            bucket, _, key = name.partition("/")
            self.bucket.put(bucket, key, text.encode())

    def autoscaler(self, api: Handler | None = None) -> Autoscaler:
        """The scenario's autoscaler, calling the API directly unless another handler is given."""
        return Autoscaler(
            api or self.api.handle,
            self.cluster.pools,
            self.clock,
            autoscaler_settings(self.scenario, self.node_names),
            cluster=self.cluster.short_name,
            seed=self.scenario.seed,
        )


DAY: Final = 86_400.0
_STEP: Final = 1.0
_WATCHED: Final = ("nodes", "pods")


@dataclass(frozen=True)
class RestingCluster:
    """The steady state; `is_rest` is False if it took too long, above `gate` (a share of requests) no node may go."""

    nodes: tuple[str, ...]
    removed: tuple[str, ...]
    is_rest: bool
    gate: float


def leave_alone(scenario: Scenario, most: float = DAY) -> RestingCluster:
    clock = ManualClock()
    cloud = SimulatedGke(scenario, clock)
    cloud.world.settle()
    return run_until_rest(cloud.world, cloud.autoscaler(), clock, most)


def run_until_rest(world: World, autoscaler: Autoscaler, clock: ManualClock, most: float = DAY) -> RestingCluster:
    """Let time pass until the autoscaler wants nothing and nothing has changed while it checked every node again."""
    begun, before = clock.now(), _names(world)
    seen, since = -1, begun
    while not (is_rest := autoscaler.is_idle() and clock.now() - since > autoscaler.rechecks_within):
        if clock.now() - begun >= most:
            break
        world.step()
        autoscaler.step()
        if world.store.version(*_WATCHED) != seen:
            seen, since = world.store.version(*_WATCHED), clock.now()
        clock.advance(_STEP)
    left = _names(world)
    removed = tuple(name for name in before if name not in left)
    return RestingCluster(left, removed, is_rest, autoscaler.gate)


def _names(world: World) -> tuple[str, ...]:
    return tuple(node["metadata"]["name"] for node in world.store.all("nodes"))
