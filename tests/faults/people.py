"""What people, the autoscaler and GKE do while Ebb works: acts with names, each written into the record."""

from dataclasses import dataclass
from functools import partial
from random import Random

import msgspec
from msgspec.structs import replace

from infra.local.world.kinds import Json
from infra.local.world.pods import node_of
from shared.ports import CLUSTER_KEY
from tests.faults import provider
from tests.faults.installation import Installation
from tests.faults.provider import Action, ask, evict_all, patch_spec
from tests.faults.replay import TAINT
from tests.faults.worlds import TOPIC, policy

AGENT = "person"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_RIVAL = "900m"
"""The CPU of another team's pod: about what a half-empty node leaves free."""


@dataclass(frozen=True)
class Act:
    """One act; `index` says which node, counted in the order of names (round and round)."""

    name: str
    index: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.index}"

    def __call__(self, ebb: Installation) -> None:
        nodes = ebb.cloud.world.store.all("nodes")
        if not nodes:
            return
        node = nodes[self.index % len(nodes)]
        about = {"node": node["metadata"]["name"], "uid": node["metadata"]["uid"], "order": holder(node)}
        about["nodes"] = len(nodes)
        ebb.cloud.world.record.add("act", {"act": self.name, **about})
        ebb.acted_at.append(ebb.clock.now())
        ACTS[self.name](ebb, node)
        ebb.cloud.world.step()  # the controllers notice at once: their lag is not what is tested here


def holder(node: Json) -> str:
    taints = [f"{taint['key']}={taint.get('value', '')}" for taint in node["spec"].get("taints") or []]
    return next((taint.removeprefix(TAINT) for taint in taints if taint.startswith(TAINT)), "")


def _write(**spec: object) -> Action:
    return lambda ebb, node: patch_spec(ebb, AGENT, node, spec)


def _untaint(ebb: Installation, node: Json, **spec: object) -> None:
    taints = node["spec"].get("taints") or []
    kept = [taint for taint in taints if not f"{taint['key']}=".startswith(TAINT)]
    patch_spec(ebb, AGENT, node, {"taints": kept, **spec})


def _delete(ebb: Installation, node: Json) -> None:
    ask(ebb, AGENT, "DELETE", f"/api/v1/nodes/{node['metadata']['name']}")


def _scale(ebb: Installation, deployment: Json, replicas: int) -> None:
    meta = deployment["metadata"]
    path = f"/apis/apps/v1/namespaces/{meta['namespace']}/deployments/{meta['name']}"
    ask(ebb, AGENT, "PATCH", path, {"spec": {"replicas": replicas}})


def _grow(ebb: Installation, _: Json) -> None:
    for deployment in ebb.cloud.world.store.all("deployments")[:1]:
        _scale(ebb, deployment, deployment["spec"]["replicas"] + 1)


def _shrink(ebb: Installation, node: Json) -> None:
    """A Deployment is scaled in by two, as an evening would have it."""
    rows = ebb.cloud.world.store.all("deployments")
    place = [node["metadata"]["name"] for node in ebb.cloud.world.store.all("nodes")].index(node["metadata"]["name"])
    for deployment in rows[place % len(rows) :][:1]:
        _scale(ebb, deployment, max(1, deployment["spec"]["replicas"] - 2))


def _rank(ebb: Installation, node: Json) -> None:
    """Somebody says himself how dear the pods of a node are."""
    for pod in ebb.cloud.world.store.all("pods"):
        if node_of(pod) == node["metadata"]["name"]:
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            ask(ebb, AGENT, "PATCH", path, {"metadata": {"annotations": {_COST: "7"}}})


def _rival(ebb: Installation, _: Json) -> None:
    """Another team's Deployment comes and grows into the room that is free."""
    store = ebb.cloud.world.store
    name = f"rival{len(store.all('deployments'))}"
    requests = {"cpu": _RIVAL, "memory": "256Mi"}
    container = {"name": "main", "image": "x", "resources": {"requests": requests}}
    pod = {"containers": [container], "terminationGracePeriodSeconds": 10}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template}
    ask(ebb, AGENT, "POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": name}, "spec": spec})


def _send(**order: str) -> Action:
    return lambda ebb, node: ebb.cloud.broker.publish(
        TOPIC, msgspec.json.encode({**order, "node": node["metadata"]["name"]}), {}
    )


def _flag(*, paused: bool) -> Action:
    def do(ebb: Installation, _: Json) -> None:
        found = ebb.state.get(CLUSTER_KEY)
        if found.value is not None:
            ebb.state.put(CLUSTER_KEY, replace(found.value, paused=paused), found.version)

    return do


def _policy(**switches: bool) -> Action:
    def do(ebb: Installation, _: Json) -> None:
        ebb.policy.policy = policy(ebb.setting.limits.text(**switches))

    return do


def _break_policy(ebb: Installation, _: Json) -> None:
    ebb.policy.policy = None


def _fail_deletions(ebb: Installation, _: Json) -> None:
    if ebb.autoscaler is not None:
        ebb.autoscaler.fail_deletions(
            frozenset(node["metadata"]["name"] for node in ebb.cloud.world.store.all("nodes"))
        )


def _lose(ebb: Installation, _: Json) -> None:
    ebb.state.documents.clear()
    ebb.hindered_at.append(ebb.clock.now())
    ebb.lost_state_at = ebb.clock.now()


BESIDE_STEERING: dict[str, Action] = {"shrink": _shrink, "rank": _rank, "stop steering": _policy(steerScaleIn=False)}
"""What people do where scale-in is steered; drawn only there."""
ACTS: dict[str, Action] = {
    "cordon": _write(unschedulable=True),
    "uncordon": _write(unschedulable=None),
    "untaint": _untaint,
    "take back": partial(_untaint, unschedulable=None),
    "delete": _delete,
    "evict": lambda ebb, node: evict_all(ebb, AGENT, node),
    "grow": _grow,
    "rival": _rival,
    "release": _send(kind="release"),
    "drain": _send(),
    "pause flag": _flag(paused=True),
    "resume flag": _flag(paused=False),
    "pause": _policy(paused=True),
    "dry run": _policy(dryRun=True),
    "resume": _policy(),
    "break policy": _break_policy,
    "fail deletions": _fail_deletions,
    "lose the state": _lose,
    **provider.PROVIDER_ACTIONS,
    **BESIDE_STEERING,
}


MEANWHILE = (
    ((100.0, Act("pause")),),
    ((100.0, Act("pause flag")), (250.0, Act("resume flag"))),
    ((100.0, Act("dry run")),),
    ((100.0, Act("cordon", 1)), (101.0, Act("cordon", 2))),
    ((100.0, Act("grow")), (101.0, Act("rival"))),
)
"""What people do in worlds of several families, beside what is done to single calls."""
_PEOPLE = tuple(name for name in ACTS if name not in {*provider.PROVIDER_ACTIONS, *BESIDE_STEERING})
_OFTEN = (
    *_PEOPLE,
    *provider.BEGINNINGS,
    *("cordon", "cordon", "untaint", "uncordon", "drain", "drain", "release"),
    *("rival", "announce", "start") * 2,
)


def drawn(random: Random, most: int, within: float) -> tuple[tuple[float, Act], ...]:
    """Return up to so many acts at times within so many seconds, each with what follows it."""
    node = random.choice((0, 0, 0, 1, 1, 2, 3, 4, 5))  # the first nodes are those that Ebb takes first
    acts: list[tuple[float, Act]] = []
    for _ in range(random.randint(1, most)):
        at = float(random.choice((random.randrange(30), random.randrange(int(within)))))
        act = Act(random.choice(_OFTEN), node if random.random() < 0.7 else random.randrange(6))
        acts += in_full(act, at, random.choice((8.0, 25.0, 60.0)))
    return tuple(sorted(acts, key=lambda row: row[0]))


def in_full(act: Act, at: float, lasts: float) -> tuple[tuple[float, Act], ...]:
    later = provider.AFTERWARDS.get(act.name)
    return ((at, act), *(in_full(Act(later, act.index), at + lasts, lasts) if later else ()))
