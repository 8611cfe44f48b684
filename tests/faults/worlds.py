"""The small worlds that histories begin in; a drain, its watchdog and a deletion fit into a few virtual minutes."""

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

from infra.local.scaling.view import CLASS_LABEL
from infra.local.scenario import Scenario
from shared.core.policy import Policy
from shared.core.policy.parsing import parse

TOPIC = "projects/local/topics/orders"
INTERVAL = 90.0
STEP_SECONDS = 20.0
ACK_DEADLINE = 45.0
REAPER = {
    "kind": "ComputeClass",
    "metadata": {"name": "reaper"},
    "spec": {"autoscalingPolicy": {"consolidationThreshold": 0}},
}
"""Its nodes go only once nothing is asked of them; how soon, the scenario says."""


@dataclass(frozen=True)
class Limits:
    """The policy's numbers, written once: the policy's text is made of them, and the oracle counts by them."""

    pool: int = 2
    ceiling: int = 2
    starts_per_hour: int = 10
    minimum_nodes: int = 3
    pool_minimum: int = 1
    timeout: float = 60.0
    max_grace: float = 10.0
    watchdog: float = 120.0
    disk_moves: float = 0.0
    """What a drain's deadline gives for disks, in a world that has any."""
    interval: float = INTERVAL
    """Seconds between two ticks of the planner."""
    single_replicas: str = ""
    """The policy's `singleReplicas`; empty where it says nothing of it."""
    steers: bool = False
    """Whether the policy steers scale-in."""
    waves: bool = False
    """Whether the policy has waves."""
    consolidate_after: float = 0.0
    """`consolidateAfter`, in seconds."""
    commitments: bool = False
    """Whether the planner reads commitments."""
    awaiting: int | None = None
    """`awaitingDeletion`, where a budget ends when pods run again; None where it ends with the node."""

    @property
    def longest_cordon(self) -> float:
        """Drain deadline, watchdog and two passes (docs/decisions/promise.md), in seconds."""
        return self.timeout + self.max_grace + self.disk_moves + self.watchdog + 2 * self.interval

    def text(self, **changes: bool) -> str:
        """The policy document; `paused=`, `dryRun=` and `steerScaleIn=` may be switched."""
        steers = changes.pop("steerScaleIn", self.steers)
        switches = {"dryRun": False, "paused": False, **changes}
        head = "".join(f"{name}: {str(value).lower()}\n" for name, value in switches.items())
        single = f"    singleReplicas: {self.single_replicas}\n" if self.single_replicas else ""
        steered = "    steerScaleIn: true\n" if steers else ""
        body = _POLICY.format(**vars(self)) + single + steered
        if self.awaiting is not None:
            budgets = f"{{budgets: [{{nodes: {self.ceiling}}}]"
            body = body.replace(budgets, f"{budgets}, awaitingDeletion: {self.awaiting}", 1)
            body = body.replace("drain: {", "drain: {budgetUntil: replaced, ", 1)
        more = (_WAVES if self.waves else "") + (_COMMITMENTS if self.commitments else "")
        return head + body.replace("cluster:\n", f"cluster:\n{more}", 1)


_WAVES = "  wave: {nodes: 60%, deadline: 8m}\n"
_COMMITMENTS = "  commitments: {read: true}\n"
BUSY = 0.75
"""From this share of its CPU on a node is not underutilized, as a policy has it that says nothing of it."""
_POLICY = """\
cluster:
  minimumNodes: {minimum_nodes}
  minimumNonTaintedNodes: 1
  timeSinceLastAddition: 0s
  timeGap: 0s
  disruption: {{budgets: [{{nodes: {ceiling}}}]}}
  rate: {{nodes: {starts_per_hour}, per: 1h}}
drain: {{maxGracePeriod: {max_grace:g}s, timeout: {timeout:g}s, watchdog: {watchdog:g}s, pendingGrace: 20s}}
nodePools:
  web:
    enabled: true
    scaleDownRequiredUnderutilizedNodeCount: 1
    excessNodesThreshold: 0
    headroom: 0%
    minimumNodeAge: 0s
    maxNodesPerPass: 2
    disruption: {{consolidateAfter: {consolidate_after:g}s, budgets: [{{nodes: {pool}}}]}}
"""


@cache
def policy(text: str) -> Policy:
    return parse(text.encode())


@dataclass(frozen=True)
class Setting:
    name: str
    scenario: Scenario
    limits: Limits
    webhooks: tuple[tuple[str, dict[str, str]], ...] = ()
    """Apps and the requests that a mutating webhook writes into their new pods; nobody but its owner knows of it."""

    @property
    def apps(self) -> frozenset[str]:
        return frozenset(workload.name for workload in self.scenario.workloads)


def workload(name: str, nodes: list[int], kind: str = "Deployment", cpu: int = 500, **more: Any) -> dict[str, Any]:
    """A workload with one replica on each of the nodes named; ready in 2 s, gone in 2 s."""
    return {
        "kind": kind,
        "name": name,
        "replicas": len(nodes),
        "requests": {"cpu": f"{cpu}m", "memory": "256Mi"},
        "nodes": [f"web/{index}" for index in nodes],
        "readyAfter": 2,
        "grace": 10,
        **more,
    }


def disk(name: str, zone: str = "europe-west4-a") -> tuple[dict[str, Any], ...]:
    modes = ["ReadWriteOnce"]
    terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]
    source = {"csi": {"driver": "pd.csi.storage.gke.io", "volumeHandle": f"disks/{name}"}}
    volume = {"accessModes": modes, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}, **source}
    bound = {"name": name, "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    return (
        {"kind": "PersistentVolume", "metadata": {"name": f"pv-{name}"}, "spec": volume},
        {"kind": "PersistentVolumeClaim", "metadata": bound, "status": {"phase": "Bound"},
         "spec": {"accessModes": modes, "volumeName": f"pv-{name}"}},
    )  # fmt: skip


def mounted(*claims: str) -> dict[str, Any]:
    return {"pod": {"volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]}}


def setting(
    name: str,
    workloads: list[dict[str, Any]],
    nodes: int = 5,
    limits: Limits | None = None,
    manifests: tuple[dict[str, Any], ...] = (),
    zones: int = 1,
    webhooks: tuple[tuple[str, dict[str, str]], ...] = (),
    **autoscaler: Any,
) -> Setting:
    limits = limits or Limits()
    pool = {
        "name": "web",
        "count": nodes,
        "zones": [f"europe-west4-{zone}" for zone in "abc"[:zones]],
        "machineType": "e2-standard-2",
        "labels": _class_labels(manifests),
        "autoscaling": {"minNodeCount": limits.pool_minimum, "maxNodeCount": nodes + 1},
    }
    times = {"scanInterval": 30, "unneededTime": 25, "deletion": 15, "delayAfterDelete": 5, "delayAfterFailure": 30}
    body = {
        "pools": [pool],
        "workloads": workloads,
        "manifests": manifests,
        "topics": [TOPIC],
        "kubelet": {"readyAfter": [2, 2], "shutdown": 2, "nodeBoot": 5},
        "autoscaler": {**times, **autoscaler},
    }
    return Setting(name, Scenario.model_validate(body), limits, webhooks)


def _class_labels(manifests: tuple[dict[str, Any], ...]) -> dict[str, str]:
    names = [manifest["metadata"]["name"] for manifest in manifests if manifest["kind"] == "ComputeClass"]
    return {CLASS_LABEL: names[0]} if names else {}


STAYS: Final[dict[str, Any]] = {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}
"""What a workload has whose pods the autoscaler, and Ebb, leave where they are."""


def _full(nodes: tuple[int, ...], cpu: int, **more: Any) -> list[dict[str, Any]]:
    return [workload(f"full{node}", [node], cpu=cpu, **more) for node in nodes]


def _pair() -> list[dict[str, Any]]:
    """Pods on the first node, which may go: all find room on one other node only, and not all move at once."""
    slow = workload("slow", [0], kind="StatefulSet", cpu=500, shutdown=8)
    return [slow, workload("other", [0, 0], cpu=250, pdb={"maxUnavailable": 1})]


@cache
def settings() -> tuple[Setting, ...]:
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    api = workload("api", [3, 4], pdb={"minAvailable": 1})
    db = workload("db", [1, 2], kind="StatefulSet")
    return (
        setting("two may go", [web, api, db]),
        setting("one at a time", [web, api, db], limits=Limits(pool=1, ceiling=1)),
        setting("nobody deletes", [web, db], enabled=False, limits=Limits(minimum_nodes=4, starts_per_hour=1)),
        setting("deletion fails", [web, api], failDeletions=["web/0-4"], limits=Limits(minimum_nodes=4)),
        setting("tight", [*(workload(f"app{n}", [n, (n + 1) % 4], cpu=400) for n in range(4)), db], nodes=4,
                limits=Limits(minimum_nodes=2)),
        setting("little room", [*_full((1, 2), 1780), *_full((3,), 700, **STAYS), *_pair()], nodes=4, enabled=False,
                limits=Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0)),
        setting("little room, and an autoscaler",
                [*_full((1, 2), 1780), *_full((3,), 700, **STAYS), *_full((4,), 900), *_pair()],
                unneededTime=200, limits=Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0)),
        setting("held by a budget", [web, workload("api", [3, 4], pdb={"maxUnavailable": 0})]),
    )  # fmt: skip


@cache
def with_a_disk() -> Setting:
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    db = workload("db", [2], kind="StatefulSet", **mounted("data"))
    return setting("with a disk", [web, db], limits=Limits(disk_moves=90.0), manifests=disk("data"), enabled=False)


def with_a_job() -> Setting:
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    batch = workload("batch", [2], kind="Job")
    container = {"name": "main", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    template = {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [container]}}
    old = {"kind": "ReplicationController", "metadata": {"name": "old"},
           "spec": {"replicas": 1, "selector": {"app": "old"}, "template": template}}  # fmt: skip
    return setting("with a job", [web, batch], manifests=(old,), enabled=False)


def spare_room(name: str, chunks: int, cpu: int) -> tuple[dict[str, Any], ...]:
    """A capacity buffer as its controller leaves it, and its template."""
    container = {"name": "main", "resources": {"requests": {"cpu": f"{cpu}m", "memory": "256Mi"}}}
    body = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    status = {"podTemplateRef": {"name": name}, "replicas": chunks, "readyReplicas": chunks}
    return (
        {"kind": "PodTemplate", "metadata": {"name": name}, "template": body},
        {"kind": "CapacityBuffer", "metadata": {"name": name}, "spec": {"podTemplateRef": {"name": name}},
         "status": status},
    )  # fmt: skip


@cache
def with_buffers() -> tuple[Setting, ...]:
    """Worlds in which part of the room is held by capacity buffers, and an autoscaler that deletes empty nodes alone.

    Each could go further without its buffer, and the autoscaler would then buy a node back. Of one the ComputeClass
    says so, of the others the autoscaler's own flag.
    """
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    few = Limits(minimum_nodes=1, pool_minimum=0)
    reaper: dict[str, Any] = {"threshold": 0.0}
    return (
        setting("a buffer of two chunks", [web], limits=few, manifests=spare_room("spare", 2, 1200), **reaper),
        setting("a buffer of one chunk", [web, workload("api", [1], cpu=300)], limits=few,
                manifests=(*spare_room("spare", 1, 1400), REAPER)),
        setting("a buffer of crumbs", [web, workload("api", [3, 4])], limits=few,
                manifests=spare_room("spare", 12, 200), **reaper),
    )  # fmt: skip


@cache
def drawn(seed: int) -> Setting:
    random = Random(seed)  # noqa: S311 - a world, not a secret
    nodes = random.randint(4, 6)
    limits = Limits(
        pool=random.randint(1, 2), ceiling=random.randint(1, 3), minimum_nodes=random.randint(2, nodes - 1),
        pool_minimum=random.randint(0, 2), starts_per_hour=random.randint(1, 10),
    )  # fmt: skip
    budgets: list[dict[str, Any]] = [{}, {"pdb": {"maxUnavailable": 1}}, {"pdb": {"minAvailable": "50%"}}]
    workloads = [
        workload(
            f"app{number}",
            [random.randrange(nodes) for _ in range(random.randint(1, 4))],
            kind=random.choice(["Deployment", "Deployment", "StatefulSet"]),
            cpu=random.choice([200, 400, 600]),
            **random.choice(budgets),
        )
        for number in range(3)
    ]
    return setting(f"drawn {seed}", workloads, nodes, limits, enabled=random.random() < 0.8)
