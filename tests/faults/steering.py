"""Worlds in which Ebb steers scale-in, and the deletion costs that it writes there.

Never over what people wrote, few at once, and at rest none where nothing is to go. That is judged from the record and
the world at the end, and shares no code with Ebb's rules.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Final

from infra.local.scaling.view import TO_BE_DELETED, has_taint
from infra.local.world.kinds import Json
from infra.local.world.pods import is_terminating, node_of, pod_requests, units
from shared.core.policy import Policy
from tests.faults.installation import Installation
from tests.faults.people import BESIDE_STEERING, MEANWHILE, Act
from tests.faults.replay import Entry, ReplayedCluster, is_ebb
from tests.faults.worlds import Limits, Setting, setting, workload

_SLOW: Final = Limits(pool=1, ceiling=1, minimum_nodes=2, starts_per_hour=1, steers=True)
"""One drain an hour: what else could go has to wait, and is steered meanwhile."""
ACTS: Final = (
    ((20.0, Act("shrink")),),
    ((20.0, Act("shrink")), (110.0, Act("shrink", 1))),
    ((95.0, Act("rank", 1)), (120.0, Act("shrink"))),
    ((5.0, Act("rank")), (100.0, Act("rank", 2)), (190.0, Act("grow"))),
    ((100.0, Act("stop steering")),),
    *MEANWHILE,
    ((100.0, Act("lose the state")), (130.0, Act("shrink"))),
    ((100.0, Act("stop steering")), (110.0, Act("rank", 1))),
)


@cache
def steered_settings() -> tuple[Setting, ...]:
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3, 4], cpu=300)
    db = workload("db", [1, 2], kind="StatefulSet")
    return (
        setting("steered", [web, api], limits=_SLOW, enabled=False),
        setting("steered beside others", [web, api, db], limits=_SLOW),
    )


def ranks_or_scales_in(random: Random, setting: Setting) -> tuple[float, Act]:
    del setting
    return float(random.randrange(240)), Act(random.choice(tuple(BESIDE_STEERING)), random.randrange(5))


COST, MARK = "controller.kubernetes.io/pod-deletion-cost", "ebb.internal/steered"
MOST_WRITES = 50
"""A pass (docs/decisions/steer-scale-in.md)."""
_FULL = 0.75
"""From here on a node is not underutilized, by the default of the policy."""


class CostWrites:
    def __init__(self) -> None:
        self._by_call: Counter[str] = Counter()

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] != "change" or entry["kind"] != "pods" or not is_ebb(entry["actor"]):
            return
        before = cluster.before_change(entry) or {}
        if (before.get("cost"), before.get("mark")) == (entry.get("cost"), entry.get("mark")):
            return
        yield from _over_theirs(entry, before)
        self._by_call[entry["actor"]] += 1
        if self._by_call[entry["actor"]] == MOST_WRITES + 1:
            yield f"{entry['actor']} wrote deletion costs on more than {MOST_WRITES} pods"


def _over_theirs(entry: Entry, before: Entry) -> Iterator[str]:
    stood, stands, mark = before.get("cost"), entry.get("cost"), entry.get("mark")
    theirs = stood is not None and stood != before.get("mark")
    if theirs and stands != stood:
        yield f"{entry['actor']} wrote {stands} over the deletion cost {stood} of {entry['name']}: not its own"
    if theirs and mark == stood:
        yield f"{entry['actor']} claimed the deletion cost {stood} of {entry['name']}, which was not its own"
    if stands != stood and stands is not None and stands != mark:
        yield f"{entry['actor']} wrote a deletion cost on {entry['name']} without its mark"


def left_behind(end: Installation) -> Iterator[str]:
    """Say where a cost of Ebb's stands at the end though nothing is to go from there."""
    policy = end.policy.policy
    if not isinstance(policy, Policy):
        return  # costs stay as they are until the policy can be read again
    steers = end.steers and not policy.dry_run and not policy.paused and not end.remembered().paused
    nodes = {node["metadata"]["name"]: node for node in end.cloud.world.store.all("nodes")}
    for pod in end.cloud.world.store.all("pods"):
        if MARK not in (pod["metadata"].get("annotations") or {}) or is_terminating(pod):
            continue
        name, node = pod["metadata"]["name"], nodes.get(node_of(pod))
        if not steers:
            yield f"{name} still carries a cost of Ebb's, which steers nothing"
        elif node is not None and not _may_go(end, node):
            yield f"{name} still carries a cost of Ebb's on {node_of(pod)}, which cannot go"


def _may_go(end: Installation, node: Json) -> bool:
    """Whether the node could be a candidate: nobody's cordon on it, and little asked of it; or goes already."""
    if has_taint(node, TO_BE_DELETED):  # its cordon is the autoscaler's
        return True
    ready = all(
        condition["status"] == "True" for condition in node["status"]["conditions"] if condition["type"] == "Ready"
    )
    return ready and not node["spec"].get("unschedulable") and _share(end, node) < _FULL


def _share(end: Installation, node: Json) -> float:
    pods = [pod for pod in end.cloud.world.store.all("pods") if node_of(pod) == node["metadata"]["name"]]
    asked = sum(pod_requests(pod).get("cpu", 0) for pod in pods)
    return asked / units("cpu", node["status"]["allocatable"]["cpu"])
