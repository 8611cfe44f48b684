"""Jobs: up to `parallelism` pods at a time until `completions` have succeeded."""

from infra.local.workloads.owned_objects import create_pod, pod_from, write_status
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_terminating, phase_of
from infra.local.world.store import Store

ACTOR = "job-controller"


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
            create_pod(self._store, pod_from(owner), ACTOR)
        write_status(self._store, "jobs", owner, {"active": active, "succeeded": succeeded})
