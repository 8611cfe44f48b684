from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import SOFT_TAINT, Node, NodePool
from shared.core.cluster.pod import Volume
from shared.core.cluster.selectors import NO_SCHEDULE
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.planning.make_plan import PassOptions, make_plan
from shared.core.planning.plan import Plan, PlannedOrder
from shared.core.planning.waves import (
    WaveEnd,
    ending,
    most_held,
    prove_wave,
    remaining_nodes,
    second_pass_delay,
    soft_taints,
    still_to_order,
    wave_after,
)
from shared.core.policy import Budget, KubeSystemPods, Limit, Policy, PoolPolicy
from shared.core.policy.values import Commitments, FlexibleCommitment, Freeze, Preference, Schedule, WaveLimits
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import Breaker, ClusterState, Wave, WaveNode
from shared.core.rules.situation import Situation
from tests.builders import (
    CLUSTER,
    NOW,
    announced_taint,
    claim,
    cluster,
    committed,
    node,
    only_empty,
    our_taint,
    pdb,
    pod,
    policy,
    taint,
)
from tests.core.planning.passes import MINUTE, between_passes, decision, half_full, ordered, verdicts
from tests.depth import cases, examples
from tests.properties.clusters import clusters

WAVE = WaveLimits(Limit(percent=50), 30 * MINUTE)
TWO = WaveLimits(Limit(count=2), 90 * MINUTE)
LATELY = between_passes(last_scale_down=NOW - MINUTE)
"""A drain began a minute ago, so that timeGap is closed."""


def planned(
    snapshot: Snapshot,
    living: tuple[str, ...] | None = None,
    limits: WaveLimits | None = WAVE,
    gap: timedelta = 10 * MINUTE,
    per_pass: int = 1,
    **settings: Any,
) -> Plan:
    """Plan with waves, with a timeGap of ten minutes and one node a pass, a minute after the last drain."""
    rules = policy(cluster_wide={"time_gap": gap, "wave": limits}, max_nodes_per_pass=per_pass, **settings)
    return make_plan(Situation(snapshot, LATELY, rules), {}, load(), wave=living)


def test_a_wave_is_bound_neither_by_the_gap_between_passes_nor_by_nodes_per_pass() -> None:
    names_of = [f"n{number}" for number in range(1, 7)]

    made = planned(half_full(*names_of, cpu=1))

    assert made.wave == ("n1", "n2", "n3")
    assert ordered(made) == ["n1", "n2", "n3"]
    assert ordered(planned(half_full(*names_of, cpu=1), limits=None)) == []


def test_no_pod_of_a_wave_goes_to_a_node_of_it() -> None:
    made = planned(half_full("n1", "n2", "n3", "n4", cpu=1.5))

    targets = {move.node for order in made.orders for move in order.moves}
    assert made.wave
    assert targets
    assert targets.isdisjoint(made.wave)


def test_no_pod_goes_to_a_node_of_its_wave_though_it_would_be_the_best_place() -> None:
    """`b` goes later, for its budget, and is fuller than `keeper`, on which one pod keeps it."""
    sizes = {"a": 0.5, "b": 1.5, "keeper": 0.2}
    pods = [pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}") for name, cpu in sizes.items()]
    bare = pod("bare", on="keeper", cpu=0.1, owner=None)

    made = planned(only_empty(cluster(map(node, sizes), [*pods, bare])), limits=TWO, budgets=(Budget(Limit(count=1)),))

    assert (made.wave, ordered(made)) == (("a", "b"), ["a"])
    assert {move.node for order in made.orders for move in order.moves} == {"keeper"}


def test_the_most_money_goes_first_and_what_is_over_the_limit_stays() -> None:
    nodes = [node("a"), node("b"), node("c", cpu=16, memory=64, machine="e2-standard-16"), *map(node, "defg")]
    many = [pod(f"a{number}", on="a", cpu=0.1, owner="ReplicaSet/a") for number in range(4)]
    single = [pod(f"p-{row}", on=row, cpu=0.4, owner=f"ReplicaSet/{row}") for row in "bcdefg"]

    made = planned(cluster(nodes, [*many, *single]), limits=WaveLimits(Limit(count=3), 90 * MINUTE))

    assert made.wave == ("c", "b", "d")


def test_the_wave_that_lives_is_followed_and_other_nodes_are_room_for_it() -> None:
    made = planned(half_full("n1", "n2", "n3", "n4", cpu=1), ("n3", "n2"))

    assert made.wave == ("n3", "n2")
    assert ordered(made) == ["n3", "n2"]


def test_a_node_outside_the_wave_waits_until_it_is_over() -> None:
    made = planned(half_full("n1", "n2", "n3", "n4", cpu=1), ("n3",), gap=timedelta(0), per_pass=9)

    assert ordered(made) == ["n3"]
    kept = made.of("n1")
    assert kept is not None
    assert kept.blockers == (Blocker(Unremovable.KEPT_AS_DESTINATION, "n3"),)


@cases("after, pods", ("it is empty by now", None, 0), ("it has expired by now", timedelta(days=9), 1))
def test_a_node_of_the_wave_that_goes_anyway_leaves_the_others_in_it(after: timedelta | None, pods: int) -> None:
    rest = half_full("n2", "n3", "n4", "n5", cpu=1)
    first = node("n1", created=NOW - timedelta(days=400))
    own = [pod("p-n1", on="n1", cpu=1, owner="ReplicaSet/a")][:pods]

    made = planned(cluster([first, *rest.nodes], [*own, *rest.pods]), ("n1", "n2"), expire_after=after)

    assert (made.wave, ordered(made), made.unforeseen) == (("n2",), ["n1", "n2"], ())


def test_an_empty_node_that_the_wave_does_not_name_waits_for_the_gap() -> None:
    rest = half_full("n2", "n3", "n4", cpu=1)

    made = planned(cluster([node("n1"), *rest.nodes], rest.pods), ("n2",))

    assert (ordered(made), verdicts(made)["n1"]) == (["n2"], ("keep", "time_gap"))
    soon = planned(cluster([node("n1"), *rest.nodes], rest.pods), ("n2",), gap=timedelta(0), per_pass=9)
    assert ordered(soon) == ["n1", "n2"]


def test_a_node_that_an_expired_one_needs_as_room_leaves_the_wave() -> None:
    """Else each of the two would be proved onto the other."""
    nodes = [node("n1", created=NOW - timedelta(days=400)), node("n2"), node("n3"), node("n4", cpu=1)]
    sizes = {"n1": 1.5, "n2": 1.5, "n3": 3.2, "n4": 0.4}
    pods = [pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}") for name, cpu in sizes.items()]

    made = planned(cluster(nodes, pods), ("n2", "n4"), gap=timedelta(0), expire_after=timedelta(days=9))

    assert (made.wave, ordered(made)) == (("n4",), ["n1"])
    assert {move.pod: move.node for order in made.orders for move in order.moves}["default/p-n1"] == "n2"


@cases("expected, filled", ("it was filled above its limit", ("n2",), 3), ("nothing has changed", ("n1", "n2"), 0))
def test_a_node_that_cannot_go_any_more_leaves_the_wave(expected: tuple[str, ...], filled: int) -> None:
    base = half_full("n1", "n2", "n3", "n4", cpu=0.9)
    more = [pod(f"new-{number}", on="n1", cpu=0.9, owner="ReplicaSet/new") for number in range(filled)]

    made = planned(
        replace(base, pods=tuple(sorted((*base.pods, *more), key=lambda any_pod: any_pod.key))), ("n1", "n2")
    )

    assert made.wave == expected


def twins() -> Snapshot:
    """Two nodes with a pod each of one workload without PDB, and room for them."""
    rest = half_full("n3", "n4", cpu=1)
    pods = [pod(f"p-{name}", on=name, cpu=1, owner="ReplicaSet/two") for name in ("n1", "n2")]
    return cluster([node("n1"), node("n2"), *rest.nodes], [*pods, *rest.pods])


def test_a_node_of_the_wave_whose_workload_is_moving_elsewhere_stays_in_it_for_later() -> None:
    made = planned(twins(), ("n1", "n2"))

    assert (made.wave, ordered(made), verdicts(made)["n2"]) == (("n1", "n2"), ["n1"], ("keep", "workload_moving"))


def test_without_pace_it_goes_in_the_same_pass() -> None:
    situation = Situation(twins(), LATELY, policy(cluster_wide={"wave": WAVE}))

    made = make_plan(situation, {}, load(), wave=("n1", "n2"), options=PassOptions(paced=False))

    assert ordered(made) == ["n1", "n2"]


def large(name: str, machine: str) -> Node:
    return node(name, machine=machine, cpu=8, memory=32)


def dear(name: str, **given: Any) -> Node:
    return node(name, machine="n2-standard-4", **given)


CHEAP = (node("c1"), node("c2"))
SPOT = {names.SPOT_LABELS[0]: "true"}
DISK = (Volume("data", "hostPath"),)
PINNED = {names.SAFE_TO_EVICT: "false"}
FAST = {names.COMPUTE_CLASS_LABEL: "fast"}
LATER = NOW - MINUTE
FLEXIBLE = Commitments(flexible=FlexibleCommitment(Fraction(1, 100), Fraction(1, 4)))
GOES = taint(names.AUTOSCALER_DELETING_TAINT, NO_SCHEDULE)
GPU = taint("nvidia.com/gpu", NO_SCHEDULE)


@cases(
    "expected, nodes, given",
    ("the one that costs more for its size", ("d1",), (*CHEAP, dear("d1")), {}),
    ("not a larger one at the same price for its size", (), (*CHEAP, large("l1", "e2-standard-8")), {}),
    ("half of the nodes, most expensive first, then oldest first", ("l1", "d3"),
     (CHEAP[0], dear("d2", created=LATER), dear("d3"), large("l1", "c2-standard-8")), {}),
    ("not beside a cheap one that takes no pods", (), (node("c1", unschedulable=True), dear("d1"), dear("d2")), {}),
    ("not beside Spot", (), (node("s1", labels=SPOT), dear("d1"), dear("d2")), {}),
    ("not beside one that Google bills by the pod", (),
     (node("m1", labels={names.MANAGED_NODE: "true"}), dear("d1"), dear("d2")), {}),
    ("not beside one that its pods do not tolerate", (), (node("g1", taints=(GPU,)), dear("d1"), dear("d2")), {}),
    ("not beside one with less memory for its CPU", (), (node("c1", memory=4), dear("d1"), dear("d2")), {}),
    ("none of a ComputeClass, which has its own order", (), (node("c1", labels=FAST), dear("d1", labels=FAST)), {}),
    ("not beside one that has nothing to give", (), (node("c1", cpu=0, memory=0), dear("d1"), dear("d2")), {}),
    ("one that money for any family covers in part", ("d1",),
     (*CHEAP, dear("d1")), {"cluster_wide": {"commitments": FLEXIBLE}}),
    ("none of a family that is paid for anyway", (),
     (*CHEAP, dear("d1")), {"cluster_wide": {"commitments": committed("n2")}}),
    ("none that nobody may remove", (), (*CHEAP, dear("d1", annotations={names.SCALE_DOWN_DISABLED: "true"})), {}),
    ("none with a pod that nobody moves", (), (*CHEAP, dear("d1")), {"pods": [pod("p", on="d1", annotations=PINNED)]}),
    ("one with a pod that the autoscaler alone moves", ("d1",),
     (*CHEAP, dear("d1")), {"pods": [pod("p", on="d1", volumes=DISK)]}),
    ("one with a pod that is too young as yet", ("d1",),
     (*CHEAP, dear("d1")), {"pods": [pod("p", on="d1")], "minimum_pod_age": timedelta(days=30)}),
    ("one with a pod that is left until it completes", ("d1",), (*CHEAP, dear("d1")),
     {"pods": [pod("p", on="d1", annotations={names.SAFE_TO_EVICT: "on-completion"})]}),
    ("one with a pod that Ebb alone moves", ("d1",), (*CHEAP, dear("d1")),
     {"pods": [pod("p", on="d1", namespace=names.KUBE_SYSTEM, created=NOW)], "kube_system_pods": KubeSystemPods.EVICT}),
    ("none at its pool's minimum", (), (*CHEAP, dear("d1")), {"pools": {"a": NodePool("a", min_total=3)}}),
    ("none in dry run", (), (*CHEAP, dear("d1")), {"cluster_wide": {"dry_run": True}}),
    ("not next to a machine of a guessed price", (), (node("c1", machine="z9-standard-4"), dear("d1"), dear("d2")), {}),
    ("none of a guessed price", (), (*CHEAP, node("d1", machine="z9-standard-4")), {}),
    ("none with a pod of which a budget allows no eviction", (), (*CHEAP, dear("d1")),
     {"pods": [pod("p", on="d1")], "disruption_budgets": (pdb("web", allowed=0, max_unavailable=Limit(count=0)),)}),
    ("none with a pod whose budget nobody has counted", (), (*CHEAP, dear("d1")),
     {"pods": [pod("p", on="d1")], "disruption_budgets": (pdb("web", allowed=0, fault="two controllers"),)}),
    ("none with a pod of two budgets", (), (*CHEAP, dear("d1")),
     {"pods": [pod("p", on="d1")], "disruption_budgets": (pdb("web"), pdb("app"))}),
    ("none of a pool that GKE upgrades", (), (*CHEAP, dear("d1")), {"pools": {"a": NodePool("a", upgrading=True)}}),
    ("one that is held by now", ("d1",), (*CHEAP, dear("d1", taints=(SOFT_TAINT,))), {}),
    ("none that the autoscaler deletes, nor is it in the half", ("d2",),
     (CHEAP[0], dear("d1", taints=(GOES,)), dear("d2"), dear("d3")), {}),
    ("none that is claimed, nor is it in the half", ("d2",),
     (CHEAP[0], dear("d1"), dear("d2"), dear("d3")), {"state": between_passes(claims={"uid-d1": claim("d1")})}),
    ("none of a pool that is not enabled", (), (*CHEAP, dear("d1")), {"enabled": False}),
    ("none while the policy pauses", (), (*CHEAP, dear("d1")), {"cluster_wide": {"paused": True}}),
    ("none where people want old nodes to go first", (),
     (*CHEAP, dear("d1")), {"cluster_wide": {"prefer": (Preference.OLD,)}}),
    ("where they want what is expensive to go first", ("d1",),
     (*CHEAP, dear("d1")), {"cluster_wide": {"prefer": (Preference.EXPENSIVE, Preference.OLD)}}),
    ("in windows that are closed, too", ("d1",), (*CHEAP, dear("d1")), {"windows": (Schedule("0 1 * * *", MINUTE),)}),
)  # fmt: skip
def test_pods_avoid_nodes_that_cost_more_for_their_size(
    expected: tuple[str, ...], nodes: tuple[Node, ...], given: dict[str, Any]
) -> None:
    picture = cluster(nodes, **{key: given.pop(key) for key in {"pods", "pools", "disruption_budgets"} & given.keys()})
    state = given.pop("state", LATELY)
    assert make_plan(Situation(picture, state, policy(**given)), {}, load()).costly == expected


def living(*nodes: Node, **changes: Any) -> Wave:
    given: dict[str, Any] = {"policy_hash": "h", "began": NOW - MINUTE, "deadline": NOW + MINUTE, **changes}
    return Wave(id="w", nodes=tuple(WaveNode(any_node.uid, any_node.name) for any_node in nodes), **given)


OPEN = Policy(hash="h", dry_run=False, wave=WAVE)
SHUT = Schedule("0 1 * * *", timedelta(hours=1))
B_SHUT = replace(OPEN, pools={"b": PoolPolicy(windows=(SHUT,))})
N1, N2 = node("n1"), node("n2")


@cases(
    "expected, given",
    ("nothing ends it", None, {}),
    ("its deadline has come", WaveEnd.DEADLINE, {"deadline": NOW}),
    ("another policy", WaveEnd.POLICY_CHANGED, {"policy": replace(OPEN, hash="other")}),
    ("dry run", WaveEnd.POLICY_CHANGED, {"policy": replace(OPEN, dry_run=True)}),
    ("ebb pause", WaveEnd.PAUSED, {"state": ClusterState(paused=True)}),
    ("the policy pauses", WaveEnd.PAUSED, {"policy": replace(OPEN, paused=True)}),
    ("a freeze has begun", WaveEnd.PAUSED, {"policy": replace(OPEN, freezes=(Freeze(NOW, NOW + MINUTE),))}),
    ("the pool's window is closed", WaveEnd.WINDOW_CLOSED,
     {"policy": replace(OPEN, pools={"a": PoolPolicy(windows=(SHUT,))})}),
    ("another pool's is closed", None, {"policy": B_SHUT}),
    ("that of one of its two pools is closed", WaveEnd.WINDOW_CLOSED,
     {"policy": B_SHUT, "of": (N1, node("n2", pool="b"))}),
    ("its breaker", WaveEnd.BREAKER_OPEN, {"state": ClusterState(breakers={"a": Breaker(NOW + MINUTE, "x")})}),
    ("that of one of its two pools", WaveEnd.BREAKER_OPEN,
     {"state": ClusterState(breakers={"a": Breaker(NOW + MINUTE, "x")}), "of": (N1, node("n2", pool="b"))}),
    ("a breaker that has closed", None, {"state": ClusterState(breakers={"a": Breaker(NOW, "x")})}),
    ("its nodes are gone", WaveEnd.EMPTY, {"nodes": (N2,)}),
    ("all are in flight", WaveEnd.EMPTY, {"state": ClusterState(claims={N1.uid: claim("n1")})}),
)  # fmt: skip
def test_a_wave_ends(expected: WaveEnd | None, given: dict[str, Any]) -> None:
    there = given.get("of") or given.get("nodes", (N1, N2))
    situation = Situation(cluster(there), given.get("state", ClusterState()), given.get("policy", OPEN))

    wave = living(*given.get("of", (N1,)), **{key: given[key] for key in ("deadline",) if key in given})
    assert ending(wave, situation) is expected
    assert remaining_nodes(wave, situation) == (None if expected else ("n1",))


def test_every_end_has_its_sentence() -> None:
    assert all(row.sentence.endswith(".") for row in WaveEnd)


def test_what_is_still_to_go_keeps_the_order_of_the_wave() -> None:
    nodes = [node("n1"), node("n2", taints=(our_taint("x"),)), node("n3")]

    situation = Situation(cluster(nodes), ClusterState(), OPEN)
    assert remaining_nodes(living(nodes[2], nodes[1], nodes[0]), situation) == ("n3", "n1")
    assert remaining_nodes(None, situation) is None


def decided(*wave: str, dry_run: bool = False, orders: tuple[str, ...] = (), costly: tuple[str, ...] = ()) -> Plan:
    """A pass that holds this wave."""
    decisions = tuple(map(decision, ("n1", "n2", "n3")))
    first = tuple(PlannedOrder(name, f"uid-{name}", "a", DrainReason.UNDERUTILIZED, 0, ()) for name in orders)
    return Plan(CLUSTER, NOW, "h", dry_run, decisions, {}, 0, 0, 0, first, wave=wave, costly=costly)


def test_a_wave_that_begins_holds_what_the_plan_holds_until_the_policys_deadline() -> None:
    found = wave_after("new", decided("n3", "n1"), OPEN, None, None)

    assert found == structs.replace(living(node("n3"), node("n1"), began=NOW, deadline=NOW + 30 * MINUTE), id="new")
    unbounded = wave_after("new", decided("n3", "n1"), replace(OPEN, wave=None), None, None)
    assert unbounded == structs.replace(found, deadline=NOW + 90 * MINUTE)


@cases(
    "plan, rules",
    ("nothing is held", decided(), OPEN),
    ("the policy is not known", decided("n1"), None),
    ("a dry run", decided("n1", dry_run=True), OPEN),
)
def test_no_wave_begins(plan: Plan, rules: Policy | None) -> None:
    assert wave_after("new", plan, rules, None, None) is None
    assert wave_after("new", plan, rules, living(N1), None) is None, "nor does one that has ended go on"


def test_a_wave_that_lives_loses_the_nodes_that_left_it_and_keeps_those_in_flight() -> None:
    """`n1` is in flight, so it is not among those that were left; `n3` was, and the plan holds it no more."""
    before = living(node("n1"), node("n2"), node("n3"))

    after = wave_after("new", decided("n2"), OPEN, before, ("n2", "n3"))

    assert after == structs.replace(before, nodes=before.nodes[:2])
    assert wave_after("new", decided(), OPEN, before, ("n2", "n3")) == structs.replace(before, nodes=before.nodes[:1])


def costly_alone(*named: str, **changes: Any) -> Wave:
    costly = tuple(WaveNode(f"uid-{name}", name) for name in named)
    return structs.replace(living(), costly=costly, **changes)


@cases(
    "stands, before, plan",
    ("the same nodes", True, costly_alone("n1"), decided(costly=("n1",))),
    ("another one", False, costly_alone("n1"), decided(costly=("n2",))),
    ("none any more", False, costly_alone("n1"), decided()),
    ("a wave begins", False, costly_alone("n1"), decided("n2", costly=("n1",))),
    ("the same wave begins again", False, living(N2), decided("n2")),
    ("nothing stood", False, None, decided(costly=("n1",))),
    ("a wave has ended", False, structs.replace(costly_alone("n1"), nodes=living(N2).nodes), decided(costly=("n1",))),
    ("its deadline has passed", False, costly_alone("n1", deadline=NOW), decided(costly=("n1",))),
    ("another policy", False, costly_alone("n1", policy_hash="other"), decided(costly=("n1",))),
)
def test_costly_nodes_are_written_again_only_where_something_changed(
    stands: bool, before: Wave | None, plan: Plan
) -> None:
    after = wave_after("new", plan, OPEN, before, None)

    assert (after == before) is stands
    if after is not None:
        assert after.held == tuple(WaveNode(f"uid-{name}", name) for name in (*plan.wave, *plan.costly))
        assert after.deadline > NOW


def test_a_wave_that_lives_follows_the_costly_nodes_of_each_pass() -> None:
    after = wave_after("new", decided("n2", costly=("n1", "n2")), OPEN, living(N2), ("n2",))

    assert after == structs.replace(living(N2), costly=(WaveNode("uid-n1", "n1"), WaveNode("uid-n2", "n2")))
    assert [held.name for held in after.held] == ["n2", "n1"]


@cases(
    "expected, plan, rules",
    ("what has no order yet", ("n3", "n1"), decided("n3", "n2", "n1", orders=("n2",)), OPEN),
    ("a dry run", (), decided("n3", "n1", dry_run=True), OPEN),
    ("the policy is not known", (), decided("n3", "n1"), None),
    ("the policy keeps to its schedule", (), decided("n3", "n1"), replace(OPEN, wave=None)),
)
def test_what_a_second_pass_may_order(expected: tuple[str, ...], plan: Plan, rules: Policy | None) -> None:
    assert still_to_order(plan, rules) == expected


def test_half_of_the_interval_passes_before_the_next_pass() -> None:
    assert second_pass_delay(10 * MINUTE) == 5 * MINUTE


@cases(
    "expected, count, limits",
    ("the policy's share of all nodes", 3, 6, WAVE),
    ("all of them", 6, 6, None),
    ("at most 500", 500, 501, None),
)
def test_so_many_nodes_are_held_at_most(expected: int, count: int, limits: WaveLimits | None) -> None:
    nodes = [*(node(f"n{number}") for number in range(count)), node("standby", labels={names.STANDBY_NODE: "true"})]

    assert most_held(Situation(cluster(nodes), ClusterState(), replace(OPEN, wave=limits))) == expected


@cases(
    "hold, let_go, wave, before",
    ("what it names gets the taint, what it does not loses it", ["free"], ["held", "hard"], ["free", "other"], []),
    ("one that a person made hard is written again", ["hard"], [], ["held", "hard", "other"], []),
    ("no wave lives", [], ["held", "hard"], [], []),
    ("what leaves it is freed, though the drainer may still write its taint", [], ["free", "hard"], ["held"], ["free"]),
    ("one that the autoscaler has announced needs no second one", [], ["held", "hard"], ["announced"], []),
)
def test_soft_taints_follow_the_wave_that_lives(
    hold: list[str], let_go: list[str], wave: list[str], before: list[str]
) -> None:
    """`other` is in flight: what stands on it is left alone."""
    rows = {
        "announced": node("announced", taints=(announced_taint("1"),)),
        "free": node("free"),
        "held": node("held", taints=(SOFT_TAINT,)),
        "hard": node("hard", taints=(replace(SOFT_TAINT, effect=NO_SCHEDULE),)),
        "other": node("other", taints=(SOFT_TAINT, our_taint("x"))),
    }
    now, earlier = (living(*(rows[name] for name in named)) if named else None for named in (wave, before))

    found = soft_taints(rows.values(), ClusterState(), now, before=earlier)

    assert ([row.name for row in found.hold], [row.name for row in found.let_go]) == (hold, let_go)


@cases(
    "expected, wanted, room",
    ("all of them fit", "abc", "abc", {"k": 3}),
    ("the last has no place: it saves least", "ab", "abc", {"k": 2}),
    ("one has a place: that which saves most", "c", "cba", {"k": 1}),
    ("none has a place", "", "a", {"k": 0.5}),
    ("two fit in the other order alone: the less worthy leaves", "a", "ad", {"k": 3, "l": 1}),
    ("small ones leave before large ones that are worth more", "fe", "fecg", {"k": 3, "l": 3, "m": 2}),
    ("less worthy ones leave four times, half as many as do not fit; then the worthier ones leave", "efja",
     "defjabcghix", {**dict.fromkeys("klmn", 3), **dict.fromkeys("opqrstu", 1)}),
    ("two fit in one order alone: the other could come about", "d", "da", {"k": 3, "l": 1}),
    ("two fit in both", "da", "da", {"k": 3, "l": 3}),
)  # fmt: skip
def test_a_set_goes_in_both_orders_and_loses_its_least_worthy_nodes(
    expected: str, wanted: str, room: dict[str, float]
) -> None:
    """d, e, f and j hold one pod of three cores each; the others one of one core."""
    names_of = "abcdefghijx"
    own = [pod(f"p{name}", on=name, cpu=3 if name in "defj" else 1, owner=f"ReplicaSet/{name}") for name in names_of]
    keepers = [node(name, cpu=cpu) for name, cpu in room.items()]
    snapshot = cluster([*map(node, names_of), *keepers], own)
    found, proof = prove_wave(tuple(wanted), lambda wave: Simulation.of(snapshot, closed={*names_of, *wave}))

    assert "".join(found) == expected
    assert proof.taken == (), "what is proved is taken only as it is ordered"


@examples(200)
@given(clusters(), st.randoms(use_true_random=False))
def test_each_part_of_a_proved_set_goes_in_any_order(snapshot: Snapshot, dice: Any) -> None:
    departing = [any_node.name for any_node in snapshot.nodes if any_node.drain_taint is not None]
    rest = [any_node.name for any_node in snapshot.nodes if any_node.drain_taint is None]

    def closed(names_of: Any) -> Simulation:
        return Simulation.of(snapshot, departing, closed=names_of)

    found, _ = prove_wave(dice.sample(rest, len(rest) // 2), closed)
    if found:
        part, trial = dice.sample(found, dice.randint(1, len(found))), closed(found)
        assert [trial.try_remove(name) for name in part] == [None] * len(part)
