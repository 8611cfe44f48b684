"""ReplicaSets, StatefulSets, DaemonSets and Jobs: each keeps as many pods as it asks for."""

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress

from infra.local.scheduling.filters import HARD, selected, untolerated
from infra.local.world.disks import BIND_COMPLETED, SELECTED_NODE, Disks, Key, claim_of, claims_of, disks_of
from infra.local.world.kinds import Json
from infra.local.world.kubelet import delete_pod
from infra.local.world.pods import is_finished, is_healthy, is_ready, is_terminating, labels_of, node_of, phase_of
from infra.local.world.store import NotAdmittedError, Store, copied


def owned_by(owner: Json) -> list[Json]:
    """The owner references of an object that `owner` controls."""
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return [{**reference, "controller": True, "blockOwnerDeletion": True}]


def template_hash(template: Json) -> str:
    """A short name for a pod template, as `pod-template-hash` has it."""
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:9]


def pod_from(owner: Json, name: str | None = None) -> Json:
    """A pod of the owner's template, named or with a generated name; not stored."""
    template: Json = copied(owner["spec"]["template"])
    meta: Json = template.get("metadata") or {}
    meta["namespace"] = owner["metadata"]["namespace"]
    meta["ownerReferences"] = owned_by(owner)
    meta["generateName"] = f"{owner['metadata']['name']}-"
    if name is not None:
        meta["name"] = name
    return {"metadata": meta, "spec": template["spec"], "status": {"phase": "Pending"}}


def create_pod(store: Store, pod: Json, actor: str) -> None:
    """Create it, unless its namespace does not let it in: the controller tries again whenever something changes."""
    with suppress(NotAdmittedError):
        store.create("pods", pod, actor)


def controller_of_pod(store: Store, pod: Json) -> tuple[str, str]:
    """Kind and name of what stands behind a pod: for a ReplicaSet of a Deployment, that Deployment."""
    kind, name = _controller(pod)
    if kind == "ReplicaSet":
        found = store.find("replicasets", pod["metadata"]["namespace"], name)
        behind = _controller(found) if found is not None else ("", "")
        return behind if behind[0] else (kind, name)
    return kind, name


def _controller(thing: Json) -> tuple[str, str]:
    owners: list[Json] = thing["metadata"].get("ownerReferences") or []
    return next(((each["kind"], each["name"]) for each in owners if each.get("controller")), ("", ""))


def counts_of(pods: list[Json]) -> Json:
    """The counts of living pods as a status says them; one that is ready is available."""
    ready = sum(is_ready(pod) for pod in pods)
    return {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}


def write_status(store: Store, plural: str, owner: Json, status: Json) -> None:
    """Store a controller's status, with the generation it has observed."""
    observed = {**status, "observedGeneration": owner["metadata"]["generation"]}
    meta = owner["metadata"]
    if owner.get("status") != observed and store.find(plural, meta["namespace"], meta["name"]) is not None:
        store.update(
            plural, meta["namespace"], meta["name"], lambda thing: thing.update(status=observed), "controller-manager"
        )


_COST = "controller.kubernetes.io/pod-deletion-cost"
_WRITTEN = re.compile(r"0|[1-9][0-9]*|-[0-9]+")
_BITS = 31


def given_up_first(living: list[Json]) -> list[Json]:
    """Unbound pods first, then unready ones, then the cheapest, those beside most of their kind, the youngest."""
    beside = Counter(node_of(pod) for pod in living)
    youngest = sorted(living, key=lambda pod: pod["metadata"]["creationTimestamp"], reverse=True)
    return sorted(
        youngest, key=lambda pod: (bool(node_of(pod)), is_ready(pod), deletion_cost(pod), -beside[node_of(pod)])
    )


def deletion_cost(pod: Json) -> int:
    """The cost that somebody wrote on the pod; 0 without one, and where it is no integer of 32 bits."""
    written = (pod["metadata"].get("annotations") or {}).get(_COST, "")
    cost = int(written) if _WRITTEN.fullmatch(written) else 0
    return cost if -(2**_BITS) <= cost < 2**_BITS else 0


REPLICAS_ACTOR = "replicaset-controller"


class ReplicaSetController:
    """Creates and deletes pods until the living ones are as many as wanted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for plural in ("replicasets", "replicationcontrollers"):
            for owner in self._store.all(plural):
                self._sync(plural, owner)

    def _sync(self, plural: str, owner: Json) -> None:
        pods = self._store.controlled("pods", owner)
        living = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
        ending = sum(is_terminating(pod) for pod in pods)
        missing = int(owner["spec"].get("replicas", 1)) - len(living)
        if missing > 0 and self._waits_for_the_end(owner):
            missing = max(missing - ending, 0)
        for _ in range(missing):
            create_pod(self._store, pod_from(owner), REPLICAS_ACTOR)
        for pod in given_up_first(living)[:-missing] if missing < 0 else ():
            delete_pod(self._store, pod, None, REPLICAS_ACTOR)
        write_status(self._store, plural, owner, {**counts_of(living), "terminatingReplicas": ending})

    def _waits_for_the_end(self, owner: Json) -> bool:
        """Whether the Deployment behind a ReplicaSet replaces pods only once they have ended (KEP-5882)."""
        for each in owner["metadata"].get("ownerReferences") or []:
            deployment = self._store.find("deployments", owner["metadata"]["namespace"], each["name"])
            if deployment is not None:
                return bool(deployment["spec"].get("podReplacementPolicy") == "TerminationComplete")
        return False


VOLUMES_ACTOR = "persistentvolume-controller"
ZONE = "topology.kubernetes.io/zone"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


class VolumeController:
    """Makes claims and disks, and takes away the disks whose claims are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = -1

    def step(self, now: float) -> None:
        del now
        version = self._store.version("pods", "nodes", "persistentvolumeclaims", "storageclasses")
        if version == self._seen:
            return
        for pod in self._store.all("pods"):
            self._claim(pod)
        disks = disks_of(self._store.all)
        for key, claim in disks.claims.items():
            if disks.volume(key) is None:
                self._provide(key, claim, disks)
        self._take_away()
        self._seen = version

    def _claim(self, pod: Json) -> None:
        """Make the claims of a pod's ephemeral volumes."""
        for volume in pod["spec"].get("volumes") or []:
            template, key = (volume.get("ephemeral") or {}).get("volumeClaimTemplate"), claim_of(pod, volume)
            if template is None or key is None or is_terminating(pod):
                continue
            if self._store.find("persistentvolumeclaims", *key) is None:
                make_claim(self._store, key, template, owned_by(pod))

    def _provide(self, key: Key, claim: Json, disks: Disks) -> None:
        storage_class = disks.storage_class(key)
        zone = self._zone(key, claim) if disks.waits_for_consumer(key) else self._first_zone()
        if storage_class and zone is not None:
            self._bind(key, claim, storage_class["provisioner"], zone)

    def _zone(self, key: Key, claim: Json) -> str | None:
        """The zone of the node that was chosen for the claim, or on which a pod uses it already."""
        chosen = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
        users = (node_of(pod) for pod in self._store.all("pods", key[0]) if node_of(pod) and key in claims_of(pod))
        found = self._store.find("nodes", "", chosen or next(users, ""))
        return labels_of(found).get(ZONE, "") if found else None

    def _first_zone(self) -> str | None:
        return min((labels_of(node).get(ZONE, "") for node in self._store.all("nodes")), default=None)

    def _bind(self, key: Key, claim: Json, driver: str, zone: str) -> None:
        name, modes = f"pvc-{claim['metadata']['uid']}", claim["spec"].get("accessModes") or ["ReadWriteOnce"]
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        spec = {
            "accessModes": modes,
            "claimRef": {"namespace": key[0], "name": key[1], "uid": claim["metadata"]["uid"]},
            "csi": {"driver": driver, "volumeHandle": f"projects/local/zones/{zone}/disks/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim["spec"].get("storageClassName", ""),
        }
        self._store.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec}, VOLUMES_ACTOR)

        def bound(thing: Json) -> None:
            thing["metadata"].setdefault("annotations", {})[BIND_COMPLETED] = "yes"
            thing["spec"]["volumeName"] = name
            thing["status"] = {"phase": "Bound", "accessModes": modes}

        self._store.update("persistentvolumeclaims", *key, bound, VOLUMES_ACTOR)

    def _take_away(self) -> None:
        for volume in self._store.all("persistentvolumes"):
            reference = volume["spec"].get("claimRef") or {}
            deleted = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete" and reference
            key = (reference.get("namespace", ""), reference.get("name", ""))
            if deleted and self._store.find("persistentvolumeclaims", *key) is None:
                self._store.remove("persistentvolumes", "", volume["metadata"]["name"], VOLUMES_ACTOR)


def make_claim(store: Store, key: Key, template: Json, owners: list[Json] | None = None) -> None:
    """Create a claim from a template; one that names no class gets the default one."""
    default = next((each for each in store.all("storageclasses") if _is_default(each)), None)
    given = {"storageClassName": default["metadata"]["name"]} if default else {}
    meta: Json = {**(template.get("metadata") or {}), "namespace": key[0], "name": key[1]}
    if owners:
        meta["ownerReferences"] = owners
    claim = {"metadata": meta, "spec": {**given, **template["spec"]}, "status": {"phase": "Pending"}}
    store.create("persistentvolumeclaims", claim, VOLUMES_ACTOR)


def _is_default(storage_class: Json) -> bool:
    return bool((storage_class["metadata"].get("annotations") or {}).get(_DEFAULT) == "true")


ACTOR = "statefulset-controller"


class StatefulSetController:
    """Re-creates `name-0 … name-n` under the same names, once the old pod of that name is wholly gone."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for owner in self._store.all("statefulsets"):
            self._sync(owner)

    def _sync(self, owner: Json) -> None:
        pods = {pod["metadata"]["name"]: pod for pod in self._store.controlled("pods", owner)}
        wanted = [f"{owner['metadata']['name']}-{ordinal}" for ordinal in range(owner["spec"].get("replicas", 1))]
        self._fill(owner, wanted, pods)
        surplus = [pod for name, pod in sorted(pods.items(), reverse=True) if name not in wanted]
        for pod in surplus[:1]:
            if not is_terminating(pod):
                delete_pod(self._store, pod, None, ACTOR)
        ready = sum(is_ready(pod) for pod in pods.values())
        status = {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}
        write_status(self._store, "statefulsets", owner, status)

    def _fill(self, owner: Json, wanted: list[str], pods: dict[str, Json]) -> None:
        parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
        for name in wanted:
            pod = pods.get(name)
            if pod is None:
                make_claims(self._store, owner, name)
                create_pod(self._store, stateful_pod(owner, name), ACTOR)
            elif is_finished(pod) and not is_terminating(pod):
                delete_pod(self._store, pod, 0, ACTOR)
            if not parallel and (pod is None or not is_healthy(pod)):
                return


def stateful_pod(owner: Json, name: str) -> Json:
    """The set's pod of that name, with the volumes of its own claims; not stored."""
    pod = pod_from(owner, name)
    for template in _templates(owner):
        volume = template["metadata"]["name"]
        mounted = {"name": volume, "persistentVolumeClaim": {"claimName": f"{volume}-{name}"}}
        pod["spec"].setdefault("volumes", []).append(mounted)
    return pod


def make_claims(store: Store, owner: Json, name: str) -> None:
    """Make the claims of that pod which are not there; they outlive it."""
    for template in _templates(owner):
        key = (owner["metadata"]["namespace"], f"{template['metadata']['name']}-{name}")
        if store.find("persistentvolumeclaims", *key) is None:
            make_claim(store, key, template)


def _templates(owner: Json) -> list[Json]:
    templates: list[Json] = owner["spec"].get("volumeClaimTemplates") or []
    return templates


DAEMONS_ACTOR = "daemonset-controller"
_TOLERATED = ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")


def pod_for(owner: Json, node: str) -> Json:
    """The set's pod for one node, pinned to it and with the tolerations every daemon pod gets; not stored."""
    pod = pod_from(owner)
    spec: Json = pod["spec"]
    spec["tolerations"] = [
        *(spec.get("tolerations") or []),
        *({"key": f"node.kubernetes.io/{name}", "operator": "Exists"} for name in _TOLERATED),
    ]
    affinity: Json = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required: Json = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {})
    pin = {"key": "metadata.name", "operator": "In", "values": [node]}
    required["nodeSelectorTerms"] = [
        {**term, "matchFields": [pin]} for term in required.get("nodeSelectorTerms") or [{}]
    ]
    return pod


def _pinned_to(pod: Json) -> str:
    if node_of(pod):
        return node_of(pod)
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def belongs(owner: Json, node: Json) -> bool:
    """Should the set have a pod on this node (selector, affinity, hard taints; a cordon does not matter)?"""
    template: Json = owner["spec"]["template"]["spec"]
    hard = [taint for taint in node["spec"].get("taints") or [] if taint["effect"] in HARD]
    return selected(template, node) and (not hard or untolerated(pod_for(owner, "")["spec"], hard) is None)


class DaemonSetController:
    """Adds the missing daemon pods and takes away those of nodes that are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        nodes = self._store.all("nodes")
        for owner in self._store.all("daemonsets"):
            self._sync(owner, nodes)

    def _sync(self, owner: Json, nodes: list[Json]) -> None:
        pods = {_pinned_to(pod): pod for pod in self._store.controlled("pods", owner)}
        names = {node["metadata"]["name"] for node in nodes}
        wanted = [node["metadata"]["name"] for node in nodes if belongs(owner, node)]
        for name in wanted:
            if name not in pods:
                create_pod(self._store, pod_for(owner, name), DAEMONS_ACTOR)
        for name, pod in pods.items():
            if (name not in names or is_finished(pod)) and not is_terminating(pod):
                delete_pod(self._store, pod, None if name in names else 0, DAEMONS_ACTOR)
        ready = sum(is_ready(pod) for pod in pods.values())
        status = {"desiredNumberScheduled": len(wanted), "numberReady": ready, "currentNumberScheduled": len(pods)}
        write_status(self._store, "daemonsets", owner, status)


JOBS_ACTOR = "job-controller"


class JobController:
    """Starts the pods that a Job still needs; pods that were evicted are started anew."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for owner in self._store.all("jobs"):
            self._sync(owner)

    def _sync(self, owner: Json) -> None:
        pods = self._store.controlled("pods", owner)
        succeeded = sum(phase_of(pod) == "Succeeded" for pod in pods)
        active = sum(not is_finished(pod) and not is_terminating(pod) for pod in pods)
        spec = owner["spec"]
        remaining = int(spec.get("completions", 1)) - succeeded - active
        for _ in range(min(remaining, int(spec.get("parallelism", 1)) - active)):
            create_pod(self._store, pod_from(owner), JOBS_ACTOR)
        write_status(self._store, "jobs", owner, {"active": active, "succeeded": succeeded})
