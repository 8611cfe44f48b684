"""Which setting decides when several speak: the most restrictive wins (docs/policy.md), row by row."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.records.state import Claim, ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, only_empty, our_taint, pod

NIGHT = {"schedule": "0 20 * * *", "duration": "8h"}
"""Open: it is 22:00 UTC."""
DAY = {"schedule": "0 9 * * *", "duration": "8h"}
"""Shut."""
ALWAYS_TEN = {"nodes": 10}
OLD = timedelta(days=40)
NAMES = ("n1", "n2", "n3", "n4", "n5")


@dataclass(frozen=True)
class World:
    """Five nodes of pool `a`; n1 is asked about. All are a quarter full, but n1 may be given another load."""

    n1_cpu: float = 0.5
    n1: Mapping[str, Any] = field(default_factory=dict)
    marked: float | None = 600
    """Seconds for which all nodes have been marked; None: not at all."""
    claims: tuple[str, ...] = ()
    last_drain: float | None = None
    """Seconds since the last drain started."""
    added: float | None = None
    """Seconds since n5 was created."""
    paused: bool = False
    limits: NodePool | None = None


def written(pool: Mapping[str, Any], cluster_wide: Mapping[str, Any], **top: Any) -> Policy:
    """Read a policy whose gates are open where the row says nothing, as a person would write it."""
    counts = {"scaleDownRequiredUnderutilizedNodeCount": 1, "excessNodesThreshold": 0}
    open_pool = {"enabled": True, "headroom": "0%", **counts, **pool}
    open_cluster: dict[str, Any] = {
        "minimumNodes": 0,
        "minimumNonTaintedNodes": 0,
        "timeSinceLastAddition": "0",
        "timeGap": "0",
        "rate": {"nodes": "100%", "per": "1h"},
        "disruption": {"budgets": [ALWAYS_TEN]},
        **cluster_wide,
    }
    document = {"dryRun": False, "cluster": open_cluster, "nodePools": {"a": open_pool}, **top}
    return parse(json.dumps(document).encode())


def decided(world: World, rules: Policy) -> str:
    """Return the word of n1: its verdict where it goes or waits, else the reason that is named first."""
    nodes, pods = zip(*(_node(name, world) for name in NAMES), strict=True)
    claims: dict[str, Claim] = {f"uid-{name}": claim(name) for name in world.claims}
    drained = None if world.last_drain is None else NOW - timedelta(seconds=world.last_drain)
    state = ClusterState(claims=claims, last_scale_down=drained, paused=world.paused, last_pass=NOW)
    pools = {"a": world.limits} if world.limits else None
    made = make_plan(Situation(only_empty(cluster(nodes, pods, pools=pools)), state, rules), _marks(world), load())
    decision = made.of("n1")
    assert decision is not None
    return decision.reason if decision.verdict.value == "keep" else decision.verdict.value


def _node(name: str, world: World) -> tuple[Node, Pod]:
    own: dict[str, Any] = dict(world.n1) if name == "n1" else {}
    if name in world.claims:
        own |= {"unschedulable": True, "taints": (our_taint(),)}
    if name == "n5" and world.added is not None:
        own["created"] = NOW - timedelta(seconds=world.added)
    cpu = world.n1_cpu if name == "n1" else 1
    return node(name, **own), pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}")


def _marks(world: World) -> dict[str, PoolMarks]:
    if world.marked is None:
        return {}
    since = NOW - timedelta(seconds=world.marked)
    return {"a": PoolMarks(marks={f"uid-{name}": Mark(name, since) for name in NAMES})}


def budgets(*rows: Mapping[str, Any], **block: Any) -> dict[str, Any]:
    return {"disruption": {"consolidateAfter": "5m", "budgets": list(rows), **block}}


TEN = budgets(ALWAYS_TEN)
EXPIRY = {"expireAfter": "30d"}
NONE = budgets({"nodes": 0})
BUSIER = World(n1_cpu=1.5)
"""n1 is asked after the other four."""
FULL, EXPIRED = World(n1_cpu=3), World(n1_cpu=3, n1={"created": NOW - OLD}, marked=None)
FREEZE = {"freezes": [{"from": "2026-03-04", "to": "2026-03-05"}]}


@pytest.mark.parametrize(
    ("expected", "world", "pool", "cluster_wide"),
    [
        # the mark: one, and one age it needs
        pytest.param("waiting", World(marked=299), {}, {}, id="without a disruption block a mark needs 300 s"),
        pytest.param("order", World(marked=300), {}, {}, id="and no more"),
        pytest.param("waiting", World(marked=299), {"disruption": {}}, {},
                     id="a block that shows nothing changes nothing"),
        pytest.param("order", World(marked=300), {"disruption": {}}, {}, id="neither way"),
        pytest.param("order", World(marked=120), budgets(consolidateAfter="2m"), {},
                     id="a shorter one that is written"),
        pytest.param("waiting", World(), budgets(consolidateAfter="11m"), {}, id="a longer one that is written"),
        pytest.param("consolidation_off", World(), budgets(consolidateAfter="Never"), {}, id="Never is never"),
        # expired nodes skip the mark, the ratios, the counts; nothing else
        pytest.param("cpu_above_limit", FULL, TEN, {}, id="a full node stays, its mark or not"),
        pytest.param("order", EXPIRED, budgets(ALWAYS_TEN, **EXPIRY), {}, id="an expired one goes, full and unmarked"),
        pytest.param("cpu_above_limit", EXPIRED, {}, {}, id="without the block nothing expires"),
        pytest.param("cpu_above_limit", EXPIRED, TEN, {}, id="nor with a block that does not write it"),
        pytest.param("order", EXPIRED, budgets(ALWAYS_TEN, consolidateAfter="Never", **EXPIRY), {},
                     id="expired over Never"),
        pytest.param("order", EXPIRED, budgets(ALWAYS_TEN, consolidationPolicy="WhenEmpty", **EXPIRY), {},
                     id="expired over WhenEmpty"),
        pytest.param(
            "order",
            EXPIRED,
            {**budgets(ALWAYS_TEN, **EXPIRY), "scaleDownRequiredUnderutilizedNodeCount": 9, "excessNodesThreshold": 9},
            {},
            id="expired over required count and excess",
        ),
        pytest.param("budget", EXPIRED, budgets({"nodes": 0}, **EXPIRY), {}, id="a budget over expired"),
        pytest.param("outside_windows", EXPIRED, budgets(ALWAYS_TEN, windows=[DAY], **EXPIRY), {},
                     id="a window over expired"),
        pytest.param("minimum_nodes", EXPIRED, budgets(ALWAYS_TEN, **EXPIRY), {"minimumNodes": 5},
                     id="a minimum over expired"),
        # node-refiner's counts with estafette's and Karpenter's
        pytest.param("too_few_underutilized", World(claims=("n5",)),
                     {**TEN, "scaleDownRequiredUnderutilizedNodeCount": 4}, {},
                     id="four of four and one in flight are too few, though the budget has room"),
        pytest.param("order", World(claims=("n5",)), {**TEN, "scaleDownRequiredUnderutilizedNodeCount": 3}, {},
                     id="three and one in flight are enough, and the budget has room"),
        pytest.param("budget", World(claims=("n5",)),
                     {**budgets({"nodes": 1}), "scaleDownRequiredUnderutilizedNodeCount": 3}, {},
                     id="enough are underutilized, but the one in flight fills the budget"),
        pytest.param("no_excess", World(),
                     {**TEN, "excessNodesThreshold": 4, "scaleDownRequiredUnderutilizedNodeCount": 1}, {},
                     id="enough are underutilized, but 3.9 nodes of room are too little"),
        pytest.param("too_few_underutilized", World(),
                     {**TEN, "excessNodesThreshold": 3, "scaleDownRequiredUnderutilizedNodeCount": 6}, {},
                     id="there is room enough, but too few are underutilized"),
        # speed with concurrency
        pytest.param("time_gap", World(last_drain=599), TEN, {"timeGap": "10m"}, id="the gap over a budget with room"),
        pytest.param("budget", World(last_drain=600), NONE, {"timeGap": "10m"}, id="a budget of 0 after the gap"),
        pytest.param("order", World(last_drain=600), TEN, {"timeGap": "10m"}, id="both let it go"),
        pytest.param("rate", World(), TEN, {"rate": {"nodes": 0, "per": "1h"}}, id="the rate over a budget with room"),
        pytest.param("nodes_per_pass", BUSIER, TEN, {}, id="one a pass over a budget of ten"),
        pytest.param("budget", BUSIER, {**budgets({"nodes": 1}), "maxNodesPerPass": 5}, {},
                     id="a budget of one over five a pass"),
        pytest.param("namespace_rate", BUSIER, {**TEN, "maxNodesPerPass": 5},
                     {"evictionsPerNamespace": {"pods": 1, "per": "1h"}}, id="a namespace's rate over five a pass"),
        pytest.param("recent_addition", World(added=1800), {}, {"timeSinceLastAddition": "60m"},
                     id="an addition half an hour ago"),
        pytest.param("order", World(added=1800), {"timeSinceLastAddition": "20m"}, {"timeSinceLastAddition": "60m"},
                     id="the pool's own time takes the place of the cluster's"),
        # windows, budgets and their schedules
        pytest.param("outside_windows", World(), budgets(ALWAYS_TEN, windows=[DAY]), {},
                     id="a shut window over a budget"),
        pytest.param("budget", World(), budgets({"nodes": 0, **NIGHT}, windows=[NIGHT]), {},
                     id="a budget over an open window"),
        pytest.param("order", World(), budgets(ALWAYS_TEN, windows=[DAY, NIGHT]), {}, id="one open window is enough"),
        pytest.param("budget", World(), budgets({"nodes": 0, **NIGHT}, ALWAYS_TEN), {}, id="0 now over 10 always"),
        pytest.param("order", World(), budgets({"nodes": 0, **DAY}, ALWAYS_TEN), {}, id="0 by day, 10 always: 10 now"),
        # pool with cluster
        pytest.param("cluster_budget", World(), TEN, {"disruption": {"budgets": [{"nodes": 0}]}}, id="the ceiling"),
        pytest.param("budget", World(), NONE, {}, id="a pool's budget under a ceiling of ten"),
        pytest.param("pool_at_minimum", World(limits=NodePool("a", min_total=5)), TEN, {},
                     id="GKE's minimum over a budget"),
        pytest.param("budget", World(limits=NodePool("a", min_total=4)), NONE, {}, id="a budget above GKE's minimum"),
        pytest.param("minimum_nodes", World(limits=NodePool("a", min_total=1)), TEN, {"minimumNodes": 5},
                     id="ours above GKE's"),
        # people over everything
        pytest.param("frozen", World(), TEN, FREEZE, id="a freeze over open gates"),
        pytest.param("frozen", EXPIRED, budgets(ALWAYS_TEN, windows=[NIGHT], **EXPIRY), FREEZE,
                     id="a freeze over expired"),
        pytest.param("frozen", World(claims=("n5",)), NONE, {**FREEZE, "minimumNodes": 5},
                     id="a freeze is named first"),
        pytest.param("paused", World(paused=True), TEN, {}, id="the pause flag over open gates"),
        pytest.param("paused", World(paused=True), NONE, {**FREEZE, "minimumNodes": 5}, id="a pause is named first"),
        pytest.param("paused", World(paused=True, n1={"created": NOW - OLD}), budgets(ALWAYS_TEN, **EXPIRY), {},
                     id="a pause over expired"),
        pytest.param("waiting", World(paused=True, marked=60), {}, {}, id="but a pause stops no mark"),
        pytest.param("pool_disabled", EXPIRED, {**budgets(ALWAYS_TEN, **EXPIRY), "enabled": False}, {},
                     id="a disabled pool over everything"),
        # the proof of placement has the last word
        pytest.param("no_place_for_pods", World(), {**TEN, "headroom": "100%"}, {}, id="no room next to the headroom"),
    ],
)  # fmt: skip
def test_the_most_restrictive_wins(
    expected: str, world: World, pool: Mapping[str, Any], cluster_wide: Mapping[str, Any]
) -> None:
    assert decided(world, written(pool, cluster_wide)) == expected


@pytest.mark.parametrize(
    ("expected", "top"),
    [
        pytest.param("order", {}, id="neither"),
        pytest.param("would_order", {"dryRun": True}, id="dry run gives the same verdict and shows would"),
        pytest.param("paused", {"paused": True}, id="paused"),
        pytest.param("paused", {"paused": True, "dryRun": True}, id="paused in dry run"),
    ],
)
def test_what_holds_for_the_whole_policy_holds_over_every_pool(expected: str, top: dict[str, Any]) -> None:
    assert decided(World(), written(TEN, {}, **top)) == expected
