"""`ebb policy init`: a first policy for the pools of a cluster, with windows in the night of its region.

Its pace is as fast as budgets allow, if by a forecast this moves no more pods. A slow policy is not a gentle one: while
it waits, the autoscaler and a scheduler that spreads fill again what goes next. So limits are lifted first, and then
written as the forecast needed them: they hold back a surprise.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from functions.cli.analysis.forecast.steady_state import PolicyAtRest, Rest, find_steady_state, removed_nodes
from functions.cli.analysis.pools import PoolSummary, pool_summaries
from functions.cli.analysis.potential import potential
from functions.cli.input.inputs import EVERY_POOL, NO_MARKS, NO_POLICY, gather
from functions.cli.input.options import Sources
from functions.cli.output.format import count, duration, monthly, percent, span
from functions.cli.output.visible import visible
from functions.cli.policy.diff import most_in_an_hour
from functions.cli.policy.importing.writing import Noted, write_imported
from shared.core.cluster.node import NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.policy.schedule import hits
from shared.core.records.state import ClusterState
from shared.core.rules.counts import denominator
from shared.core.rules.situation import Situation
from shared.errors import BadInput

NIGHT: Final = "0 18 * * *"
"""From six in the evening, as demand begins to fall: later the autoscaler has filled what should go."""
HOURS: Final = 12
UTC: Final = "Etc/UTC"
_REGIONS: Final = Path(__file__).parent.parent / "output" / "assets" / "time_zones.yaml"


@cache
def zone_of_region() -> Mapping[str, str]:
    found = msgspec.yaml.decode(_REGIONS.read_bytes(), type=dict[str, list[str]])
    return {region: zone for zone, regions in found.items() for region in regions}


def time_zone(zones: Iterable[str]) -> str:
    """Return the time zone of most nodes, by the zones that they stand in; UTC where nobody knows."""
    regions = Counter(zone.rpartition("-")[0] for zone in zones if zone)
    region = max(sorted(regions), key=lambda region: regions[region], default="")
    return zone_of_region().get(region, UTC)


DAY: Final = timedelta(days=1)
_CAREFUL_GAP: Final = timedelta(minutes=10)
_CAREFUL_PASSES: Final = 36
"""Half of the passes that a night of twelve hours has at that gap: a pass may find every node waiting for another."""
_CAREFUL_RATE: Final = "20%"
_LIKELY_SHARE: Final = 2  # Half of the nodes may go, as long as nothing is known of them.
_NOISE: Final = 1.1
"""Evictions a node that are a tenth more are no difference: one node more or less in the forecast makes it."""
_STEP: Final = 10  # Percent that a rate is rounded up to.


@dataclass(frozen=True, slots=True)
class NightPace:
    """How fast nodes go: between passes, in one pass by pool, in an hour; and the forecast in a sentence."""

    gap: timedelta
    per_pass: Mapping[str, int]
    rate: str
    forecast: str = ""
    is_forecast: bool = False  # Whether the numbers are those that the forecast needs, and not guessed.


def careful_pace(snapshot: Snapshot) -> NightPace:
    """Return a pace by which half of the nodes could go in one night."""
    likely = ceil(len(snapshot.nodes) / _LIKELY_SHARE)
    nodes = {pool: min(likely, len(own)) for pool, own in snapshot.nodes_by_pool.items()}
    return NightPace(_CAREFUL_GAP, {pool: ceil(own / _CAREFUL_PASSES) for pool, own in nodes.items()}, _CAREFUL_RATE)


def pace_of_a_night(
    situation: Situation, policy: Policy, careful: NightPace, prices: Prices
) -> tuple[NightPace, PolicyAtRest]:
    """Return the pace that budgets alone set, or the careful one if it moves fewer pods; with its steady state."""
    policy = replace(policy, dry_run=False)
    tonight = in_the_night(situation.snapshot, policy)
    slow, fast = (
        find_steady_state(Situation(tonight, ClusterState(), paced), {}, prices)
        for paced in (policy, replace(policy, rate=None))
    )
    if not fast.rest.begins or moves_more(fast.rest, slow.rest):
        return replace(careful, forecast=_sentence(slow)), slow
    return NightPace(timedelta(), _in_one_pass(fast), _in_an_hour(fast), _sentence(fast), is_forecast=True), fast


def in_the_night(snapshot: Snapshot, policy: Policy) -> Snapshot:
    """Return the snapshot as if it were of the time when the first window of the policy opens next."""
    windows = [window for pool in policy.pools.values() for window in pool.windows or ()]
    now = snapshot.taken_at
    opens = (next(hits(window, now, now + DAY), now) for window in windows)
    return replace(snapshot, taken_at=min(opens, default=now))


def moves_more(one: Rest, other: Rest) -> bool:
    """Whether one takes more evictions for each node that goes, by more than a forecast is sure of."""
    return _evictions(one) > _evictions(other) * _NOISE


def _evictions(rest: Rest) -> float:
    return rest.evictions / max(rest.gone, 1)


def _in_one_pass(steady: PolicyAtRest) -> Mapping[str, int]:
    """Return by pool the most nodes whose drains begin in one pass."""
    pools = steady.situation.snapshot.node_by_name
    begun = Counter((pools[name].pool, at) for name, at in steady.rest.begins.items())
    found: dict[str, int] = {}
    for (pool, _), nodes in begun.items():
        found[pool] = max(found.get(pool, 0), nodes)
    return found


def _in_an_hour(steady: PolicyAtRest) -> str:
    """Return the most drains that begin in any hour, as a share of the nodes that a rate counts, rounded up."""
    share = 100 * most_in_an_hour(steady.rest.begins.values()) / denominator(steady.situation.snapshot.nodes)
    return f"{min(100, ceil(share / _STEP) * _STEP)}%"


def _sentence(steady: PolicyAtRest) -> str:
    now, rest = steady.situation, steady.rest
    if rest.by is None:
        alone = f" The autoscaler removes {count(rest.gone, 'node')} by itself." if rest.gone else ""
        return f"no node goes by this policy.{alone}"
    left, minutes = len(rest.snapshot.nodes), timedelta(minutes=ceil((rest.by - now.now) / timedelta(minutes=1)))
    nodes = f"{left:,} of {count(len(now.snapshot.nodes), 'node')} stay after {duration(minutes)}"
    more = "" if rest.is_rest else " The forecast ends there; more may go."
    return f"{nodes}, with {_evictions(rest):.1f} evictions for a node that goes.{more}"


WAVE: Final = {"nodes": "30%", "deadline": "90m"}
BUDGET: Final = "10%"
PACKS: Final = "The autoscaler empties such nodes itself, and Ebb leaves them to it (docs/empty-nodes.md)."
FULL: Final = 0.85  # Of the limits that were tried the bill was lowest with it (docs/decisions/money-over-days.md).


def starter(snapshot: Snapshot, plan: Plan, removable: Collection[str], pace: NightPace) -> str:
    """Return the policy as YAML; `removable` are the nodes that could go without limits and timers."""
    zone = time_zone(node.zone for node in snapshot.nodes)
    rows = [summary for summary in pool_summaries(plan.decisions, removable) if summary.pool]
    busy = {node.pool for node in plan.decisions if node.accelerator_ratio is not None}
    machines = _machines(snapshot)
    pools: dict[str, Any] = {}
    for summary in rows:
        name = str(summary.pool)
        because = _describe_pool(summary, machines[name])
        why_not = _why_not(summary, snapshot.pools.get(name), accelerated=name in busy)
        left = {"enabled": Noted(value=False, because=f"{because}; {why_not}")} if why_not else None
        pools[name] = left or _pool(because, name, pace, zone)
    policy = {
        "cluster": _cluster(pace),
        "drain": {"budgetUntil": Noted("replaced", "a drain frees its budget when all that it moved runs again")},
        "nodePools": pools,
    }
    return write_imported(_head(snapshot, pace), policy, []).document


def _head(snapshot: Snapshot, pace: NightPace) -> str:
    named = visible(snapshot.cluster) or "this cluster"
    packs = all(snapshot.scale_down(node).packs for node in snapshot.nodes)
    lines = (
        f"A first policy for {named} as it was at {snapshot.taken_at:%Y-%m-%d %H:%M} UTC.",
        "It drains nothing until dryRun is false. What is not written here has its default (docs/policy.md).",
        "  ebb policy check policy.yaml      shows the settings of each pool",
        "  ebb policy calendar policy.yaml   shows how many nodes may go, and when",
        "  ebb plan --policy policy.yaml     shows what it saves, and by when",
        *((PACKS,) if packs else ()),
        *(("Budgets guard the pace. The forecast for this cluster:", f"  {pace.forecast}") if pace.forecast else ()),
    )
    return "\n# ".join(lines)


def _cluster(pace: NightPace) -> dict[str, Any]:
    return {
        "timeGap": Noted(span(pace.gap), "from the drains of one pass to those of the next, over all pools"),
        "rate": {"nodes": pace.rate, "per": Noted("1h", "no more drains start in any hour, whatever the pools allow")},
        "disruption": {"budgets": Noted([{"nodes": BUDGET}], "no more are drained at once, over all pools")},
        "wave": Noted(WAVE, "a fixed set of nodes, proved as a whole; moved pods avoid those that go next"),
    }


def _pool(because: str, name: str, pace: NightPace, zone: str) -> Mapping[str, Any]:
    window = {"schedule": NIGHT, "duration": f"{HOURS}h", "timeZone": zone}
    where = "put your own time zone" if zone == UTC else "evening and night where the nodes stand"
    passing = "the most that one pass of the forecast starts" if pace.is_forecast else "guessed, for half of the nodes"
    return {
        "enabled": Noted(value=True, because=because),
        "scaleDownRequiredUnderutilizedNodeCount": Noted(1, "the proof of placement decides alone"),
        "excessNodesThreshold": Noted(0, "the same: the autoscaler keeps no spare nodes"),
        "scaleDownCPURequestRatioLimit": Noted(FULL, "fuller nodes than by default, too: over days the bill is lower"),
        "scaleDownMemoryRequestRatioLimit": Noted(FULL, "the same"),
        "localStorage": Noted("evict", "as the autoscaler does: what a pod keeps in an emptyDir is lost when it moves"),
        "minimumPodAge": Noted(
            "6h", "what was moved or rolled out this evening is not moved once more while demand still falls"
        ),
        "maxNodesPerPass": Noted(pace.per_pass.get(name, 1), passing),
        "disruption": {
            "consolidateAfter": Noted("5m", "a node must be underutilized for this long"),
            "budgets": Noted([{"nodes": BUDGET}], "no more of the pool are drained at once"),
            "windows": Noted([window], f"{where}; leave it out to drain at any time"),
        },
    }


def _why_not(own: PoolSummary, pool: NodePool | None, *, accelerated: bool) -> str:
    if pool is not None and not pool.autoscaled:
        return "its autoscaling is off, so nothing deletes its nodes"
    if accelerated:
        return "its nodes have accelerators: enable it once the others have run well"
    return "a pool of one node may be somebody's own" if own.nodes == 1 else ""


def _describe_pool(own: PoolSummary, machine: str) -> str:
    full = f"{percent(own.cpu_ratio)} of CPU and {percent(own.memory_ratio)} of memory requested"
    money = f" ({monthly(own.could_save)} a month)" if own.could_save else ""
    could = f"{own.could_go:,} could go at most{money}, without limits and timers"
    return f"{count(own.nodes, 'node')} of {machine}, {full}; {could}"


def _machines(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the machine type that most nodes of each pool are of."""
    return {
        pool: Counter(sorted(node.machine or "unknown machines" for node in nodes)).most_common(1)[0][0]
        for pool, nodes in snapshot.nodes_by_pool.items()
    }


def print_starter(sources: Sources) -> None:
    """Print the policy, and notes to stderr. BadInput: no node belongs to a pool, or not all pods are known."""
    inputs = gather(sources, EVERY_POOL)
    if not any(node.pool for node in inputs.snapshot.nodes):
        raise BadInput(f"{inputs.snapshot.cluster}: no node belongs to a pool of GKE, and a policy names pools.")
    if inputs.partial:
        raise BadInput(f"policy init: the dump is partial ({inputs.partial}), so what the pods request is unknown.")
    situation = Situation(inputs.snapshot, ClusterState(), inputs.policy)
    for note in inputs.notes:
        if note not in {NO_POLICY, NO_MARKS}:
            typer.echo(visible(note), err=True)
    typer.echo(first_policy(situation, inputs.prices), nl=False)


def first_policy(situation: Situation, prices: Prices) -> str:
    """Return the policy as YAML: with a careful pace first, by which a forecast finds the pace that is written."""
    plan, careful = make_plan(situation, {}, prices), careful_pace(situation.snapshot)
    first = parse(starter(situation.snapshot, plan, (), careful).encode())
    pace, steady = pace_of_a_night(situation, first, careful, prices)
    most = potential(steady.situation, prices, removed_nodes(steady.rest.order, steady.rest.snapshot))
    return starter(situation.snapshot, plan, most.nodes, pace)
