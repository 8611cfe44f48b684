"""What a real controller manager writes of workloads is read as it is, and the simulated GKE rolls out as it does."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import EvictionAnswer
from tests.local.virtual_cluster import MERGE, VirtualCluster, node
from tests.real.conftest import Corner, first_pod
from tests.real.control_plane.manifests import deployment
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Json = dict[str, Any]


def test_a_lost_replica_is_away_and_no_rollout_and_a_new_template_is_one(
    cluster: KubernetesCluster, corner: Corner
) -> None:
    pod = first_pod(cluster, corner, "web", replicas=3)
    name = f"{corner.namespace}/Deployment/web"

    def now() -> Workload:
        seen = cluster.workloads_of([pod.spec.workload])[pod.spec.workload]
        return replace(seen, templates=(), fixed_template=False, terminating=None, deployment=None)

    until("a deployment at rest", lambda: now() == Workload(name, 3, 3, created=3))
    read = cluster.read()
    (template,) = read.workloads[pod.spec.workload].templates
    assert template.requests == pod.spec.requests
    (returning,) = as_they_return([pod], read.workloads)
    assert returning.spec is pod.spec, "what the API server adds to a pod makes it no other than its template"

    assert cluster.evict(pod, 1).answer is EvictionAnswer.GRANTED
    until("a replica away, without a rollout", lambda: (now().replicas_away, now().rolling) == (1, False))
    until("all replicas back", lambda: now() == Workload(name, 3, 3, created=3))

    restarted = {"spec": {"template": {"metadata": {"annotations": {"example.com/restarted": "now"}}}}}
    assert corner.plane.api.patch(f"/apis/apps/v1/namespaces/{corner.namespace}/deployments/web", restarted)
    until("a rollout under way", lambda: now().rolling)
    until("the rollout done", lambda: not now().rolling)


STRATEGIES: Mapping[str, Json] = {
    "OnDelete": {"type": "OnDelete"},
    "partition": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
}


@pytest.mark.parametrize(("strategy", "is_newest"), [("OnDelete", True), ("partition", False)])
def test_a_stateful_set_makes_the_pod_that_ebb_expects(
    strategy: str, *, is_newest: bool, cluster: KubernetesCluster, corner: Corner
) -> None:
    """Its template is edited, and the pod that runs is evicted."""
    namespace, api = corner.namespace, corner.plane.api
    plain = deployment("db", namespace=namespace, replicas=1, grace=1)
    api.create([{**plain, "kind": "StatefulSet", "spec": {**plain["spec"], "updateStrategy": STRATEGIES[strategy]}}])
    corner.hurry("db", 1)
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets/db"
    edited = {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/os": "linux"}}}}}
    assert api.patch(path, edited)

    def pods() -> list[Pod]:
        return [pod for pod in cluster.read().pods if pod.key == f"{namespace}/db-0" and pod.deleting is None]

    (before,) = pods()
    name = before.spec.workload
    until("the edit is seen", lambda: _has_an_update(cluster.workloads_of([name])[name]))
    (expected,) = as_they_return([before], cluster.workloads_of([name]))
    assert cluster.evict(before, 1).answer is EvictionAnswer.GRANTED
    after = until("another pod", lambda: next((pod for pod in pods() if pod.uid != before.uid), None))

    assert bool(expected.spec.node_selector) is bool(after.spec.node_selector) is is_newest
    (following,) = as_they_return([after], cluster.workloads_of([name]))
    assert following.spec is after.spec, "it is as the revision that made it"


def _has_an_update(found: Workload) -> bool:
    revisions = found.revisions
    return revisions is not None and revisions.update not in {"", revisions.current}


Raw = dict[str, Any]
NEVER = {"kwok.ebb.internal/readiness": "1h", "local.ebb.internal/never-ready": "true"}


def rolling(surge: int | str, unavailable: int | str) -> Raw:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


CASES: dict[str, tuple[int, Raw]] = {
    "one-by-default": (1, {}),
    "one-that-may-be-missing": (1, rolling(0, 1)),
    "one-with-neither": (1, rolling(1, "0%")),
    "four-by-default": (4, {}),
    "five-rounded-to-neither": (5, rolling("0%", "15%")),
    "three-with-half": (3, rolling("50%", "0%")),
    "ten-with-bounds": (10, rolling(3, 2)),
}
FIRST, SECOND = {"example.com/turn": "first", **NEVER}, {"example.com/turn": "second", **NEVER}
TURNS: tuple[dict[str, str | None], ...] = (dict(FIRST), dict(SECOND), dict.fromkeys(SECOND))
"""A template whose pods never get ready, another one before the first is through, and the old one again."""


def annotated(notes: dict[str, str | None]) -> Raw:
    return {"spec": {"template": {"metadata": {"annotations": notes}}}}


def manifest(name: str, namespace: str) -> Raw:
    replicas, strategy = CASES[name]
    made = deployment(name, replicas=replicas, cpu="10m", memory="8Mi", grace=1, namespace=namespace)
    return {**made, "spec": {**made["spec"], "strategy": strategy}} if strategy else made


def simulated(name: str) -> list[list[int]]:
    """The sizes of the ReplicaSets at rest before the first turn and after each."""
    virtual = VirtualCluster([node("a"), node("b")], shutdown=1.0)
    virtual.add("deployments", manifest(name, "default"))
    found = []
    for notes in ({}, *TURNS):
        path = f"/apis/apps/v1/namespaces/default/deployments/{name}"
        virtual.json("PATCH", path, annotated(notes), type=MERGE)
        virtual.run(30)
        found.append(_sizes(virtual.store.all("replicasets")))
    return found


def _sizes(sets: list[Raw]) -> list[int]:
    return sorted(each["spec"]["replicas"] for each in sets)


@pytest.mark.deep
def test_rollouts_reach_a_steady_state_at_the_sizes_of_the_simulated_ones(corner: Corner) -> None:
    api, apps = corner.plane.api, f"/apis/apps/v1/namespaces/{corner.namespace}"
    api.create([manifest(name, corner.namespace) for name in CASES])
    for name, (replicas, _) in CASES.items():
        until(f"the pods of {name}", partial(corner.ready, name, replicas))
    expected = {name: simulated(name) for name in CASES}

    def at_rest(turn: int) -> bool:
        seen = all(map(is_seen, api.items(f"{apps}/deployments")))
        return seen and all(sizes_of(name) == expected[name][turn] for name in CASES)

    def is_seen(made: Raw) -> bool:
        return bool(made["status"].get("observedGeneration") == made["metadata"]["generation"])

    def sizes_of(name: str) -> list[int]:
        sets = api.items(f"{apps}/replicasets?labelSelector=app%3D{name}")
        return _sizes(sets)

    for turn, notes in enumerate(TURNS, start=1):
        for name in CASES:
            assert api.patch(f"{apps}/deployments/{name}", annotated(notes))
        wanted = [(name, rows[turn]) for name, rows in expected.items()]
        until(f"turn {turn} at rest: {wanted}", partial(at_rest, turn))
        assert at_rest(turn), {name: (sizes_of(name), rows[turn]) for name, rows in expected.items()}
