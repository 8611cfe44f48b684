"""Deployments: a changed template is rolled out by the strategy, one set back makes its old ReplicaSet current again.

Sources: kubernetes pkg/controller/deployment (sync.go, rolling.go, recreate.go) and its util (FindNewReplicaSet).
"""

from dataclasses import dataclass
from math import ceil, floor, inf

from infra.local.clocks import seconds_of, stamp
from infra.local.workloads.controllers import counts_of, template_hash, write_status
from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, is_healthy, is_terminating, owned_by, set_condition
from infra.local.world.store import Store, copied

ACTOR = "deployment-controller"
Sizes = dict[str, int]
"""The wanted number of pods by the name of a ReplicaSet."""
Pods = dict[str, list[Json]]
"""Pods by the ReplicaSet's name, terminating ones too."""
_SHARE = "25%"
_HASH = "pod-template-hash"
_KEPT = 10
"""Old ReplicaSets without pods that are kept (revisionHistoryLimit)."""


@dataclass(frozen=True)
class Bounds:
    """How many pods a Deployment wants, and how many it may have too many and too few during a rollout."""

    wanted: int
    surge: int
    unavailable: int

    @property
    def at_least(self) -> int:
        """The available pods that a rollout leaves."""
        return self.wanted - self.unavailable


def bounds_of(deployment: Json) -> Bounds:
    """Shares of the wanted pods: the surge is rounded up, what may be missing down; if both are none, one may."""
    spec: Json = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    rolling: Json = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = _number(rolling.get("maxSurge", _SHARE), wanted, up=True)
    unavailable = _number(rolling.get("maxUnavailable", _SHARE), wanted, up=False)
    return Bounds(wanted, surge, min(unavailable if surge or unavailable else 1, wanted))


def _number(given: int | str, wanted: int, *, up: bool) -> int:
    if not isinstance(given, str):
        return given
    share = int(given.removesuffix("%")) * wanted / 100
    return ceil(share) if up else floor(share)


def rolled(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    """The next sizes of a rolling update; `sizes` are the present ones, oldest set first, `new` names the present set.

    The new set grows within the surge; of the old ones unavailable pods go first, then what the available ones allow.
    """
    before: Sizes = {}
    while before != sizes:
        before, sizes = sizes, _grown(bounds, new, sizes)
        sizes = _shrunk(bounds, new, sizes, available)
    return sizes


def _grown(bounds: Bounds, new: str, sizes: Sizes) -> Sizes:
    room = max(bounds.wanted + bounds.surge - sum(sizes.values()), 0)
    return {**sizes, new: min(bounds.wanted, sizes[new] + room)}


def _shrunk(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    ready = {name: min(available.get(name, 0), size) for name, size in sizes.items()}
    allowed = sum(sizes.values()) - bounds.at_least - (sizes[new] - ready[new])
    if allowed <= 0:
        return sizes
    old = {name: size for name, size in sizes.items() if name != new}
    old = _less(old, {name: size - ready[name] for name, size in old.items()}, allowed)
    return {**_less(old, old, sum(ready.values()) - bounds.at_least), new: sizes[new]}


def _less(sizes: Sizes, may_go: Sizes, limit: int) -> Sizes:
    """The sizes without `limit` pods of those that may go, taken from the first sets."""
    left: Sizes = {}
    for name, size in sizes.items():
        taken = min(may_go[name], max(limit, 0))
        left[name], limit = size - taken, limit - taken
    return left


_DEADLINE = 600
_NEVER_LATE = frozenset({"DeploymentPaused", "NewReplicaSetAvailable", "ProgressDeadlineExceeded"})


def with_conditions(deployment: Json, counts: Json, now: float, *, made: bool) -> Json:
    """The counts with the conditions that go with them; `made`: a ReplicaSet was made for a new template just now."""
    before: Json = copied(deployment.get("status") or {})
    bounds = bounds_of(deployment)
    lacking = max(bounds.wanted - counts["availableReplicas"], counts["replicas"] - counts["availableReplicas"])
    missing = {"unavailableReplicas": lacking} if lacking > 0 else {}
    thing: Json = {"status": {**counts, **missing, "conditions": before.get("conditions", [])}}
    enough = counts["availableReplicas"] >= bounds.at_least
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    _put(thing, now, {"type": "Available", "status": str(enough), "reason": reason})
    old: Json = condition_of(thing, "Progressing") or {}
    status, reason = ("True", "NewReplicaSetCreated") if made else _progress(deployment, bounds, before, counts, now)
    moved = reason == "ReplicaSetUpdated" and _has_moved(before, counts)
    if reason and (moved or reason != old.get("reason")):
        _put(thing, now, {"type": "Progressing", "status": status, "reason": reason})
    return dict(thing["status"])


def _progress(deployment: Json, bounds: Bounds, before: Json, counts: Json, now: float) -> tuple[str, str]:
    """Status and reason of Progressing; empty where it stays as it is."""
    old: Json = condition_of({"status": before}, "Progressing") or {}
    if deployment["spec"].get("paused"):
        return "Unknown", "DeploymentPaused"
    if old.get("reason") == "DeploymentPaused":
        return "Unknown", "DeploymentResumed"
    complete = {counts[name] for name in ("replicas", "updatedReplicas", "availableReplicas")} == {bounds.wanted}
    if complete:
        return "True", "NewReplicaSetAvailable"
    if counts["replicas"] == counts["updatedReplicas"] and old.get("reason") == "NewReplicaSetAvailable":
        return "", ""
    if _has_moved(before, counts):
        return "True", "ReplicaSetUpdated"
    return ("False", "ProgressDeadlineExceeded") if late_after(deployment, old) < now else ("", "")


def _has_moved(before: Json, counts: Json) -> bool:
    """Whether more pods are new, ready or available than before, or fewer old."""
    old = {**dict.fromkeys(counts, 0), **before}
    more = any(counts[name] > old[name] for name in ("updatedReplicas", "readyReplicas", "availableReplicas"))
    return more or counts["replicas"] - counts["updatedReplicas"] < old["replicas"] - old["updatedReplicas"]


def late_after(deployment: Json, progressing: Json) -> float:
    """When nothing has moved for the deadline; a rollout that is over, or is late already, never becomes late."""
    if progressing.get("reason", "NewReplicaSetAvailable") in _NEVER_LATE:
        return inf
    deadline = float(deployment["spec"].get("progressDeadlineSeconds", _DEADLINE))
    return seconds_of(progressing["lastUpdateTime"]) + deadline


def _put(thing: Json, now: float, condition: Json) -> None:
    """Put a condition in place; the time of its update moves with its text."""
    old: Json = condition_of(thing, condition["type"]) or {}
    same = condition["type"] == "Available" and condition["reason"] == old.get("reason")
    set_condition(thing, now, {**condition, "lastUpdateTime": old["lastUpdateTime"] if same else stamp(now)})


def replica_set_for(deployment: Json) -> Json:
    """The ReplicaSet of a Deployment's present template, at its full size; not stored."""
    spec, meta = deployment["spec"], deployment["metadata"]
    digest = template_hash(spec["template"])
    template: Json = copied(spec["template"])
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
        self._late_after: dict[str, float] = {}

    def is_due(self, now: float) -> bool:
        """Whether a rollout's deadline has passed, which its status shows although nothing else has changed."""
        return any(moment < now for moment in self._late_after.values())

    def step(self, now: float) -> None:
        self._late_after.clear()
        for deployment in self._store.all("deployments"):
            self._sync(deployment, now)

    def _sync(self, deployment: Json, now: float) -> None:
        controlled = sorted(self._store.controlled("replicasets", deployment), key=_age)
        sets = {str(replica_set["metadata"]["name"]): replica_set for replica_set in controlled}
        pods = {name: self._store.controlled("pods", replica_set) for name, replica_set in sets.items()}
        wanted = self._of_present_template(deployment)
        present = _name_of_present(wanted, sets)
        sizes = _next_sizes(deployment, present, {name: _size(old) for name, old in sets.items()}, pods)
        for name, replica_set in sets.items():
            if sizes[name] != _size(replica_set):
                spec = {**replica_set["spec"], "replicas": sizes[name]}
                self._store.replace({**copied(replica_set), "spec": spec}, ACTOR)
        made = present not in sets and present in sizes
        if made:
            self._store.create("replicasets", {**wanted, "spec": {**wanted["spec"], "replicas": sizes[present]}}, ACTOR)
        idle = [old for name, old in sets.items() if name != present and not sizes[name] and not pods[name]]
        self._forget(deployment, idle)
        self._write_status(deployment, present, pods, now, made=made and bool(sets))

    def _forget(self, deployment: Json, idle: list[Json]) -> None:
        """Remove the oldest ReplicaSets without pods beyond those that are kept."""
        kept = int(deployment["spec"].get("revisionHistoryLimit", _KEPT))
        for replica_set in idle[: max(len(idle) - kept, 0)]:
            self._store.remove(replica_set, ACTOR)

    def _of_present_template(self, deployment: Json) -> Json:
        """The ReplicaSet of the present template, made once for each generation of the spec; not stored."""
        uid, generation = deployment["metadata"]["uid"], deployment["metadata"]["generation"]
        if self._wanted.get(uid, (0, {}))[0] != generation:
            self._wanted[uid] = (generation, replica_set_for(deployment))
        return self._wanted[uid][1]

    def _write_status(self, deployment: Json, present: str, pods: Pods, now: float, *, made: bool) -> None:
        living = {name: [pod for pod in owned if not is_terminating(pod)] for name, owned in pods.items()}
        counts = counts_of([pod for owned in living.values() for pod in owned])
        counts["updatedReplicas"] = len(living.get(present, ()))
        counts["terminatingReplicas"] = sum(map(len, pods.values())) - counts["replicas"]
        if made or len(pods) > 1 or "conditions" in deployment.get("status", {}):
            counts = with_conditions(deployment, counts, now, made=made)
            progressing = condition_of({"status": counts}, "Progressing") or {}
            self._late_after[deployment["metadata"]["uid"]] = late_after(deployment, progressing)
        write_status(self._store, deployment, counts)


def _next_sizes(deployment: Json, present: str, sizes: Sizes, pods: Pods) -> Sizes:
    """The sizes that the sets shall have; without the present one where it may not be made yet."""
    bounds, old, spec = bounds_of(deployment), {name: 0 for name in sizes if name != present}, deployment["spec"]
    if spec.get("paused"):
        active = [name for name, size in sizes.items() if size] or [name for name in sizes if name == present]
        return {**sizes, **({active[0]: bounds.wanted} if len(active) == 1 else {})}
    if (spec.get("strategy") or {}).get("type") == "Recreate":
        waits = any(pods[name] for name in old)
        return {**sizes, **old} if waits else {**old, present: bounds.wanted}
    available = {name: sum(map(is_healthy, owned)) for name, owned in pods.items()}
    return rolled(bounds, present, {present: 0, **sizes}, available)


def _age(replica_set: Json) -> str:
    return str(replica_set["metadata"]["creationTimestamp"])


def _size(replica_set: Json) -> int:
    return int(replica_set["spec"].get("replicas", 1))


def _name_of_present(wanted: Json, sets: dict[str, Json]) -> str:
    """The name of the present template's set: one whose template is the same where none has its name."""
    name = str(wanted["metadata"]["name"])
    same = (other for other, old in sets.items() if _unhashed(old) == _unhashed(wanted))
    return name if name in sets else next(same, name)


def _unhashed(replica_set: Json) -> Json:
    """A template without its hash; maps that are empty and maps that are missing are one to the API server."""
    template: Json = replica_set["spec"]["template"]
    meta: Json = {**(template.get("metadata") or {})}
    meta["labels"] = {key: value for key, value in (meta.get("labels") or {}).items() if key != _HASH}
    return {**template, "metadata": {key: value for key, value in meta.items() if value}}
