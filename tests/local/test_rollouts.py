"""A changed pod template is rolled out as the deployment controller does it, and one set back takes it back."""

from typing import Any

from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, is_ready, is_terminating
from tests.local.virtual_cluster import MERGE, VirtualCluster, node, workload

PATH = "/apis/apps/v1/namespaces/default/deployments/web"
NOTE = "example.com/restarted-for"
NEVER = {"local.ebb.internal/never-ready": "true"}


def rolling(surge: int | str, unavailable: int | str) -> Json:
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}


def deployed(replicas: int = 1, **spec: Any) -> VirtualCluster:
    """A Deployment of which every pod is ready, on two nodes."""
    virtual = VirtualCluster([node("a"), node("b")], shutdown=2.0)
    owner = workload(replicas=replicas, cpu="100m")
    owner["spec"] |= spec
    virtual.add("deployments", owner)
    virtual.run(4)
    return virtual


def annotate(virtual: VirtualCluster, **notes: str | None) -> None:
    """Write annotations of the pod template; None removes one."""
    named = {NOTE if key == "note" else f"local.ebb.internal/{key.replace('_', '-')}": to for key, to in notes.items()}
    virtual.json("PATCH", PATH, {"spec": {"template": {"metadata": {"annotations": named}}}}, type=MERGE)


def ready(virtual: VirtualCluster) -> list[str]:
    return [pod["metadata"]["name"] for pod in virtual.pods() if is_ready(pod) and not is_terminating(pod)]


def sizes(virtual: VirtualCluster) -> list[int]:
    return sorted(replica_set["spec"]["replicas"] for replica_set in virtual.store.all("replicasets"))


def status(virtual: VirtualCluster) -> Json:
    found: Json = virtual.store.get("deployments", "default", "web")["status"]
    return found


def progress(virtual: VirtualCluster) -> str:
    found = condition_of(virtual.store.get("deployments", "default", "web"), "Progressing")
    return str(found["reason"]) if found else ""


def least_ready(virtual: VirtualCluster, seconds: int) -> int:
    """Let time pass, and tell the fewest ready pods that were there meanwhile."""
    fewest = len(ready(virtual))
    for _ in range(seconds):
        virtual.run(1)
        fewest = min(fewest, len(ready(virtual)))
    return fewest


def test_a_single_replica_is_restarted_without_a_moment_without_it() -> None:
    virtual = deployed()
    (old,) = ready(virtual)
    annotate(virtual, note="one")
    assert least_ready(virtual, 12) == 1
    (new,) = ready(virtual)
    assert new != old
    assert [pod["metadata"]["name"] for pod in virtual.pods()] == [new]
    assert sizes(virtual) == [0, 1]
    assert progress(virtual) == "NewReplicaSetAvailable"
    assert [status(virtual)[key] for key in ("replicas", "updatedReplicas", "availableReplicas")] == [1, 1, 1]


def test_a_new_pod_that_never_gets_ready_leaves_the_old_one_until_the_template_is_set_back() -> None:
    virtual = deployed()
    old = ready(virtual)
    annotate(virtual, note="one", never_ready="true")
    virtual.run(20)
    assert (ready(virtual), len(virtual.pods()), progress(virtual)) == (old, 2, "ReplicaSetUpdated")

    annotate(virtual, note=None, never_ready=None)
    assert least_ready(virtual, 10) == 1
    assert [pod["metadata"]["name"] for pod in virtual.pods()] == old
    assert (sizes(virtual), progress(virtual)) == ([0, 1], "NewReplicaSetAvailable")


def test_a_template_set_back_after_the_rollout_makes_the_old_replica_set_current_again() -> None:
    virtual = deployed()
    (before,) = virtual.store.all("replicasets")
    annotate(virtual, note="one")
    virtual.run(12)
    annotate(virtual, note=None)
    assert least_ready(virtual, 12) == 1
    current = [
        replica_set["metadata"]["name"]
        for replica_set in virtual.store.all("replicasets")
        if replica_set["spec"]["replicas"]
    ]
    assert current == [before["metadata"]["name"]]
    assert len(virtual.store.all("replicasets")) == 2


def test_a_deployment_that_may_lack_its_only_pod_ends_it_first() -> None:
    virtual = deployed(**rolling(0, 1))
    annotate(virtual, note="one")
    assert least_ready(virtual, 12) == 0
    assert len(ready(virtual)) == 1


def test_a_rollout_of_many_keeps_within_its_bounds_and_ends() -> None:
    virtual = deployed(6)
    old = ready(virtual)
    annotate(virtual, note="one")
    for _ in range(40):
        virtual.run(1)
        living = [pod for pod in virtual.pods() if not is_terminating(pod)]
        assert len(living) <= 8
        assert len(ready(virtual)) >= 5
    assert len(ready(virtual)) == 6
    assert not set(old) & set(ready(virtual))


def test_a_deployment_whose_template_never_changed_shows_its_counts_alone() -> None:
    assert "conditions" not in status(deployed())
