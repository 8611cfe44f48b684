"""What each pool may become, and what its new nodes are like."""

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from functions.cli.analysis.shapes.offers import (
    ARM,
    FAMILIES,
    NewGroup,
    NewNodes,
    PoolOffer,
    allocatable,
    machine_type,
    offers,
    types_of,
)
from infra.local.machine_types import allocatable as formula_of_the_simulated_gke
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import CLAIM, Volume
from shared.core.cluster.resources import MEMORY, Resources
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import CSINode
from tests.bench.shapes.drawn_clusters import PRICES, offered
from tests.bench.shapes.lower_bound import Problem, lower_bound
from tests.builders import GIB, cluster, node, pod, resources, storage, taint
from tests.depth import cases


def pool_of(count: int = 10, machine: str = "n2-standard-8", **changes: Any) -> list[Node]:
    return [node(f"n{place}", machine=machine, allocatable=offered(machine), **changes) for place in range(count)]


def filled(nodes: list[Node], *more: Any) -> Snapshot:
    """Every node carries 6 vCPUs and 24 GiB of its pool's pods."""
    pods = [pod(f"p-{one.name}", on=one.name, cpu=6, memory=24, tolerations=()) for one in nodes]
    return cluster(nodes, [*pods, *more])


def offer(nodes: list[Node], *families: str) -> PoolOffer:
    (found,) = offers(filled(nodes), PRICES, families)
    return found


def types(found: PoolOffer) -> set[str]:
    return {type_.name for type_ in found.types}


def test_a_pool_is_offered_the_sizes_and_shapes_of_its_own_family() -> None:
    found = offer(pool_of())
    assert {"n2-standard-4", "n2-highmem-8", "n2-highcpu-8"} < types(found)
    assert {type_.family for type_ in found.types} == {"n2"}
    assert found.unknown == ()


def test_no_machine_carries_more_than_an_eighth_of_the_requests_unless_those_of_today_do() -> None:
    assert "n2-standard-16" not in types(offer(pool_of(10)))
    assert "n2-standard-16" in types(offer(pool_of(25)))
    assert "n2-standard-8" in types(offer(pool_of(2)))


@cases(
    "named",
    ("a selector", {"node_selector": {names.POOL_LABEL: "default"}}),
    ("an affinity", {"node_terms": (NodeTerm((Requirement(names.POOL_LABEL, "In", ("default",)),)),)}),
)
def test_a_pool_that_pods_select_by_its_name_keeps_its_type(named: Any) -> None:
    """A pool of another machine type has another name, and these pods would find no place there."""
    (found,) = offers(filled(pool_of(pool="default"), pod("x", on="n0", **named)), PRICES)
    assert types(found) == {"n2-standard-8"}
    assert names.POOL_LABEL in found.unknown[0]


@cases(
    "word, expected, changes",
    ("GPUs", "accelerators", {"n2-standard-8"}, {"labels": {names.GPU_LABEL: "nvidia-l4"}}),
    ("local SSDs", "local SSDs", {"n2-standard-8"}, {"labels": {names.EPHEMERAL_SSD_LABEL: "true"}}),
    ("an unknown type", "price table", set(), {"machine": "x9-large-8"}),
)
def test_some_pools_keep_their_type_and_it_is_named_why(word: str, expected: set[str], changes: Any) -> None:
    found = offer([node(f"n{place}", **{"machine": "n2-standard-8", **changes}) for place in range(4)], "e2")
    assert types(found) == expected
    assert [word in note for note in found.unknown] == [True]


@pytest.mark.parametrize("label", [names.SPOT_LABELS[0], "cloud.google.com/requested-min-cpu-platform"])
def test_spot_and_a_minimum_cpu_platform_keep_the_family_even_if_others_are_asked_for(label: str) -> None:
    found = offer(pool_of(labels={label: "true"}), "e2")
    assert {type_.family for type_ in found.types} == {"n2"}
    assert len(found.unknown) == 1


def test_other_families_come_only_when_asked_for_and_never_with_other_processors() -> None:
    found = offer(pool_of(), "n2d", "t2a")
    assert {type_.family for type_ in found.types} == {"n2", "n2d"}
    assert [note.split()[0] for note in found.unknown] == ["n2d", "t2a"]


def test_families_of_other_disks_are_left_out_where_pods_have_volumes() -> None:
    """N4 attaches Hyperdisk alone."""
    free, disks = pod("x", on="n0"), pod("x", on="n0", volumes=(Volume("data", CLAIM, "data"),))
    plain, kept = (offers(filled(pool_of(), amount), PRICES, ("n4",))[0] for amount in (free, disks))
    assert ({type_.family for type_ in plain.types}, {type_.family for type_ in kept.types}) == ({"n2", "n4"}, {"n2"})
    assert "volumes" in kept.unknown[0]


def test_a_new_node_is_like_a_live_one_of_its_pool_and_zone_but_for_the_machine() -> None:
    own = taint("dedicated", value="web")
    nodes = pool_of(3, zone="z1", taints=(own, taint("node.kubernetes.io/unreachable")), labels={"team": "a"})
    seen = filled(nodes)
    new = NewNodes(seen, offers(seen, PRICES)).node(NewGroup("a", "n2-highmem-8", "z1"), 0)
    assert (new.machine, new.zone, new.pool, new.labels["team"]) == ("n2-highmem-8", "z1", "a", "a")
    assert new.taints == (own,)
    assert new.labels[names.HOSTNAME_LABEL] == new.name
    assert new.allocatable == offered("n2-highmem-8")


def test_what_live_nodes_offer_counts_more_than_the_formula() -> None:
    live = pool_of(2, "n2-highmem-8")[0]
    real = Resources.of({**dict(live.allocatable.amounts), MEMORY: 50 * GIB})
    nodes = [*pool_of(4), node("other", machine="n2-highmem-8", pool="b", allocatable=real)]
    seen = filled(nodes)
    assert (
        NewNodes(seen, offers(seen, PRICES)).node(NewGroup("a", "n2-highmem-8", "z"), 0).allocatable.memory == 50 * GIB
    )


def test_what_the_kernel_takes_of_the_pools_own_nodes_is_taken_of_others_in_proportion() -> None:
    less = Resources.of({**dict(offered("n2-standard-8").amounts), MEMORY: offered("n2-standard-8").memory - GIB})
    seen = filled([node(f"n{place}", machine="n2-standard-8", allocatable=less) for place in range(4)])
    new = NewNodes(seen, offers(seen, PRICES)).node(NewGroup("a", "n2-highmem-8", "z"), 0)
    assert offered("n2-highmem-8").memory - new.allocatable.memory == 2 * GIB


def test_static_pods_and_limits_of_disks_come_with_new_nodes() -> None:
    nodes = pool_of(2)
    proxy = pod("proxy", on="n0", annotations={names.MIRROR: "x"}, owner=None, cpu=0.1)
    limits = {"n0": CSINode({"pd.csi.storage.gke.io": 127})}
    seen = filled(nodes, proxy)
    seen = cluster(nodes, seen.pods, storage=storage(limits=limits))
    world = NewNodes(seen, offers(seen, PRICES)).added_to(seen, {NewGroup("a", "n2-standard-8", "z"): 2})
    new = [one.name for one in world.nodes if one.name.startswith("new-")]
    assert [world.pods_by_node[name].booked for name in new] == [resources(cpu=0.1, memory=0.1)] * 2
    assert [world.storage.csi_nodes[name].limits for name in new] == [limits["n0"].limits] * 2


KIB = 1024
OF_THE_MACHINE = 0.05
"""The share of a machine that firmware and kernel take, which the formula does not know."""


@cases(
    "name, cpu, memory",
    ("GKE 1.36", "n2-standard-4", 3920, 13_591_652 * KIB),
    ("a shared core, GKE 1.23", "e2-medium", 940, 2_880_076 * KIB),
)
def test_the_formula_agrees_with_real_nodes_but_for_what_the_kernel_takes(name: str, cpu: int, memory: int) -> None:
    machine = machine_type(name, PRICES)
    assert machine is not None
    found = allocatable(machine)
    assert found.cpu == cpu
    assert 0 <= found.memory - memory <= OF_THE_MACHINE * float(machine.size.gib) * GIB


@pytest.mark.parametrize("name", ["e2-standard-2", "n2-highmem-16", "n2-standard-32", "n2-highcpu-96", "e2-highcpu-4"])
def test_the_formula_is_what_the_simulated_gke_reads_from_the_same_page(name: str) -> None:
    machine, other = machine_type(name, PRICES), formula_of_the_simulated_gke(name)
    assert machine is not None
    found, expected = allocatable(machine), Resources.parse({axis: other[axis] for axis in ("cpu", "memory")})
    assert abs(found.cpu - expected.cpu) <= 1
    assert abs(found.memory - expected.memory) <= 1024**2


def test_the_price_table_knows_every_family_with_all_its_sizes_but_those_priced_whole() -> None:
    counts = {family: len(list(types_of(family, PRICES))) for family in FAMILIES}
    assert counts == {
        "e2": 14, "n1": 22, "n2": 28, "n2d": 31, "n4": 24, "c2": 5, "c2d": 21, "c3": 18, "c3d": 24, "t2a": 7, "t2d": 8,
    }  # fmt: skip
    assert set(FAMILIES) >= ARM


def test_a_name_that_shows_no_size_is_no_machine_type() -> None:
    assert [machine_type(name, PRICES) for name in ("", "a2-highgpu-1g", "n2-standard-x")] == [None, None, None]


@cases(
    "least, given",
    ("pods of 1 CPU and 4 GiB fill machines of 5 CPUs: with 20 GiB for 10, with 40 GiB for 15", 20,
     {"requests": [[1, 4, 1]], "pods": [10], "costs": [10, 15], "room": [[5, 20, 100], [5, 40, 100]]}),
    ("much memory goes to the one shape, much CPU to the other", 30,
     {"requests": [[1, 8, 1], [1, 1, 1]], "pods": [10, 10], "costs": [10, 10], "room": [[5, 40, 100], [10, 10, 100]]}),
    ("a node that is there and stays carries what is free on it", 10,
     {"requests": [[1, 4, 1]], "pods": [10], "costs": [10], "room": [[5, 20, 100]], "free": [[5, 20, 100]],
      "kept": [-np.inf]}),
)  # fmt: skip
def test_the_bound_of_all_choices_is_the_cost_of_the_best_mix(least: float, given: dict[str, Any]) -> None:
    assert lower_bound(problem(**given)) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_costs_less_than_the_bound(seed: int) -> None:
    dice = Random(seed)  # noqa: S311 - a test's data
    given = problem(
        requests=[[dice.randint(1, 4), dice.randint(1, 8), 1] for _ in range(2)],
        pods=[dice.randint(1, 3), dice.randint(1, 3)],
        costs=[dice.randint(5, 20), dice.randint(5, 20)],
        room=[[dice.randint(4, 9), dice.randint(8, 16), 3] for _ in range(2)],
        own=[[1, 0]], free=[[dice.randint(0, 3), dice.randint(0, 6), 2]], kept=[dice.randint(-5, 15)],
    )  # fmt: skip
    assert lower_bound(given) <= cheapest(given)


def cheapest(given: Problem) -> float:
    """Try all numbers of nodes, and all ways to put the pods on them."""
    best = np.inf
    for kept, first, second in product((0, 1), range(5), range(5)):
        cost = kept * given.kept[0] + first * given.costs[0] + second * given.costs[1]
        room = [*([given.free[0]] if kept else []), *[given.room[0]] * first, *[given.room[1]] * second]
        pods = [kind for kind, count in enumerate(given.pods - kept * given.own[0]) for _ in range(int(count))]
        if cost < best and fits(given, pods, [list(free) for free in room]):
            best = cost
    return best


def fits(given: Problem, pods: list[int], room: list[list[float]]) -> bool:
    if not pods:
        return True
    for place, free in enumerate(room):
        left = [have - need for have, need in zip(free, given.requests[pods[0]], strict=True)]
        if min(left) >= 0 and fits(given, pods[1:], [*room[:place], left, *room[place + 1 :]]):
            return True
    return False


def problem(
    requests: list[list[float]], pods: list[float], costs: list[float], room: list[list[float]],
    own: list[list[float]] | None = None, free: list[list[float]] | None = None, kept: list[float] | None = None,
) -> Problem:  # fmt: skip
    nodes = len(kept or ())
    return Problem(
        np.array(requests, np.float64), np.array(pods, np.float64), np.array(costs, np.float64),
        np.array(room, np.float64), np.ones((len(pods), len(costs)), np.bool_),
        np.array(own or np.zeros((nodes, len(pods))), np.float64).reshape(nodes, len(pods)),
        np.array(kept or (), np.float64), np.array(free or (), np.float64).reshape(nodes, len(room[0])),
        np.ones((len(pods), nodes), np.bool_),
    )  # fmt: skip
