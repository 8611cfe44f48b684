"""The scenarios as people and tools read them."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.input.missing_data import NO_BUDGETS
from functions.cli.output.answers import RESTS_ON, show
from functions.cli.output.format import WARNING
from functions.cli.plan import page
from functions.cli.plan.scenarios import (
    APPROXIMATE,
    BOUND,
    CUT_SHORT,
    POLICY,
    ScenarioMoney,
    headline,
    question,
    rows,
    sentences,
    steady,
)
from functions.cli.plan.sentences import WordKind
from functions.cli.plan.tables import HEADINGS
from functions.cli.plan.view import UNKNOWN_BUDGETS, view_of, with_scenarios
from shared.core.cluster.autoscaling import ScaleDownRule
from tests.builders import NOW
from tests.cli.plan.plans import SUM, of_every_kind, some_scenarios
from tests.cli.running import on_terminal
from tests.depth import cases

TEN_MINUTES = ScaleDownRule("", Fraction(1, 2), timedelta(minutes=10))


def printed(scenarios: Scenarios, width: int = 80, notes: tuple[str, ...] = ()) -> list[str]:
    view = with_scenarios(view_of(of_every_kind(), notes=notes, whose=POLICY), scenarios)
    return on_terminal(lambda console: show(console, page.parts(view, SUM, console.width)), width)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_it_is_the_first_thing_and_fits_the_terminal(width: int) -> None:
    lines = printed(some_scenarios(), width)

    assert [line.rsplit(maxsplit=5) for line in lines[1:8]] == [
        ["Ebb adds", "-1", "-$73", "-$876", "10%", "-"],
        ["now", "10", "$730", "$8,760", "-", "-"],
        ["autoscaler alone", "8", "$584", "$7,008", "20%", "5.0"],
        ["with Ebb, this policy", "7", "$511", "$6,132", "30%", "5.0"],
        ["  + running Jobs may move: a", "6", "$438", "$5,256", "40%", "5.0"],
        ["  + PDB allows 1: shop/db", "6", "$438", "$5,256", "40%", "5.0"],
        [BOUND, "4", "$292", "$3,504", "-", "-"],
    ]
    assert max(map(len, lines)) <= width


def test_a_warning_stands_above_it_and_what_it_rests_on_below_what_keeps_nodes() -> None:
    lines = printed(some_scenarios(), notes=("warning: something is odd.", "Without a policy."))

    assert lines[0] == "warning: something is odd."
    below = lines.index(RESTS_ON)
    assert lines.index(HEADINGS[WordKind.POD]) < below
    assert lines[below + 1] == "Without a policy."
    assert "Ebb adds $73" in " ".join(lines[lines.index("Without a policy.") :])
    assert "2 removable nodes" in " ".join(lines[: lines.index("Without a policy.")])


def test_what_the_rows_leave_open_is_shown() -> None:
    scenarios = some_scenarios()
    first, *_, approximate = sentences(replace(scenarios, at_rest=replace(scenarios.at_rest, is_rest=False)))
    assert "outside_windows" in first
    assert approximate == APPROXIMATE


def test_what_the_autoscaler_could_have_removed_is_asked_about_with_the_minutes_it_needs() -> None:
    scenarios = some_scenarios()
    assert "these 2 nodes within 15 minutes" in question(scenarios, {"a": TEN_MINUTES})
    assert question(replace(scenarios, alone=scenarios.now), {"a": TEN_MINUTES}) == ""


def test_the_steady_state_has_a_time_and_what_delays_it() -> None:
    assert steady(some_scenarios(), NOW).startswith(
        "by 23:31 UTC, in 1 h 31 min; slowest limits: time_gap (30 min), nodes_per"
    )
    assert steady(replace(some_scenarios(), by=None), NOW) == ""


@cases(
    "expected, alone",
    ("Ebb saves more", "Ebb adds $73 a month ($876 a year) with this policy, by 23:31 UTC.", 8),
    ("Ebb saves the same", "Ebb adds nothing with this policy.", 7),
    ("Ebb leaves more", "Ebb adds nothing with this policy.", 6),
)
def test_the_headline_begins_with_what_ebb_adds_to_the_autoscaler(expected: str, alone: int) -> None:
    scenarios = some_scenarios()
    told = replace(scenarios, alone=replace(scenarios.alone, nodes=alone, cost=alone * 100_000))

    shown = headline(told, "this policy", NOW)
    assert shown.startswith(expected)
    costs = [f"${nodes * 73}" for nodes in (10, alone, 7)]
    assert [word.strip(";.") for word in shown.removeprefix(expected).split() if "$" in word] == costs


def test_without_budgets_the_last_line_warns() -> None:
    view = view_of(of_every_kind(), notes=(f"{WARNING}{NO_BUDGETS}",))
    assert with_scenarios(view, some_scenarios()).summary.endswith(UNKNOWN_BUDGETS)
    assert not with_scenarios(view_of(of_every_kind()), some_scenarios()).summary.endswith(UNKNOWN_BUDGETS)


def test_a_scenario_whose_search_was_cut_short_is_marked_in_its_row() -> None:
    scenarios = some_scenarios()
    cut = replace(scenarios, relaxed=tuple(replace(scenario, is_rest=False) for scenario in scenarios.relaxed))
    found = [row for row in rows(cut, "this policy") if row.title.startswith("  +")]
    assert found
    assert all(cell.startswith("≤") for row in found for cell in (row.nodes, row.month, row.year))
    assert not [cell for row in rows(scenarios, "this policy") for cell in (row.nodes, row.month) if "≤" in cell]
    assert CUT_SHORT in sentences(cut)


AMOUNTS = st.integers(0, 10**8)


def of(now: int, alone: int, rest: int) -> Scenarios:
    scenarios = some_scenarios()
    costs = {"now": now, "alone": alone, "at_rest": rest}
    return replace(scenarios, **{name: replace(getattr(scenarios, name), cost=cost) for name, cost in costs.items()})


def amount(text: str) -> int:
    return int(text.replace("$", "").replace(",", ""))


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_printed_money_adds_up_as_it_is_printed(now: int, alone: int, rest: int) -> None:
    scenarios = of(now + alone + rest + 10**6, alone + rest, rest)
    money, (added, first, by_itself, with_ebb, *_) = ScenarioMoney(scenarios), rows(scenarios, "this policy")

    assert amount(first.month) - amount(with_ebb.month) == money.saving_of(scenarios.at_rest)
    assert amount(with_ebb.month) - amount(by_itself.month) == amount(added.month)
    for row in (added, first, by_itself, with_ebb):
        assert amount(row.year) == 12 * amount(row.month)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_a_sum_is_the_sum_of_what_is_printed_of_each_cluster(now: int, alone: int, rest: int) -> None:
    parts = (of(now + alone + rest, alone + rest, rest), of(now + 3 * rest, 2 * rest, rest))
    whole = of(*(sum(getattr(part, name).cost for part in parts) for name in ("now", "alone", "at_rest")))
    money = ScenarioMoney(whole, parts)

    for step in (whole.now, whole.alone, whole.at_rest):
        name = {"now": "now", "autoscaler_alone": "alone", "policy_at_rest": "at_rest"}[step.kind.value]
        assert money.left(step) == sum(ScenarioMoney(part).left(getattr(part, name)) for part in parts)


@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_where_capacity_is_committed_bill_and_list_price_add_up_each_by_itself(
    now: int, alone: int, rest: int, fees: int
) -> None:
    """The bill is half of the list price, and the fees."""
    listed = of(now + alone + rest + 10**6, alone + rest, rest)
    steps = {name: getattr(listed, name) for name in ("now", "alone", "at_rest")}
    billed = {name: replace(step, bill=fees + step.cost // 2) for name, step in steps.items()}
    added, _, by_itself, with_ebb, *_ = rows(replace(listed, **billed), "this policy")

    assert amount(with_ebb.month) - amount(by_itself.month) == amount(added.month)
    assert amount(with_ebb.listed) - amount(by_itself.listed) == amount(added.listed)
    assert amount(added.year) == 12 * amount(added.month)


@cases(
    "expected, now, rest",
    ("a third", "33%", 3_000_000, 2_000_000),
    ("two thirds are rounded", "67%", 3_000_000, 1_000_000),
    ("nothing", "0%", 1_000_000, 1_000_000),
    ("nothing of nothing", "-", 0, 0),
)
def test_the_share_that_is_saved_is_rounded(expected: str, now: int, rest: int) -> None:
    scenarios = of(now, now, rest)
    money = ScenarioMoney(scenarios)

    assert money.share(money.saving_of(scenarios.at_rest)) == expected


def test_what_has_no_price_is_shown_in_nodes() -> None:
    added, *_, last = rows(of(0, 0, 0), "this policy")
    assert (added.nodes, added.month, last.month) == ("-1", "-", "-")
