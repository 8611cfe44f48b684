"""Where capacity is committed, money is the bill, the list price stands next to it, and what is idle is named."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.cli.analysis.forecast.scenarios import Committed, LaterAddition, Scenarios
from functions.cli.output.answers import show
from functions.cli.plan import page, totals
from functions.cli.plan.commitments import idle, sentences
from functions.cli.plan.scenarios import POLICY, ScenarioMoney, headline, rows, scenario_documents
from functions.cli.plan.tables import OF_BILL, scenario_table
from functions.cli.plan.view import view_of, with_scenarios
from tests.builders import NOW
from tests.cli.plan.plans import DOLLAR, ENDS, SUM, billed, of_every_kind, some_committed, some_scenarios
from tests.cli.running import on_terminal
from tests.depth import cases

ADDS = billed(at_rest=30)
"""By the bill Ebb adds as much as by list prices: one node, $73 a month."""
LATER = LaterAddition(ENDS, ("n2",), 6, DOLLAR // 5, is_rest=True)


def printed(scenarios: Scenarios, committed: Committed, width: int = 80) -> list[str]:
    view = with_scenarios(_with(committed), scenarios)
    return on_terminal(lambda console: show(console, page.parts(view, SUM, console.width)), width)


def _with(committed: Committed) -> Any:
    return replace(view_of(of_every_kind(), whose=POLICY), committed=committed)


@cases(
    "expected, at_rest",
    ("all that goes is committed: nothing, whatever the list price", (0, 73), 40),
    ("nothing of it is: the list price", (73, 73), 30),
    ("the autoscaler alone leaves what is not committed: more", (146, 73), 20),
)
def test_what_ebb_adds_counts_by_the_bill(expected: tuple[int, int], at_rest: int) -> None:
    money = ScenarioMoney(billed(at_rest=at_rest))

    assert money.listed
    assert (money.added, money.listed.added) == expected


def test_without_commitments_there_is_one_figure() -> None:
    assert ScenarioMoney(some_scenarios()).listed is None
    assert {row.listed for row in rows(some_scenarios(), "this policy")} == {""}


@pytest.mark.parametrize("width", [80, 120])
def test_the_scenarios_have_a_column_for_each_and_fit_the_terminal(width: int) -> None:
    lines = printed(ADDS, some_committed(), width)

    figures = {line.split("  ")[0]: line.split() for line in lines[1:9]}
    assert figures["now"][1:4] == ["10", "$730", "$438"]
    assert figures["with Ebb, this policy"][4:7] == ["7", "$511", "$219"]
    assert OF_BILL in " ".join(lines)
    assert max(map(len, lines)) <= width


def test_a_narrow_terminal_has_no_column_for_the_year_rather_than_none_for_a_figure() -> None:
    titles = [
        column.title for column in scenario_table(rows(ADDS, "a policy with a name that takes much room"), 80).columns
    ]

    assert titles == ["", "nodes", "list", "bill", "saved", "per node"]


@cases(
    "expected, scenarios",
    ("more", "Ebb adds $146 a month ($1,752 a year; $73 a month at list prices)", billed(at_rest=20)),
    ("both are equal: one figure", "Ebb adds $73 a month ($876 a year) with", ADDS),
    ("nothing by the bill", "Ebb adds nothing ($73 a month at list prices)", billed()),
    ("without commitments", "Ebb adds $73 a month ($876 a year)", some_scenarios()),
    ("what is paid now is called a bill", "Now 10 nodes for a bill of $438 a month", ADDS),
    ("what each scenario costs is the bill", "autoscaler alone 8 nodes for $292", ADDS),
)
def test_the_headline_has_the_bill_and_the_list_price(expected: str, scenarios: Scenarios) -> None:
    assert expected in headline(scenarios, "this policy", NOW)


def test_what_is_committed_and_idle_in_steady_state_is_named_with_its_end() -> None:
    (told,) = sentences(some_committed(), ADDS)

    assert "$365 a month until 2027-05-01 (n2: 20 vCPU, 80 GiB)" in told


def test_without_a_steady_state_what_is_idle_now_is_named() -> None:
    committed = some_committed()
    now = replace(committed, rows=tuple(replace(row, at_rest=None) for row in committed.rows))

    (told,) = idle(now)
    assert "$182 a month until 2027-05-01 (n2: 10 vCPU, 40 GiB)" in told


@cases(
    "dates, later",
    ("more than now", ["2027-05-01"], [LATER]),
    ("no more than now", [], [LaterAddition(ENDS, ("n2",), 7, DOLLAR // 10, is_rest=True)]),
    ("each end from which on it adds more than before", ["2027-05-01", "2027-08-09"],
     [LATER, LaterAddition(ENDS + timedelta(days=50), ("e2",), 6, DOLLAR // 5, is_rest=True),
      LaterAddition(ENDS + timedelta(days=100), ("e2",), 6, DOLLAR // 4, is_rest=True)]),
)  # fmt: skip
def test_the_ends_from_which_on_ebb_adds_more(dates: list[str], later: list[LaterAddition]) -> None:
    _, *told = sentences(some_committed(later=tuple(later)), ADDS)

    assert [sentence.split()[1].rstrip(",") for sentence in told] == dates


def test_a_use_elsewhere_that_is_not_known_makes_a_range() -> None:
    first, *_ = sentences(some_committed(use_elsewhere_is_known=False), billed())

    assert "$0 a month if nothing else in europe-west1" in first
    assert "$73 if other machines use all" in first


def test_a_flexible_commitment_is_of_no_region_and_no_family() -> None:
    committed = some_committed(use_elsewhere_is_known=False)
    first, *_ = sentences(replace(committed, rows=committed.rows[1:]), billed())

    assert "europe-west1" not in first
    assert "elsewhere" not in first


def test_rounding_is_no_difference() -> None:
    """Both add $72.53 a month; printed are $72 by the bill, so that the scenarios add up, and $73."""
    cents, scenarios = 99_350, billed(at_rest=30)
    alone = replace(scenarios.alone, bill=398_770)
    rest = replace(scenarios.at_rest, cost=alone.cost - cents, bill=398_770 - cents)
    scenarios = replace(scenarios, alone=alone, at_rest=rest)
    unknown = some_committed(
        later=(LaterAddition(ENDS, ("n2",), 7, cents, is_rest=True),), use_elsewhere_is_known=False
    )
    first, *others = sentences(unknown, scenarios)

    assert "as if nothing else in europe-west1" in first
    assert not [other for other in others if other.startswith("From ")]


def test_the_bill_is_in_the_json() -> None:
    assert [scenario["bill_per_hour"] for scenario in scenario_documents(ADDS)] == [0.6, 0.4, 0.3, 0.3, 0.3, 0.4]
    assert {scenario["bill_per_hour"] for scenario in scenario_documents(some_scenarios())} == {None}


def test_a_sum_counts_the_bill_where_capacity_is_committed_and_the_list_price_elsewhere() -> None:
    views = [with_scenarios(_with(some_committed()), ADDS), with_scenarios(view_of(of_every_kind()), some_scenarios())]
    whole = totals.sum_scenarios(views)

    listed = totals.sum_scenarios(views[1:])

    assert whole
    assert listed
    assert (whole.now.bill, whole.now.cost, listed.now.bill) == (1_600_000, 2_000_000, None)
    added, _, now, alone, rest, *_ = totals.figures(views)
    assert (added, now, alone, rest) == ("$146", "$1,168", "$876", "$730")
    assert totals.OF_BILLS in totals.meaning(views)
    assert totals.OF_BILLS not in totals.meaning(views[1:])
