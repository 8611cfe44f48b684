"""Which machines a simulated autoscaler buys for pods that wait."""

from collections.abc import Sequence
from typing import Any

from functions.cli.analysis.simulated_days.scale_up import NodeTemplates, ScaleUp, Scheduler
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint
from shared.core.planning.autoscaler import with_announcement
from tests.builders import NOW, cluster, node, pod, pod_class
from tests.cli.analysis.simulated_days.recorded import let_pass
from tests.depth import cases

DEAR: dict[str, Any] = {"pool": "a", "machine": "n2-standard-4"}
CHEAP: dict[str, Any] = {"pool": "b", "machine": "e2-standard-4"}


WAITS: dict[str, Any] = {"unschedulable_since": NOW}
DAEMON = pod("daemon", on="n2", owner="DaemonSet/agent", cpu=0.05)
APP = LabelSelector((Requirement("app", "In", ("apart",)),))
APART = pod_class(owner="ReplicaSet/apart", cpu=1, anti_affinity=(PodTerm(names.HOSTNAME_LABEL, APP, ("default",)),))
LONER = pod_class(owner="ReplicaSet/apart", anti_affinity=(PodTerm(names.ZONE_LABEL, APP, ("default",)),))
ONLY_C: dict[str, Any] = {"node_selector": {names.POOL_LABEL: "c"}}
ONLY_A: dict[str, Any] = {"node_selector": {names.POOL_LABEL: "a"}}
LARGE = pod_class(cpu=3)
ALL_EVEN = LabelSelector((Requirement("app", "In", ("even",)),))
EVEN = pod_class(owner="ReplicaSet/even", cpu=1, hard_spread=(SpreadConstraint(names.ZONE_LABEL, ALL_EVEN),))


def played(*pods: Any, booting: Sequence[Node] = (), **pools: NodePool) -> World:
    """One step of the autoscaler for these pods, beside a full node of each pool."""
    nodes = [node("n1", **DEAR), node("n2", **CHEAP)]
    full = [pod(f"full{one.name}", on=one.name, cpu=3.9) for one in nodes]
    known = {"a": NodePool("a"), "b": NodePool("b"), **pools}
    seen = cluster([*nodes, *booting], [*full, *pods], pools=known)
    world = World(seen, load(), DELAYS, NOW)
    ScaleUp(world, NodeTemplates(seen)).step()
    return world


def bought(world: World) -> list[str]:
    """Return the pools of the machines that were bought."""
    return [one.pool for one in list(world.nodes.values())[len(world.origin.nodes) :]]


@cases(
    "expected, pods, pools",
    ("of the cheapest pool", ["b"], [pod("p", cpu=2, **WAITS)], {}),
    ("that may grow", ["a"], [pod("p", cpu=2, **WAITS)], {"b": NodePool("b", autoscaled=False)}),
    ("one for as many as it takes", ["b"], [pod(f"p{n}", cpu=2, **WAITS) for n in (1, 2)], {}),
    ("and one for the rest", ["b", "b"], [pod(f"p{n}", kind=LARGE, **WAITS) for n in (1, 2)], {}),
    ("one for each pod apart", ["b", "b"], [pod(f"p{n}", kind=APART, **WAITS) for n in (1, 2)], {}),
    ("where each may", ["b", "a"], [pod("p", cpu=1, **WAITS), pod("q", cpu=1, **ONLY_A, **WAITS)], {}),
    ("none by its like", [], [pod("old", on="n2", kind=LONER), pod("p", kind=LONER, **WAITS)], {}),
    ("none for what no machine takes", [], [pod("p", cpu=5, **WAITS)], {}),
    ("none before the scheduler has found no place", [], [pod("p", cpu=2)], {}),
    ("none for an expendable pod", [], [pod("p", cpu=2, priority=-11, **WAITS)], {}),
    ("where the pods of DaemonSets leave it room", ["a"], [DAEMON, pod("p", cpu=3.97, **WAITS)], {}),
)
def test_a_machine_is_bought(expected: list[str], pods: list[Any], pools: dict[str, Any]) -> None:
    assert bought(played(*pods, **pools)) == expected


def test_a_pod_that_has_room_on_announced_nodes_alone_runs_there_and_no_machine_is_bought() -> None:
    """Scheduler and autoscaler take the announcement for what it is, a soft taint."""
    seen = cluster([with_announcement(node("n1"), wanted=True)], [pod("p", cpu=2, **WAITS)])
    world = World(seen, load(), DELAYS, NOW)
    ScaleUp(world, NodeTemplates(seen)).step()
    Scheduler(world).step()

    assert (bought(world), world.pods["default/p"].node) == ([], "n1")


def spread_world(*nodes: Node, pods: int) -> World:
    """A node in each of three zones, full but for these, and pods that must lie evenly over the zones."""
    full = [node(f"n{zone}", zone=zone, **CHEAP) for zone in "xyz"]
    filling = [pod(f"full{zone}", on=f"n{zone}", cpu=3.9) for zone in "xyz"]
    waiting = [pod(f"p{n}", kind=EVEN, **WAITS) for n in range(pods)]
    return World(cluster([*full, *nodes], [*filling, *waiting], pools={"b": NodePool("b")}), load(), DELAYS, NOW)


def test_pods_that_must_lie_evenly_over_zones_all_find_room_in_one_turn_of_the_scheduler() -> None:
    world = spread_world(*(node(f"free{zone}", zone=zone) for zone in "xyz"), pods=6)
    Scheduler(world).step()

    homes = [one.node for one in world.pods.values() if one.name.startswith("p")]
    assert sorted(homes) == sorted(2 * ["freex", "freey", "freez"])


def test_a_cordoned_node_counts_for_pods_that_must_lie_evenly_as_long_as_it_stands() -> None:
    """Zone x has one such pod, on a cordoned node, and room for none; so y and z take two each."""
    free = [node(f"free{zone}", zone=zone) for zone in "yz"]
    world = spread_world(*free, node("going", zone="x", unschedulable=True), pods=4)
    world.add_pod(pod("old", on="going", kind=EVEN))
    Scheduler(world).step()

    assert not world.pending


def test_machines_for_pods_that_must_lie_evenly_are_bought_once() -> None:
    """Those that boot are room for them: one in each zone, with two of the pods."""
    world = spread_world(pods=6)
    scale_up = ScaleUp(world, NodeTemplates(world.origin))
    scale_up.step()
    scale_up.step()

    bought_in = sorted(one.zone for one in world.nodes.values() if not one.ready)
    assert bought_in == ["x", "y", "z"]


def test_no_machine_is_bought_for_pods_that_have_room_where_expendable_ones_are() -> None:
    """They end at once, and the scheduler puts the pod in their place."""
    balloon = pod("balloon", on="n1", cpu=3, owner="ReplicaSet/balloon", priority=-11, grace_seconds=0)
    seen = cluster([node("n1")], [balloon, pod("p", cpu=2, **WAITS)])
    world = World(seen, load(), DELAYS, NOW)
    scheduler = Scheduler(world)
    scheduler.step()
    ScaleUp(world, NodeTemplates(seen)).step()
    let_pass(world, NOW)
    scheduler.step()

    assert (bought(world), world.pods["default/p"].node) == ([], "n1")


@cases("expected, daemons", ("two on each", 2, []), ("next to a daemon's", 3, [pod("d", on="n3", owner="DaemonSet/d")]))
def test_a_machine_takes_no_more_pods_than_its_kubelet(expected: int, daemons: list[Pod]) -> None:
    small = node("n3", pool="c", pods=2)
    full = [pod(f"full{n}", on="n3") for n in range(2 - len(daemons))]
    waiting = [pod(f"p{n}", cpu=0.5, **ONLY_C, **WAITS) for n in range(3)]

    assert bought(played(*daemons, *full, *waiting, booting=[small], c=NodePool("c"))) == ["c"] * expected


def test_a_pool_grows_in_its_zone_with_the_fewest_nodes() -> None:
    """Zones x and z have one node each, y has two; then all have two."""
    others = [node(f"z{n}", zone=zone, **CHEAP) for n, zone in enumerate("xyy")]
    full = [pod(f"fill{n}", on=f"z{n}", cpu=3.9) for n in range(3)]
    before = {"n1", "n2", "z0", "z1", "z2"}
    world = played(*full, *(pod(f"p{n}", cpu=3, **WAITS) for n in range(3)), booting=others)

    assert [one.zone for name, one in world.nodes.items() if name not in before] == ["x", "z", "x"]


def test_a_machine_comes_with_the_pods_of_its_pools_daemon_sets_once_it_has_booted() -> None:
    world = played(DAEMON, pod("p", cpu=2, **WAITS))
    (new,) = world.nodes.keys() - {"n1", "n2"}
    assert (world.nodes[new].ready, world.on[new]) == (False, {})

    let_pass(world, NOW + DELAYS.boot)

    assert world.nodes[new].ready
    assert [name.spec.workload for name in world.on[new].values()] == ["default/DaemonSet/agent"]
