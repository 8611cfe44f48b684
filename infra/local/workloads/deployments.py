"""Deployments: a changed template is rolled out by the strategy, one set back makes its old ReplicaSet current again.

Sources: kubernetes pkg/controller/deployment (sync.go, rolling.go, recreate.go) and its util (FindNewReplicaSet).
"""

from infra.local.workloads.owned_objects import owned_by, template_hash, write_status
from infra.local.workloads.rollouts import Sizes, bounds_of, late_after, rolled, with_conditions
from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, is_healthy, is_ready, is_terminating
from infra.local.world.store import Store, copied

ACTOR = "deployment-controller"
_HASH = "pod-template-hash"
_KEPT = 10
"""Old ReplicaSets without pods that are kept (revisionHistoryLimit)."""
Pods = dict[str, list[Json]]
"""By the ReplicaSet's name, those that are ending too."""


def replica_set_for(deployment: Json) -> Json:
    """The ReplicaSet of a Deployment's present template, at its full size; not stored."""
    spec = deployment["spec"]
    digest = template_hash(spec["template"])
    template: Json = copied(spec["template"])
    template.setdefault("metadata", {}).setdefault("labels", {})[_HASH] = digest
    meta = deployment["metadata"]
    selector = {"matchLabels": {**(spec["selector"].get("matchLabels") or {}), _HASH: digest}}
    return {
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": template["metadata"]["labels"],
            "ownerReferences": owned_by(deployment),
        },
        "spec": {"replicas": spec.get("replicas", 1), "selector": selector, "template": template},
    }


def counts_of(pods: list[Json]) -> Json:
    """The counts of living pods as a status says them; one that is ready is available."""
    ready = sum(is_ready(pod) for pod in pods)
    return {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}


class DeploymentController:
    """Keeps the ReplicaSet of the present template at the wanted size, and the others at what a rollout needs yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._wanted: dict[str, tuple[int, Json]] = {}
        self._late_after: dict[str, float] = {}

    def is_due(self, now: float) -> bool:
        """Whether a rollout's deadline has passed, which is told although nothing else has changed."""
        return any(moment < now for moment in self._late_after.values())

    def step(self, now: float) -> None:
        self._late_after.clear()
        for deployment in self._store.all("deployments"):
            self._sync(deployment, now)

    def _sync(self, deployment: Json, now: float) -> None:
        sets = sorted(self._store.controlled("replicasets", deployment), key=_age)
        wanted = self._of_present_template(deployment)
        new = _found(wanted, sets)
        present = str((new or wanted)["metadata"]["name"])
        pods = {each["metadata"]["name"]: self._store.controlled("pods", each) for each in sets}
        sizes = _next_sizes(deployment, present, {each["metadata"]["name"]: _size(each) for each in sets}, pods)
        self._resize(sets, sizes)
        made = new is None and present in sizes
        if made:
            self._store.create("replicasets", {**wanted, "spec": {**wanted["spec"], "replicas": sizes[present]}}, ACTOR)
        self._forget(deployment, [each for each in sets if each is not new], sizes, pods)
        self._tell(deployment, present, pods, now, made=made and bool(sets))

    def _of_present_template(self, deployment: Json) -> Json:
        """The ReplicaSet of the present template, made once for each generation of the spec; not stored."""
        uid, generation = deployment["metadata"]["uid"], deployment["metadata"]["generation"]
        if self._wanted.get(uid, (0, {}))[0] != generation:
            self._wanted[uid] = (generation, replica_set_for(deployment))
        return self._wanted[uid][1]

    def _resize(self, sets: list[Json], sizes: Sizes) -> None:
        for each in sets:
            size = sizes[each["metadata"]["name"]]
            if size != _size(each):
                resized = {**copied(each), "spec": {**each["spec"], "replicas": size}}
                self._store.replace("replicasets", resized, ACTOR)

    def _forget(self, deployment: Json, old: list[Json], sizes: Sizes, pods: Pods) -> None:
        """Remove the oldest ReplicaSets without pods beyond those that are kept."""
        names = [each["metadata"]["name"] for each in old]
        idle = [name for name in names if not sizes.get(name) and not pods[name]]
        kept = int(deployment["spec"].get("revisionHistoryLimit", _KEPT))
        for name in idle[: max(len(idle) - kept, 0)]:
            self._store.remove("replicasets", deployment["metadata"]["namespace"], name, ACTOR)

    def _tell(self, deployment: Json, present: str, pods: Pods, now: float, *, made: bool) -> None:
        living = {name: [pod for pod in found if not is_terminating(pod)] for name, found in pods.items()}
        counts = counts_of([pod for found in living.values() for pod in found])
        counts["updatedReplicas"] = len(living.get(present, ()))
        counts["terminatingReplicas"] = sum(map(len, pods.values())) - counts["replicas"]
        if made or len(pods) > 1 or "conditions" in deployment.get("status", {}):
            counts = with_conditions(deployment, counts, now, made=made)
            progressing = condition_of({"status": counts}, "Progressing") or {}
            self._late_after[deployment["metadata"]["uid"]] = late_after(deployment, progressing)
        write_status(self._store, "deployments", deployment, counts)


def _next_sizes(deployment: Json, present: str, sizes: Sizes, pods: Pods) -> Sizes:
    """The sizes that the sets shall have; without the present one where it may not be made yet."""
    bounds, old = bounds_of(deployment), {name: 0 for name in sizes if name != present}
    if deployment["spec"].get("paused"):
        active = [name for name, size in sizes.items() if size] or [name for name in sizes if name == present]
        return {**sizes, **({active[0]: bounds.wanted} if len(active) == 1 else {})}
    if _recreates(deployment):
        waits = any(pods[name] for name in old)
        return {**sizes, **old} if waits else {**old, present: bounds.wanted}
    available = {name: sum(map(is_healthy, found)) for name, found in pods.items()}
    return rolled(bounds, present, {present: 0, **sizes}, available)


def _age(replica_set: Json) -> str:
    return str(replica_set["metadata"]["creationTimestamp"])


def _size(replica_set: Json) -> int:
    return int(replica_set["spec"].get("replicas", 1))


def _recreates(deployment: Json) -> bool:
    return bool((deployment["spec"].get("strategy") or {}).get("type") == "Recreate")


def _found(wanted: Json, sets: list[Json]) -> Json | None:
    """The set of the present template: the one of its name, or one whose template says the same."""
    named = next((each for each in sets if each["metadata"]["name"] == wanted["metadata"]["name"]), None)
    same = (each for each in sets if _said(each) == _said(wanted))
    return named or next(same, None)


def _said(replica_set: Json) -> Json:
    """A template without its hash; maps that are empty and maps that are missing are one to the API server."""
    template: Json = replica_set["spec"]["template"]
    meta: Json = {**(template.get("metadata") or {})}
    meta["labels"] = {key: value for key, value in (meta.get("labels") or {}).items() if key != _HASH}
    return {**template, "metadata": {key: value for key, value in meta.items() if value}}
