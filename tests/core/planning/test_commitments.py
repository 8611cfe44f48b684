from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Savings
from shared.core.planning.make_plan import make_plan
from shared.core.planning.metrics import MissedSaving, missed_savings
from shared.core.planning.plan import Plan, Potential
from shared.core.policy import Limit, Policy
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments, FlexibleCommitment, WaveLimits
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.clusters.committed import at_night, committed_shares
from tests.builders import NOW, announced_taint, claim, cluster, committed, node, pod, policy, taint
from tests.core.planning.passes import MINUTE, between_passes, half_full, ordered, plan, verdicts
from tests.depth import cases

DAY = timedelta(days=1)
PRICE = load().of(node("n1")).per_hour
COVERED = ("keep", "covered_by_commitment")
SIX = half_full("n1", "n2", "n3", "n4", "n5", "n6", cpu=1)


def worth(machines: float, until: Any = NOW + 100 * DAY) -> Commitment:
    """So many machines are paid for anyway."""
    return Commitment("e2", Capacity(Fraction(4 * machines), Fraction(16 * machines)), until)


def passed(snapshot: Snapshot, *rows: Commitment, state: ClusterState | None = None, **settings: Any) -> Plan:
    wide = {"commitments": Commitments(rows), **settings.pop("cluster_wide", {})}
    rules = policy(**{"max_nodes_per_pass": 5, "cluster_wide": wide, **settings})
    given = {} if state is None else {"state": state}
    return plan(snapshot, rules, **given)


@cases(
    "expected, machines",
    ("all are committed", [], 6),
    ("one exceeds them: one goes", [PRICE], 5),
    ("two exceed them: two go", [PRICE, PRICE], 4),
    ("one and a half: the second saves half", [PRICE, PRICE // 2], 4.5),
)
def test_nodes_go_as_long_as_the_bill_falls(expected: list[int], machines: float) -> None:
    made = passed(SIX, worth(machines))
    assert [order.saving for order in made.orders] == pytest.approx(expected, abs=2)
    assert set(verdicts(made).values()) <= {("order", "underutilized"), COVERED}


@cases(
    "expected, rows",
    ("the day from which they save", f"saves nothing before {NOW + DAY:%F}",
     [worth(3, NOW + DAY), worth(3, NOW + 9 * DAY)]),
    ("not one from which they still save nothing", f"saves nothing before {NOW + 9 * DAY:%F}",
     [worth(1, NOW + DAY), worth(6, NOW + 9 * DAY)]),
    ("no day is known", "saves nothing", [worth(6, None)]),
)  # fmt: skip
def test_all_nodes_that_are_kept_show(expected: str, rows: list[Commitment]) -> None:
    assert {decision.blockers[0].detail for decision in passed(SIX, *rows).decisions} == {expected}


def test_a_node_that_has_gone_cannot_go_again() -> None:
    once = Savings.among(SIX.nodes, (), load(), Commitments((worth(4),)), NOW).without(SIX.nodes[:1])
    assert once.without(SIX.nodes[:2]) == once.without(SIX.nodes[1:2])


def test_an_empty_node_goes_whatever_it_saves() -> None:
    made = passed(cluster([node("n1"), node("n2")], [pod("p", on="n2", cpu=1)]), worth(2))
    assert [(order.node, order.saving) for order in made.orders] == [("n1", 0)]


@cases(
    "first, state",
    ("a drain is under way", {}, {"claims": {"uid-n1": claim("n1")}}),
    ("announced", {"taints": (announced_taint(),)}, {}),
    ("the autoscaler deletes it", {"taints": (taint(names.AUTOSCALER_DELETING_TAINT),)}, {}),
)
def test_a_node_that_leaves_anyway_is_the_one_that_exceeds_the_commitments(first: Any, state: Any) -> None:
    nodes = [replace(node("n1"), **first), *SIX.nodes[1:]]
    made = passed(cluster(nodes, SIX.pods), worth(5), state=between_passes(**state))
    assert {verdict for name, verdict in verdicts(made).items() if name != "n1"} == {COVERED}


def test_what_a_node_must_save_for_each_pod_is_asked_of_the_bill() -> None:
    made = passed(SIX, worth(5.99), minimum_saving=Fraction(10))
    assert {decision.reason for decision in made.decisions} == {"saving_too_small"}


def test_a_node_that_saves_nothing_shows_what_else_keeps_it() -> None:
    full = cluster(SIX.nodes, [*SIX.pods, pod("bare", on="n1", owner=None)])
    found = passed(full, worth(6)).of("n1")
    assert found is not None
    assert [row.reason.value for row in found.blockers] == ["blocked_by_pod", "not_replicated", "covered_by_commitment"]


@cases(
    "machines, least",
    ("which saves nearly nothing", 4.99, 10),
    ("half: the first, which is asked before it, saves all", 4.5, 60),
)
def test_the_second_of_a_pass_must_save_as_much_given_the_first(machines: float, least: int) -> None:
    made = passed(SIX, worth(machines), minimum_saving=Fraction(least))
    assert [(order.node, order.saving) for order in made.orders] == [("n1", PRICE)]
    assert {verdict for verdict in verdicts(made).values() if verdict[0] == "keep"} == {("keep", "saving_too_small")}


def test_a_node_that_will_save_nothing_does_not_wait_for_a_budget() -> None:
    made = passed(SIX, worth(4), max_nodes_per_pass=1)
    assert list(verdicts(made).values()) == [("order", "underutilized"), ("keep", "nodes_per_pass"), *[COVERED] * 4]


@cases(
    "expected, settings",
    ("soon: what it would save is the other's", COVERED, {}),
    ("not even later: it keeps nothing from others", ("keep", "minimum_nodes"), {"minimum_nodes": 6}),
)
def test_what_the_first_of_a_wave_would_save_is_no_saving_of_others_while_it_goes(
    expected: tuple[str, str], settings: dict[str, Any]
) -> None:
    wide = {"time_gap": 10 * MINUTE, "commitments": Commitments((worth(5),)), **settings}
    state = between_passes(last_scale_down=NOW - MINUTE)
    situation = Situation(SIX, state, policy(cluster_wide=wide, max_nodes_per_pass=5))
    found = verdicts(make_plan(situation, {}, load(), wave=("n1",)))
    assert (found["n1"][0], found["n2"]) == ("keep", expected)


def test_a_flexible_commitment_covers_any_machine() -> None:
    flexible = FlexibleCommitment(Fraction(10), Fraction(0), NOW + DAY)
    made = plan(SIX, policy(cluster_wide={"commitments": Commitments(flexible=flexible)}))
    assert set(verdicts(made).values()) == {COVERED}


def waved(*rows: Commitment) -> Policy:
    limits = WaveLimits(Limit(percent=50), 90 * MINUTE)
    return policy(cluster_wide={"wave": limits, "commitments": Commitments(rows)}, max_nodes_per_pass=5)


@cases(
    "expected, machines",
    ("none", (), 6),
    ("those that exceed the commitments", ("n1", "n2"), 4),
    ("all of its size", ("n1", "n2", "n3"), 0),
)
def test_a_wave_holds_only_nodes_that_save_money(expected: tuple[str, ...], machines: float) -> None:
    assert plan(SIX, waved(worth(machines))).wave == expected


@cases("expected, machines", ("they save", ("n1", "n2"), 0), ("they do not", (), 6))
def test_nodes_leave_a_wave_once_they_save_nothing(expected: tuple[str, ...], machines: float) -> None:
    situation = Situation(SIX, between_passes(), waved(worth(machines)))
    assert make_plan(situation, {}, load(), wave=("n1", "n2")).wave == expected


def test_a_node_that_saves_nothing_does_not_go_next() -> None:
    found = {
        machines: passed(SIX, worth(machines), steer_scale_in=True, consolidate_after=5 * MINUTE).next_nodes
        for machines in (6, 4)
    }
    assert found == {6: (), 4: ("n1", "n2")}


def test_a_missed_saving_is_what_the_bill_would_fall_by() -> None:
    made = passed(SIX, worth(4), cluster_wide={"paused": True})
    (missed,) = missed_savings(made, SIX)
    assert replace(missed, per_hour=0) == MissedSaving("a", "paused", 6, 0)
    assert missed.per_hour == pytest.approx(2 * PRICE, abs=2)
    assert missed_savings(passed(SIX, worth(6)), SIX) == ()


def test_a_commitment_of_another_family_changes_nothing() -> None:
    made, plain = (plan(SIX, policy(cluster_wide={"commitments": row})) for row in (committed("n2"), Commitments()))
    assert replace(made, savings=None) == replace(plain, savings=None)
    assert ordered(made)


PRICES, SEEDS = load(), (1, 2, 3)


def found_in(snapshot: Snapshot, commitments: Commitments) -> Potential:
    return potential(Situation(snapshot, ClusterState(), replace(Policy(), commitments=commitments)), PRICES)


def falls_by(snapshot: Snapshot, commitments: Commitments, found: Potential) -> int:
    savings = Savings.among(snapshot.nodes, (), PRICES, commitments, NOW)
    return savings.saving_of(snapshot.node_by_name[name] for name in found.nodes)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_one_family_committed_the_bill_falls_by_two_and_a_half_times_as_much(seed: int) -> None:
    snapshot, commitments = at_night(seed), committed_shares(n2=1)
    blind, by_bill = (found_in(snapshot, row) for row in (NO_COMMITMENTS, commitments))
    assert by_bill.saving == falls_by(snapshot, commitments, by_bill)
    assert by_bill.saving >= 2.5 * falls_by(snapshot, commitments, blind)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_most_of_both_committed_as_much_is_saved_by_moving_far_fewer_pods(seed: int) -> None:
    snapshot, commitments = at_night(seed), committed_shares(n2=0.85, e2=0.85)
    blind, by_bill = (found_in(snapshot, row) for row in (NO_COMMITMENTS, commitments))
    assert by_bill.saving >= falls_by(snapshot, commitments, blind)
    assert len(by_bill.moves) <= 0.6 * len(blind.moves)
