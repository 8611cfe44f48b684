"""Deployments: a changed template is rolled out within its bounds, one set back makes its old ReplicaSet current again.

Sources: kubernetes pkg/controller/deployment (sync.go, rolling.go, progress.go) and its util (FindNewReplicaSet).
Rolling updates alone are known here, without a deadline.
"""

from dataclasses import dataclass
from math import ceil, floor

from infra.local.clocks import stamp
from infra.local.workloads.controllers import counts_of, template_hash, write_status
from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, is_healthy, is_terminating, owned_by, set_condition
from infra.local.world.store import Store, copy_thing

ACTOR = "deployment-controller"
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
        controlled = sorted(self._store.controlled_by("replicasets", deployment), key=_age)
        sets = {str(replica_set["metadata"]["name"]): replica_set for replica_set in controlled}
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


def _age(replica_set: Json) -> str:
    return str(replica_set["metadata"]["creationTimestamp"])
