"""A shop's cluster as `kubectl get … -o json` prints it, of any size, and reports of it: in tests and in the docs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.plan.compute import PlanOptions
from functions.cli.report.cluster_section import ReportInput
from functions.cli.report.compute import document, input_of
from tests.cli import dumps

HEX: Final = "bcdfghjklmnpqrstvwxz2456789"
POLICY: Final = """\
cluster: {minimumNodes: 6}
defaults:
  enabled: true
  scaleDownCPURequestRatioLimit: 0.85
  scaleDownMemoryRequestRatioLimit: 0.85
  maxNodesPerPass: 3
nodePools:
  web-pool:
    disruption:
      budgets:
        - {nodes: 0, schedule: "0 9 * * mon-fri", duration: 8h, timeZone: Europe/Amsterdam}
        - {nodes: 20%}
  default-pool:
    disruption:
      windows:
        - {schedule: "0 20 * * *", duration: 10h, timeZone: Europe/Amsterdam}
      budgets:
        - {nodes: 3}
  batch-pool: {enabled: false}
"""


@dataclass(frozen=True)
class App:
    """A workload: where it runs, what it asks for, and how its pods come to stay."""

    name: str
    namespace: str
    pool: str
    cpu: int
    memory: int
    share: int
    """How often it occurs among the pods of its pool."""
    kind: str = "Deployment"
    local_data: bool = False


APPS: Final = (
    App("storefront", "shop", "web-pool", 250, 640, 9),
    App("checkout", "shop", "web-pool", 400, 900, 5),
    App("cart", "shop", "web-pool", 200, 512, 5),
    App("search", "shop", "web-pool", 600, 1900, 3),
    App("recommendations", "shop", "web-pool", 350, 1400, 3),
    App("sessions", "shop", "web-pool", 150, 700, 1, "StatefulSet", local_data=True),
    App("orders", "backend", "default-pool", 300, 1000, 6),
    App("payments", "backend", "default-pool", 350, 800, 4),
    App("stock", "backend", "default-pool", 250, 1200, 4),
    App("mail", "backend", "default-pool", 100, 300, 3),
    App("ledger", "backend", "default-pool", 500, 2000, 1, "StatefulSet"),
    App("api-gateway", "platform", "default-pool", 450, 700, 3),
    App("metrics", "platform", "default-pool", 300, 2400, 2),
    App("reports", "data", "batch-pool", 700, 1500, 3),
    App("feature-builder", "data", "batch-pool", 500, 2200, 4),
    App("importer", "data", "batch-pool", 900, 1800, 1, "Job"),
)
POOLS: Final = ("web-pool", "default-pool", "batch-pool")
_OF_TEN: Final = (0, 1, 0, 1, 2, 0, 1, 0, 1, 1)
"""The pools of ten nodes."""
_FILLS: Final = (56, 61, 52, 72, 58, 66, 54, 80, 43, 63, 57)
"""How much of its CPU the pods of a node ask for, in percent."""
_OFFERED: Final = 3_920
_TAINT: Final = {"key": "batch", "value": "true", "effect": "NoSchedule"}


def items(nodes: int, pods_a_node: int = 0) -> Iterator[dict[str, Any]]:
    """Yield all objects; `pods_a_node`: so many small ones, whatever the workloads ask for else."""
    running: Counter[str] = Counter()
    for name in sorted({app.namespace for app in APPS} | {"kube-system"}):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"name": name}}}
    for number in range(nodes):
        node = _node(number)
        yield node
        on = node["metadata"]["name"]
        yield dumps.pod(
            f"fluentbit-gke-{_tail(number)}", on, app="logs", kind="DaemonSet", cpu="100m", namespace="kube-system"
        )
        yield from _pods(number, on, running, pods_a_node)
    for app in APPS:
        if app.kind == "Deployment":
            yield from _behind(app, running[app.name])
    for name, allowed in (("ledger", 0), ("checkout", 2), ("payments", 2), ("storefront", 5)):
        yield {
            **dumps.pdb(name, name, running[name], allowed),
            "metadata": _named(name, next(app.namespace for app in APPS if app.name == name)),
        }


def write_shop(path: Path, nodes: int = 60, pods_a_node: int = 0) -> Path:
    return dumps.write_items(path, items(nodes, pods_a_node))


def _pool(number: int) -> str:
    return POOLS[_OF_TEN[number % len(_OF_TEN)]]


def _node(number: int) -> dict[str, Any]:
    node, pool = dumps.node(number), _pool(number)
    name = f"gke-shop-{pool}-7c1e{number % 3}f2a-{_tail(number)}"
    zone = f"europe-west4-{'abc'[number % 3]}"
    labels = {
        **node["metadata"]["labels"],
        "cloud.google.com/gke-nodepool": pool,
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": zone,
    }
    if pool == "batch-pool":
        labels["cloud.google.com/gke-spot"] = "true"
        node["spec"] = {"taints": [_TAINT]}
    node["metadata"] |= {"name": name, "labels": labels}
    node["spec"] |= {"providerID": f"gce://shop/{zone}/{name}"}
    return node


def _pods(number: int, on: str, running: Counter[str], pods_a_node: int) -> Iterator[dict[str, Any]]:
    """Yield pods of the pool's workloads in turn until the node is as full as it should be."""
    turns = [app for app in APPS if app.pool == _pool(number) for _ in range(app.share)]
    full = _OFFERED * _FILLS[number % len(_FILLS)] // 100
    asked, turn = 100, number * 5
    while asked < full:
        app = turns[turn * 7 % len(turns)]
        if pods_a_node:
            app = replace(app, cpu=-(-(full - 100) // pods_a_node), memory=200)
        running[app.name] += 1
        asked, turn = asked + app.cpu, turn + 1
        yield _pod(app, running[app.name], on)


def _pod(app: App, number: int, on: str) -> dict[str, Any]:
    kinds = {"Deployment": "ReplicaSet"}
    name = f"{app.name}-{number - 1}" if app.kind == "StatefulSet" else f"{app.name}-5d4f8b-{_tail(number * 31)}"
    spec: dict[str, Any] = {"volumes": [{"name": "cache", "emptyDir": {}}]} if app.local_data else {}
    if app.pool == "batch-pool":
        spec["tolerations"] = [_TAINT]
    kind, cpu = kinds.get(app.kind, app.kind), f"{app.cpu}m"
    pod = dumps.pod(name, on, app=app.name, kind=kind, cpu=cpu, namespace=app.namespace, **spec)
    pod["metadata"]["uid"] = f"pod-{app.namespace}-{name}"
    pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = f"{app.memory}Mi"
    if app.kind == "StatefulSet":
        pod["metadata"]["ownerReferences"][0]["name"] = app.name
    return pod


def _tail(number: int) -> str:
    return "".join(HEX[number * 7919 // len(HEX) ** place % len(HEX)] for place in range(5))


def _named(name: str, namespace: str) -> dict[str, Any]:
    return {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "generation": 1}


def _behind(app: App, replicas: int) -> Iterator[dict[str, Any]]:
    """Yield the Deployment of a workload and its ReplicaSet, which are not in the middle of a rollout."""
    counted: dict[str, Any] = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas"), replicas)
    counted |= {"updatedReplicas": replicas, "observedGeneration": 1}
    deployment, spec = _named(app.name, app.namespace), {"replicas": replicas}
    kind = {"apiVersion": "apps/v1", "kind": "Deployment"}
    owner = {**kind, "name": app.name, "uid": deployment["uid"], "controller": True}
    selector = {"selector": {"matchLabels": {"app": app.name}}}
    yield {**kind, "metadata": deployment, "spec": {**spec, **selector}, "status": counted}
    own = {**_named(f"{app.name}-5d4f8b", app.namespace), "uid": f"rs-{app.name}", "ownerReferences": [owner]}
    yield {**kind, "kind": "ReplicaSet", "metadata": own, "spec": spec, "status": counted}


def shop(folder: Path, nodes: int = 60) -> Sources:
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    return Sources((write_shop(folder / "shop.json", nodes),), policy=policy)


def report_input(sources: Sources) -> ReportInput:
    return input_of(gather(sources), PlanOptions())


def told(sources: Sources) -> dict[str, Any]:
    return document(report_input(sources))


def objects(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
