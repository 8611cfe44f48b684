"""What holds of all advice, on drawn clusters; and single decisions on clusters made by hand."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from msgspec import structs

from functions.cli.analysis.shapes.advice import Advice, advise
from functions.cli.analysis.shapes.study import ShapeRequest, Study
from functions.cli.input.inputs import EVERY_POOL
from shared.core.cluster.resources import CPU, MEMORY
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Bill
from shared.core.planning.prices import HOURS_PER_MONTH
from shared.core.policy.values import Capacity, Commitment, Commitments
from shared.core.records.state import MICRO, ClusterState
from shared.core.rules.situation import Situation
from tests.bench.shapes.drawn_clusters import KINDS, PRICES, ZONES, Kind, drawn
from tests.bench.shapes.share import least_cost, share
from tests.builders import NOW, cluster, pod
from tests.cli.analysis.shapes.test_offers import pool_of
from tests.depth import cases
from tests.placement_checker import faults

SMALL = {
    "memory-bound": Kind((("n2-standard-8", 14),), 7.5),
    "cpu-bound": Kind((("n2-standard-8", 14),), 1.2),
    "two pools": Kind((("e2-standard-4", 12), ("n2-standard-8", 5)), 3.4),
    "few large": Kind((("n2-standard-32", 4),), 3.8),
}
CLUSTERS = [(name, fill) for name in SMALL for fill in (0.5, 0.8)]
MONTH = HOURS_PER_MONTH / MICRO


def advice(snapshot: Snapshot, bill: Bill | None = None, **asked: Any) -> Advice:
    given = {"trials": 60, "fill": 100, **asked}
    return advise(Situation(snapshot, ClusterState(), EVERY_POOL), bill or Bill(PRICES), ShapeRequest(**given))


@pytest.mark.parametrize(("name", "fill"), CLUSTERS)
def test_what_holds_of_all_advice(name: str, fill: float) -> None:
    seen = drawn(SMALL[name], fill)
    found = advice(seen)
    world, proof = found.proof.world, found.proof
    pending = replace(
        world, pods=tuple(structs.replace(one, node="") if one.key in proof.places else one for one in world.pods)
    )
    blocked = {one.node for one in seen.pods if one.spec.labels["app"] == "cache"}

    assert faults(pending, proof.places, ()) == []
    assert {each.key for each in seen.pods if not each.spec.stays} <= {each.key for each in world.pods if each.node}
    assert blocked <= proof.kept
    assert proof.homeless == ()
    assert found.proposed + found.moved * 5 / MONTH <= found.now + 1
    assert found.proposed <= found.now
    assert found.saving == sum(pool.saving for pool in found.pools)
    assert all(len({group.zone for group in pool.new}) + pool.kept >= min(3, pool.after) for pool in found.pools)
    assert all(len(pool.types) <= 3 for pool in found.pools)


def test_equal_input_gives_equal_advice() -> None:
    seen = drawn(SMALL["two pools"], 0.6)
    assert advice(seen).pools == advice(seen).pools


@cases("machine, name, fill", ("much memory", "n2-highmem-8", "memory-bound", 0.8),
       ("much CPU", "n2-highcpu-16", "cpu-bound", 0.55))  # fmt: skip
def test_other_shapes_are_found_where_pods_ask_for_other_proportions(machine: str, name: str, fill: float) -> None:
    """On clusters of the bench, the type that pays most; few trials find nine tenths of the bound."""
    situation = Situation(drawn(KINDS[name], fill), ClusterState(), EVERY_POOL)
    request = ShapeRequest(pod_worth=Fraction(0), fill=100, trials=100)
    found = advise(situation, Bill(PRICES), request)
    assert share(found, situation, Bill(PRICES), request) >= 0.9
    assert machine in found.pools[0].types
    assert found.more > 0


def test_a_pod_that_moves_must_pay_what_it_is_worth() -> None:
    seen = drawn(SMALL["two pools"], 0.8)
    moved = [advice(seen, pod_worth=Fraction(worth)).moved for worth in (0, 5, 1000)]
    assert moved[0] > moved[1] > moved[2] == 0


def test_no_node_is_filled_beyond_what_was_asked() -> None:
    found = advice(drawn(SMALL["memory-bound"], 0.6), fill=70)
    world = found.proof.world
    for machine in world.nodes:
        if machine.name.startswith("new-"):
            booked = world.pods_by_node[machine.name].booked
            assert all(booked.get(axis) <= 0.7 * machine.allocatable.get(axis) for axis in (CPU, MEMORY))


def test_a_pod_that_fits_nowhere_makes_the_bound_of_the_bench_no_lower() -> None:
    pods = [pod(f"p{place}", on=f"n{place}", cpu=5, memory=16) for place in range(8)]
    seen = [cluster(pool_of(8), [*pods, *more]) for more in ((), (pod("x", cpu=500),))]
    found = [
        least_cost(Study(Situation(snapshot, ClusterState(), EVERY_POOL), Bill(PRICES), ShapeRequest()))
        for snapshot in seen
    ]
    assert 0 < found[0] == pytest.approx(found[1], rel=0.1)


def test_pods_that_keep_apart_get_a_node_each() -> None:
    apart = PodTerm("kubernetes.io/hostname", LabelSelector((Requirement("app", "In", ("web",)),)), ("default",))
    pods = [pod(f"w{place}", on=f"n{place}", cpu=0.5, memory=0.5, anti_affinity=(apart,)) for place in range(6)]
    found = advice(cluster(pool_of(6, zone=ZONES[0]), pods))
    assert found.pools[0].after == 6
    assert found.proposed < found.now
    assert len(set(found.proof.places.values())) == len(found.proof.places)


def test_what_is_committed_stays() -> None:
    """A cluster whose family is committed as it is saves nothing by other machines of that family."""
    seen = drawn(SMALL["memory-bound"], 0.8)
    vcpu, gib = Fraction(14 * 8), Fraction(14 * 32)
    all_of_it = Commitments((Commitment("n2", Capacity(vcpu, gib), discount=Fraction(1, 2)),))
    bill = Bill.of(PRICES, all_of_it, seen.nodes, NOW)
    found = advice(seen, bill=bill)
    assert (found.saving, found.moved) == (0, 0)
    assert found.now == bill.fees


@cases(
    "after, seen",
    ("no nodes", 0, cluster([])),
    ("nodes outside any pool", 0, cluster(pool_of(2, pool=""))),
    ("nodes without pods", 0, cluster(pool_of(2))),
    ("pods that no drain may move", 2,
     cluster(pool_of(2), [pod("x", on="n0", owner=None), pod("y", on="n1", owner=None)])),
    ("a node that is not Ready", 2, cluster(pool_of(2, ready=False), [pod("x", on="n0")])),
    ("pods that request nothing", 1, cluster(pool_of(2), [pod(name, on="n0", cpu=0, memory=0) for name in "xyz"])),
    ("a pod that waits", 2, cluster(pool_of(1), [pod("x", cpu=6, memory=6), pod("y", on="n0", cpu=6, memory=6)])),
)  # fmt: skip
def test_clusters_with_little_to_decide(after: int, seen: Snapshot) -> None:
    found = advice(seen)
    assert sum(pool.after for pool in found.pools) == after
    assert found.proof.homeless == ()


def test_what_fits_on_no_machine_is_named() -> None:
    found = advice(cluster(pool_of(1), [pod("x", cpu=500)]))
    assert [one.name for one in found.proof.homeless] == ["x"]
