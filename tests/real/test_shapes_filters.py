"""Every pod may have its place in the world that `ebb shapes` proposes, by the kube-scheduler's own filter plugins."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import pytest

from functions.cli.analysis.shapes.advice import Advice, advise
from functions.cli.analysis.shapes.study import ShapeRequest
from functions.cli.input.inputs import EVERY_POOL
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.planning.bill import Bill
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.depth import DEEP, SEED
from tests.real.scheduler_filters import Question, SchedulerFilters
from tests.real.scheduler_filters.comparison import snapshot
from tests.real.scheduler_filters.generator import Generator
from tests.real.scheduler_filters.program import Cluster, Manifest, key, refusals_of, replacement
from tests.real.scheduler_filters.storage_generator import made_for

pytestmark = pytest.mark.control_plane
SEEDS: Final = range(SEED, SEED + (30 if DEEP else 8))
NODES, PODS = 24, 60


def test_no_filter_refuses_a_pod_its_place_in_the_world_that_is_proposed(scheduler_filters: SchedulerFilters) -> None:
    found = [(cluster, advice(cluster)) for cluster in map(drawn, SEEDS)]
    asked = [world(cluster, each) for cluster, each in found]
    answers = scheduler_filters.ask(asked)

    refused = [
        f"seed {SEEDS[place]}: {key(question.pod)} on {question.bind}: {said}"
        for place, question, said in refusals_of(asked, answers)
    ]
    new = Counter[str]()
    for _, each in found:
        new.update(dict.fromkeys((pool.proposed for pool in each.pools if pool.new), 1))
    assert refused == []
    assert sum(len(questions) for _, questions in asked) > len(SEEDS)
    assert new, "no drawn cluster gets any new node"


def drawn(seed: int) -> Cluster:
    cluster = Generator(4_000_000 + seed).cluster(NODES, PODS, rejecting=0.05, attracted=0.1, stored=0.2)
    return replace(cluster, nodes=[with_machine(node) for node in cluster.nodes])


def with_machine(node: Manifest) -> Manifest:
    """Return the node as one of a machine type, and without GPUs, with which a pool would keep its type."""
    meta, status = node["metadata"], node["status"]
    offered = {name: amount for name, amount in status["allocatable"].items() if name != "nvidia.com/gpu"}
    labels = meta["labels"] | {names.MACHINE_LABEL: "n2-standard-8"}
    return node | {"metadata": meta | {"labels": labels}, "status": status | {"allocatable": offered}}


def advice(cluster: Cluster) -> Advice:
    situation = Situation(snapshot(cluster), ClusterState(), EVERY_POOL)
    return advise(situation, Bill(load()), ShapeRequest(pod_worth=Fraction(0), fill=100, trials=60))


def world(cluster: Cluster, found: Advice) -> tuple[Cluster, Sequence[Question]]:
    """Return the cluster with the nodes that are proposed, and for each pod that has moved its place."""
    proof = found.proof
    by_name = {node["metadata"]["name"]: node for node in cluster.nodes}
    kept = [each for name, each in by_name.items() if name in proof.kept]
    new = [made_like(node, by_name) for node in proof.world.nodes if node.name not in by_name]
    pods = {key(pod): pod for pod in cluster.pods}
    csi = {node["metadata"]["name"]: node for node in cluster.csi_nodes}
    limits = [with_name(csi[like], node["metadata"]["name"]) for node in new if (like := node["like"]) in csi]
    standing = [pod for pod in cluster.pods if pod["spec"]["nodeName"] in proof.kept]
    changed = replace(cluster, nodes=[*kept, *new], pods=standing, csi_nodes=[*cluster.csi_nodes, *limits])
    moved = ((replacement(pods[pod]), node) for pod, node in proof.places.items())
    return changed, [Question(pod, bind=node, claims=made_for(pod)) for pod, node in moved]


def made_like(node: Node, by_name: Mapping[str, Manifest]) -> Manifest:
    like = next(
        name
        for name, manifest in sorted(by_name.items())
        if all(manifest["metadata"]["labels"].get(label) == node.labels.get(label) for label in KEPT)
    )
    taints = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in node.taints]
    plain: dict[str, Any] = by_name[like]
    offered = {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in node.allocatable.amounts}
    return plain | {
        "metadata": plain["metadata"] | {"name": node.name, "uid": node.name, "labels": dict(node.labels)},
        "spec": {"taints": taints, "unschedulable": False},
        "status": plain["status"] | {"allocatable": offered, "capacity": offered},
        "like": like,
    }


KEPT: Final = (names.POOL_LABEL, names.ZONE_LABEL)


def with_name(node: Manifest, name: str) -> Manifest:
    return node | {"metadata": node["metadata"] | {"name": name}}
