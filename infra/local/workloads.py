"""ReplicaSets, StatefulSets, DaemonSets and Jobs keep as many pods as their specs want; Deployments roll out.

A Deployment's changed template is rolled out within its bounds, one set back makes its old ReplicaSet current again.
Rolling updates alone are known here, without a deadline. Sources: kubernetes pkg/controller (controller_utils.go
ActivePodsWithRanks, replicaset, statefulset, daemon, job; deployment: sync.go, rolling.go, progress.go, and its util).
"""

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, floor

from infra.local.clocks import stamp
from infra.local.scheduling import first_untolerated, selects_node
from infra.local.world.kinds import Json
from infra.local.world.kubelet import delete_pod
from infra.local.world.pods import (
    annotations_of,
    condition_of,
    is_finished,
    is_healthy,
    is_ready,
    is_terminating,
    node_of,
    owned_by,
    set_condition,
    taints_of,
)
from infra.local.world.store import NotAdmittedError, Store, copy_thing

ACTOR = "controller-manager"


def template_hash(template: Json) -> str:
    """A short name for a pod template, as `pod-template-hash` has it; empty and missing metadata are one."""
    meta = {name: value for name, value in (template.get("metadata") or {}).items() if value}
    template = {**template, "metadata": meta}
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:9]


def pod_from(owner: Json, name: str | None = None) -> Json:
    """A pod of the owner's template, named or with a generated name; not stored."""
    template: Json = copy_thing(owner["spec"]["template"])
    meta: Json = template.get("metadata") or {}
    meta |= {"namespace": owner["metadata"]["namespace"], "ownerReferences": owned_by(owner)}
    meta["generateName"] = f"{owner['metadata']['name']}-"
    if name is not None:
        meta["name"] = name
    return {"metadata": meta, "spec": template["spec"], "status": {"phase": "Pending"}}


def create_pod(store: Store, pod: Json) -> None:
    """Create it, unless its namespace does not admit it: the controller tries again whenever something changes."""
    with suppress(NotAdmittedError):
        store.create("pods", pod, ACTOR)


def counts_of(pods: list[Json]) -> Json:
    """The counts of living pods as a status has them; one that is ready is available."""
    ready = sum(is_ready(pod) for pod in pods)
    return {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}


def write_status(store: Store, owner: Json, status: Json) -> None:
    """Store a controller's status, with the generation it has observed."""
    observed = {**status, "observedGeneration": owner["metadata"]["generation"]}
    if owner.get("status") != observed:
        store.update(owner, lambda thing: thing.update(status=observed), ACTOR)


_COST = "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile(r"0|[1-9][0-9]*|-[0-9]+")
_BITS = 31


def deletion_order(living: list[Json]) -> list[Json]:
    """Unbound pods first, then unready ones, then the cheapest, those with most others on their node, the youngest."""
    beside = Counter(node_of(pod) for pod in living)
    youngest = sorted(living, key=lambda pod: pod["metadata"]["creationTimestamp"], reverse=True)
    return sorted(
        youngest, key=lambda pod: (bool(node_of(pod)), is_ready(pod), deletion_cost(pod), -beside[node_of(pod)])
    )


def deletion_cost(pod: Json) -> int:
    """The pod's annotated cost; 0 without one, and where it is no integer of 32 bits."""
    text = annotations_of(pod).get(_COST, "")
    cost = int(text) if _INTEGER.fullmatch(text) else 0
    return cost if -(2**_BITS) <= cost < 2**_BITS else 0


def _sync_replicas(store: Store, owner: Json) -> None:
    """Keep as many pods as are wanted; a Job's never complete here, and one that was evicted is started again."""
    pods = store.controlled_by("pods", owner)
    living = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
    ending = sum(is_terminating(pod) for pod in pods)
    spec = owner["spec"]
    missing = int(spec.get("replicas", spec.get("parallelism", 1))) - len(living)
    if missing > 0 and _replaces_after_the_end(store, owner):
        missing = max(missing - ending, 0)
    for _ in range(missing):
        create_pod(store, pod_from(owner))
    for pod in deletion_order(living)[:-missing] if missing < 0 else ():
        delete_pod(store, pod, None, ACTOR)
    write_status(store, owner, {**counts_of(living), "terminatingReplicas": ending})


def _replaces_after_the_end(store: Store, replica_set: Json) -> bool:
    """Whether the Deployment of a ReplicaSet replaces pods only once they have ended (KEP-5882)."""
    deployment = store.owner_of(replica_set)
    return deployment is not None and deployment["spec"].get("podReplacementPolicy") == "TerminationComplete"


def _sync_stateful_set(store: Store, owner: Json) -> None:
    """Re-create `name-0 … name-n` under the same names, once the old pod of that name is wholly gone."""
    pods = {pod["metadata"]["name"]: pod for pod in store.controlled_by("pods", owner)}
    wanted = [f"{owner['metadata']['name']}-{ordinal}" for ordinal in range(owner["spec"].get("replicas", 1))]
    _fill_ordinals(store, owner, wanted, pods)
    surplus = [pod for name, pod in sorted(pods.items(), reverse=True) if name not in wanted]
    for pod in surplus[:1]:
        if not is_terminating(pod):
            delete_pod(store, pod, None, ACTOR)
    write_status(store, owner, counts_of([*pods.values()]))


def _fill_ordinals(store: Store, owner: Json, wanted: list[str], pods: dict[str, Json]) -> None:
    parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
    for name in wanted:
        pod = pods.get(name)
        if pod is None:
            create_pod(store, stateful_pod(owner, name))
        elif is_finished(pod) and not is_terminating(pod):
            delete_pod(store, pod, 0, ACTOR)
        if not parallel and (pod is None or not is_healthy(pod)):
            return


def stateful_pod(owner: Json, name: str) -> Json:
    """The set's pod of that name, with the claims of its name; not stored."""
    pod = pod_from(owner, name)
    for template in owner["spec"].get("volumeClaimTemplates") or []:
        volume = template["metadata"]["name"]
        claim = {"claimName": f"{volume}-{name}"}
        pod["spec"].setdefault("volumes", []).append({"name": volume, "persistentVolumeClaim": claim})
    return pod


_TOLERATED = ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")


def daemon_pod(owner: Json, node: str) -> Json:
    """The set's pod on one node, with the tolerations every daemon pod gets; not stored. No scheduler places it."""
    pod = pod_from(owner)
    spec: Json = pod["spec"]
    always = ({"key": f"node.kubernetes.io/{name}", "operator": "Exists"} for name in _TOLERATED)
    return {**pod, "spec": {**spec, "nodeName": node, "tolerations": [*(spec.get("tolerations") or []), *always]}}


def wants_daemon(owner: Json, node: Json) -> bool:
    """Should the set have a pod on this node (selector, affinity, hard taints; a cordon does not matter)?"""
    spec: Json = owner["spec"]["template"]["spec"]
    taints = taints_of(node)
    return selects_node(spec, node) and (not taints or first_untolerated(daemon_pod(owner, "")["spec"], taints) is None)


def _sync_daemon_set(store: Store, owner: Json) -> None:
    """Add the missing daemon pods and remove those of nodes that are gone."""
    nodes = {node["metadata"]["name"]: node for node in store.all("nodes")}
    pods = {node_of(pod): pod for pod in store.controlled_by("pods", owner)}
    wanted = [name for name, node in nodes.items() if wants_daemon(owner, node)]
    for name in wanted:
        if name not in pods:
            create_pod(store, daemon_pod(owner, name))
    for name, pod in pods.items():
        if (name not in nodes or is_finished(pod)) and not is_terminating(pod):
            delete_pod(store, pod, None if name in nodes else 0, ACTOR)
    ready = sum(is_ready(pod) for pod in pods.values())
    status = {"desiredNumberScheduled": len(wanted), "numberReady": ready, "currentNumberScheduled": len(pods)}
    write_status(store, owner, status)


_SYNCS = {
    "replicasets": _sync_replicas,
    "replicationcontrollers": _sync_replicas,
    "statefulsets": _sync_stateful_set,
    "daemonsets": _sync_daemon_set,
    "jobs": _sync_replicas,
}


def sync_workloads(store: Store) -> None:
    """Let the controller of each kind but Deployments act once on every object."""
    for plural, sync in _SYNCS.items():
        for owner in store.all(plural):
            sync(store, owner)


Sizes = dict[str, int]
"""The wanted number of pods by the name of a ReplicaSet."""
Pods = dict[str, list[Json]]
"""Pods by the ReplicaSet's name, terminating ones too."""
_SHARE = "25%"
_HASH = "pod-template-hash"
_COMPLETE = "NewReplicaSetAvailable"


@dataclass(frozen=True)
class Bounds:
    """How many pods a Deployment wants, and how many it may have too many and too few during a rollout."""

    wanted: int
    surge: int
    unavailable: int


def bounds_of(deployment: Json) -> Bounds:
    """Shares of the wanted pods: the surge is rounded up, what may be missing down; if both are none, one may."""
    spec: Json = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    rolling: Json = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = ceil(_number(rolling.get("maxSurge", _SHARE), wanted))
    unavailable = floor(_number(rolling.get("maxUnavailable", _SHARE), wanted))
    return Bounds(wanted, surge, min(unavailable if surge or unavailable else 1, wanted))


def _number(given: int | str, wanted: int) -> float:
    return int(given.removesuffix("%")) * wanted / 100 if isinstance(given, str) else given


def next_sizes(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    """Return the next sizes of a rolling update, of the present ones, oldest set first; `new` names the present set."""
    before: Sizes = {}
    while before != sizes:
        # the new set grows within the surge; unavailable pods of old ones go first, then what available ones allow
        before, room = sizes, max(bounds.wanted + bounds.surge - sum(sizes.values()), 0)
        sizes = _shrunk(bounds, new, {**sizes, new: min(bounds.wanted, sizes[new] + room)}, available)
    return sizes


def _shrunk(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    least = bounds.wanted - bounds.unavailable
    ready = {name: min(available.get(name, 0), size) for name, size in sizes.items()}
    allowed = sum(sizes.values()) - least - (sizes[new] - ready[new])
    if allowed <= 0:
        return sizes
    old = {name: size for name, size in sizes.items() if name != new}
    old = _less(old, {name: size - ready[name] for name, size in old.items()}, allowed)
    return {**_less(old, old, sum(ready.values()) - least), new: sizes[new]}


def _less(sizes: Sizes, may_go: Sizes, limit: int) -> Sizes:
    """The sizes without `limit` pods of those that may go, taken from the first sets."""
    left: Sizes = {}
    for name, size in sizes.items():
        taken = min(may_go[name], max(limit, 0))
        left[name], limit = size - taken, limit - taken
    return left


def replica_set_for(deployment: Json) -> Json:
    """The ReplicaSet of a Deployment's present template, at its full size; not stored."""
    spec, meta = deployment["spec"], deployment["metadata"]
    digest = template_hash(spec["template"])
    template: Json = copy_thing(spec["template"])
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[_HASH] = digest
    selector = {"matchLabels": {**(spec["selector"].get("matchLabels") or {}), _HASH: digest}}
    own = {"name": f"{meta['name']}-{digest}", "namespace": meta["namespace"], "labels": labels}
    return {
        "metadata": {**own, "ownerReferences": owned_by(deployment)},
        "spec": {"replicas": spec.get("replicas", 1), "selector": selector, "template": template},
    }


class DeploymentController:
    """Keeps the ReplicaSet of the present template at the wanted size, and the others at what a rollout needs yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._wanted: dict[str, tuple[int, Json]] = {}

    def step(self, now: float) -> None:
        for deployment in self._store.all("deployments"):
            self._sync(deployment, now)

    def _sync(self, deployment: Json, now: float) -> None:
        controlled = self._store.controlled_by("replicasets", deployment)
        by_age = sorted(controlled, key=lambda replica_set: str(replica_set["metadata"]["creationTimestamp"]))
        sets = {str(replica_set["metadata"]["name"]): replica_set for replica_set in by_age}
        pods = {name: self._store.controlled_by("pods", replica_set) for name, replica_set in sets.items()}
        wanted = self._of_present_template(deployment)
        present = str(wanted["metadata"]["name"])
        sizes = {present: 0, **{name: int(old["spec"].get("replicas", 1)) for name, old in sets.items()}}
        available = {name: sum(map(is_healthy, owned)) for name, owned in pods.items()}
        for name, size in next_sizes(bounds_of(deployment), present, sizes, available).items():
            if name not in sets:
                self._store.create("replicasets", {**wanted, "spec": {**wanted["spec"], "replicas": size}}, ACTOR)
            elif size != sizes[name]:
                self._store.replace({**copy_thing(sets[name]), "spec": {**sets[name]["spec"], "replicas": size}}, ACTOR)
        self._write_status(deployment, present, pods, now)

    def _of_present_template(self, deployment: Json) -> Json:
        """The ReplicaSet of the present template, made once for each generation of the spec; not stored."""
        uid, generation = deployment["metadata"]["uid"], deployment["metadata"]["generation"]
        if self._wanted.get(uid, (0, {}))[0] != generation:
            self._wanted[uid] = (generation, replica_set_for(deployment))
        return self._wanted[uid][1]

    def _write_status(self, deployment: Json, present: str, pods: Pods, now: float) -> None:
        """Write the counts, and how a rollout goes on once there was one: pods lost later begin no rollout."""
        living = {name: [pod for pod in owned if not is_terminating(pod)] for name, owned in pods.items()}
        counts = counts_of([pod for owned in living.values() for pod in owned])
        counts["updatedReplicas"] = len(living.get(present, ()))
        counts["terminatingReplicas"] = sum(map(len, pods.values())) - counts["replicas"]
        before: Json = deployment.get("status") or {}
        old = condition_of({"status": before}, "Progressing")
        if old is not None or len(pods) > 1 or (pods and present not in pods):
            wanted = int(deployment["spec"].get("replicas", 1))
            complete = {counts[name] for name in ("replicas", "updatedReplicas", "availableReplicas")} == {wanted}
            lost = counts["replicas"] == counts["updatedReplicas"] and (old or {}).get("reason") == _COMPLETE
            reason = _COMPLETE if complete or lost else "ReplicaSetUpdated"
            counts["conditions"] = copy_thing(before.get("conditions", []))
            condition = {"type": "Progressing", "status": "True", "reason": reason, "lastUpdateTime": stamp(now)}
            if old is None or old["reason"] != reason:
                set_condition({"status": counts}, now, condition)
        write_status(self._store, deployment, counts)
