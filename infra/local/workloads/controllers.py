"""ReplicaSets, StatefulSets, DaemonSets and Jobs: each keeps as many pods as its spec wants.

Sources: kubernetes pkg/controller (controller_utils.go ActivePodsWithRanks, replicaset, statefulset, daemon, job).
"""

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress

from infra.local.scheduling.filters import first_untolerated, selects_node
from infra.local.world.kinds import Json
from infra.local.world.kubelet import delete_pod
from infra.local.world.pods import (
    annotations_of,
    is_finished,
    is_healthy,
    is_ready,
    is_terminating,
    node_of,
    owned_by,
    taints_of,
)
from infra.local.world.store import NotAdmittedError, Store, copy_thing

REPLICAS_ACTOR, STATEFUL_ACTOR = "replicaset-controller", "statefulset-controller"
DAEMONS_ACTOR = "daemonset-controller"


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


def create_pod(store: Store, pod: Json, actor: str) -> None:
    """Create it, unless its namespace does not admit it: the controller tries again whenever something changes."""
    with suppress(NotAdmittedError):
        store.create("pods", pod, actor)


def counts_of(pods: list[Json]) -> Json:
    """The counts of living pods as a status has them; one that is ready is available."""
    ready = sum(is_ready(pod) for pod in pods)
    return {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}


def write_status(store: Store, owner: Json, status: Json) -> None:
    """Store a controller's status, with the generation it has observed."""
    observed = {**status, "observedGeneration": owner["metadata"]["generation"]}
    if owner.get("status") != observed:
        store.update(owner, lambda thing: thing.update(status=observed), "controller-manager")


def _is_active(pod: Json) -> bool:
    return not is_terminating(pod) and not is_finished(pod)


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
    living = [pod for pod in pods if _is_active(pod)]
    ending = sum(is_terminating(pod) for pod in pods)
    spec = owner["spec"]
    missing = int(spec.get("replicas", spec.get("parallelism", 1))) - len(living)
    if missing > 0 and _replaces_after_the_end(store, owner):
        missing = max(missing - ending, 0)
    for _ in range(missing):
        create_pod(store, pod_from(owner), REPLICAS_ACTOR)
    for pod in deletion_order(living)[:-missing] if missing < 0 else ():
        delete_pod(store, pod, None, REPLICAS_ACTOR)
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
            delete_pod(store, pod, None, STATEFUL_ACTOR)
    write_status(store, owner, counts_of([*pods.values()]))


def _fill_ordinals(store: Store, owner: Json, wanted: list[str], pods: dict[str, Json]) -> None:
    parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
    for name in wanted:
        pod = pods.get(name)
        if pod is None:
            create_pod(store, stateful_pod(owner, name), STATEFUL_ACTOR)
        elif is_finished(pod) and not is_terminating(pod):
            delete_pod(store, pod, 0, STATEFUL_ACTOR)
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
            create_pod(store, daemon_pod(owner, name), DAEMONS_ACTOR)
    for name, pod in pods.items():
        if (name not in nodes or is_finished(pod)) and not is_terminating(pod):
            delete_pod(store, pod, None if name in nodes else 0, DAEMONS_ACTOR)
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
