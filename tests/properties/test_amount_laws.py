"""Laws of amounts of any size: what the arrays say is what exact arithmetic says, or less."""

import json
from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.cli.analysis.potential import potential
from functions.cli.plan.as_json import document
from functions.cli.plan.view import view_of
from functions.planner import pass_log as lines
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, PODS, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import MOST, SCALE, left, matrix, share, shares
from shared.core.planning.make_plan import make_plan
from shared.core.planning.metrics import node_metrics
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy
from tests.depth import cases
from tests.placement_checker import faults

LARGEST = 2**63 - 1
"""What the API server caps a quantity at; a pod's sum over its containers may be several times that."""
EDGES = [edge + by for edge in (1000, 2**31, 2**40, MOST, 2**53, 2**62, LARGEST, 3 * LARGEST) for by in (-1, 0, 1)]
amounts = st.one_of(st.sampled_from([0, 100, 4000, 16 * 1024**3]), st.sampled_from(EDGES), st.integers(0, 2**65))


@st.composite
def vectors(draw: st.DrawFn) -> Resources:
    given_ = {CPU: draw(amounts) * draw(st.sampled_from([1, 1, 1000])), MEMORY: draw(amounts)}
    more = {name: draw(amounts) for name in draw(st.sets(st.sampled_from(["ephemeral-storage", "example.com/gpu"])))}
    return Resources.of({**given_, **more})


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    name = f"n{draw(st.integers(0, 99)):02}"
    offered = Resources.of({**dict(draw(vectors()).amounts), PODS: draw(st.sampled_from([110, 110, 2, LARGEST]))})
    return node(name, allocatable=draw(st.sampled_from([offered, node(name).allocatable])), ready=draw(st.booleans()))


@st.composite
def clusters(draw: st.DrawFn) -> Snapshot:
    rows = draw(st.lists(nodes(), min_size=2, max_size=5, unique_by=lambda any_node: any_node.name))
    places = st.sampled_from([*(row.name for row in rows), "", "gone"])
    pods: list[Pod] = []
    for number in range(draw(st.integers(1, 8))):
        asks, place = draw(vectors()), draw(places)
        owner = f"ReplicaSet/r{draw(st.integers(0, 3))}"
        booked = draw(st.sampled_from([None, None, Resources.of({CPU: 5 * LARGEST, MEMORY: 1})]))
        since = None if place else NOW
        pods.append(pod(f"p{number}", on=place, requests=asks, owner=owner, booked=booked, unschedulable_since=since))
    return cluster(rows, pods)


@settings(deadline=None)
@given(clusters(), st.sampled_from([0, 30, 100]))
def test_a_plan_of_any_amounts_holds_in_exact_arithmetic_and_can_be_shown(snapshot: Snapshot, headroom: int) -> None:
    rules = policy(headroom_percent=headroom)
    prices = load()

    situation = Situation(snapshot, ClusterState(), rules)
    plan, most = make_plan(situation, {}, prices), potential(situation, prices)

    for gone, moves in (
        ({order.node for order in plan.orders}, [move for order in plan.orders for move in order.moves]),
        (set(most.nodes), most.moves),
    ):
        assert faults(snapshot, {move.pod: move.node for move in moves}, gone) == []
    assert json.dumps(document(view_of(plan, most)), allow_nan=False)
    told = [*map(lines.node_decision, plan.decisions), lines.pool_state(node_metrics(plan, snapshot, prices))]
    assert json.dumps(told, allow_nan=False, default=str)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, MOST), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, MOST + 1), st.sampled_from([1, 1, 40_000])), max_size=6),
)
def test_what_is_left_is_exact_or_as_little_as_can_be(offered: list[int], asked: list[tuple[int, int, int]]) -> None:
    rows = [(place % len(offered), amount) for place, amount, times in asked for _ in range(times)]
    where = np.array([place for place, _ in rows], np.int64)

    (free,) = left(np.array([offered], np.int64), where, np.array([[amount for _, amount in rows]], np.int64))

    taken = [sum(amount for at, amount in rows if at == place) for place in range(len(offered))]
    assert free.tolist() == [max(-MOST, offers - takes) for offers, takes in zip(offered, taken, strict=True)]


@given(st.integers(-2 * MOST, MOST), st.integers(0, MOST))
def test_the_share_of_one_node_is_the_share_of_all_at_once(free: int, offered: int) -> None:
    one = share(free, max(offered, 1))
    assert shares(np.array([free], np.int64), np.array([offered], np.int64)).tolist() == [one]


@given(st.integers(0, MOST), st.integers(1, MOST))
def test_a_share_is_exact_where_there_is_something_free(free: int, offered: int) -> None:
    assert share(min(free, offered), offered) == min(free, offered) * SCALE // offered


@cases(
    "expected, ask",
    ("as much as a node may offer", True, lambda: MOST),
    ("a byte more", False, lambda: MOST + 1),
    ("several 8Ei", False, lambda: 5 * LARGEST),
)
def test_what_asks_for_more_than_any_node_offers_fits_nowhere(expected: bool, ask: Callable[[], int]) -> None:
    (asked,) = matrix([Resources.of({MEMORY: ask()})], (MEMORY,), MOST + 1)
    (offered,) = matrix([Resources.of({MEMORY: 9 * LARGEST})], (MEMORY,), MOST)

    assert bool(asked[0] <= offered[0]) is expected
