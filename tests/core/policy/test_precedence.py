"""Which setting decides when several speak: the most restrictive wins (docs/policy.md), row by row."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.adapters.prices import load
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.records.state import Claim, ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, only_empty, our_taint, pod
from tests.depth import cases

NIGHT = {"schedule": "0 20 * * *", "duration": "8h"}  # Open: it is 22:00 UTC.
DAY = {"schedule": "0 9 * * *", "duration": "8h"}  # Shut.
ALWAYS_TEN = {"nodes": 10}
OLD = timedelta(days=40)
NAMES = ("n1", "n2", "n3", "n4", "n5")


@dataclass(frozen=True)
class World:
    """Five nodes of pool `a`; n1 is asked about. All are a quarter full, but n1 may be given another load."""

    n1_cpu: float = 0.5
    n1: Mapping[str, Any] = field(default_factory=dict)
    marked: float | None = 600  # Seconds for which all nodes have been marked; None: not at all.
    claims: tuple[str, ...] = ()
    last_drain: float | None = None  # Seconds since the last drain started.
    added: float | None = None  # Seconds since n5 was created.
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
BUSIER = World(n1_cpu=1.5)  # n1 is asked after the other four.
FULL, EXPIRED = World(n1_cpu=3), World(n1_cpu=3, n1={"created": NOW - OLD}, marked=None)
FREEZE = {"freezes": [{"from": "2026-03-04", "to": "2026-03-05"}]}


def case(
    expected: str,
    title: str,
    world: World = World(),
    pool: Mapping[str, Any] | None = None,
    cluster_wide: Mapping[str, Any] | None = None,
) -> Any:
    return title, expected, world, pool or {}, cluster_wide or {}


def expiring(**block: Any) -> dict[str, Any]:
    return budgets(ALWAYS_TEN, **EXPIRY, **block)


COUNT, EXCESS = "scaleDownRequiredUnderutilizedNodeCount", "excessNodesThreshold"
EXPIRING = expiring()


@cases(
    "expected, world, pool, cluster_wide",
    # the mark: one, and one age it needs
    case("waiting", "without a disruption block a mark needs 300 s", World(marked=299)),
    case("order", "and no more", World(marked=300)),
    case("waiting", "a block that shows nothing changes nothing", World(marked=299), {"disruption": {}}),
    case("order", "neither way", World(marked=300), {"disruption": {}}),
    case("order", "a shorter one that is written", World(marked=120), budgets(consolidateAfter="2m")),
    case("waiting", "a longer one that is written", World(), budgets(consolidateAfter="11m")),
    case("consolidation_off", "Never is never", World(), budgets(consolidateAfter="Never")),
    # expired nodes skip the mark, the ratios, the counts; nothing else
    case("cpu_above_limit", "a full node stays, its mark or not", FULL, TEN),
    case("order", "an expired one goes, full and unmarked", EXPIRED, EXPIRING),
    case("cpu_above_limit", "without the block nothing expires", EXPIRED),
    case("cpu_above_limit", "nor with a block that does not write it", EXPIRED, TEN),
    case("order", "expired over Never", EXPIRED, expiring(consolidateAfter="Never")),
    case("order", "expired over WhenEmpty", EXPIRED, expiring(consolidationPolicy="WhenEmpty")),
    case("order", "expired over required count and excess", EXPIRED, {**EXPIRING, COUNT: 9, EXCESS: 9}),
    case("budget", "a budget over expired", EXPIRED, budgets({"nodes": 0}, **EXPIRY)),
    case("outside_windows", "a window over expired", EXPIRED, expiring(windows=[DAY])),
    case("minimum_nodes", "a minimum over expired", EXPIRED, EXPIRING, {"minimumNodes": 5}),
    # node-refiner's counts with estafette's and Karpenter's
    case("too_few_underutilized", "four of four and one in flight are too few, though the budget has room",
         World(claims=("n5",)), {**TEN, COUNT: 4}),
    case("order", "three and one in flight are enough, and the budget has room",
         World(claims=("n5",)), {**TEN, COUNT: 3}),
    case("budget", "enough are underutilized, but the one in flight fills the budget",
         World(claims=("n5",)), {**budgets({"nodes": 1}), COUNT: 3}),
    case("no_excess", "enough are underutilized, but 3.9 nodes of room are too little",
         World(), {**TEN, EXCESS: 4, COUNT: 1}),
    case("too_few_underutilized", "there is room enough, but too few are underutilized",
         World(), {**TEN, EXCESS: 3, COUNT: 6}),
    # speed with concurrency
    case("time_gap", "the gap over a budget with room", World(last_drain=599), TEN, {"timeGap": "10m"}),
    case("budget", "a budget of 0 after the gap", World(last_drain=600), NONE, {"timeGap": "10m"}),
    case("order", "both let it go", World(last_drain=600), TEN, {"timeGap": "10m"}),
    case("rate", "the rate over a budget with room", World(), TEN, {"rate": {"nodes": 0, "per": "1h"}}),
    case("nodes_per_pass", "one a pass over a budget of ten", BUSIER, TEN),
    case("budget", "a budget of one over five a pass", BUSIER, {**budgets({"nodes": 1}), "maxNodesPerPass": 5}),
    case("namespace_rate", "a namespace's rate over five a pass",
         BUSIER, {**TEN, "maxNodesPerPass": 5}, {"evictionsPerNamespace": {"pods": 1, "per": "1h"}}),
    case("recent_addition", "an addition half an hour ago",
         World(added=1800), {}, {"timeSinceLastAddition": "60m"}),
    case("order", "the pool's own time takes the place of the cluster's",
         World(added=1800), {"timeSinceLastAddition": "20m"}, {"timeSinceLastAddition": "60m"}),
    # windows, budgets and their schedules
    case("outside_windows", "a shut window over a budget", World(), budgets(ALWAYS_TEN, windows=[DAY])),
    case("budget", "a budget over an open window", World(), budgets({"nodes": 0, **NIGHT}, windows=[NIGHT])),
    case("order", "one open window is enough", World(), budgets(ALWAYS_TEN, windows=[DAY, NIGHT])),
    case("budget", "0 now over 10 always", World(), budgets({"nodes": 0, **NIGHT}, ALWAYS_TEN)),
    case("order", "0 by day, 10 always: 10 now", World(), budgets({"nodes": 0, **DAY}, ALWAYS_TEN)),
    # pool with cluster
    case("cluster_budget", "the ceiling", World(), TEN, {"disruption": {"budgets": [{"nodes": 0}]}}),
    case("budget", "a pool's budget under a ceiling of ten", World(), NONE),
    case("pool_at_minimum", "GKE's minimum over a budget", World(limits=NodePool("a", min_total=5)), TEN),
    case("budget", "a budget above GKE's minimum", World(limits=NodePool("a", min_total=4)), NONE),
    case("minimum_nodes", "ours above GKE's", World(limits=NodePool("a", min_total=1)), TEN, {"minimumNodes": 5}),
    # people over everything
    case("frozen", "a freeze over open gates", World(), TEN, FREEZE),
    case("frozen", "a freeze over expired", EXPIRED, expiring(windows=[NIGHT]), FREEZE),
    case("frozen", "a freeze is named first", World(claims=("n5",)), NONE, {**FREEZE, "minimumNodes": 5}),
    case("paused", "the pause flag over open gates", World(paused=True), TEN),
    case("paused", "a pause is named first", World(paused=True), NONE, {**FREEZE, "minimumNodes": 5}),
    case("paused", "a pause over expired", World(paused=True, n1={"created": NOW - OLD}), EXPIRING),
    case("waiting", "but a pause stops no mark", World(paused=True, marked=60)),
    case("pool_disabled", "a disabled pool over everything", EXPIRED, {**EXPIRING, "enabled": False}),
    # the proof of placement has the last word
    case("no_place_for_pods", "no room next to the headroom", World(), {**TEN, "headroom": "100%"}),
)  # fmt: skip
def test_the_most_restrictive_wins(
    expected: str, world: World, pool: Mapping[str, Any], cluster_wide: Mapping[str, Any]
) -> None:
    assert decided(world, written(pool, cluster_wide)) == expected


@cases(
    "expected, top",
    ("neither", "order", {}),
    ("dry run gives the same verdict and shows would", "would_order", {"dryRun": True}),
    ("paused", "paused", {"paused": True}),
    ("paused in dry run", "paused", {"paused": True, "dryRun": True}),
)
def test_what_holds_for_the_whole_policy_holds_over_every_pool(expected: str, top: dict[str, Any]) -> None:
    assert decided(World(), written(TEN, {}, **top)) == expected
