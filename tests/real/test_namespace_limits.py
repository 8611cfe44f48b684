"""What a real API server makes of pods in namespaces with LimitRanges and ResourceQuotas is what Ebb expects."""

import json
import random
from collections import Counter
from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes.namespace_limits import read_limits
from shared.adapters.kubernetes.pod_objects import PodDecoder, Template, template_class
from shared.adapters.kubernetes.wire import Pod
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.pod import PodClass
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.workloads import Workload
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import NOW, pod
from tests.real.conftest import Corner, client_as, cluster_as
from tests.real.control_plane import MERGE_PATCH, ControlPlane
from tests.real.control_plane.api import Answer
from tests.real.control_plane.manifests import namespace
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Json = dict[str, Any]
RANGES, PODS = 12, 16
CPU, MEMORY = ("100m", "200m", "500m", "1", "2"), ("64Mi", "256Mi", "1Gi", "2Gi")


class Dice:
    """Draws LimitRanges and pods of few amounts, so that they often meet."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - it makes no secret

    def often(self, share: float = 0.5) -> bool:
        return self.dice.random() < share

    def amounts(self, share: float) -> Json:
        rows = (("cpu", CPU), ("memory", MEMORY))
        return {name: self.dice.choice(values) for name, values in rows if self.often(share)}

    def limit_range(self) -> Json:
        fields = ("max", "min", "default", "defaultRequest") if self.often(0.7) else ("max", "min")
        kind = "Container" if len(fields) > 2 else "Pod"
        row: Json = {"type": kind, **{field: self.amounts(0.4) for field in fields}}
        if self.often(0.3):
            row["maxLimitRequestRatio"] = {"cpu": self.dice.choice(("1", "1.5", "4"))}
        meta = {"name": "bounds"}
        return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [row]}}

    def container(self, name: str) -> Json:
        limits = self.amounts(0.5)
        requests = {key: value for key, value in self.amounts(0.5).items() if key not in limits}
        return {"name": name, "image": "app", "resources": {"limits": limits, "requests": requests}}

    def pod(self) -> Json:
        names = ["main", *(["side"] if self.often(0.3) else [])]
        first = [self.container("first")] if self.often(0.2) else []
        return {"containers": [self.container(name) for name in names], "initContainers": first}


def namespaces(plane: ControlPlane, prefix: str, count: int) -> list[str]:
    names = [f"{prefix}-{number}" for number in range(count)]
    plane.api.create(namespace(name) for name in names)
    for name in names:
        path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        until(f"the service account of {name}", lambda path=path: plane.api.request("GET", path).status == 200)  # type: ignore[misc]
    return names


def tried(plane: ControlPlane, namespace: str, spec: Json) -> Answer:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}, "spec": spec}
    return plane.api.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", body)


def made_of(spec: Json) -> PodClass:
    return template_class(msgspec.json.decode(msgspec.json.encode({"spec": spec}), type=Template), "default")


def expected(namespace: str, spec: Json, limits: NamespaceLimits) -> PodClass:
    """What Ebb says of a running pod without requests whose controller's template is that."""
    running = pod("web-1", on="n1", namespace=namespace, cpu=0, memory=0)
    workloads = {running.spec.workload: Workload(templates=(made_of(spec),))}
    (found,) = as_they_return([running], workloads, (), limits)
    return found.spec


def test_a_limit_range_writes_and_refuses_as_ebb_shows(twenty_nodes: ControlPlane) -> None:
    dice, plane = Dice(16), twenty_nodes
    made: dict[str, Json] = {}
    for name in namespaces(plane, "bounds", RANGES):
        path, answer = f"/api/v1/namespaces/{name}/limitranges", Answer(0, {}, {})
        while answer.status != 201:
            answer = plane.api.request("POST", path, dice.limit_range())
        made[name] = answer.body
    limits, seen, wrong = read_limits(client_as(plane.kubeconfig)), Counter[str](), list[str]()
    assert {range_.namespace for range_ in limits.ranges} >= made.keys()
    for name, bounds in made.items():
        for spec in (dice.pod() for _ in range(PODS)):
            answer, ebb = tried(plane, name, spec), expected(name, spec, limits)
            if answer.status not in {201, 403}:
                seen["refused for its own sake"] += 1
                continue
            said = "refused" if answer.status == 403 else "let in"
            seen[said] += 1
            let_in = answer.status == 201
            folded = PodDecoder().decode(msgspec.json.decode(json.dumps(answer.body), type=Pod)) if let_in else None
            same = bool(ebb.refused_by) != let_in and (folded is None or folded.spec.requests == ebb.requests)
            if not same:
                wrong.append(json.dumps({"bounds": bounds["spec"], "pod": spec, "said": answer.body.get("message"),
                                         "ebb": [*ebb.refused_by, str(ebb.requests)]}))  # fmt: skip

    assert wrong == []
    assert min(seen["refused"], seen["let in"]) > 20, seen


HARD: tuple[Json, ...] = (
    {"pods": "2"},
    {"requests.cpu": "600m"},
    {"limits.memory": "1Gi", "count/pods": "9"},
    {"cpu": "1", "requests.memory": "1Gi"},
)
USED: Json = {"resources": {"requests": {"cpu": "300m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}}}


def test_a_quota_refuses_one_more_as_ebb_shows(twenty_nodes: ControlPlane) -> None:
    """What is in the namespace is counted already, as a pod is that a drain ends."""
    dice, plane, wrong, seen = Dice(17), twenty_nodes, list[str](), Counter[bool]()
    for name, hard in zip(namespaces(plane, "quota", len(HARD)), HARD, strict=True):
        meta = {"name": "team", "namespace": name}
        plane.api.create([{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}])
        path = f"/api/v1/namespaces/{name}/resourcequotas/team"
        until("a count", lambda path=path: plane.api.request("GET", path).body["status"].get("used"))  # type: ignore[misc]
        first = {"containers": [{"name": "main", "image": "app", **USED}]}
        until("a pod", lambda name=name, spec=first: _run(plane, name, spec))  # type: ignore[misc]
        limits = read_limits(client_as(plane.kubeconfig))
        for spec in (dice.pod() for _ in range(PODS)):
            answer = tried(plane, name, spec)
            if answer.status in {201, 403}:
                late = expected(name, spec, limits)
                seen[answer.status == 403] += 1
                if (late.replaced_at_end or bool(late.refused_by)) is not (answer.status == 403):
                    wrong.append(json.dumps({"hard": hard, "pod": spec, "said": answer.body.get("message")}))

    assert wrong == []
    assert min(seen.values()) > 5, seen


def _run(plane: ControlPlane, namespace: str, spec: Json) -> bool:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first"}, "spec": spec}
    return plane.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", body).status == 201


@pytest.mark.deep
def test_under_a_quota_that_is_used_up_another_comes_only_once_the_old_one_is_gone(corner: Corner) -> None:
    """And never, while more is used than it allows: that is why Ebb leaves such pods where they are."""
    [old, _] = corner.run("web", replicas=2, grace=4)
    name, namespace = old["metadata"]["name"], corner.namespace
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": namespace}}
    corner.plane.api.create([{**quota, "spec": {"hard": {"pods": "2"}}}])
    used_up = until("a quota that is used up", lambda: _late(corner))
    assert used_up.refused_by == ()

    assert corner.plane.api.evict(namespace, name).status == 201
    beside = set[int]()
    while name in (seen := {pod["metadata"]["name"] for pod in corner.pods("web")}):
        beside.add(len(seen))
    until("another", lambda: corner.ready("web", 2))
    assert beside == {2}

    path = f"/api/v1/namespaces/{namespace}/resourcequotas/team"
    corner.plane.api.request("PATCH", path, {"spec": {"hard": {"pods": "1"}}}, MERGE_PATCH)
    assert until("a refusal", lambda: found if (found := _late(corner)) and found.refused_by else None)


def _late(corner: Corner) -> PodClass | None:
    """Return the class of the corner's pods, as soon as another one would come late."""
    reading = cluster_as(corner.plane.kubeconfig).read()
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)
    found = [pod.spec for pod in snapshot.pods if pod.spec.namespace == corner.namespace]
    return next((each for each in found if each.replaced_at_end), None)
