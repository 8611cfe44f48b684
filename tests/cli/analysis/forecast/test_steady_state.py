"""What the autoscaler takes beside a policy's passes, and when: by hand from its ten minutes and its 100 s a node."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from msgspec import structs

from functions.cli.analysis.forecast.scenarios import Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import (
    MOST_ROUNDS,
    Rest,
    find_steady_state,
    left_alone,
    with_pending_placed,
)
from functions.cli.analysis.forecast.unpaced_pass import Workings
from functions.cli.analysis.forecast.what_if import why_not
from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.names import HOSTNAME_LABEL, POOL_LABEL
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import KEPT
from shared.core.policy import Budget, Jobs, Limit, Policy, PoolPolicy, SingleReplicas
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.builders import NOW, announced_taint, buffer, cluster, held, node, our_taint, pod, policy
from tests.depth import DEEP, SEED, cases

MINUTE = timedelta(minutes=1)
TWO_SMALL = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=1), pod("q", on="n2", cpu=1)])


def forecast(snapshot: Snapshot, **pool: Any) -> Scenarios:
    situation = Situation(snapshot, ClusterState(), policy(cpu_limit=Fraction(1), **pool))
    return scenarios_of(find_steady_state(situation, {}, load()))


@pytest.mark.parametrize("ripe", [5, 30])
def test_what_the_autoscaler_takes_by_itself_is_left_to_it(ripe: int) -> None:
    told = forecast(TWO_SMALL, consolidate_after=ripe * MINUTE)

    assert (told.order, told.begins) == (("n1",), {})


def test_of_eight_empty_nodes_the_autoscaler_takes_four_within_twenty_minutes() -> None:
    """Ten minutes, and 135 s for each; then the marks are old enough, and the policy takes the other four."""
    full = pod("full", on="n8", cpu=3)
    nine = cluster([node(f"n{n}") for n in range(9)], [full])
    told = forecast(nine, consolidate_after=20 * MINUTE, max_nodes_per_pass=9)

    assert (told.at_rest.gone, list(told.begins.values())) == (8, [NOW + 20 * MINUTE] * 4)


def test_the_policy_leaves_room_for_pods_of_nodes_that_the_autoscaler_has_announced() -> None:
    """The last node takes the pod of either; the policy may not move the one, nor the autoscaler the other."""
    small = pod("small", on="n1", cpu=1, owner="ReplicaSet/small", volumes=(Volume("v", "emptyDir"),))
    large = pod("large", on="n2", cpu=2.1, owner="ReplicaSet/large")
    full = pod("full", on="n3", cpu=5.5, owner="ReplicaSet/full")
    told = forecast(cluster([node("n1"), node("n2"), node("n3", cpu=8)], [small, large, full]))

    assert told.order == ("n1",)


def test_a_drain_ends_when_the_autoscaler_has_deleted_the_node() -> None:
    """Half a minute of grace, the ten minutes for which a node must be unneeded, and 90 s for its machine."""
    full = [pod("p", on="n1", cpu=2.2), pod("q", on="n2", cpu=5)]
    told = forecast(cluster([node("n1"), node("n2", cpu=8)], full))

    assert (told.begins, told.by) == ({"n1": NOW}, NOW + 12 * MINUTE)


def test_the_next_pass_does_not_wait_for_all_that_the_autoscaler_has_announced() -> None:
    """Of two nodes with pods of one workload one goes at a time; the autoscaler is at its 24 nodes for 50 minutes."""
    own, others, local = ("n1", "n2"), [f"local{place:02}" for place in range(24)], (Volume("v", "emptyDir"),)
    pods = [
        pod("full", on="home", cpu=40, owner="ReplicaSet/full"),
        *(pod(f"p{name}", on=name, cpu=2.1) for name in own),
        *(pod(f"p{name}", on=name, cpu=0.5, owner=f"ReplicaSet/{name}", volumes=local) for name in others),
    ]
    seen = cluster([node("home", cpu=64, memory=256, pool="b"), *map(node, (*own, *others))], pods, pools=FIXED)

    assert forecast(seen).begins.keys() == {"n1", "n2"}


def test_where_the_first_node_is_kept_for_good_the_next_goes_in_its_place() -> None:
    """There is room for the pod of one of them; the dearer one is in a pool whose window never opens."""
    nodes = [node("a1", machine="n2-standard-4"), node("b1", pool="b"), node("full", cpu=8, pool="c")]
    pods = [pod(f"p{one.name}", on=one.name, cpu=2.1, owner=f"ReplicaSet/{one.name}") for one in nodes[:2]]
    rules = policy(windows=())
    rules = replace(rules, pools={**rules.pools, "b": policy("b").pools["b"]})
    seen = cluster(nodes, [*pods, pod("large", on="full", cpu=5.5, owner="ReplicaSet/large")])
    told = scenarios_of(find_steady_state(Situation(seen, ClusterState(), rules), {}, load()))

    assert told.begins == {"b1": NOW}


FIXED = {"b": NodePool("b", autoscaled=False)}


def test_a_node_whose_drain_was_tried_in_vain_is_asked_for_no_more() -> None:
    """Every order of the proof leaves `ssd` to the large pod; the scheduler puts the small one there, the last node."""
    nodes = [node("a", cpu=8, memory=32), node("plain", pool="b"), node("ssd", pool="b", labels={"disk": "ssd"})]
    pods = [
        pod("a-small", on="a", cpu=1, owner="ReplicaSet/small"),
        pod("large", on="a", cpu=3.5, owner="ReplicaSet/large", node_selector={"disk": "ssd"}),
    ]
    situation = Situation(cluster(nodes, pods, pools=FIXED), ClusterState(), policy(cpu_limit=Fraction(1)))
    rest = find_steady_state(situation, {}, load()).rest

    assert (rest.gone, rest.rounds) == (0, 2)


def one_after_another(count: int) -> Snapshot:
    """Each pod may move to `home` once the one before it, of the node that the autoscaler asks last, is there."""

    def beside(number: int) -> tuple[PodTerm, ...]:
        before = LabelSelector((Requirement("app", "In", (f"w{number - 1}",)),))
        return (PodTerm(HOSTNAME_LABEL, before, ("default",)),)

    nodes = [node("home", cpu=64, memory=256, pool="b"), *(node(f"n{place:02}") for place in range(count))]
    pods = [
        pod(f"p{number}", on=f"n{count - number:02}", owner=f"ReplicaSet/w{number}", affinity=beside(number),
            node_selector={POOL_LABEL: "b"})
        for number in range(1, count + 1)
    ]  # fmt: skip
    return cluster(nodes, [pod("p0", on="home", cpu=40, owner="ReplicaSet/w0"), *pods], pools=FIXED)


def test_the_autoscaler_reaches_a_steady_state_next_to_a_policy_that_wants_nothing() -> None:
    told = scenarios_of(find_steady_state(Situation(one_after_another(2), ClusterState(), Policy()), {}, load()))

    assert (told.alone.gone, told.at_rest.gone) == (2, 2)


def test_the_autoscaler_that_would_go_on_after_its_last_round_is_not_in_steady_state() -> None:
    rest = left_alone(Rest(one_after_another(MOST_ROUNDS + 1)))

    assert (rest.gone, rest.is_rest) == (MOST_ROUNDS, False)


EVERY_POOL = Policy(other_pools=PoolPolicy(enabled=True))


def waiting(name: str, **changes: Any) -> Pod:
    return pod(name, phase=Phase.PENDING, ready=False, unschedulable_since=NOW, **changes)


def forecast_all(snapshot: Snapshot) -> Scenarios:
    return scenarios_of(find_steady_state(Situation(snapshot, ClusterState(), EVERY_POOL), {}, load()))


def places(snapshot: Snapshot) -> dict[str, str]:
    return {one.name: one.node for one in snapshot.pods}


def two_nodes(*more: Pod) -> Snapshot:
    """Two nodes of four CPUs, each with a pod of one."""
    return cluster([node("n1"), node("n2")], [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=1), *more])


@cases(
    "expected, more",
    ("none is pending", 1, ()),
    ("it fills what the others leave of a node", 2, (waiting("w", cpu=3),)),
    ("there is room for all on one node", 1, (waiting("w", cpu=2),)),
    ("it has no place, and holds none", 1, (waiting("w", cpu=5),)),
)
def test_neither_the_rest_nor_the_bound_goes_below_what_pending_pods_need(expected: int, more: tuple[Pod, ...]) -> None:
    told = forecast_all(two_nodes(*more))
    assert (told.at_rest.nodes, told.bound.nodes) == (expected, expected)


@cases(
    "expected, more",
    ("where most is free, as the scheduler scores", "n2", waiting("w", cpu=1)),
    ("it has no place", "", waiting("w", cpu=9)),
    ("it is on its way out", "", structs.replace(waiting("w", cpu=1), deleting=NOW)),
    ("it has ended", "", pod("w", cpu=1, phase=Phase.SUCCEEDED)),
)
def test_a_pending_pod_begins_where_the_scheduler_would_put_it(expected: str, more: Pod) -> None:
    snapshot = two_nodes(pod("p3", on="n1", cpu=1), more)
    assert places(with_pending_placed(snapshot)) == {**places(snapshot), "w": expected}


def test_where_none_is_pending_the_snapshot_is_the_very_same() -> None:
    snapshot = two_nodes()
    assert with_pending_placed(snapshot) is snapshot


def figures(snapshot: Snapshot) -> list[int]:
    """Return what is left by the autoscaler, at rest, of the potential and of the bound."""
    told = forecast_all(snapshot)
    assert told.begun is not None
    most = potential(Situation(told.begun, ClusterState(), EVERY_POOL), load(), told.reached)
    return [told.alone.cost, told.at_rest.cost, told.now.cost - most.saving, told.bound.cost]


@pytest.mark.parametrize(
    ("nodes", "mix", "seed"),
    [
        pytest.param(6, Mix.PLAIN, 1, id="plain"),
        pytest.param(30, Mix.PLAIN, 2, id="larger", marks=pytest.mark.deep),
        pytest.param(30, Mix.RICH, 1, id="rich", marks=pytest.mark.deep),
    ],
)
def test_demand_that_waits_makes_no_saving_larger(nodes: int, mix: Mix, seed: int) -> None:
    """The same cluster is read without some pods, and with these pending."""
    whole = snapshot_of(generated(nodes, mix, seed=seed))
    moving = [one for name in whole.node_by_name for one in movable(whole.pods_by_node[name], NOW)]
    chosen = {one.key for one in moving[:: max(1, len(moving) * 2 // (3 * nodes))]}
    absent = replace(whole, pods=tuple(one for one in whole.pods if one.key not in chosen))
    unbound = {"node": "", "phase": Phase.PENDING, "ready": False, "unschedulable_since": NOW}
    pods = (structs.replace(one, **unbound) if one.key in chosen else one for one in whole.pods)
    waits = replace(whole, pods=tuple(pods))

    assert all(map(int.__ge__, figures(waits), figures(absent)))


CLUSTERS = range(SEED, SEED + 100) if DEEP else range(10)
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
    nodes, pods = tuple(_node(node, roll) for node in plain.nodes), tuple(_pod(pod, plain, roll) for pod in plain.pods)
    buffers = held(buffer("b", 2, cpu=0.5, memory=0.5)) if roll.random() < 0.2 else plain.buffers
    return replace(plain, nodes=nodes, pods=pods, profile=profile, buffers=buffers)


def _node(node: Node, roll: Random) -> Node:
    changes: tuple[Mapping[str, Any], ...] = (
        {"taints": (*node.taints, our_taint()), "unschedulable": True},
        {"taints": (*node.taints, announced_taint())},
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
    scenarios, freed = scenarios_of(base), why_not(base, 6)
    places = [(pod.key, pod.node) for pod in scenarios.left.pods] if scenarios.left else []
    # snapshots compare pods by identity
    gains = [
        (one.held, one.nodes, one.saving, one.rest.order, one.rest.is_rest, one.rest.rounds) for one in freed.freed
    ]
    return base.decisions, scenarios, places, gains, freed.hopeless, freed.left, freed.passing


@pytest.mark.parametrize("seed", CLUSTERS)
def test_what_is_kept_changes_no_answer(seed: int) -> None:
    roll = Random(seed)  # noqa: S311 - the same cluster for a seed
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
