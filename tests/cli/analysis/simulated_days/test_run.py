"""Laws of simulated days: equal input, flat days, and the same end as the forecast's, alone and with Ebb."""

from dataclasses import replace
from datetime import timedelta
from time import process_time
from typing import Any, Final

import pytest

from functions.cli.analysis.forecast.scenarios import scenarios_of
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.simulated_days.ebb import Ebb
from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.patterns import Curve, Demand, ReplicaChange, by_curve, swinging
from functions.cli.analysis.simulated_days.pod_lives import bind
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import DELAYS, Onlooker, World
from functions.cli.input.inputs import EVERY_POOL
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import DrainSettings, Policy
from shared.core.policy.parsing import parse
from shared.core.reasons import ReturnReason
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.days.population import case
from tests.builders import NOW, cluster, node, our_taint, pod, pod_class, policy
from tests.cli.analysis.simulated_days.recorded import Recorded, let_pass
from tests.depth import cases
from tests.measured_figures import slowness

DAY = timedelta(days=1)


def eager(more: str = "") -> Policy:
    """Whatever could go may go, and more settings of the cluster."""
    text = f"""
dryRun: false
cluster: {{minimumNodes: 1, minimumNonTaintedNodes: 1, timeSinceLastAddition: 0s{more}}}
defaults:
  minimumNodeAge: 0s
  excessNodesThreshold: 0
  scaleDownRequiredUnderutilizedNodeCount: 1
  scaleDownCPURequestRatioLimit: 1
  scaleDownMemoryRequestRatioLimit: 1
nodePools: {{a: {{enabled: true}}}}
"""
    return parse(text.encode())


EAGER = eager()
ONE_AT_A_TIME: Final = ", disruption: {budgets: [{nodes: 1}]}"


def filled(cpu: float, nodes: int = 6) -> Snapshot:
    """So many nodes, each with two pods that ask for so many cores together, every pod of a workload of its own."""
    rows = [(f"n{number}", f"{number}-{half}") for number in range(nodes) for half in range(2)]
    pods = [pod(f"p{name}", on=on, cpu=cpu / 2, owner=f"ReplicaSet/w{name}") for on, name in rows]
    return cluster([node(f"n{number}") for number in range(nodes)], pods)


def played(
    picture: Snapshot, demand: Demand | None = None, policy: Policy | None = None, lasts: timedelta = DAY
) -> PlayedTotals:
    return simulate(Days(picture, load(), demand or (), lasts), policy)


def swinging_day(picture: Snapshot) -> Demand:
    return by_curve(swinging(picture, 80), Curve(), picture.taken_at, DAY)


def shop(nodes: int) -> Snapshot:
    """One Deployment of four half-core pods a node, which fill it to a good half."""
    kind = pod_class(owner="ReplicaSet/shop", cpu=0.6, memory=1)
    pods = [pod(f"s{n}-{k}", on=f"n{n}", kind=kind) for n in range(nodes) for k in range(4)]
    return cluster([node(f"n{n}") for n in range(nodes)], pods)


@cases("policy", ("alone", None), ("with Ebb", EAGER))
def test_on_a_flat_day_without_slack_nothing_moves(policy: Policy | None) -> None:
    told = played(filled(3.6), policy=policy)

    assert (told.evictions, told.drains, told.pending) == (0, 0, 0)
    assert told.node_hours == 6 * 24


@pytest.mark.parametrize("cpu", [0.4, 1.0, 1.6, 2.4, 3.2])
@pytest.mark.parametrize("profile", ["BALANCED", "OPTIMIZE_UTILIZATION"])
def test_a_flat_day_ends_where_the_forecast_ends(cpu: float, profile: str) -> None:
    picture = replace(filled(cpu), profile=profile)
    told = scenarios_of(find_steady_state(Situation(picture, ClusterState(), EAGER), {}, load()))

    assert played(picture).end_nodes == told.alone.nodes
    assert played(picture, policy=EAGER).end_nodes == told.at_rest.nodes


def test_a_pod_waits_as_long_as_its_node_boots() -> None:
    picture = filled(3.6, 2)
    times = (NOW + timedelta(minutes=10), 2), (NOW + timedelta(minutes=20), 1)
    demand = tuple(ReplicaChange(at, "default/ReplicaSet/w0-0", replicas) for at, replicas in times)
    told = played(picture, demand, lasts=timedelta(hours=1))

    assert told.most_nodes == 3
    assert told.end_nodes == 2
    assert 90 <= told.longest_wait <= 111


@pytest.fixture(scope="module")
def beside() -> PlayedTotals:
    """A day of a shop of twelve nodes, with Ebb."""
    return played(shop(12), swinging_day(shop(12)), EAGER)


def test_the_night_is_cheaper_with_ebb_and_the_day_is_the_same(beside: PlayedTotals) -> None:
    alone = played(shop(12), swinging_day(shop(12)))

    assert beside.node_hours < alone.node_hours
    assert beside.evictions_by_ebb > 0
    assert beside.most_nodes == alone.most_nodes


def test_a_policy_in_dry_run_is_played_as_if_it_were_at_work_and_a_day_again_comes_out_equal(
    beside: PlayedTotals,
) -> None:
    assert played(shop(12), swinging_day(shop(12)), replace(EAGER, dry_run=True, paused=True)) == beside


FULL = pod("full", on="n2", cpu=3, owner="ReplicaSet/full")


def run_world(*pods: Any, lasts: timedelta, **pool: Any) -> World:
    """n1 with these pods beside a full node, without an autoscaler."""
    world = World(cluster([node("n1"), node("n2")], [FULL, *pods]), load(), DELAYS, NOW)
    Ebb(world, policy(**pool), load()).begin()
    let_pass(world, NOW + lasts)
    return world


def test_passes_at_which_nothing_changed_are_not_planned_again() -> None:
    measures = run_world(pod("fills", on="n1", cpu=3.6), lasts=DAY).measures

    assert measures.passes == DAY // DELAYS.interval + 1
    assert measures.planned < 10


def test_a_node_that_nobody_deletes_is_returned_by_the_watchdog() -> None:
    world = run_world(lasts=DrainSettings().watchdog + 2 * DELAYS.interval)

    assert (world.measures.returned[ReturnReason.WATCHDOG.value], world.nodes["n1"].unschedulable) == (1, False)


def test_a_node_that_an_earlier_drain_left_cordoned_is_returned() -> None:
    orphan = node("n1", unschedulable=True, taints=(our_taint(),))
    world = World(cluster([orphan], []), load(), DELAYS, NOW)
    Ebb(world, policy(), load()).begin()
    let_pass(world, NOW)

    assert (world.nodes["n1"].unschedulable, world.nodes["n1"].taints) == (False, ())


def test_a_breaker_opens_where_a_node_was_bought_for_a_moved_pod() -> None:
    recorded, moving = Recorded(), pod("p", on="n1", grace_seconds=0)
    world = World(cluster([node("n1"), node("n2")], [FULL, moving]), load(), DELAYS, NOW, onlooker=recorded)
    Ebb(world, policy(), load()).begin()

    def buy_for_what_waits() -> None:
        for key in tuple(world.pending):
            world.bought_for[key] = world.now
            bind(world, key, "n2")

    let_pass(world, NOW + DELAYS.interval, buy_for_what_waits)

    assert recorded.entries[-1]["after"].breakers.keys() == {"a"}


def test_the_pods_of_the_node_that_goes_next_carry_a_deletion_cost() -> None:
    replicas = pod("p", on="n1"), pod("q", on="n2")
    world = run_world(*replicas, lasts=timedelta(0), steer_scale_in=True, consolidate_after=timedelta(hours=1))

    assert {one.name for one in world.pods.values() if one.steered} == {"p"}


NODES: Final = 16


def half_empty() -> Snapshot:
    """Each node is a little too full for the autoscaler, each pod the only one of its workload."""
    rows = [(f"n{number:02}", f"w{number}-{place}") for number in range(NODES) for place in range(6)]
    pods = [pod(f"p-{name}", on=on, cpu=0.37, owner=f"ReplicaSet/{name}") for on, name in rows]
    return cluster([node(f"n{number:02}") for number in range(NODES)], pods)


class Held(Onlooker):
    """Which nodes carry the soft taint, after each change."""

    def __init__(self) -> None:
        self.at: list[tuple[timedelta, frozenset[str]]] = []
        self._now: frozenset[str] = frozenset()

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        changed = after or before
        assert changed is not None
        self._now = self._now | {after.name} if after is not None and after.held else self._now - {changed.name}
        self.at.append((world.now - NOW, self._now))


def play_wave(wave: str = "", held: Held | None = None) -> PlayedTotals:
    days = Days(half_empty(), load(), (), timedelta(hours=4))
    return simulate(days, eager(ONE_AT_A_TIME + wave), held or Held())


@pytest.mark.parametrize("wave", ["", ", wave: {nodes: 50%, deadline: 4h}"])
def test_no_pod_that_a_wave_moves_is_moved_again(wave: str) -> None:
    found = play_wave(wave)

    assert found.end_nodes < NODES
    assert (found.twice, found.returned) == (0, 0)


def test_the_nodes_of_a_wave_are_held_until_its_deadline() -> None:
    held = Held()
    play_wave(", wave: {nodes: 30%, deadline: 20m}", held)

    by = dict(held.at)
    assert by[DELAYS.interval] == {"n01", "n02", "n03", "n04"}
    assert by[timedelta(minutes=25)] == {"n01"}, "the one that is being drained"


def test_a_cluster_in_its_steady_state_holds_no_node() -> None:
    held = Held()
    told = play_wave(", wave: {nodes: 50%, deadline: 4h}", held)

    assert told.drains > 1
    assert held.at[-1][1] == frozenset()


WEEK = timedelta(days=7)
MOST = 60.0
"""Seconds of CPU for a run on a machine that is not busy; the runs of one command are played at the same time."""


@pytest.mark.deep
def test_a_week_of_two_hundred_nodes_with_ebb_takes_less_than_a_minute() -> None:
    picture = case(1, nodes=200).snapshot
    demand = by_curve(swinging(picture, 60), Curve(), picture.taken_at, WEEK)
    begun = process_time()
    told = simulate(Days(picture, load(), demand, WEEK), EVERY_POOL)

    spent = process_time() - begun
    assert spent < MOST * slowness()
    assert told.drains > 0
