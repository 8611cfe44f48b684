"""The whole simulated GKE of one scenario without servers: for tests in virtual time, and for the servers.

Nothing here runs by itself: its holder steps the world, the autoscaler, the broker and the jobs.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

from infra.local.api.server import KubeApi
from infra.local.broker import Broker, TickJob
from infra.local.clocks import TimeSource, stamp
from infra.local.google_apis import Bucket, GkeApi, ServedCluster
from infra.local.machine_types import MachinePool, make_node
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.client import ApiTransport, DirectTransport
from infra.local.scaling.view import BALANCED, OPTIMIZE_UTILIZATION, AutoscalerSettings
from infra.local.scenario import AutoscalerSpec, PoolSpec, Scenario, ScenarioError, WorkloadBudget, WorkloadSpec
from infra.local.scheduling.scheduler import Scoring
from infra.local.whole_world import World, WorldSettings
from infra.local.workloads.admission import OwnersWebhook, VerticalAutoscalerWebhook
from infra.local.workloads.controllers import belongs, make_claims, pod_for, pod_from, stateful_pod
from infra.local.workloads.deployments import replica_set_for
from infra.local.world.kinds import KINDS, PLURAL_OF_KIND, Json
from infra.local.world.kubelet import PREFIX, KubeletTimes, run, set_ready


def selector_of(workload: WorkloadSpec) -> dict[str, str]:
    return {"app": workload.name}


def _knobs(workload: WorkloadSpec) -> dict[str, str]:
    values = {"shutdown": workload.shutdown, "ready-after": workload.ready_after, "run-for": workload.run_for}
    knobs = {PREFIX + name: f"{value:g}" for name, value in values.items() if value is not None}
    return knobs if workload.never_ready == "no" else {**knobs, f"{PREFIX}never-ready": "true"}


def template_of(workload: WorkloadSpec) -> Json:
    """The pod template: metadata and spec."""
    container = {"name": "main", "image": "local/main", "resources": {"requests": dict(workload.requests)}}
    return {
        "metadata": {
            "labels": {**selector_of(workload), **workload.labels},
            "annotations": {**_knobs(workload), **workload.annotations},
        },
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": workload.grace,
            "schedulerName": "default-scheduler",
            "priority": workload.priority,
            "restartPolicy": "Never" if workload.kind == "Job" else "Always",
            **workload.pod,
        },
    }


def controller_of(workload: WorkloadSpec) -> tuple[str, Json] | None:
    """The plural and the object of the workload's controller; None for a bare pod."""
    if workload.kind == "Pod":
        return None
    spec: Json = {"template": template_of(workload)}
    if workload.kind == "Job":
        spec |= {"parallelism": workload.replicas, "completions": workload.replicas}
    else:
        spec |= {"selector": {"matchLabels": selector_of(workload)}}
    if workload.kind in {"Deployment", "StatefulSet"}:
        spec["replicas"] = workload.replicas
    if workload.pod_replacement_policy is not None:
        spec["podReplacementPolicy"] = workload.pod_replacement_policy
    if workload.kind == "StatefulSet" and workload.claims:
        spec["volumeClaimTemplates"] = workload.claims
    meta: Json = {"name": workload.name, "namespace": workload.namespace, "labels": selector_of(workload)}
    return PLURAL_OF_KIND[workload.kind], {"metadata": meta, "spec": {**spec, **workload.controller}}


def budget_of(workload: WorkloadSpec, budget: WorkloadBudget) -> Json:
    """The workload's PodDisruptionBudget, of the same name."""
    spec: Json = budget.model_dump(by_alias=True, exclude_none=True)
    spec["selector"] = {"matchLabels": selector_of(workload)}
    return {"metadata": {"name": workload.name, "namespace": workload.namespace}, "spec": spec}


ACTOR = "scenario"
_RUNNING_FOR = 86_400.0
"""Seconds that the first pods have been running (an untouched night's state)."""

NodeNames = dict[str, list[str]]


def world_settings(scenario: Scenario) -> WorldSettings:
    """The world's settings that a scenario asks for; optimize-utilization brings its own scoring."""
    packed = scenario.profile == "OPTIMIZE_UTILIZATION"
    return WorldSettings(
        seed=scenario.seed,
        kubelet=KubeletTimes(scenario.kubelet.ready_after, scenario.kubelet.shutdown, scenario.kubelet.attach),
        node_boot=scenario.kubelet.node_boot,
        scoring=Scoring.MOST_ALLOCATED if packed else Scoring.LEAST_ALLOCATED,
    )


def pool_of(spec: PoolSpec) -> MachinePool:
    """The pool as cloud and autoscaler know it."""
    limits = spec.autoscaling
    return MachinePool(
        name=spec.name,
        machine_type=spec.machine_type,
        zones=tuple(spec.zones),
        count=spec.count,
        autoscaled=limits.enabled,
        min_nodes=limits.min_node_count,
        max_nodes=limits.max_node_count,
        total_min_nodes=limits.total_min_node_count,
        total_max_nodes=limits.total_max_node_count,
        location_policy=limits.location_policy,
        spot=spec.spot,
        labels=spec.labels,
        annotations=spec.annotations,
        taints=tuple(spec.taints),
        allocatable=spec.allocatable,
    )


def autoscaler_settings(scenario: Scenario, names: NodeNames) -> AutoscalerSettings:
    """The profile's settings with the scenario's overrides."""
    base = OPTIMIZE_UTILIZATION if scenario.profile == "OPTIMIZE_UTILIZATION" else BALANCED
    spec: AutoscalerSpec = scenario.autoscaler
    given = spec.model_dump(exclude_none=True, exclude={"enabled", "fail_deletions"})
    failing = frozenset(name for entry in spec.fail_deletions for name in nodes_meant(entry, names))
    return replace(base, **given, fail_deletions=failing)


def nodes_meant(entry: str, names: NodeNames) -> list[str]:
    """The node names of `pool/3` or `pool/0-5`; ScenarioError if there is no such node."""
    pool, _, span = entry.partition("/")
    first, _, last = span.partition("-")
    try:
        chosen = range(int(first), int(last or first) + 1)
        return [names[pool][index] for index in chosen]
    except (KeyError, IndexError, ValueError):
        known = ", ".join(f"{name}/0-{len(nodes) - 1}" for name, nodes in sorted(names.items()))
        raise ScenarioError(f"{entry!r} names no node: write POOL/INDEX or POOL/FIRST-LAST of {known}") from None


def _add_pool(world: World, spec: PoolSpec, cluster: str) -> list[str]:
    names: list[str] = []
    now, pool = world.clock.now(), pool_of(spec)
    for index in range(spec.count):
        node = make_node(pool, spec.zones[index % len(spec.zones)], cluster, f"{index:02d}{world.store.suffix(2)}")
        node["metadata"]["creationTimestamp"] = stamp(now - spec.age)
        set_ready(node, now - spec.age, "True")
        world.store.create("nodes", node, ACTOR)
        names.append(node["metadata"]["name"])
    return names


def _places(workload: WorkloadSpec, names: NodeNames) -> Iterator[str | None]:
    named = [name for entry in workload.nodes for name in nodes_meant(entry, names)]
    return cycle(named) if named else cycle([None])


def _start(world: World, pod: Json, node: str | None, workload: WorkloadSpec) -> None:
    """Create one of the first pods: running already if its node is named."""
    if workload.resized:
        pod["spec"]["containers"][0]["resources"]["requests"] |= workload.resized
    if workload.never_ready == "next":
        pod["metadata"]["annotations"].pop(f"{PREFIX}never-ready")
    if node is not None:
        since = world.clock.now() - _RUNNING_FOR
        pod["spec"]["nodeName"] = node
        pod["metadata"]["creationTimestamp"] = stamp(since)
        run(pod, since, ready=workload.never_ready != "all")
    world.store.create("pods", pod, ACTOR)


def _start_daemons(world: World, workload: WorkloadSpec, owner: Json) -> None:
    for node in world.store.all("nodes"):
        if belongs(owner, node):
            name = node["metadata"]["name"]
            _start(world, pod_for(owner, name), name, workload)


def _add_controlled(world: World, workload: WorkloadSpec, plural: str, controller: Json, names: NodeNames) -> None:
    owner = world.store.create(plural, controller, ACTOR)
    if plural == "daemonsets":
        _start_daemons(world, workload, owner)
        return
    if plural == "deployments":
        owner = world.store.create("replicasets", replica_set_for(owner), ACTOR)
    places = _places(workload, names)
    for index in range(workload.replicas):
        pod = pod_from(owner) if plural != "statefulsets" else _stateful(world, owner, index)
        _start(world, pod, next(places), workload)


def _stateful(world: World, owner: Json, index: int) -> Json:
    """The pod of a StatefulSet, whose claims are made."""
    name = f"{owner['metadata']['name']}-{index}"
    make_claims(world.store, owner, name)
    return stateful_pod(owner, name)


def _add_workload(world: World, workload: WorkloadSpec, names: NodeNames) -> None:
    found = controller_of(workload)
    if found is None:
        template = template_of(workload)
        meta = {**template["metadata"], "name": workload.name, "namespace": workload.namespace}
        pod = {"metadata": meta, "spec": template["spec"], "status": {"phase": "Pending"}}
        _start(world, pod, next(_places(workload, names)), workload)
    else:
        _add_controlled(world, workload, *found, names)
    if workload.pdb is not None:
        world.store.create("poddisruptionbudgets", budget_of(workload, workload.pdb), ACTOR)


def build(scenario: Scenario, world: World) -> NodeNames:
    """Fill the world; returns the node names of each pool in order. ScenarioError names what cannot be built."""
    cluster = scenario.cluster.rpartition("/")[2]
    names: NodeNames = {}
    for spec in scenario.pools:
        names[spec.name] = _add_pool(world, spec, cluster)
    for namespace in sorted({workload.namespace for workload in scenario.workloads}):
        if world.store.find("namespaces", "", namespace) is None:
            world.store.create("namespaces", {"metadata": {"name": namespace}}, ACTOR)
    for workload in scenario.workloads:
        _add_workload(world, workload, names)
    for manifest in scenario.manifests:
        plural = PLURAL_OF_KIND.get(manifest.get("kind", ""))
        if plural is None:
            raise ScenarioError(f"manifest of kind {manifest.get('kind')!r}: known are {sorted(PLURAL_OF_KIND)}")
        world.store.create(KINDS[plural].plural, manifest, ACTOR)
    owned = (OwnersWebhook(each.app, each.requests) for each in scenario.webhooks)
    world.store.webhooks += [VerticalAutoscalerWebhook(world.store), *owned]
    return names


class SimulatedGke:
    """World, APIs, broker and bucket of a scenario; ScenarioError if it cannot be built."""

    def __init__(self, scenario: Scenario, clock: TimeSource, token: str | None = None) -> None:
        self.scenario = scenario
        self.clock = clock
        self.world = World(clock, world_settings(scenario))
        self.node_names = build(scenario, self.world)
        self.api = KubeApi(self.world.store, self.world.record, token)
        pools = {spec.name: pool_of(spec) for spec in scenario.pools}
        self.cluster = ServedCluster(scenario.cluster, pools, profile=scenario.profile)
        self.gke = GkeApi({self.cluster.name: self.cluster})
        self.broker = Broker(clock, set(scenario.topics))
        self.jobs: list[TickJob] = []
        self.bucket = Bucket(clock)
        for name, text in scenario.objects.items():
            bucket, _, key = name.partition("/")
            self.bucket.put(bucket, key, text.encode(), "text/plain")

    def autoscaler(self, transport: ApiTransport | None = None) -> Autoscaler:
        """The scenario's autoscaler, calling the API directly unless a transport is given."""
        return Autoscaler(
            transport or DirectTransport(self.api.handle),
            self.cluster.pools,
            self.clock,
            autoscaler_settings(self.scenario, self.node_names),
            cluster=self.cluster.short_name,
            seed=self.scenario.seed,
        )
