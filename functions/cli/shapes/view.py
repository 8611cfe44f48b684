"""What `ebb shapes` shows: sentences, a row for each pool, and the commands that make the change."""

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.shapes.advice import NIGHT, Advice, PoolAdvice
from functions.cli.analysis.shapes.offers import MIN_PLATFORM_LABEL
from functions.cli.analysis.shapes.study import ShapeRequest
from functions.cli.explain.parts import PagePart
from functions.cli.input.inputs import WARNING
from functions.cli.output.format import count, dollars, monthly, rounded_percent
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.plan.as_json import money
from shared.core.cluster import names
from shared.core.cluster.node import Node

SCHEMA: Final = 1
IN_PLACE: Final = (
    "GKE changes no machine type in place: Terraform deletes a pool whose machine_type changes and creates it again. "
    "Add the new pools, cordon and drain the nodes that go, and only then remove the old ones. "
    "Write your cluster's name and location, and add what else a pool has (disk, image, service account, network tags)."
)
NOTHING: Final = (
    "No other machine types would save money at this price of a pod that moves. "
    "ebb plan shows what the removal of nodes saves."
)
NIGHT_ONLY: Final = (
    f"{WARNING}Pods book {{booked}} of the cluster in this snapshot. If it was taken at night, it understates the "
    "day: add a dump of the day with another --dump, or lower --fill."
)
FULLEST: Final = "The pods of all {snapshots} snapshots fit. Nodes and money are those of the fullest."
NOT_PACKED: Final = (
    "The scheduler does not place pods as tightly as this advice. Let the new pools autoscale: they add the nodes that "
    "it needs beyond these."
)


def notes_of(found: Advice, snapshots: int) -> tuple[str, ...]:
    """Return what the advice rests on, what is not known, and a warning if the snapshot may be one of the night."""
    booked = rounded_percent(Fraction(found.booked).limit_denominator(1000))
    night = (NIGHT_ONLY.format(booked=booked),) if found.booked < NIGHT and snapshots == 1 else ()
    several = (FULLEST.format(snapshots=snapshots),) if snapshots > 1 else ()
    homeless = len(found.proof.homeless)
    fit = "fits" if homeless == 1 else "fit"
    left = (f"{WARNING}{count(homeless, 'pod')} {fit} on no machine type on offer.",) if homeless else ()
    unknown = tuple(f"Pool {pool.pool}: {word}." for pool in found.pools for word in pool.unknown)
    return (*night, *left, *several, *(unknown), NOT_PACKED)


def document(found: Advice, request: ShapeRequest, cluster: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "fill": request.fill / 100,
        "pod_worth_per_month": float(request.pod_worth),
        "families": list(request.families),
        "cost_per_hour": money(dollars(found.now)),
        "at_rest_per_hour": money(dollars(found.steady)),
        "proposed_per_hour": money(dollars(found.proposed)),
        "saving_per_hour": money(dollars(found.saving)),
        "pods_moved": found.moved,
        "pools": [_pool(pool) for pool in found.pools],
        "commands": list(commands(found)),
    }


def _pool(pool: PoolAdvice) -> dict[str, Any]:
    return {
        "pool": pool.pool,
        "machine_type": pool.machine,
        "proposed": pool.proposed,
        "nodes_before": pool.before,
        "nodes_after": pool.after,
        "saving_per_hour": money(dollars(pool.saving)),
        "pods_moved": pool.moved,
        "unknown": list(pool.unknown),
        "nodes_kept": pool.kept,
        "nodes_blocked": pool.blocked,
        "new": [
            {"machine_type": machine, "nodes": nodes, "zones": zones_of(pool, machine)}
            for machine, nodes in pool.types.items()
        ],
    }


def zones_of(pool: PoolAdvice, machine: str) -> dict[str, int]:
    """Return by zone how many new nodes of a machine type the pool gets."""
    return {group.zone: nodes for group, nodes in sorted(pool.new.items(), key=str) if group.machine == machine}


_POOLS: Final = (
    Column("pool", code=True, style=BOLD), Column("now"), Column("nodes", right=True),
    Column("proposed", wraps=True), Column("nodes", right=True), Column("saves/mo", right=True),
    Column("pods move", right=True), Column("blocked nodes", right=True),
)  # fmt: skip


def parts(found: Advice, request: ShapeRequest, whose: str) -> Iterator[PagePart]:
    """Yield the money, a row for each pool, and what makes the change; `whose` is the policy of the steady state."""
    yield f"{count(found.before, 'node')} for {monthly(found.now)} a month now."
    if found.more <= 0 or not found.has_other_types:
        yield NOTHING
        return
    yield (
        f"Proposed: {count(found.after, 'node')} for {monthly(found.proposed)}, {monthly(found.saving)} a month less. "
        f"{count(found.moved, 'pod')} would move once, each counted as ${float(request.pod_worth):g} a month."
    )
    yield (
        f"With Ebb, {whose}, and the machine types of now: {monthly(found.steady)} in steady state (ebb plan). "
        f"The proposal saves {monthly(found.more)} a month more."
    )
    yield Table.of(_POOLS, map(_row, found.pools))
    yield IN_PLACE
    yield Table.of((Column("what makes the change", code=True, wraps=True),), ((line,) for line in commands(found)))


def _row(pool: PoolAdvice) -> Sequence[str]:
    new = ", ".join(f"{nodes:,} x {machine}" for machine, nodes in pool.types.items())
    kept = f"{count(pool.kept, 'existing node')} kept" if pool.kept else ""
    saves = monthly(pool.saving) if pool.saving >= 0 else f"-{monthly(-pool.saving)}"
    proposed = " + ".join(filter(None, (new, kept))) or "none"
    blocked = f"{pool.blocked:,}" if pool.blocked else ""
    return pool.pool, pool.machine, f"{pool.before:,}", proposed, f"{pool.after:,}", saves, f"{pool.moved:,}", blocked


_NO_NAME: Final = re.compile(r"[^a-z0-9-]+")
_LONGEST_NAME: Final = 40


def commands(found: Advice) -> Iterator[str]:
    """Yield what makes the change: all new pools first, as pods of one pool may move to new nodes of another."""
    taken = {pool.pool for pool in found.pools}
    for pool in found.pools:
        for machine, nodes in pool.types.items():
            if machine != pool.machine:
                taken.add(name := pool_name(pool.pool, machine, taken))
                yield _creation_command(name, pool, machine, nodes, found)
    for pool in found.pools:
        if pool.gone:
            yield f"kubectl cordon {' '.join(pool.gone)}"
            yield f"kubectl drain --ignore-daemonsets {' '.join(pool.gone)}"


def _creation_command(name: str, pool: PoolAdvice, machine: str, nodes: int, found: Advice) -> str:
    zones = zones_of(pool, machine)
    like = next(node for node in found.proof.world.nodes if (node.pool, node.machine) == (pool.pool, machine))
    flags = [
        f"--machine-type={machine}",
        f"--node-locations={','.join(zones)}",
        f"--num-nodes={-(-nodes // len(zones))}",
        "--enable-autoscaling --total-min-nodes=0",
        f"--total-max-nodes={2 * nodes}",
        *_kept_from(like),
    ]
    where = "--cluster=CLUSTER --location=LOCATION"
    return f"gcloud container node-pools create {name} {where} {' '.join(flags)}"


def pool_name(pool: str, machine: str, taken: Collection[str] = ()) -> str:
    """Return a name for the new pool that GKE accepts and no pool has."""
    endings = (machine, *(f"{machine}-{number}" for number in range(2, len(taken) + 3)))
    own = _NO_NAME.sub("-", pool)
    names_of = (f"{own[: _LONGEST_NAME - len(ending) - 1].rstrip('-')}-{ending}" for ending in endings)
    return next(name for name in names_of if name not in taken)


_GIVEN: Final = frozenset({names.COMPUTE_CLASS_LABEL})
"""Labels of Google's that people give a pool."""
_PREEMPTIBLE: Final = names.SPOT_LABELS[1]


def _kept_from(like: Node) -> Iterator[str]:
    """Yield the flags for what people gave the pool: labels, taints, minimum CPU platform, Spot."""
    own = {key: value for key, value in sorted(like.labels.items()) if key in _GIVEN or not _is_googles(key)}
    if own:
        yield f"--node-labels={','.join(f'{key}={value}' for key, value in own.items())}"
    if like.taints:
        yield f"--node-taints={','.join(f'{taint.key}={taint.value}:{taint.effect}' for taint in like.taints)}"
    platform = like.labels.get(MIN_PLATFORM_LABEL)
    if platform:
        yield f'--min-cpu-platform="{platform.replace("_", " ")}"'
    if like.spot:
        yield "--preemptible" if like.labels.get(_PREEMPTIBLE) == "true" else "--spot"


def _is_googles(key: str) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    return domain.endswith(("kubernetes.io", "google.com", "gke.io", "projectcalico.org", "k8s.io"))
