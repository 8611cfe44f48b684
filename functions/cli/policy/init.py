"""`ebb policy init`: a first policy for the pools of a cluster, with windows in the night of its region."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import typer

from functions.cli.analysis.forecast.steady_state import removed_nodes
from functions.cli.analysis.pools import PoolSummary, pool_summaries
from functions.cli.analysis.potential import potential
from functions.cli.input.inputs import EVERY_POOL, NO_MARKS, NO_POLICY, gather
from functions.cli.input.options import Sources
from functions.cli.output.format import count, monthly, percent, span
from functions.cli.output.visible import visible
from functions.cli.policy.importing.writing import SAFE_DEFAULT, Noted, write_imported
from functions.cli.policy.pace import NightPace, careful_pace, pace_of_a_night
from shared.core.cluster.node import NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan, Potential
from shared.core.planning.prices import Prices
from shared.core.policy.parsing import parse
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.errors import BadInput

NIGHT: Final = "0 20 * * *"
"""From eight in the evening."""
HOURS: Final = 10
UTC: Final = "Etc/UTC"
ZONES: Final = {
    "africa-south1": "Africa/Johannesburg",
    "asia-east1": "Asia/Taipei",
    "asia-east2": "Asia/Hong_Kong",
    "asia-northeast1": "Asia/Tokyo",
    "asia-northeast2": "Asia/Tokyo",
    "asia-northeast3": "Asia/Seoul",
    "asia-south1": "Asia/Kolkata",
    "asia-south2": "Asia/Kolkata",
    "asia-southeast1": "Asia/Singapore",
    "asia-southeast2": "Asia/Jakarta",
    "australia-southeast1": "Australia/Sydney",
    "australia-southeast2": "Australia/Melbourne",
    "europe-central2": "Europe/Warsaw",
    "europe-north1": "Europe/Helsinki",
    "europe-north2": "Europe/Stockholm",
    "europe-southwest1": "Europe/Madrid",
    "europe-west1": "Europe/Brussels",
    "europe-west2": "Europe/London",
    "europe-west3": "Europe/Berlin",
    "europe-west4": "Europe/Amsterdam",
    "europe-west6": "Europe/Zurich",
    "europe-west8": "Europe/Rome",
    "europe-west9": "Europe/Paris",
    "europe-west10": "Europe/Berlin",
    "europe-west12": "Europe/Rome",
    "me-central1": "Asia/Qatar",
    "me-central2": "Asia/Riyadh",
    "me-west1": "Asia/Jerusalem",
    "northamerica-northeast1": "America/Toronto",
    "northamerica-northeast2": "America/Toronto",
    "northamerica-south1": "America/Mexico_City",
    "southamerica-east1": "America/Sao_Paulo",
    "southamerica-west1": "America/Santiago",
    "us-central1": "America/Chicago",
    "us-east1": "America/New_York",
    "us-east4": "America/New_York",
    "us-east5": "America/New_York",
    "us-south1": "America/Chicago",
    "us-west1": "America/Los_Angeles",
    "us-west2": "America/Los_Angeles",
    "us-west3": "America/Denver",
    "us-west4": "America/Los_Angeles",
}


def time_zone(zones: Iterable[str]) -> str:
    """Return the time zone of most nodes, by the zones that they stand in; UTC where nobody knows."""
    regions = Counter(zone.rpartition("-")[0] for zone in zones if zone)
    region = max(sorted(regions), key=lambda each: regions[each], default="")
    return ZONES.get(region, UTC)


WAVE: Final = {"nodes": "30%", "deadline": "90m"}
BUDGET: Final = "10%"
GUESSED: Final = (
    "So what is requested below may be too little, and maxNodesPerPass is a guess: write it again from a whole dump."
)


def starter(snapshot: Snapshot, plan: Plan, most: Potential | None, pace: NightPace, partial: str = "") -> str:
    """Return the policy as YAML; `most` is None if nobody knows how much could go, and `partial` is the reason."""
    zone = time_zone(node.zone for node in snapshot.nodes)
    rows = [summary for summary in pool_summaries(plan.decisions, most.nodes if most else ()) if summary.pool]
    busy = {node.pool for node in plan.decisions if node.accelerator_ratio is not None}
    machines = _machines(snapshot)
    pools: dict[str, Any] = {}
    for summary in rows:
        name = str(summary.pool)
        because = _describe_pool(summary, machines[name], known=most is not None)
        why_not = _why_not(summary, snapshot.pools.get(name), accelerated=name in busy)
        pools[name] = _left(because, why_not) if why_not else _pool(because, name, pace, zone)
    until = Noted("replaced", "a drain frees its budget when all that it moved runs again")
    policy = {
        "dryRun": Noted(value=True, because=SAFE_DEFAULT),
        "cluster": _cluster(pace),
        "drain": {"budgetUntil": until},
        "nodePools": pools,
    }
    return write_imported(_head(snapshot, pace, partial), policy, []).document


def _head(snapshot: Snapshot, pace: NightPace, partial: str) -> str:
    named = visible(snapshot.cluster) or "this cluster"
    short = (f"Not known when this was written: {visible(partial)}", GUESSED) if partial else ()
    lines = (
        f"A first policy for {named} as it was at {snapshot.taken_at:%Y-%m-%d %H:%M} UTC.",
        *short,
        "It drains nothing until dryRun is false. What is not written here has its default (docs/policy.md).",
        "  ebb policy check policy.yaml      shows the settings of each pool",
        "  ebb policy calendar policy.yaml   shows how many nodes may go, and when",
        "  ebb plan --policy policy.yaml     shows what it saves, and by when",
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


def _left(because: str, why_not: str) -> Mapping[str, Any]:
    return {"enabled": Noted(value=False, because=f"{because}; {why_not}")}


def _pool(because: str, name: str, pace: NightPace, zone: str) -> Mapping[str, Any]:
    window = {"schedule": NIGHT, "duration": f"{HOURS}h", "timeZone": zone}
    where = "put your own time zone" if zone == UTC else "the night where the nodes stand"
    passing = "the most that one pass of the forecast starts" if pace.is_forecast else "guessed, for half of the nodes"
    return {
        "enabled": Noted(value=True, because=because),
        "scaleDownRequiredUnderutilizedNodeCount": Noted(1, "the proof of placement decides alone"),
        "excessNodesThreshold": Noted(0, "the same: the autoscaler keeps no spare nodes"),
        "localStorage": Noted("evict", "as the autoscaler does: what a pod keeps in an emptyDir is lost when it moves"),
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


def _describe_pool(own: PoolSummary, machine: str, *, known: bool) -> str:
    full = f"{percent(own.cpu_ratio)} of CPU and {percent(own.memory_ratio)} of memory requested"
    money = f" ({monthly(own.could_save)} a month)" if own.could_save else ""
    could = f"; {own.could_go:,} could go at most{money}, without limits and timers" if known else ""
    return f"{count(own.nodes, 'node')} of {machine}, {full}{could}"


def _machines(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the machine type that most nodes of each pool are of."""
    return {
        pool: Counter(sorted(node.machine or "unknown machines" for node in nodes)).most_common(1)[0][0]
        for pool, nodes in snapshot.nodes_by_pool.items()
    }


def print_starter(sources: Sources) -> None:
    """Print the policy; what the reading does not know goes to stderr.

    Raises:
        BadInput: as `gather`, or no node belongs to a pool.
        Retryable, Terminal: the cluster cannot be read.
    """
    inputs = gather(sources, EVERY_POOL)
    if not any(node.pool for node in inputs.snapshot.nodes):
        raise BadInput(f"{inputs.snapshot.cluster}: no node belongs to a pool of GKE, and a policy names pools.")
    situation = Situation(inputs.snapshot, ClusterState(), inputs.policy)
    for note in inputs.notes:
        if note not in {NO_POLICY, NO_MARKS}:
            typer.echo(visible(note), err=True)
    typer.echo(first_policy(situation, inputs.prices, inputs.partial), nl=False)


def first_policy(situation: Situation, prices: Prices, partial: str = "") -> str:
    """Return the policy as YAML; `partial`: what is not known of the cluster."""
    plan, careful = make_plan(situation, {}, prices), careful_pace(situation.snapshot)
    written = starter(situation.snapshot, plan, None, careful, partial)
    if partial:
        return written
    pace, steady = pace_of_a_night(situation, parse(written.encode()), careful, prices)
    most = potential(steady.situation, prices, removed_nodes(steady.rest.order, steady.rest.snapshot))
    return starter(situation.snapshot, plan, most, pace)
