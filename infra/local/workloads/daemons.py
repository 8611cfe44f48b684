"""DaemonSets and Jobs of the simulated cluster."""

from infra.local.scheduling.filters import HARD, selected, untolerated
from infra.local.workloads.owned_objects import create_pod, pod_from, write_status
from infra.local.world.deletion import delete_pod
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_ready, is_terminating, node_of, phase_of
from infra.local.world.store import Store

ACTOR = "daemonset-controller"
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
                create_pod(self._store, pod_for(owner, name), ACTOR)
        for name, pod in pods.items():
            if (name not in names or is_finished(pod)) and not is_terminating(pod):
                delete_pod(self._store, pod, None if name in names else 0, ACTOR)
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
