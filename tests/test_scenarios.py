"""Golden scenarios (`scenarios/*.yaml`): a cluster and a policy as people write them in, verdicts out."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.policy.parsing import parse
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pdb, pod, taint

FILES = sorted((Path(__file__).parent / "scenarios").glob("*.yaml"))
MINUTES = {"m": 1, "h": 60, "d": 1440}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_the_plan_shows_what_the_scenario_wants(path: Path) -> None:
    scenario = yaml.safe_load(path.read_text(encoding="utf-8"))
    now = scenario.get("now", NOW)
    snapshot = picture(scenario, now)
    state = ClusterState(last_pass=now - timedelta(minutes=1))

    situation = Situation(snapshot, state, parse(scenario["policy"].encode()))
    plan = make_plan(situation, marks(scenario, snapshot, now), load())

    said = {decision.name: f"{decision.verdict.value} {decision.reason}" for decision in plan.decisions}
    assert scenario["want"] == {name: said[name] for name in scenario["want"]}, scenario["says"]


def picture(scenario: Mapping[str, Any], now: datetime) -> Snapshot:
    budgets = tuple(pdb(row["name"], allowed=row["allowed"], app=row["app"]) for row in scenario.get("pdbs", []))
    nodes = chain.from_iterable(nodes_of(row, now) for row in scenario["nodes"])
    pods = chain.from_iterable(pods_of(number, row) for number, row in enumerate(scenario.get("pods", [])))
    return cluster(nodes, pods, now=now, disruption_budgets=budgets)


def nodes_of(row: Mapping[str, Any], now: datetime) -> Iterator[Node]:
    changes = {key: row[key] for key in ("pool", "cpu", "memory", "unschedulable", "ready") if key in row}
    if "taint" in row:
        changes["taints"] = (taint(row["taint"]),)
    for name in row["name"]:
        yield node(name, created=now - duration(row.get("age", "1d")), **changes)


def pods_of(number: int, row: Mapping[str, Any]) -> Iterator[Pod]:
    changes = {key: row[key] for key in ("cpu", "memory", "annotations") if key in row}
    owner = row.get("owner", f"ReplicaSet/app-{number}")
    changes["owner"] = None if owner == "none" else owner
    if "volume" in row:
        changes["volumes"] = (Volume("data", row["volume"]),)
    for name in row["at"]:
        for each in range(row.get("each", 1)):
            yield pod(f"pod-{number}-{name}-{each}", on=name, **changes)


def marks(scenario: Mapping[str, Any], snapshot: Snapshot, now: datetime) -> dict[str, PoolMarks]:
    since = now - duration(scenario["marked"])
    fresh = set(scenario.get("unmarked", []))
    rows = {pool: [node for node in nodes if node.name not in fresh] for pool, nodes in snapshot.nodes_by_pool.items()}
    return {pool: PoolMarks(marks={node.uid: Mark(node.name, since) for node in nodes}) for pool, nodes in rows.items()}


def duration(text: str) -> timedelta:
    return timedelta(minutes=int(text[:-1]) * MINUTES[text[-1]])
