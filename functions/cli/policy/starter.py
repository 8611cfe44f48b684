"""A first policy for the pools of a cluster: it drains nothing yet, and one night is enough for what could go.

By the defaults one node a pool goes every ten minutes, which for a thousand nodes takes weeks. Must not read or print.
"""

from collections import Counter
from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from functions.cli.analysis.pool_summaries import PoolSummary, pool_summaries
from functions.cli.format import count, monthly, percent
from functions.cli.policy.importing.writing import SAFE_DEFAULT, Noted, imported
from functions.cli.policy.night import HOURS, NIGHT, UTC, time_zone
from functions.cli.visible import visible
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import Plan, Potential

GAP_MINUTES: Final = 10
PASSES: Final = HOURS * 60 // GAP_MINUTES
_SLACK: Final = 2
"""A pass may find every node waiting for another; half of the passes have to be enough."""
GUESSED: Final = (
    "So what is requested below may be too little, and maxNodesPerPass is a guess: write it anew from a whole dump."
)
_UNKNOWN_SHARE: Final = 2
"""Where it is not known what could go, half of the nodes are taken for it."""


def starter(snapshot: Snapshot, plan: Plan, most: Potential | None, partial: str = "") -> str:
    """Return the policy as YAML; `most` is None where nobody can say how much could go, and `partial` says why."""
    zone = time_zone(node.zone for node in snapshot.nodes)
    going = len(most.nodes) if most else ceil(len(snapshot.nodes) / _UNKNOWN_SHARE)
    rows = [each for each in pool_summaries(plan.decisions, most.nodes if most else ()) if each.pool]
    busy = {each.pool for each in plan.decisions if each.accelerator_ratio is not None}
    machines = _machines(snapshot)
    pools: dict[str, Any] = {}
    for each in rows:
        name = str(each.pool)
        said, why_not = _said(each, machines[name], known=most is not None), _why_not(each, accelerated=name in busy)
        pools[name] = (
            _left(said, why_not) if why_not else _pool(said, min(going, each.nodes), zone, known=most is not None)
        )
    policy = {"dryRun": Noted(value=True, because=SAFE_DEFAULT), "cluster": _cluster(), "nodePools": pools}
    return imported(_head(snapshot, partial), policy, []).document


def _head(snapshot: Snapshot, partial: str) -> str:
    named = visible(snapshot.cluster) or "this cluster"
    short = (f"Not known when this was written: {visible(partial)}", GUESSED) if partial else ()
    lines = (
        f"A first policy for {named} as it was at {snapshot.taken_at:%Y-%m-%d %H:%M} UTC.",
        *short,
        "It drains nothing until dryRun is false. What is not written here has its default (docs/policy.md).",
        "  ebb policy check policy.yaml      says what holds for each pool",
        "  ebb policy windows policy.yaml    draws when how many nodes may go",
        "  ebb plan --policy policy.yaml     says what it saves, and by when it comes to rest",
    )
    return "\n# ".join(lines)


def _cluster() -> dict[str, Any]:
    return {
        "timeGap": Noted(f"{GAP_MINUTES}m", "from the drains of one pass to those of the next, over all pools"),
        "rate": {"nodes": "20%", "per": Noted("1h", "no more drains start in any hour, whatever the pools allow")},
        "disruption": {"budgets": Noted([{"nodes": "10%"}], "no more are drained at once, over all pools")},
    }


def _left(said: str, why_not: str) -> Mapping[str, Any]:
    return {"enabled": Noted(value=False, because=f"{said}; {why_not}")}


def _pool(said: str, going: int, zone: str, *, known: bool) -> Mapping[str, Any]:
    """Return a pool's settings; `going` is of the whole cluster: which pool they leave is the search's affair."""
    window = {"schedule": NIGHT, "duration": f"{HOURS}h", "timeZone": zone}
    a_pass = max(1, ceil(going * _SLACK / PASSES))
    of = "" if known else "guessed, for half of the nodes: "
    where = "put your own time zone" if zone == UTC else "the night where the nodes stand"
    return {
        "enabled": Noted(value=True, because=said),
        "maxNodesPerPass": Noted(a_pass, f"{of}{going:,} in a night of {PASSES} passes, with time to spare"),
        "disruption": {
            "consolidateAfter": Noted("5m", "so long a node has to be under-utilised"),
            "budgets": Noted([{"nodes": "10%"}], "no more of the pool are drained at once"),
            "windows": Noted([window], f"{where}; leave it out to drain at any time"),
        },
    }


def _why_not(own: PoolSummary, *, accelerated: bool) -> str:
    if accelerated:
        return "its nodes have accelerators: enable it once the others have run well"
    return "a pool of one node may be somebody's own" if own.nodes == 1 else ""


def _said(own: PoolSummary, machine: str, *, known: bool) -> str:
    full = f"{percent(own.cpu_ratio)} of CPU and {percent(own.memory_ratio)} of memory requested"
    could = (
        f"; {own.could_go:,} could go at most ({monthly(own.could_save)} a month), without limits and timers"
        if known
        else ""
    )
    return f"{count(own.nodes, 'node')} of {machine}, {full}{could}"


def _machines(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the machine type that most nodes of each pool are of."""
    return {
        pool: Counter(sorted(node.machine or "unknown machines" for node in nodes)).most_common(1)[0][0]
        for pool, nodes in snapshot.nodes_by_pool.items()
    }
