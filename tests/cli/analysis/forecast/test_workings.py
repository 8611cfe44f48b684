"""A forecast that keeps what it has found comes to the same as one that finds all of it anew, answer for answer."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from msgspec import structs

from functions.cli.analysis.forecast.scenarios import scenarios_from
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.forecast.unpaced_pass import Workings
from functions.cli.analysis.forecast.what_if import why_not
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import KEPT
from shared.core.policy import Budget, Jobs, Limit, Policy, PoolPolicy, SingleReplicas
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.builders import buffer, held
from tests.depth import DEEP

CLUSTERS = 300 if DEEP else 10
_MIXES = (Mix.MIXED, Mix.RICH, Mix.PLAIN)
_POOLS: tuple[Mapping[str, Any], ...] = (
    {},
    {"cpu_limit": Fraction(4, 10)},
    {"required_count": 3},
    {"excess_threshold": Fraction(1)},
    {"headroom_percent": 10},
    {"jobs": Jobs.MOVE},
    {"single_replicas": SingleReplicas.AVOID},
    {"minimum_saving": Fraction(30)},
    {"enabled": False},
)
_CLUSTER: tuple[Mapping[str, Any], ...] = ({}, {"minimum_nodes": 3}, {"budgets": (Budget(Limit(percent=20)),)})


def picture(roll: Random, seed: int) -> Snapshot:
    """A generated cluster with nodes and pods that are on their way, and some that people keep."""
    mix, fill = _MIXES[seed % len(_MIXES)], roll.choice((0.3, 0.5, 0.65, 0.8))
    plain = snapshot_of(generated(roll.choice((6, 12, 20, 30)), mix, fill=fill, pods_a_node=8, seed=seed))
    profile = roll.choice(("BALANCED", "OPTIMIZE_UTILIZATION"))
    nodes, pods = (
        tuple(_node(node, roll) for node in plain.nodes),
        tuple(_pod(pod, plain, roll) for pod in plain.pods),
    )
    buffers = held(buffer("b", 2, cpu=0.5, memory=0.5)) if roll.random() < 0.2 else plain.buffers
    return replace(plain, nodes=nodes, pods=pods, profile=profile, buffers=buffers)


def _node(node: Node, roll: Random) -> Node:
    ours = Taint(names.OUR_TAINT, "NoSchedule", "order")
    announced = Taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule")
    changes: tuple[Mapping[str, Any], ...] = (
        {"taints": (*node.taints, ours), "unschedulable": True},
        {"taints": (*node.taints, announced)},
        {"ready": False},
        {"annotations": {names.SCALE_DOWN_DISABLED: "true"}},
    )
    return replace(node, **roll.choice(changes)) if roll.random() < 0.2 else node


def _pod(pod: Pod, snapshot: Snapshot, roll: Random) -> Pod:
    now = snapshot.taken_at
    changes: tuple[Mapping[str, Any], ...] = (
        {"node": "", "unschedulable_since": now - timedelta(minutes=3)},
        {"deleting": now + timedelta(seconds=20)},
        {"ready": False},
        {"created": now - timedelta(minutes=2)},
    )
    return structs.replace(pod, **roll.choice(changes)) if roll.random() < 0.05 else pod


def answers(situation: Situation, marks: Mapping[str, PoolMarks], workings: Workings) -> tuple[object, ...]:
    base = find_steady_state(situation, marks, load(), workings=workings)
    scenarios, freed = scenarios_from(base), why_not(base, 6)
    places = [(pod.key, pod.node) for pod in scenarios.left.pods] if scenarios.left else []
    return base.decisions, scenarios, places, freed.freed, freed.hopeless, freed.left, freed.passing


@pytest.mark.parametrize("seed", range(CLUSTERS))
def test_what_is_kept_changes_no_answer(seed: int) -> None:
    roll = Random(seed)  # noqa: S311 - the same cluster every time
    snapshot = picture(roll, seed)
    pools = {name: replace(PoolPolicy(enabled=True), **roll.choice(_POOLS)) for name in snapshot.nodes_by_pool}
    policy = Policy(pools=pools, **roll.choice(_CLUSTER))
    marks = {
        pool: PoolMarks(marks={node.uid: Mark(node.name, snapshot.taken_at - timedelta(minutes=30)) for node in nodes})
        for pool, nodes in snapshot.nodes_by_pool.items()
        if roll.random() < 0.5
    }

    kept, anew = (answers(Situation(snapshot, ClusterState(), policy), marks, Workings(keeps)) for keeps in (KEPT, 0))

    assert kept == anew
