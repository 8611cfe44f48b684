"""A year of claims under drawn policies, against a judge that counts minutes and fractions and keeps its own books."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node, NodePool
from shared.core.draining.admission import exceeded_limits
from shared.core.policy import Limit, Policy, Schedule
from shared.core.policy.parsing import parse
from shared.core.policy.schedule import active, hits, last_hit
from shared.core.reasons import Blocker, DrainReason, ReturnReason
from shared.core.records.claims import claim_for, grant, longest_rate, settle
from shared.core.records.state import ClusterState
from shared.core.rules.budgets import Calendar, limit_now
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, order
from tests.depth import cases, examples
from tests.properties.crons import Written, crons
from tests.properties.year_reference import MINUTE, START, Span
from tests.properties.years import POOLS, ZONES, Allowance, Judge, Rules, allowances, moments, rules

SECOND, TICK = timedelta(seconds=1), timedelta(microseconds=1)
REASONS = (DrainReason.EMPTY, DrainReason.UNDERUTILIZED, DrainReason.EXPIRED)
CHANGES = cases(
    "change, zone",
    ("Amsterdam, spring", datetime(2026, 3, 29, 1, tzinfo=UTC), "Europe/Amsterdam"),
    ("Amsterdam, autumn", datetime(2026, 10, 25, 1, tzinfo=UTC), "Europe/Amsterdam"),
    ("New York, spring", datetime(2026, 3, 8, 7, tzinfo=UTC), "America/New_York"),
    ("New York, autumn", datetime(2026, 11, 1, 6, tzinfo=UTC), "America/New_York"),
    ("Lord Howe, autumn, half an hour", datetime(2026, 4, 4, 15, tzinfo=UTC), "Australia/Lord_Howe"),
    ("Lord Howe, spring", datetime(2026, 10, 3, 15, 30, tzinfo=UTC), "Australia/Lord_Howe"),
)


class World:
    """The cluster and its document, changed only by the code under test."""

    def __init__(self, drawn: Rules, sizes: dict[str, int]) -> None:
        rows = [node(f"{pool}{i}", pool=pool, created=START) for pool, size in sizes.items() for i in range(size)]
        self.nodes = {row.name: row for row in rows}
        self.pools = {name: NodePool(name, min_total=pool.least) for name, pool in drawn.pools.items()}
        self.policy: Policy = parse(json.dumps(drawn.document).encode())
        self.state = ClusterState()

    def claim(self, name: str, reason: DrainReason, now: datetime) -> tuple[Blocker, ...]:
        """Ask for a claim as the drainer does inside its compare-and-set."""
        wanted, target = order(name, reason=reason), self.nodes[name]
        snapshot = cluster(self.nodes.values(), pools=self.pools, now=now)
        refused = exceeded_limits(wanted, target, Situation(snapshot, self.state, self.policy), now)
        if not refused:
            claim = claim_for(wanted, target, self.policy, snapshot.scale_down(target), now)
            self.state = grant(self.state, target.uid, claim, longest_rate(self.policy))
        return refused

    def settle(self, name: str, now: datetime, *, removed: bool) -> None:
        self.state = settle(self.state, f"uid-{name}", None if removed else ReturnReason.PAUSED, now)
        if removed:
            del self.nodes[name]

    def flip(self, name: str) -> None:
        self.nodes[name] = replace(self.nodes[name], ready=not self.nodes[name].ready)


class Year:
    """World and judge side by side."""

    def __init__(self, drawn: Rules, sizes: dict[str, int]) -> None:
        self.world = World(drawn, sizes)
        self.judge = Judge(drawn, {any_node.name: any_node.pool for any_node in self.world.nodes.values()})

    def attempt(self, target: Node, reason: DrainReason, now: datetime) -> None:
        allowed = self.judge.allows(target.name, reason, now)
        refused = self.world.claim(target.name, reason, now)
        assert (not refused) is allowed, (now, target.name, refused)
        if allowed:
            self.judge.claimed.add(target.name)
            self.judge.starts.append((now, target.pool))

    def end(self, name: str, now: datetime, *, removed: bool) -> None:
        self.world.settle(name, now, removed=removed)
        self.judge.claimed.discard(name)
        if removed:
            self.judge.gone.add(name)

    def flip(self, name: str) -> None:
        self.world.flip(name)
        self.judge.broken ^= {name}


@examples(120)
@given(st.data())
def test_over_a_year_exactly_the_claims_are_granted_that_every_limit_allows(data: st.DataObject) -> None:
    drawn = data.draw(rules)
    year = Year(drawn, {pool: data.draw(st.integers(1, 9)) for pool in POOLS})
    for now in data.draw(moments(drawn)):
        names = sorted(year.world.nodes)
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        act = data.draw(st.sampled_from(["claim"] * 4 + ["removed", "given back", "flip"]))
        if act == "flip":
            year.flip(name)
        elif name in year.judge.claimed:
            year.end(name, now, removed=act == "removed")
        else:
            year.attempt(year.world.nodes[name], data.draw(st.sampled_from(REASONS)), now)


@examples(40)
@given(rules, st.sampled_from(POOLS), allowances, st.integers(0, 12), st.integers(0, 365 * 24 * 60 - 1))
def test_one_more_budget_never_allows_more(drawn: Rules, pool: str, more: Allowance, nodes: int, minute: int) -> None:
    own = drawn.pools[pool]
    stricter = replace(drawn, pools={**drawn.pools, pool: replace(own, budgets=(*own.budgets, more))})
    for reason in (*REASONS, DrainReason.MANUAL):
        before, after = (_limit(row, pool, reason, nodes, START + minute * MINUTE) for row in (drawn, stricter))
        assert before is None or (after is not None and after <= before)


def _limit(drawn: Rules, pool: str, reason: DrainReason, nodes: int, now: datetime) -> int | None:
    policy = parse(json.dumps(drawn.document).encode())
    return limit_now(policy.pool(pool).budgets, reason, nodes, Calendar(now))


@given(st.integers(0, 100), st.integers(0, 15_000))
def test_percent_arithmetic_is_rational_arithmetic_rounded_up(share: int, nodes: int) -> None:
    assert Limit(percent=share).of(nodes) == ceil(Fraction(share, 100) * nodes)


@CHANGES
@examples(40)
@given(cron=crons, minutes=st.integers(1, 180) | st.integers(1, 2000))
def test_the_edges_of_a_window_are_exact_on_the_days_of_a_clock_change(
    change: datetime, zone: str, cron: Written, minutes: int
) -> None:
    span = Span(cron, minutes, zone)
    schedule = Schedule(cron.text, minutes * MINUTE, zone)
    for edge in sorted(span.edges(), key=lambda edge: abs(edge - change))[:12]:
        for moment in (edge - SECOND, edge - TICK, edge, edge + SECOND):
            assert active(schedule, moment) is span.active(moment), moment


@CHANGES
@examples(70)
@given(cron=crons, seconds=st.integers(-10_800, 10_800) | st.integers(-180, 180).map(lambda minutes: minutes * 60))
def test_hits_around_a_clock_change_are_those_that_the_clock_shows_or_skips(
    change: datetime, zone: str, cron: Written, seconds: int
) -> None:
    schedule, span, now = Schedule(cron.text, MINUTE, zone), Span(cron, 1, zone), change + seconds * SECOND
    start, known = now - timedelta(hours=4), span.hits(now - timedelta(days=3), now)
    hit = last_hit(schedule, now)

    assert list(hits(schedule, start, now)) == [row for row in known if row > start]
    assert hit is not None
    assert hit == known[-1] if known else hit <= now


@pytest.mark.parametrize("zone", ZONES)
@examples(15)
@given(cron=crons, minutes=st.integers(1, 2000), place=st.integers(0, 10**6))
def test_the_edges_of_a_window_are_exact_all_year(zone: str, cron: Written, minutes: int, place: int) -> None:
    span, schedule = Span(cron, minutes, zone), Schedule(cron.text, minutes * MINUTE, zone)
    edges = span.edges()
    for edge in edges[place % len(edges) :][:6] if edges else ():
        assert [active(schedule, moment) for moment in (edge - TICK, edge)] == [
            span.active(moment) for moment in (edge - TICK, edge)
        ]
