"""Laws of budgets, minimums and marks over arbitrary small clusters."""

from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.planning.candidates import changed_pools, is_old_enough, update_marks
from shared.core.policy import KARPENTERS_REASONS, Budget, Limit, NamespaceRate, Rate
from shared.core.reasons import DrainReason
from shared.core.records.state import ClusterState, Mark, PoolMarks, Start
from shared.core.rules.budgets import limit_now
from shared.core.rules.counts import NodeCounts, count_nodes
from shared.core.rules.gates import claim_blockers
from tests.builders import NOW, claim, node, our_taint, policy, taint
from tests.depth import examples

REASONS = [DrainReason.EMPTY, DrainReason.UNDERUTILIZED, DrainReason.EXPIRED]
limits = st.one_of(
    st.integers(0, 6).map(lambda count: Limit(count=count)), st.integers(0, 100).map(lambda share: Limit(percent=share))
)
budgets = st.lists(
    st.builds(Budget, limits, st.none(), st.frozensets(st.sampled_from(["empty", *KARPENTERS_REASONS]))), max_size=3
).map(tuple)
namespace_rates = st.none() | st.builds(NamespaceRate, st.integers(1, 9), st.just(timedelta(hours=1)))
namespaces = st.dictionaries(st.sampled_from(["shop", "bank"]), st.integers(1, 4))
rates = st.none() | st.builds(Rate, limits, st.just(timedelta(hours=1)))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    taints = draw(
        st.sampled_from([()] * 6 + [(our_taint(),), (taint(names.AUTOSCALER_DELETING_TAINT),), (taint("gpu"),)])
    )
    return node(
        name,
        pool=draw(st.sampled_from("ab")),
        zone=draw(st.sampled_from("yz")),
        taints=taints,
        ready=draw(st.sampled_from([True] * 4 + [False])),
        once_ready=draw(st.sampled_from([True] * 4 + [False])),
        unschedulable=draw(st.sampled_from([False] * 4 + [True])),
    )


@st.composite
def standings(draw: st.DrawFn) -> tuple[list[Node], NodeCounts]:
    rows = [draw(nodes(f"n{i}")) for i in range(draw(st.integers(0, 8)))]
    claimed = draw(st.sets(st.sampled_from([*(row.name for row in rows), "gone"]), max_size=3))
    pool_of = {row.name: row.pool for row in rows}
    claims = {f"uid-{name}": claim(name, pool=pool_of.get(name, "a")) for name in claimed}
    pool: dict[str, Any] = {"enabled": True, "budgets": draw(budgets), "rate": draw(rates)}
    rules = policy(
        **pool,
        cluster_wide={
            "budgets": draw(budgets),
            "rate": draw(rates),
            "evictions_per_namespace": draw(namespace_rates),
            "minimum_nodes": draw(st.integers(0, 4)),
            "minimum_non_tainted_nodes": draw(st.integers(0, 4)),
        },
    )
    pools = {
        entry: NodePool(entry, min_per_zone=draw(st.integers(0, 2)), min_total=draw(st.integers(0, 3)))
        for entry in "ab"
    }
    starts = tuple(
        Start(NOW - timedelta(minutes=draw(st.integers(0, 90))), draw(st.sampled_from("ab")), draw(namespaces))
        for _ in range(3)
    )
    state = ClusterState(claims=claims, starts=draw(st.sampled_from([(), starts])))
    moved_pods = {row.uid: draw(namespaces) for row in rows}
    return rows, count_nodes(rows, pools, state, rules, NOW).with_moved_pods(moved_pods)


def free(rows: list[Node], where: NodeCounts) -> list[Node]:
    return [row for row in rows if row.uid not in where.pool(row.pool).in_flight]


@examples(200)
@given(standings(), st.sampled_from(REASONS))
def test_a_claim_never_exceeds_a_limit(drawn: tuple[list[Node], NodeCounts], reason: DrainReason) -> None:
    rows, where = drawn
    for going in free(rows, where):
        if claim_blockers(where, going, reason):
            continue
        where = where.with_claim(going)
        assert within_limits(where, going, reason)


def within_limits(where: NodeCounts, taken: Node, reason: DrainReason) -> bool:
    pool, rules = where.pool(taken.pool), where.policy
    allowed = limit_now(rules.pool(taken.pool).budgets, reason, pool.nodes, where.calendar)
    ceiling = limit_now(rules.budgets, reason, where.nodes, where.calendar)
    recent = sum(start.at > NOW - timedelta(hours=1) for start in where.starts)
    assert pool.limits is not None
    return all(
        (
            allowed is None or len(pool.in_use) <= allowed,
            ceiling is None or where.in_use <= ceiling,
            rules.rate is None or recent <= rules.rate.nodes.of(where.nodes),
            namespaces_within(where, taken),
            where.left >= rules.minimum_nodes,
            pool.left >= pool.limits.min_total,
            pool.left_by_zone.get(taken.zone, 0) >= pool.limits.min_per_zone,
        )
    )


def namespaces_within(where: NodeCounts, taken: Node) -> bool:
    limit = where.policy.evictions_per_namespace
    recent = [start.pods for start in where.starts if start.at > NOW - timedelta(hours=1)]
    moved = {name: sum(pods.get(name, 0) for pods in recent) for name in where.moved_pods[taken.uid]}
    return limit is None or all(number <= limit.pods for number in moved.values())


@examples(150)
@given(standings())
def test_what_is_foreseen_of_a_claim_is_what_is_found_after_it(drawn: tuple[list[Node], NodeCounts]) -> None:
    rows, where = drawn
    claims, rules, pools = dict(where.state.claims), where.policy, {"a": NodePool("a"), "b": NodePool("b")}
    for going in free(rows, where):
        where = where.with_claim(going)
        claims[going.uid] = claim(going.name, pool=going.pool, zone=going.zone)
    found = count_nodes(rows, pools, ClusterState(claims=claims), rules, NOW)
    assert summary(where) == summary(found)


def summary(where: NodeCounts) -> list[object]:
    pools = [
        (pool.name, pool.nodes, pool.in_flight, pool.in_use, pool.left, Counter(pool.left_by_zone))
        for pool in where.pools.values()
    ]
    return [where.left, where.left_non_tainted, where.in_use, pools]


uids = st.sampled_from([f"u{i}" for i in range(5)])
could_go = st.dictionaries(uids, st.tuples(st.just("n"), st.sampled_from("ab")))


@examples(100)
@given(st.lists(could_go, min_size=1, max_size=8))
def test_an_unbroken_mark_keeps_its_time_and_a_broken_one_loses_it(passes: list[dict[str, tuple[str, str]]]) -> None:
    """Replay passes a minute apart beside a memory of how long each node has stood in an unbroken row."""
    marks: dict[str, PoolMarks] = {}
    since: dict[tuple[str, str], Any] = {}
    minute = timedelta(minutes=1)
    for number, now_possible in enumerate(passes):
        now = NOW + number * minute
        marks = update_marks(marks, now_possible, now, now - minute, minute)
        here = {(pool, uid) for uid, (_, pool) in now_possible.items()}
        since = {key: since.get(key, now) for key in here}
        assert {(pool, uid): mark.since for pool, row in marks.items() for uid, mark in row.marks.items()} == since


@examples(100)
@given(could_go)
def test_a_pass_that_changes_nothing_writes_nothing(possible: dict[str, tuple[str, str]]) -> None:
    first = update_marks({}, possible, NOW, NOW, timedelta(minutes=1))
    assert (
        changed_pools(first, update_marks(first, possible, NOW + timedelta(minutes=1), NOW, timedelta(minutes=1))) == ()
    )


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_mark_that_is_due_stays_due(age: int, wait: int) -> None:
    mark, after = Mark("n", NOW), timedelta(seconds=wait)
    due_now = is_old_enough(mark, after, NOW + timedelta(seconds=age))
    assert due_now is (age >= wait)
    assert not due_now or is_old_enough(mark, after, NOW + timedelta(seconds=age + 1))
