"""The scheduler of a simulated cluster, and the autoscaler's scale-up: for which pods it buys what."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from functions.cli.analysis.simulated_days.pod_lives import bind, create, end, found_no_place
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass, is_daemon
from shared.core.cluster.resources import Resources, total
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_packings import SchedulerPacking
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import FIRST_FIT, LEAST_ALLOCATED
from shared.core.planning.autoscaler import drop_expendable, is_expendable
from shared.core.planning.autoscaler_look import SCORING, count_taints, scheduler_arrays
from shared.core.rules.unmodelled import ONE_POD, admits
from shared.core.rules.utilization import own_taints


class Scheduler:
    """Tries every waiting pod each time something has changed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = -1

    def step(self) -> None:
        world = self._world
        if self._seen == world.revision:
            return
        if world.pending:
            self._schedule()
        self._seen = world.revision

    def _schedule(self) -> None:
        world, snapshot = self._world, self._world.snapshot()
        arrays = scheduler_arrays(snapshot)
        held = {node.name for node in snapshot.nodes if node.held}
        announced = {node.name for node in snapshot.nodes if node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)}
        scoring = SCORING.get(snapshot.profile, LEAST_ALLOCATED)
        packing = SchedulerPacking(arrays, scoring, count_taints(arrays, held, announced))
        for pod in sorted((world.pods[key] for key in world.pending), key=queue_order):
            if not packing.schedule([arrays.kind_of[pod.spec]]):
                bind(world, pod.key, arrays.nodes[packing.log[-1].target].name)
            elif not self._preempt(pod, snapshot):
                found_no_place(world, pod.key)

    def _preempt(self, pod: Pod, snapshot: Snapshot) -> bool:
        """Let expendable pods end where the pod has room without them; it is tried again once they have ended."""
        seen = drop_expendable(snapshot)
        if seen is snapshot or is_expendable(pod.spec):
            return False
        arrays = scheduler_arrays(seen)
        packing = Packing(arrays, FIRST_FIT)
        if packing.reserve([arrays.kind_of[pod.spec]], OUTSIDE):
            return False
        for other in list(self._world.on[arrays.nodes[packing.log[-1].target].name].values()):
            if is_expendable(other.spec):
                end(self._world, other)
        return True


def queue_order(pod: Pod) -> tuple[int, float, str]:
    """As the scheduler takes pods from its queue: by priority, the oldest first."""
    return -pod.spec.priority, pod.created.timestamp() if pod.created else 0.0, pod.key


NodeGroup = tuple[str, str]
_PINS: Final = "metadata.name"
_MACHINES: Final = 100  # So many machines at most does one of each kind stand for in a look.


class NodeTemplates:
    """What a new node of a pool would be, and which DaemonSets' pods would come with it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._like: dict[NodeGroup, Node] = {}
        self._daemons: dict[str, dict[str, PodClass]] = {}
        own = {pool: own_taints(nodes) for pool, nodes in snapshot.nodes_by_pool.items()}
        self._taints = {pool: tuple(sorted(taints, key=lambda taint: taint.key)) for pool, taints in own.items()}
        by_name = snapshot.node_by_name
        for node in sorted(snapshot.nodes, key=lambda node: node.name):
            if node.pool:
                self._like.setdefault((node.pool, node.zone), node)
        for pod in snapshot.pods:
            if pod.node in by_name and is_daemon(pod.spec) and pod.spec.owner is not None:
                self._daemons.setdefault(by_name[pod.node].pool, {})[pod.spec.workload] = pod.spec

    @property
    def groups(self) -> tuple[NodeGroup, ...]:
        return tuple(sorted(self._like))

    def node(self, group: NodeGroup, name: str, created: datetime) -> Node:
        like = self._like[group]
        labels = {**like.labels, names.HOSTNAME_LABEL: name}
        return replace(
            like, name=name, uid=name, created=created, labels=labels, taints=self._taints[group[0]],
            annotations={}, unschedulable=False, ready=False, once_ready=False,
        )  # fmt: skip

    def daemons(self, node: Node) -> tuple[PodClass, ...]:
        return tuple(_pin_daemon(spec, node.name) for _, spec in sorted(self._daemons.get(node.pool, {}).items()))


def _pin_daemon(spec: PodClass, node: str) -> PodClass:
    pin = Requirement(_PINS, "In", (node,))
    if spec.node_terms is None:
        return spec
    terms = tuple(
        NodeTerm(term.expressions, (pin,) if any(field.key == _PINS for field in term.fields) else term.fields)
        for term in spec.node_terms
    )
    return replace(spec, node_terms=terms)


class ScaleUp:
    def __init__(self, world: World, templates: NodeTemplates) -> None:
        self._world, self._templates = world, templates
        self._bought = 0

    def step(self) -> None:
        world = self._world
        pending = (world.pods[key] for key in world.pending)
        waiting = [pod for pod in pending if pod.unschedulable_since is not None and not is_expendable(pod.spec)]
        if waiting:
            look = _ScaleUpLook(world, self._templates)
            for group in look.needed_for(sorted(waiting, key=queue_order)):
                self._buy(group)
            world.bought_for.update((pod.key, world.now) for pod in waiting if pod.spec in look.served)

    def _buy(self, group: NodeGroup) -> None:
        world = self._world
        self._bought += 1
        pool, zone = group
        node = self._templates.node(group, f"{pool}-{zone[-1:]}-s{self._bought:05d}", world.now)
        world.add_node(node)
        world.agenda.note(world.now + world.delays.boot, lambda: self._boot_node(node.name))

    def _boot_node(self, name: str) -> None:
        world = self._world
        node = world.nodes.get(name)
        if node is None:
            return
        world.change_node(replace(node, ready=True, once_ready=True))
        for spec in self._templates.daemons(node):
            create(world, spec, node=name)


@dataclass
class _Machine:
    """One that is to be bought: what is free on it, and which classes it is for."""

    group: NodeGroup
    free: Resources
    classes: set[PodClass] = field(default_factory=set)

    def takes(self, spec: PodClass) -> bool:
        return (spec.requests + ONE_POD).fits(self.free) and not (_keeps_apart(spec) and spec in self.classes)

    def put(self, spec: PodClass) -> None:
        self.free -= spec.requests + ONE_POD
        self.classes.add(spec)


class _ScaleUpLook:
    """The cluster with everything that boots as if it were there, and what could be bought."""

    def __init__(self, world: World, templates: NodeTemplates) -> None:
        self._world, self._templates, seen = world, templates, world.snapshot()
        # all that boots is there already; what is cordoned or being deleted stays no room
        nodes = (node if node.once_ready else replace(node, ready=True, once_ready=True) for node in seen.nodes)
        self._snapshot = drop_expendable(replace(seen, nodes=tuple(nodes)))
        self._sizes = Counter((node.pool, node.zone) for node in self._snapshot.nodes)
        grow = {name for name, pool in seen.pools.items() if pool.autoscaled}
        groups = [group for group in templates.groups if group[0] in grow]
        self._like = {
            group: replace(templates.node(group, f"~{place}", world.now), ready=True, once_ready=True)
            for place, group in enumerate(groups)
        }
        self._trial = Packing(scheduler_arrays(self._with_machines()), FIRST_FIT)
        self._pools = _by_cost({group: world.prices.of(node).per_hour for group, node in self._like.items()})
        self.served: set[PodClass] = set()

    def needed_for(self, pods: Sequence[Pod]) -> list[NodeGroup]:
        """Return the pools and zones of the machines that these pods need."""
        machines: list[_Machine] = []
        for spec in self._homeless(pods):
            fitting = (own for own in machines if own.takes(spec) and self._admits(spec, own.group))
            home = next(fitting, None)
            if home is None and (home := self._choose_machine(spec)) is not None:
                machines.append(home)
            if home is not None:
                home.put(spec)
                self._count_pod(spec, home.group)
                self.served.add(spec)
        return [machine.group for machine in machines]

    def _homeless(self, pods: Sequence[Pod]) -> list[PodClass]:
        """Return the classes of the pods that nothing could take that is there or boots."""
        arrays = self._trial.arrays
        found = self._trial.schedule([arrays.kind_of[pod.spec] for pod in pods])
        self._trial.open(arrays.places_of(node.name for node in self._like.values()))
        return [arrays.classes[kind] for kind in found]

    def _choose_machine(self, spec: PodClass) -> _Machine | None:
        for zones in self._pools:
            for group in sorted(zones, key=lambda group: (self._sizes[group], group)):
                machine = _Machine(group, self._free(group))
                if machine.takes(spec) and self._admits(spec, group):
                    self._sizes[group] += 1
                    return machine
        return None

    def _free(self, group: NodeGroup) -> Resources:
        like = self._like[group]
        daemons = self._templates.daemons(like)
        return like.allocatable - total([*(spec.requests for spec in daemons), *(ONE_POD for _ in daemons)])

    def _admits(self, spec: PodClass, group: NodeGroup) -> bool:
        like, arrays = self._like[group], self._trial.arrays
        if not admits(spec, like) or not _is_choosy(spec):
            return admits(spec, like)
        # the rules about other pods and volumes, too, as the pods lie that have found room by now
        return bool(self._trial.taking(arrays.kind_of[spec])[arrays.index[like.name]])

    def _with_machines(self) -> Snapshot:
        """Return the snapshot with one machine of each kind, still shut, which stands for as many as are bought."""
        rows = (
            replace(like, unschedulable=True, allocatable=total([like.allocatable] * _MACHINES))
            for like in self._like.values()
        )
        nodes = sorted((*self._snapshot.nodes, *rows), key=lambda node: node.name)
        return replace(self._snapshot, nodes=tuple(nodes))

    def _count_pod(self, spec: PodClass, group: NodeGroup) -> None:
        """Count a pod in its machine's zone: so many may come there until another zone has its turn."""
        arrays = self._trial.arrays
        if spec.hard_spread:
            self._trial.put(arrays.kind_of[spec], arrays.index[self._like[group].name])


def _is_choosy(spec: PodClass) -> bool:
    """Whether where a pod may go depends on more than the machine."""
    return bool(spec.hard_spread or _keeps_apart(spec))


def _keeps_apart(spec: PodClass) -> bool:
    """Whether two such pods are taken to need two machines."""
    return bool(spec.affinity or spec.anti_affinity or spec.volumes or spec.host_ports)


def _by_cost(costs: dict[NodeGroup, int]) -> list[list[NodeGroup]]:
    """Return the zones of each pool, the cheapest pool first."""
    cheapest: dict[str, int] = {}
    for (pool, _), cost in costs.items():
        cheapest[pool] = min(cost, cheapest.get(pool, cost))
    pools = sorted(cheapest, key=lambda pool: (cheapest[pool], pool))
    return [[group for group in costs if group[0] == pool] for pool in pools]
