"""The simulated API server answers as a real one does, and the simulated autoscaler works the same against both."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import pytest

from infra.local.clocks import SystemClock
from infra.local.http_messages import HttpTransport, RefusedCall
from infra.local.machine_types import make_node
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import AutoscalerSettings
from infra.local.world.kinds import Json
from infra.local.world.pods import is_ready
from tests.local.virtual_cluster import VirtualCluster
from tests.real.control_plane import MERGE_PATCH, ControlPlane
from tests.real.installation import simulated_pool
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane

SPACE, NODE = "twins", "twin-node"
PODS = f"/api/v1/namespaces/{SPACE}/pods"
BUDGETS = f"/apis/policy/v1/namespaces/{SPACE}/poddisruptionbudgets"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}
PLAIN = "application/json"
MINE, THEIRS = ({"key": key, "effect": "PreferNoSchedule"} for key in ("mine", "theirs"))


class Twin(Protocol):
    def ask(self, method: str, path: str, body: Any = None, content: str = PLAIN) -> tuple[int, Json, Json]: ...

    def until(self, what: str, holds: Callable[[], object]) -> None: ...


class Little:
    def __init__(self) -> None:
        self.virtual = VirtualCluster([])

    def ask(self, method: str, path: str, body: Any = None, content: str = PLAIN) -> tuple[int, Json, Json]:
        bare, _, query = path.partition("?")
        pairs = dict(part.split("=", 1) for part in query.split("&") if part)
        answer = self.virtual.call(method, bare, body, type=content, query=pairs)
        return answer.status, json.loads(answer.body), dict(answer.headers)

    def until(self, what: str, holds: Callable[[], object]) -> None:
        if not holds():
            self.virtual.run(3)
            assert holds(), what


class Real:
    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane

    def ask(self, method: str, path: str, body: Any = None, content: str = PLAIN) -> tuple[int, Json, Json]:
        answer = self.plane.api.request(method, path, body, content)
        return answer.status, answer.body, dict(answer.headers)

    def until(self, what: str, holds: Callable[[], object]) -> None:
        until(what, holds)


def pod_body(name: str, app: str, *, ready: bool = True) -> Json:
    spec = {"nodeName": NODE, "containers": [{"name": "main", "image": "x"}], "automountServiceAccountToken": False}
    knobs = {} if ready else {"local.ebb.internal/never-ready": "true"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}, "annotations": knobs},
        "spec": {**spec, "terminationGracePeriodSeconds": 600},
    }


def create(twin: Twin, name: str, *, ready: bool = True) -> None:
    """A pod of the app that its name says (`web-0` is one of `web`), if it is not there yet."""
    body = pod_body(name, name.rpartition("-")[0] or name, ready=ready)
    twin.until(f"{name} is created", lambda: twin.ask("POST", PODS, body)[0] in {201, 409})


def start(twin: Twin, name: str, *, ready: bool = True) -> None:
    create(twin, name, ready=ready)
    twin.until(f"{name} runs", lambda: twin.ask("GET", f"{PODS}/{name}")[1]["status"].get("phase") == "Running")
    if not ready:
        status = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
        assert twin.ask("PATCH", f"{PODS}/{name}/status", status, MERGE_PATCH)[0] == 200


def guard(twin: Twin, name: str, app: str, **spec: Any) -> None:
    """A budget whose status counts every pod that is ready by now."""
    selector, wanted = {"matchLabels": {"app": app}}, sum(map(is_ready, pods_of(twin, app)))
    meta = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}}
    code, body, _ = twin.ask("POST", BUDGETS, {**meta, "spec": {"selector": selector, **spec}})
    assert code == 201, body

    def synced() -> bool:
        status = twin.ask("GET", f"{BUDGETS}/{name}")[1].get("status", {})
        return bool(status.get("observedGeneration") == 1 and status.get("currentHealthy") == wanted)

    twin.until(f"budget {name} is synced", synced)


def pods_of(twin: Twin, app: str) -> list[Json]:
    found: list[Json] = twin.ask("GET", PODS)[1]["items"]
    return [pod for pod in found if pod["metadata"]["labels"].get("app") == app]


def evict(twin: Twin, name: str, meta_name: str | None = None, **options: Any) -> tuple[int, Json, Json]:
    meta = {"name": meta_name or name, "namespace": SPACE}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta, "deleteOptions": options}
    return twin.ask("POST", f"{PODS}/{name}/eviction", body)


def brief(answer: tuple[int, Json, Json]) -> tuple[Any, ...]:
    """What a client acts on: code, reason, causes, Retry-After."""
    code, body, headers = answer
    causes = (body.get("details") or {}).get("causes") or []
    retry = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    return code, body.get("status"), body.get("reason"), causes, retry


def taints(twin: Twin) -> list[str]:
    listed = twin.ask("GET", f"/api/v1/nodes/{NODE}")[1]["spec"].get("taints") or []
    return [taint["key"] for taint in listed if taint["key"] in {"mine", "theirs"}]


def patched_taints(twin: Twin, value: Any) -> list[str]:
    path = f"/api/v1/nodes/{NODE}"
    twin.ask("PATCH", path, {"spec": {"taints": [THEIRS]}}, MERGE_PATCH)
    twin.ask("PATCH", path, {"spec": {"taints": value}}, MERGE_PATCH)
    return taints(twin)


def stale_patch(twin: Twin) -> tuple[Any, ...]:
    patch = {"metadata": {"resourceVersion": "1"}, "spec": {"unschedulable": True}}
    return brief(twin.ask("PATCH", f"/api/v1/nodes/{NODE}", patch, MERGE_PATCH))


def wrong_uid(twin: Twin) -> tuple[Any, ...]:
    start(twin, "uid")
    return brief(evict(twin, "uid", preconditions={"uid": "00000000-0000-4000-8000-000000000000"}))


def wrong_name(twin: Twin) -> tuple[Any, ...]:
    start(twin, "named")
    return brief(evict(twin, "named", "other"))[:3]


def exhausted(twin: Twin) -> tuple[Any, ...]:
    start(twin, "ex-0")
    guard(twin, "ex", "ex", minAvailable=1)
    return brief(evict(twin, "ex-0"))


def two_budgets(twin: Twin) -> tuple[Any, ...]:
    start(twin, "two-0")
    for name in ("two-a", "two-b"):
        guard(twin, name, "two", minAvailable=0)
    code, body, _ = evict(twin, "two-0")
    return code, body["message"]


def unhealthy(twin: Twin, **spec: Any) -> tuple[Any, ...]:
    app = f"sick-{'-'.join(str(value) for value in spec.values()).lower()}"
    start(twin, f"{app}-0")
    start(twin, f"{app}-1", ready=False)
    guard(twin, app, app, **spec)
    return brief(evict(twin, f"{app}-1"))


def dry(twin: Twin) -> tuple[Any, ...]:
    for number in range(2):
        start(twin, f"dry-{number}")
    guard(twin, "dry", "dry", minAvailable=1)
    answers = [brief(evict(twin, f"dry-{number}", dryRun=["All"])) for number in range(2)]
    status = twin.ask("GET", f"{BUDGETS}/dry")[1]["status"]
    return answers, status["disruptionsAllowed"], status.get("disruptedPods")


def granted(twin: Twin) -> tuple[Any, ...]:
    for number in range(2):
        start(twin, f"ok-{number}")
    guard(twin, "ok", "ok", minAvailable=1)
    first, second = brief(evict(twin, "ok-0", gracePeriodSeconds=300)), evict(twin, "ok-1")
    left = twin.ask("GET", f"{PODS}/ok-0")[1]
    targets = [item["reason"] for item in left["status"]["conditions"] if item["type"] == "DisruptionTarget"]
    return first, second[0], left["metadata"]["deletionGracePeriodSeconds"], targets


def shares(twin: Twin) -> Json:
    """A share over bare pods has no scale to count on."""
    start(twin, "bare-0")
    meta = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "bare"}}
    spec = {"selector": {"matchLabels": {"app": "bare"}}, "maxUnavailable": 1}
    twin.ask("POST", BUDGETS, {**meta, "spec": spec})

    def status() -> Json:
        found: Json = twin.ask("GET", f"{BUDGETS}/bare")[1].get("status", {})
        return found

    twin.until("the budget's failure is told", lambda: status().get("conditions"))
    return {"allowed": status()["disruptionsAllowed"], "reason": status()["conditions"][0]["reason"]}


def grace(twin: Twin) -> list[Any]:
    """A second eviction may shorten an end, never prolong it; a grace of zero is at once."""
    start(twin, "grace")
    seen: list[Any] = []
    for seconds in (400, 500, 100):
        evict(twin, "grace", gracePeriodSeconds=seconds)
        seen.append(twin.ask("GET", f"{PODS}/grace")[1]["metadata"]["deletionGracePeriodSeconds"])
    evict(twin, "grace", gracePeriodSeconds=0)
    return [*seen, twin.ask("GET", f"{PODS}/grace")[0]]


def waiting_pod(twin: Twin) -> tuple[Any, ...]:
    """A pod that is bound but not running yet needs no budget."""
    start(twin, "wait-0")
    guard(twin, "wait", "wait", minAvailable=1)
    twin.ask("POST", PODS, pod_body("wait-1", "wait"))
    return brief(evict(twin, "wait-1")), evict(twin, "wait-0")[0]


def taken_name(twin: Twin) -> tuple[Any, ...]:
    start(twin, "taken")
    return brief(twin.ask("POST", PODS, pod_body("taken", "taken")))


def generations(twin: Twin, group: str, kind: str, **changed: int) -> list[int]:
    """After a label, an annotation of its own, one that is not there, and a change of its spec; it has no pods."""
    meta, path = {"name": "counted"}, f"/apis/{group}/v1/namespaces/{SPACE}/{kind.lower()}s"
    spec: Json = {"selector": {"matchLabels": {"app": "counted"}}}
    if group == "apps":
        pod = pod_body("counted", "counted")
        template = {
            "metadata": {"labels": pod["metadata"]["labels"]},
            "spec": {"containers": pod["spec"]["containers"]},
        }
        spec |= {"replicas": 0, "template": template}
    code, body, _ = twin.ask("POST", path, {"apiVersion": f"{group}/v1", "kind": kind, "metadata": meta, "spec": spec})
    assert code == 201, body
    metas = ({"labels": {"turn": "one"}}, {"annotations": {"turn": "one"}}, {"annotations": {"none": None}})
    patches = (*({"metadata": meta} for meta in metas), {"spec": changed})
    answers = [twin.ask("PATCH", f"{path}/counted", patch, MERGE_PATCH) for patch in patches]
    return [body["metadata"]["generation"] for _, body, _ in answers]


UNREADY = {"sick-1-1", "sick-2-1", "sick-2-alwaysallow-1"}
STARTED = sorted(
    {"uid", "named", "ex-0", "two-0", "dry-0", "dry-1", "ok-0", "ok-1", "bare-0"}
    | {"sick-1-0", "sick-2-0", "sick-2-alwaysallow-0", "grace", "wait-0", "taken"}
    | UNREADY
)

CASES: list[Any] = [
    pytest.param(lambda twin: patched_taints(twin, [MINE]), id="a merge patch of taints"),
    pytest.param(lambda twin: patched_taints(twin, None), id="a null"),
    pytest.param(stale_patch, id="a stale version"),
    pytest.param(lambda twin: brief(twin.ask("PATCH", f"/api/v1/nodes/{NODE}", {}))[:3], id="no patch type"),
    pytest.param(lambda twin: brief(twin.ask("GET", "/api/v1/nodes/none")), id="an unknown node"),
    pytest.param(lambda twin: brief(evict(twin, "nobody")), id="an unknown pod"),
    pytest.param(wrong_uid, id="another uid"),
    pytest.param(wrong_name, id="another name"),
    pytest.param(exhausted, id="an exhausted budget"),
    pytest.param(two_budgets, id="two budgets"),
    pytest.param(lambda twin: unhealthy(twin, minAvailable=1), id="an unready pod under a healthy budget"),
    pytest.param(lambda twin: unhealthy(twin, minAvailable=2), id="an unready pod under an unhealthy budget"),
    pytest.param(
        lambda twin: unhealthy(twin, minAvailable=2, unhealthyPodEvictionPolicy="AlwaysAllow"),
        id="an unready pod that may always go",
    ),
    pytest.param(dry, id="dry evictions"),
    pytest.param(granted, id="a granted eviction"),
    pytest.param(shares, id="a share over bare pods"),
    pytest.param(grace, id="graces"),
    pytest.param(waiting_pod, id="a pod that does not run yet"),
    pytest.param(taken_name, id="a name that is taken"),
    *(
        pytest.param(partial(generations, group="apps", kind=kind, minReadySeconds=5), id=f"a generation: {kind}")
        for kind in ("Deployment", "ReplicaSet", "StatefulSet")
    ),
    pytest.param(partial(generations, group="policy", kind="PodDisruptionBudget", minAvailable=1), id="a budget's"),
    pytest.param(lambda twin: brief(twin.ask("GET", f"{PODS}?fieldSelector=spec.x=x"))[:3], id="an unknown selector"),
    pytest.param(lambda twin: brief(twin.ask("GET", BUDGETS.replace("v1", "v1beta1", 1)))[0], id="an old version"),
]


@pytest.fixture(scope="module")
def twins(control_plane: ControlPlane) -> Iterator[tuple[Twin, Twin]]:
    pair: tuple[Twin, Twin] = (Little(), Real(control_plane))
    for twin in pair:
        twin.ask("POST", "/api/v1/namespaces", {**NAMESPACE, "metadata": {"name": SPACE}})
        twin.ask("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "spec": {}})
        for name in STARTED:  # together, for a kubelet takes seconds
            create(twin, name, ready=name not in UNREADY)
    yield pair
    for kind in ("namespaces", "nodes"):
        control_plane.api.request("DELETE", f"/api/v1/{kind}/{SPACE if kind == 'namespaces' else NODE}")


@pytest.mark.parametrize("case", CASES)
def test_the_simulated_api_answers_as_the_real_one(case: Callable[[Twin], Any], twins: tuple[Twin, Twin]) -> None:
    simulated, real = twins
    assert case(simulated) == case(real)


def test_empty_nodes_above_the_minimum_go_and_a_waiting_pod_brings_one(control_plane: ControlPlane) -> None:
    pool = simulated_pool("scaled", 1, 3, zones=["z1-a"])
    settings = AutoscalerSettings(scan_interval=0.3, unneeded_time=1, deletion=0.3, delay_after_delete=0)
    transport = HttpTransport(control_plane.proxy_url)
    autoscaler = Autoscaler(transport, {pool.name: pool}, SystemClock(), settings, cluster="real")
    api = control_plane.api
    for serial in ("a", "b"):
        assert api.request("POST", "/api/v1/nodes", make_node(pool, "z1-a", "real", serial)).status == 201
    path = f"/api/v1/nodes?labelSelector=cloud.google.com%2Fgke-nodepool%3D{pool.name}"

    def nodes() -> int:
        with suppress(RefusedCall):  # somebody else wrote the node meanwhile: the next loop starts afresh
            autoscaler.step()
        return len(api.items(path))

    until("one of two empty nodes is gone", lambda: nodes() == 1)
    meta = {"name": "scaled", "namespace": "default"}
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "3"}}}
    spec = {"containers": [container], "nodeSelector": {"cloud.google.com/gke-nodepool": pool.name}}
    template = {"metadata": {"labels": {"app": "scaled"}}, "spec": spec}
    body = {"replicas": 2, "selector": {"matchLabels": {"app": "scaled"}}, "template": template}
    api.create([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": body}])
    until("a node was added for the pod that had no room", lambda: nodes() == 2)
    reasons = {event["reason"] for event in api.items("/api/v1/namespaces/default/events")}
    api.request("DELETE", "/apis/apps/v1/namespaces/default/deployments/scaled")
    assert {"ScaleDown", "TriggeredScaleUp"} <= reasons
