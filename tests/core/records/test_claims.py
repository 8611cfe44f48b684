from datetime import timedelta
from typing import Any

import msgspec

from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.policy import DrainSettings, Limit, NamespaceRate, Policy, PoolPolicy, Rate
from shared.core.reasons import ReturnReason
from shared.core.records.claims import (
    claim_for,
    grant,
    left_to_person,
    longest_rate,
    mark_drained,
    open_breakers,
    settle,
    settle_gone,
    with_breakers,
    without_past,
)
from shared.core.records.state import Backoff, Breaker, ClusterState, Start
from tests.builders import NOW, claim, cluster, node, order
from tests.depth import cases

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


def held(**backoffs: Backoff) -> ClusterState:
    return ClusterState(claims={"uid-n1": claim("n1")}, backoffs=backoffs)


def rested(delay: timedelta, *, ago: timedelta = timedelta(0)) -> dict[str, Backoff]:
    """A back-off of the node that has ended."""
    return {"uid-n1": Backoff("n1", NOW - ago, delay, "deadline")}


def test_a_grant_counts_in_budgets_gap_and_rate_at_once() -> None:
    before = ClusterState(starts=(Start(NOW - 2 * HOUR, "a"), Start(NOW - HOUR / 2, "b")))

    after = grant(before, "uid-n1", claim("n1"), keep_starts=HOUR)

    assert after.claims == {"uid-n1": claim("n1")}
    assert after.last_scale_down == NOW
    assert after.starts == (Start(NOW - HOUR / 2, "b"), Start(NOW, "a"))


def test_a_grant_remembers_how_many_pods_it_moves_as_long_as_the_longest_period() -> None:
    rules = Policy(rate=None, evictions_per_namespace=NamespaceRate(10, 2 * HOUR))
    before = ClusterState(starts=(Start(NOW - HOUR, "a", {"shop": 3}), Start(NOW - 2 * HOUR, "a", {"shop": 9})))

    after = grant(before, "uid-n1", claim("n1"), longest_rate(rules), {"shop": 2})

    assert after.starts == (Start(NOW - HOUR, "a", {"shop": 3}), Start(NOW, "a", {"shop": 2}))


def test_a_drained_claim_moves_nothing_and_keeps_the_first_moment_at_which_its_pods_ran_again() -> None:
    moving = ClusterState(claims={"uid-n1": claim("n1", moving_pods={"a": 1})})

    drained = mark_drained(moving, "uid-n1", "order")
    replaced = mark_drained(drained, "uid-n1", "order", NOW)

    assert drained.claims == {"uid-n1": claim("n1", drained=True)}
    assert replaced.claims == {"uid-n1": claim("n1", drained=True, replaced=NOW)}
    assert mark_drained(replaced, "uid-n1", "order", NOW + HOUR) is replaced
    assert mark_drained(moving, "uid-n1", "another", NOW) is moving


@cases(
    "expected, rules",
    ("the cluster's, by default", HOUR, Policy()),
    ("a pool's", 3 * HOUR, Policy(pools={"a": PoolPolicy(rate=Rate(Limit(count=1), 3 * HOUR))})),
    ("all pools'", 4 * HOUR, Policy(other_pools=PoolPolicy(rate=Rate(Limit(count=1), 4 * HOUR)))),
    ("a namespace's", 2 * HOUR, Policy(evictions_per_namespace=NamespaceRate(1, 2 * HOUR))),
)
def test_starts_are_remembered_for_the_longest_period_that_any_rate_counts(expected: timedelta, rules: Policy) -> None:
    assert longest_rate(rules) == expected


def test_a_start_of_before_pods_were_counted_is_read_and_one_without_pods_is_written_as_before() -> None:
    old = b'{"at":"2026-03-04T22:00:00Z","pool":"a"}'

    assert msgspec.json.decode(old, type=Start) == Start(NOW, "a", {})
    assert msgspec.json.encode(Start(NOW, "a")) == old


@cases(
    "minutes, profile, said",
    ("by the profile", 8, "OPTIMIZE_UTILIZATION", {}),
    ("by the class of a reaper that waits", 70, "BALANCED", {"threshold": 0, "delay": HOUR}),
)
def test_a_claim_carries_the_settings_its_drain_will_end_with(minutes: int, profile: str, said: dict[str, Any]) -> None:
    here, classes = node("n1", labels={COMPUTE_CLASS_LABEL: "web"}), ComputeClasses({"web": AutoscalingPolicy(**said)})
    rule = cluster([here], profile=profile, compute_classes=classes).scale_down(here)
    made = claim_for(order(), here, Policy(hash="h"), rule, NOW)

    assert (made.policy_hash, made.settings.watchdog) == ("h", minutes * MINUTE)
    assert (made.pool, made.zone, made.since) == ("a", "z", NOW)


@cases(
    "expected, why, before",
    ("a removed node needs no back-off", None, None, {}),
    ("a pause shows nothing about the node", None, ReturnReason.PAUSED, {}),
    ("a first failure rests half an hour", HOUR / 2, ReturnReason.DEADLINE, {}),
    ("room that was needed is not taken again at once", HOUR / 2, ReturnReason.DEMAND, {}),
    ("nor soon when that repeats", HOUR, ReturnReason.DEMAND, rested(HOUR / 2)),
    ("a second one doubles", HOUR, ReturnReason.DEADLINE, rested(HOUR / 2)),
    ("never above a day", 24 * HOUR, ReturnReason.WATCHDOG, rested(20 * HOUR)),
    ("long ago is forgotten", HOUR / 2, ReturnReason.DEADLINE, rested(20 * HOUR, ago=25 * HOUR)),
    ("one before a long rest is not: it is the rest's end that counts", 24 * HOUR, ReturnReason.DEADLINE,
     rested(20 * HOUR, ago=5 * HOUR)),
    ("a person who takes the node back has it for a day", 24 * HOUR, ReturnReason.OVERRULED, {}),
    ("whatever failed before", 24 * HOUR, ReturnReason.OVERRULED, rested(HOUR / 2)),
    ("a person's release likewise", 24 * HOUR, ReturnReason.RELEASED, {}),
)  # fmt: skip
def test_settling_ends_the_claim_and_backs_off_by_what_happened(
    expected: timedelta | None, why: ReturnReason | None, before: dict[str, Backoff]
) -> None:
    after = settle(held(**before), "uid-n1", why, NOW)

    backoff = after.backoffs.get("uid-n1")
    assert after.claims == {}
    assert expected == (backoff.delay if backoff else None)
    assert backoff is None or backoff.until == NOW + backoff.delay


def test_settling_twice_changes_nothing_the_second_time() -> None:
    once = settle(held(), "uid-n1", ReturnReason.DEADLINE, NOW)

    assert settle(once, "uid-n1", ReturnReason.DEADLINE, NOW + HOUR) == once


@cases(
    "expected, gone",
    ("that order's", {"uid-n2"}, {"uid-n1": "order"}),
    ("none of a later order on the same node", {"uid-n1", "uid-n2"}, {"uid-n1": "earlier"}),
    ("none of another node", {"uid-n1", "uid-n2"}, {"uid-n3": "order"}),
    ("all that are gone together", set(), {"uid-n1": "order", "uid-n2": "order-2"}),
)
def test_of_nodes_that_are_gone_only_the_claims_of_their_own_orders_end(
    expected: set[str], gone: dict[str, str]
) -> None:
    before = ClusterState(claims={"uid-n1": claim("n1"), "uid-n2": claim("n2", order_id="order-2")})

    after = settle_gone(before, gone, NOW)

    assert set(after.claims) == expected
    assert sum(reclaimed.nodes for reclaimed in after.reclaimed) == 2 - len(expected)


def left_alone(why: str) -> ClusterState:
    return ClusterState(backoffs={"uid-n1": Backoff("n1", NOW + HOUR, 24 * HOUR, why)})


@cases(
    "expected, why, before",
    ("a person took it back", 24 * HOUR, ReturnReason.OVERRULED, ClusterState()),
    ("a person released it", 24 * HOUR, ReturnReason.RELEASED, ClusterState()),
    ("nobody asked for it", None, ReturnReason.ORPHAN, ClusterState()),
    ("its claim stands and is settled when the node is free", None, ReturnReason.OVERRULED, held()),
    ("it is left alone, for that reason", None, ReturnReason.OVERRULED, left_alone("overruled")),
    ("it is left alone, for another one", 24 * HOUR, ReturnReason.OVERRULED, left_alone("watchdog")),
)
def test_a_node_without_a_claim_is_left_to_the_person_who_wants_it(
    expected: timedelta | None, why: ReturnReason, before: ClusterState
) -> None:
    after = left_to_person(before, "uid-n1", "n1", why, NOW)

    assert (after.backoffs["uid-n1"].delay if after else None) == expected
    assert after is None or after.backoffs["uid-n1"].until == NOW + 24 * HOUR


@cases(
    "expected, alive, until",
    ("one that stands", True, ["uid-n1"], HOUR),
    ("one that has passed, for a failure soon after", True, ["uid-n1"], -24 * HOUR + SECOND),
    ("one that passed a day ago", False, ["uid-n1"], -24 * HOUR),
    ("one of a node that is gone", False, [], HOUR),
)
def test_a_back_off_is_remembered_as_long_as_it_may_double(expected: bool, alive: list[str], until: timedelta) -> None:
    before = held(**{"uid-n1": Backoff("n1", NOW + until, HOUR / 2, "deadline")})
    assert bool(without_past(before, alive, NOW).backoffs) is expected


def test_a_breaker_is_forgotten_when_it_closes() -> None:
    held_back = ClusterState(breakers={"a": Breaker(NOW, "past"), "b": Breaker(NOW + SECOND, "now")})
    assert set(open_breakers(held_back, NOW)) == set(without_past(held_back, [], NOW).breakers) == {"b"}


@cases(
    "expected, standing",
    ("none", "new", {}),
    ("one that is open", "old", {"a": Breaker(NOW + SECOND, "old")}),
    ("one that has closed and was not swept yet", "new", {"a": Breaker(NOW, "old")}),
)
def test_a_breaker_opens_over_every_one_but_an_open_one(expected: str, standing: dict[str, Breaker]) -> None:
    after = with_breakers(ClusterState(breakers=standing), {"a": Breaker(NOW + HOUR, "new")}, NOW)

    assert after.breakers["a"].why == expected


WRITTEN = Policy(drain=DrainSettings(watchdog=40 * MINUTE), watchdog_by_profile=False)
UTILIZED = "OPTIMIZE_UTILIZATION"


@cases(
    "minutes, profile, delay, only_empty, rules",
    ("the profile's", 25, "BALANCED", None, False, Policy()),
    ("an autoscaler that waits an hour", 75, "BALANCED", HOUR, False, Policy()),
    ("one that may go sooner, or skip a node", 25, "BALANCED", MINUTE, False, Policy()),
    ("a policy that shows less", 75, "BALANCED", HOUR, False, WRITTEN),
    ("a policy that shows more", 40, "BALANCED", MINUTE, False, WRITTEN),
    ("a reaper is late earlier", 11, "BALANCED", MINUTE, True, Policy()),
    ("in both profiles", 8, UTILIZED, MINUTE, True, Policy()),
    ("one that waits long is not late", 70, "BALANCED", HOUR, True, Policy()),
    ("a reaper that waits as its profile does", 25, "BALANCED", None, True, Policy()),
    ("in either", 8, UTILIZED, None, True, Policy()),
    ("what the policy writes holds", 40, "BALANCED", MINUTE, True, WRITTEN),
    ("but not against a longer delay", 70, "BALANCED", HOUR, True, WRITTEN),
)
def test_the_watchdog_waits_longer_than_the_autoscaler_does(
    minutes: int, profile: str, delay: timedelta | None, only_empty: bool, rules: Policy
) -> None:
    assert rules.drain_for(profile, delay, only_empty=only_empty).watchdog == minutes * MINUTE
