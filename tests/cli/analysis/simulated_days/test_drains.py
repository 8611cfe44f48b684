"""Each step that the drainer's rules answer (tests/core/draining) reaches the simulated world."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from functions.cli.analysis.simulated_days.drains import Drains
from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import bind, evict, found_no_place
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.draining.completion import WATCH_EVERY
from shared.core.draining.cordon import CORDON_SETTLES
from shared.core.draining.evicting import STATUS_LAG
from shared.core.planning.plan import PlannedOrder
from shared.core.policy import DrainSettings, Limit, LongGrace, NamespaceRate, Policy, SingleReplicas
from shared.core.reasons import DrainReason, ReturnReason
from tests.builders import NOW, cluster, node, pdb, pod, policy, taint
from tests.cli.analysis.simulated_days.recorded import let_pass
from tests.depth import cases

SECOND = timedelta(seconds=1)
CRITICAL: dict[str, Any] = {"priority_class": "system-cluster-critical", "priority": 2_000_000_000}
PAIR = pod("p", on="n1"), pod("q", on="n1")
MOST = DrainSettings().max_grace


def begun(*pods: Pod, under: Policy | None = None, **picture: Any) -> tuple[World, Drains]:
    """A drain of n1, claimed now; without a scheduler."""
    world = World(cluster([node("n1"), node("n2")], pods, **picture), load(), DELAYS, NOW)
    drains = Drains(world, under or policy())
    claim(drains, "n1")
    return world, drains


def claim(drains: Drains, name: str) -> None:
    drains.claim(PlannedOrder(name, f"uid-{name}", "a", DrainReason.UNDERUTILIZED, 0, ()), NOW)


def play(world: World, until: datetime) -> None:
    """Let time pass, and find no place for any pod."""

    def find_none() -> None:
        for key in world.pending:
            found_no_place(world, key)

    let_pass(world, until, find_none)


def leaving(pods: Iterable[Pod]) -> set[str]:
    return {one.name for one in pods if one.deleting is not None}


@cases(
    "expected, first, under",
    ("as many as the budgets allow", {"n1", "n2"}, node("n1"), policy()),
    ("in deletion", {"n2"}, node("n1", taints=(taint(names.AUTOSCALER_DELETING_TAINT),)), policy()),
    ("a gate has shut since", {"n1"}, node("n1"), policy(cluster_wide={"minimum_nodes": 2})),
    ("the first moves as many pods of a namespace as may move", {"n1"}, node("n1"),
     policy(cluster_wide={"evictions_per_namespace": NamespaceRate(2, timedelta(hours=1))})),
)  # fmt: skip
def test_a_drain_begins_unless_the_gates_of_its_claim_are_shut(expected: set[str], first: Node, under: Policy) -> None:
    pods = [*PAIR, pod("r", on="n2", owner="ReplicaSet/r")]
    world = World(cluster([first, node("n2"), node("n3")], pods), load(), DELAYS, NOW)
    drains = Drains(world, under)
    for name in ("n1", "n2", "gone"):
        claim(drains, name)

    assert drains.under_way.keys() == expected


@cases(
    "expected, grace",
    ("its pod's", timedelta(seconds=120), 120),
    ("the longest that a drain waits for", MOST, 10 * MOST.total_seconds()),
)
def test_a_drain_lasts_as_long_as_its_pods_may_take_to_end(expected: timedelta, grace: float) -> None:
    _, drains = begun(pod("p", on="n1", grace_seconds=int(grace)), under=policy(long_grace=LongGrace.CUT))

    assert drains.under_way["n1"].record.deadline == NOW + DrainSettings().timeout + expected


def test_a_drain_that_was_returned_does_not_act_for_the_one_after_it() -> None:
    world, drains = begun(*PAIR)
    drains.return_node(drains.under_way["n1"], ReturnReason.STALE)
    world.now = NOW + SECOND
    claim(drains, "n1")

    play(world, NOW + CORDON_SETTLES)
    assert leaving(world.pods.values()) == set()
    play(world, NOW + SECOND + CORDON_SETTLES)
    assert leaving(world.pods.values()) == {"p"}


def test_ordinary_pods_go_before_critical_ones() -> None:
    world, _ = begun(pod("plain", on="n1"), pod("critical", on="n1", owner="ReplicaSet/dns", **CRITICAL))
    play(world, NOW + CORDON_SETTLES)

    assert leaving(world.pods.values()) == {"plain"}


def test_a_pod_takes_no_longer_to_end_than_a_drain_lets_it() -> None:
    slow = pod("p", on="n1", owner="StatefulSet/db", grace_seconds=int(MOST.total_seconds()) + 60)
    world, _ = begun(slow, under=policy(long_grace=LongGrace.CUT))
    play(world, NOW + CORDON_SETTLES)

    assert world.pods["default/p"].deleting == NOW + CORDON_SETTLES + MOST


def test_a_drain_whose_pods_have_lost_their_place_moves_none() -> None:
    world, drains = begun(pod("p", on="n1", cpu=1))
    world.add_pod(pod("late", on="n2", cpu=3.5))
    play(world, NOW + CORDON_SETTLES)

    assert (drains.under_way, leaving(world.pods.values())) == ({}, set())
    assert world.measures.returned == {ReturnReason.STALE.value: 1}


def three_nodes() -> tuple[World, Drains]:
    """Each with a pod of one budget, which lets two go at once."""
    pods = [pod(f"p{n}", on=f"n{n}", grace_seconds=0) for n in (1, 2, 3)]
    two = pdb("web", app="web", max_unavailable=Limit(count=2))
    world = World(cluster([node(f"n{n}") for n in (1, 2, 3)], pods, disruption_budgets=(two,)), load(), DELAYS, NOW)
    return world, Drains(world, policy())


def test_one_drain_gives_way_for_one_pod_that_waits() -> None:
    world, drains = three_nodes()
    for name in ("n1", "n2"):
        claim(drains, name)
    play(world, NOW + CORDON_SETTLES)
    first, _ = sorted(world.pending)
    bind(world, first, "n3")
    play(world, NOW + timedelta(minutes=1))

    assert world.measures.returned == {ReturnReason.REPLACEMENT_PENDING.value: 1}
    assert len(drains.under_way) == 1


def test_the_drain_that_moved_the_waiting_pod_gives_way_and_the_other_waits_for_what_that_brings() -> None:
    world, drains = three_nodes()
    claim(drains, "n1")
    world.now += 2 * SECOND
    claim(drains, "n2")
    play(world, NOW + 29 * SECOND)

    assert list(drains.under_way) == ["n2"]


def test_a_node_whose_pods_may_not_be_moved_any_more_is_not_claimed() -> None:
    kept = pod("p", on="n1", annotations={names.SAFE_TO_EVICT: "false"})
    _, drains = begun(kept)

    assert drains.under_way == {}


SURGED = Workload(
    "default/Deployment/web", wanted=1, available=1, created=1,
    deployment=Deployment(name="default/Deployment/web", available=1, created=1, updated=1, max_unavailable=Limit(0)),
)  # fmt: skip


def surging() -> tuple[World, Drains]:
    under = policy(single_replicas=SingleReplicas.SURGE)
    world, drains = begun(pod("p", on="n1", grace_seconds=0), under=under, workloads={"default/ReplicaSet/web": SURGED})
    play(world, NOW + CORDON_SETTLES)
    return world, drains


def test_a_single_replica_ends_once_the_one_next_to_it_is_available() -> None:
    world, drains = surging()
    (new,) = world.pending
    assert leaving(world.pods.values()) == set()

    bind(world, new, "n2")
    play(world, NOW + CORDON_SETTLES + DELAYS.ready)
    assert leaving(world.pods.values()) | {"p"} == {"p"}
    play(world, NOW + timedelta(minutes=1))
    assert world.pods.keys() == {new}
    assert drains.state.claims["uid-n1"].drained


def test_the_restart_of_a_drain_that_is_returned_is_undone() -> None:
    world, drains = surging()
    play(world, NOW + timedelta(minutes=2))

    assert world.measures.returned == {ReturnReason.SURGE_PENDING.value: 1}
    assert drains.under_way == {}
    assert world.pods.keys() == {"default/p"}


def test_a_cordon_that_the_autoscaler_cleared_is_set_again() -> None:
    world, drains = begun(pod("p", on="n1", cpu=0.1))
    world.deletion_begun["n1"] = NOW + SECOND
    world.change_node(replace(world.nodes["n1"], unschedulable=False))
    play(world, NOW + CORDON_SETTLES)

    assert world.nodes["n1"].unschedulable
    assert drains.under_way.keys() == {"n1"}


@cases(
    "expected, ready, budgets",
    ("as many of the workload are away as may be", set(), {"p"}, ()),
    ("none is away", {"p"}, {"p", "q"}, ()),
    ("the one that is not Ready itself", {"p"}, {"q"}, ()),
    ("its budget", set(), {"p", "q"}, (pdb("web", app="web", min_available=Limit(count=2)),)),
)
def test_a_pod_goes_only_within_its_budgets_and_next_to_its_replicas(
    expected: set[str], ready: set[str], budgets: Any
) -> None:
    pods = [pod(name, on=on, ready=name in ready) for name, on in (("p", "n1"), ("q", "n2"))]
    world, _ = begun(*pods, disruption_budgets=budgets)
    play(world, NOW + CORDON_SETTLES)

    assert leaving(world.pods.values()) == expected


def test_a_node_is_drained_once_its_pods_have_a_place() -> None:
    world, drains = begun(pod("p", on="n1", grace_seconds=0))
    play(world, NOW + CORDON_SETTLES + STATUS_LAG)
    (moved,) = world.pending
    assert not drains.state.claims["uid-n1"].drained

    bind(world, moved, "n2")
    play(world, NOW + timedelta(minutes=1))
    assert drains.state.claims["uid-n1"].drained


def test_a_drain_is_returned_once_a_pod_that_it_moved_has_waited_for_its_grace() -> None:
    world, drains = begun(pod("p", on="n1", grace_seconds=0), pod("long", on="n1", owner="ReplicaSet/x"))
    waits = NOW + CORDON_SETTLES + DrainSettings().pending_grace
    play(world, waits)
    assert "n1" in drains.under_way

    play(world, waits + 2 * WATCH_EVERY)
    assert world.measures.returned == {ReturnReason.REPLACEMENT_PENDING.value: 1}
    assert not world.nodes["n1"].unschedulable


def test_a_pod_that_waits_for_another_reason_ends_no_drain() -> None:
    stranger = pod("stranger", owner="ReplicaSet/x", unschedulable_since=NOW - timedelta(hours=1))
    world, drains = begun(pod("p", on="n1", owner="StatefulSet/db", grace_seconds=300), stranger)
    play(world, NOW + timedelta(seconds=200))

    assert drains.under_way.keys() == {"n1"}


def test_a_drain_is_returned_at_its_deadline() -> None:
    world, drains = begun(*(pod(f"p{n}", on=f"n{n}") for n in (1, 2)), disruption_budgets=(pdb("web", app="web"),))
    deadline = drains.under_way["n1"].record.deadline
    evict(world, world.pods["default/p2"], Actor.AUTOSCALER)
    assert deadline is not None
    play(world, deadline + WATCH_EVERY)

    assert world.measures.returned == {ReturnReason.DEADLINE.value: 1}
