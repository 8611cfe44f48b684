"""A cluster in memory that keeps the promises of `ports.Cluster`; import it from `tests.fakes`."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.autoscaling import NO_BUFFERS, NO_CLASSES, Buffers, ComputeClasses
from shared.core.cluster.namespace_limits import NO_LIMITS
from shared.core.cluster.node import SOFT_TAINT, Node, holding_order
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.returning import NO_AUTOSCALERS
from shared.core.cluster.selectors import Taint
from shared.core.cluster.storage import NO_CLAIMS, Storage
from shared.core.cluster.workloads import Deployment, PodDisruptionBudget, Workload
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import EbbError, Gone, Stale
from shared.ports import ClusterReading, DeletionAttempts, Eviction, Traffic
from tests.builders import NOW

BYTES = 1000
"""That each call is answered with."""


class FakeCluster:
    """Nodes, pods and PDBs in memory.

    `calls` is the record in order, each a tuple of the method's name and its plain arguments. `answers` are
    said instead of the own ones, by pod key, first to last; `failures` are raised, by method, first to last.
    `meanwhile` holds what happens at each call that begins so, by method and first arguments; it may raise.
    An evicted pod is deleting until `finish`; no replacement comes unless the test puts one. `workloads` say what the
    test says, by `namespace/kind/name` of the pods' controller; `deployments` by their own, and a restart only changes
    the stamp and the version.
    """

    def __init__(self, *things: Node | Pod | PodDisruptionBudget, now: Callable[[], datetime] = lambda: NOW) -> None:
        self.now = now
        self.nodes: dict[str, Node] = {}
        self.cordoned_by_others: set[str] = set()
        self.pods: dict[str, Pod] = {}
        self.pdbs: dict[str, PodDisruptionBudget] = {}
        self.workloads: dict[str, Workload] = {}
        self.deployments: dict[str, Deployment] = {}
        self.storage_held = NO_CLAIMS
        self.autoscalers_held = NO_AUTOSCALERS
        self.buffers_held = NO_BUFFERS
        self.classes = NO_CLASSES
        self.limits_held = NO_LIMITS
        self.namespaces: dict[str, Mapping[str, str]] = {"default": {}, "kube-system": {}}
        self.calls: list[tuple[object, ...]] = []
        self.answers: dict[str, list[Eviction | EbbError]] = {}
        self.begun_deletions: dict[str, datetime] = {}
        self.failure_messages: dict[str, str] = {}
        self.added_for: dict[str, datetime] = {}
        self.failures: dict[str, list[EbbError]] = {}
        self.meanwhile: dict[tuple[object, ...], Callable[[], object]] = {}
        self.put(*things)

    def put(self, *things: Node | Pod | PodDisruptionBudget) -> None:
        """Add or replace; a node gets a new resourceVersion when it changed."""
        for thing in things:
            if isinstance(thing, Node):
                self._store(thing)
            elif isinstance(thing, Pod):
                self.pods[thing.key] = thing
            else:
                self.pdbs[thing.key] = thing

    def finish(self, *keys: str) -> None:
        for key in keys or [pod.key for pod in self.pods.values() if pod.deleting]:
            del self.pods[key]

    def read(self, *, whole: bool = True) -> ClusterReading:
        self._called("read" if whole else "read_nodes_and_pods")
        nodes, pods = tuple(self.nodes.values()), tuple(self.pods.values())
        if not whole:
            return ClusterReading(nodes, pods, (), {})
        return ClusterReading(
            nodes,
            pods,
            self._pdbs(),
            dict(self.namespaces),
            dict(self.workloads),
            self.storage_held,
            autoscalers=self.autoscalers_held,
            buffers=self.buffers_held,
            compute_classes=self.classes,
            limits=self.limits_held,
        )

    def node(self, name: str) -> Node:
        self._called("node", name)
        return self._standing(name)

    def all_nodes(self) -> tuple[Node, ...]:
        self._called("all_nodes")
        return tuple(self.nodes.values())

    def unbound_pods(self) -> tuple[Pod, ...]:
        self._called("unbound_pods")
        return tuple(pod for pod in self.pods.values() if not pod.node)

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        self._called("pods_on", node)
        return tuple(pod for pod in self.pods.values() if pod.node == node)

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        self._called("disruption_budgets")
        return self._pdbs()

    def workloads_of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        self._called("workloads_of")
        asked = set(controllers)
        return {name: workload for name, workload in self.workloads.items() if name in asked}

    def storage(self) -> Storage:
        self._called("storage")
        return self.storage_held

    def buffers(self) -> tuple[Buffers, ComputeClasses]:
        self._called("buffers")
        return self.buffers_held, self.classes

    def take(self, node: Node, order_id: str, since: datetime) -> Node:
        self._called("take", node.name, order_id)
        standing = self._unchanged(node)
        taints = tuple(taint for taint in standing.taints if taint.key != names.OUR_TAINT)
        note = json.dumps({"order_id": order_id, "since": since.isoformat()})
        taken = replace(
            standing,
            unschedulable=True,
            taints=(*taints, Taint(names.OUR_TAINT, "NoSchedule", order_id)),
            annotations={**standing.annotations, names.OUR_ANNOTATION: note},
        )
        stored = self._store(taken)
        self.cordoned_by_others.discard(node.name)
        return stored

    def return_node(self, node: Node, order_id: str) -> Node:
        self._called("return_node", node.name, order_id)
        if holding_order(node) != order_id:
            return node
        standing = self._unchanged(node)
        taints = tuple(taint for taint in standing.taints if taint.key != names.OUR_TAINT)
        notes = {key: value for key, value in standing.annotations.items() if key != names.OUR_ANNOTATION}
        theirs = standing.drain_taint is None and node.name in self.cordoned_by_others
        return self._store(replace(standing, unschedulable=theirs, taints=taints, annotations=notes))

    def set_soft_taint(self, node: Node, *, held: bool) -> Node:
        self._called("set_soft_taint", node.name, held)
        standing = self._unchanged(node)
        taints = tuple(taint for taint in standing.taints if taint.key != names.HELD_TAINT)
        ours = (SOFT_TAINT,) if held else ()
        return self._store(replace(standing, taints=(*taints, *ours)))

    def evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool = False) -> Eviction:
        self._called("evict", pod.key, grace_seconds, dry_run)
        if self.answers.get(pod.key):
            return _said(self.answers[pod.key].pop(0))
        standing = self.pods.get(pod.key)
        if standing is None or standing.uid != pod.uid:
            return Eviction(EvictionAnswer.GONE)
        refusal = self._budget(standing, dry_run=dry_run)
        if refusal is None and not dry_run and standing.deleting is None:
            self.pods[pod.key] = structs.replace(standing, deleting=self.now() + timedelta(seconds=grace_seconds))
        return refusal or Eviction(EvictionAnswer.GRANTED)

    def deployment(self, name: str) -> Deployment:
        self._called("deployment", name)
        if name not in self.deployments:
            raise Gone(f"deployment {name} is no more")
        return self.deployments[name]

    def restart(self, deployment: Deployment, stamp: str, *, dry_run: bool = False) -> Deployment:
        self._called("restart", deployment.name, stamp, dry_run)
        standing = self.deployments.get(deployment.name)
        if standing is None:
            raise Gone(f"deployment {deployment.name} is no more")
        if standing.resource_version != deployment.resource_version:
            raise Stale(f"deployment {deployment.name} changed since it was read")
        changed = replace(
            standing,
            stamp=stamp,
            earlier="" if stamp == standing.earlier else standing.stamp,
            generation=standing.generation + 1,
            resource_version=f"{standing.resource_version}'",
            observed=False,
        )
        if stamp == standing.stamp or dry_run:
            return standing if stamp == standing.stamp else changed
        self.deployments[deployment.name] = changed
        return changed

    def set_deletion_cost(self, pod: Pod, cost: int | None) -> bool:
        self._called("set_deletion_cost", pod.key, cost)
        standing = self.pods.get(pod.key)
        if standing is None or standing.uid != pod.uid:
            raise Gone(f"pod {pod.key} is no more")
        theirs = names.DELETION_COST in standing.spec.annotations
        wanted = "" if cost is None or theirs else str(cost)
        self.pods[pod.key] = structs.replace(standing, steered=wanted)
        return wanted != standing.steered

    def deletion_attempts(self, node: str) -> DeletionAttempts:
        self._called("deletion_attempts", node)
        return DeletionAttempts(self.begun_deletions.get(node), self.failure_messages.get(node, ""))

    def scale_ups(self) -> Mapping[str, datetime]:
        self._called("scale_ups")
        return dict(self.added_for)

    def note(self, node: Node, reason: str, message: str) -> None:
        self._called("note", node.name, reason, message)

    def traffic(self) -> Traffic:
        return Traffic(len(self.calls), BYTES * len(self.calls))

    def _called(self, method: str, *arguments: object) -> None:
        self.calls.append((method, *arguments))
        if self.failures.get(method):
            raise self.failures[method].pop(0)
        for call, happens in self.meanwhile.items():
            if (method, *arguments)[: len(call)] == call:
                happens()

    def _budget(self, pod: Pod, *, dry_run: bool) -> Eviction | None:
        """Judge as the eviction subresource does (kubernetes, registry/core/pod/storage/eviction.go)."""
        if pod.deleting or pod.phase in {Phase.PENDING, Phase.SUCCEEDED, Phase.FAILED}:
            return None
        matching = [pdb for pdb in self.pdbs.values() if pdb.matches(pod.spec)]
        if len(matching) > 1:
            return Eviction(EvictionAnswer.SEVERAL_PDBS, ", ".join(pdb.key for pdb in matching))
        if not matching or _unhealthy_may_go(pod, matching[0]):
            return None
        pdb = matching[0]
        if not pdb.observed or pdb.disruptions_allowed <= 0:
            return Eviction(EvictionAnswer.BUDGET, pdb.key)
        if not dry_run:
            self.pdbs[pdb.key] = replace(pdb, disruptions_allowed=pdb.disruptions_allowed - 1)
        return None

    def _standing(self, name: str) -> Node:
        if name not in self.nodes:
            raise Gone(f"node {name} is no more")
        return self.nodes[name]

    def _unchanged(self, node: Node) -> Node:
        standing = self._standing(node.name)
        if standing.uid != node.uid:
            raise Gone(f"another node is called {node.name}")
        if standing.resource_version != node.resource_version:
            raise Stale(f"node {node.name} changed since it was read")
        return standing

    def _store(self, node: Node) -> Node:
        before = self.nodes.get(node.name)
        if before is not None:
            node = replace(node, resource_version=str(int(before.resource_version) + 1))
        if not node.unschedulable:
            self.cordoned_by_others.discard(node.name)
        elif before is not None and not before.unschedulable:
            self.cordoned_by_others.add(node.name)
        self.nodes[node.name] = node
        return node

    def _pdbs(self) -> tuple[PodDisruptionBudget, ...]:
        return tuple(self.pdbs.values())


def _said(scripted: Eviction | EbbError) -> Eviction:
    if isinstance(scripted, EbbError):
        raise scripted
    return scripted


def _unhealthy_may_go(pod: Pod, pdb: PodDisruptionBudget) -> bool:
    if pod.ready:
        return False
    return pdb.always_evict_unhealthy or pdb.current_healthy >= pdb.desired_healthy > 0
