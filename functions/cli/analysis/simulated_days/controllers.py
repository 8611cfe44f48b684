"""The controllers of a simulated cluster: as many replicas as are wanted, DaemonSets' pods on new nodes, Jobs.

A ReplicaSet removes pods in the order of kube-controller-manager (pkg/controller, ActivePodsWithRanks): those without a
node, those that are not Ready, the cheapest, those with most others of their kind on their node, the youngest.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from functions.cli.analysis.simulated_days.pod_lives import create, end
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass, is_daemon
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.rules.pod_costs import deletion_cost
from shared.core.rules.utilization import own_taints

_PINS: Final = "metadata.name"


class ReplicaControl:
    """Makes workloads larger and smaller."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._watched: set[str] = set()
        self._template = {key: min(pods.values(), key=lambda pod: pod.key).spec for key, pods in _rows(world)}

    def knows(self, controller: str) -> bool:
        """Whether there is a pod that shows what another one would be."""
        return controller in self._template

    def scale(self, controller: str, wanted: int) -> None:
        """Let the controller want so many replicas from now on."""
        world = self._world
        world.controlled.want(controller, wanted)
        living = world.controlled.of(controller)
        for _ in range(wanted - len(living)):
            create(world, self._template[controller])
        if len(living) > wanted:
            neighbours = Counter(pod.node for pod in living.values())
            ranked = sorted(living.values(), key=lambda pod: _removal_order(pod, neighbours, world.now))
            for pod in ranked[: len(living) - wanted]:
                end(world, pod)

    def run_job(self, spec: PodClass, pods: int, lasts: timedelta) -> None:
        """Run so many pods to their end, so long after each has got its node; one that is evicted begins again."""
        world = self._world
        self._want_more(spec.workload, pods)
        for _ in range(pods):
            self._watch(create(world, spec), lasts)

    def _want_more(self, controller: str, pods: int) -> None:
        controlled = self._world.controlled
        controlled.want(controller, controlled.wanted(controller) + pods)

    def _watch(self, pod: Pod, lasts: timedelta) -> None:
        self._watched.add(pod.key)
        self._world.agenda.note(self._world.now + lasts, partial(self._look, pod, lasts))

    def _look(self, pod: Pod, lasts: timedelta) -> None:
        """End a pod of a Job if it has run its time, else look again."""
        world = self._world
        known = world.pods.get(pod.key)
        if known is None:
            self._follow(pod, lasts)
            return
        ends = known.deleting or (known.started or world.now) + lasts
        if known.deleting is None and known.node and ends <= world.now:
            self._watched.discard(pod.key)
            self._want_more(pod.spec.workload, -1)
            world.delete_pod(known)
        else:
            world.agenda.note(max(ends, world.now), partial(self._look, pod, lasts))

    def _follow(self, pod: Pod, lasts: timedelta) -> None:
        """Watch a pod that was made in place of an evicted one."""
        self._watched.discard(pod.key)
        living = self._world.controlled.of(pod.spec.workload) if pod.spec.owner else {}
        successor = min((key for key in living if key not in self._watched), default="")
        if successor:
            self._watched.add(successor)
            self._look(living[successor], lasts)
        else:
            self._want_more(pod.spec.workload, -1)


def _rows(world: World) -> list[tuple[str, dict[str, Pod]]]:
    return [(key, pods) for key, pods in world.controlled.living.items() if key and pods]


def _removal_order(pod: Pod, neighbours: Mapping[str, int], now: datetime) -> tuple[bool, bool, int, int, float, str]:
    """Sort what is removed first to the front; the youngest before the older."""
    age = (now - (pod.created or now)).total_seconds()
    return bool(pod.node), pod.ready, deletion_cost(pod), -neighbours[pod.node], age, pod.key


class NodeTemplates:
    """What a new node of a pool would be, and which DaemonSets' pods would come with it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._like: dict[tuple[str, str], Node] = {}
        self._daemons: dict[str, dict[str, PodClass]] = {}
        own = {pool: own_taints(nodes) for pool, nodes in snapshot.nodes_by_pool.items()}
        self._taints = {pool: tuple(sorted(taints, key=lambda each: each.key)) for pool, taints in own.items()}
        by_name = snapshot.node_by_name
        for node in sorted(snapshot.nodes, key=lambda each: each.name):
            if node.pool:
                self._like.setdefault((node.pool, node.zone), node)
        for pod in snapshot.pods:
            if pod.node in by_name and is_daemon(pod.spec) and pod.spec.owner is not None:
                self._daemons.setdefault(by_name[pod.node].pool, {})[pod.spec.workload] = pod.spec

    @property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """Pools with their zones, as the snapshot shows them."""
        return tuple(sorted(self._like))

    def node(self, group: tuple[str, str], name: str, created: datetime) -> Node:
        """Return a node of that pool and zone as it is while it boots."""
        like = self._like[group]
        labels = {**like.labels, names.HOSTNAME_LABEL: name}
        return replace(
            like, name=name, uid=name, created=created, labels=labels, taints=self._taints[group[0]],
            annotations={}, unschedulable=False, ready=False, once_ready=False,
        )  # fmt: skip

    def daemons(self, node: Node) -> tuple[PodClass, ...]:
        """Return what DaemonSets run on a node of that pool, pinned to this one."""
        return tuple(_pinned(spec, node.name) for _, spec in sorted(self._daemons.get(node.pool, {}).items()))


def _pinned(spec: PodClass, node: str) -> PodClass:
    """Return the class of a DaemonSet's pod for another node."""
    pin = Requirement(_PINS, "In", (node,))
    if spec.node_terms is None:
        return spec
    terms = tuple(
        NodeTerm(term.expressions, (pin,) if any(field.key == _PINS for field in term.fields) else term.fields)
        for term in spec.node_terms
    )
    return replace(spec, node_terms=terms)
