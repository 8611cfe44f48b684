"""What a reader adds, subtracts or multiplies by twelve comes out as it is printed, whatever the amounts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.plan.scenarios import ScenarioMoney, rows
from tests.cli.plan.plans import some_scenarios

AMOUNTS = st.integers(0, 10**8)


def of(now: int, alone: int, rest: int) -> Scenarios:
    scenarios = some_scenarios()
    costs = {"now": now, "alone": alone, "at_rest": rest}
    return replace(scenarios, **{name: replace(getattr(scenarios, name), cost=cost) for name, cost in costs.items()})


def printed(text: str) -> int:
    return int(text.replace("$", "").replace(",", ""))


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_printed_money_adds_up_as_it_is_printed(now: int, alone: int, rest: int) -> None:
    scenarios = of(now + alone + rest + 10**6, alone + rest, rest)
    money, (added, first, by_itself, with_ebb, *_) = ScenarioMoney(scenarios), rows(scenarios, "this policy")

    assert printed(first.month) - printed(with_ebb.month) == money.saving_of(scenarios.at_rest)
    assert printed(with_ebb.month) - printed(by_itself.month) == printed(added.month)
    for row in (added, first, by_itself, with_ebb):
        assert printed(row.year) == 12 * printed(row.month)


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

    assert printed(with_ebb.month) - printed(by_itself.month) == printed(added.month)
    assert printed(with_ebb.listed) - printed(by_itself.listed) == printed(added.listed)
    assert printed(added.year) == 12 * printed(added.month)


@pytest.mark.parametrize(
    ("expected", "now", "rest"),
    [
        pytest.param("33%", 3_000_000, 2_000_000, id="a third"),
        pytest.param("67%", 3_000_000, 1_000_000, id="two thirds are rounded"),
        pytest.param("0%", 1_000_000, 1_000_000, id="nothing"),
        pytest.param("-", 0, 0, id="nothing of nothing"),
    ],
)
def test_the_share_that_is_saved_is_rounded(expected: str, now: int, rest: int) -> None:
    scenarios = of(now, now, rest)
    money = ScenarioMoney(scenarios)

    assert money.share(money.saving_of(scenarios.at_rest)) == expected


def test_what_has_no_price_is_shown_in_nodes() -> None:
    added, *_, last = rows(of(0, 0, 0), "this policy")
    assert (added.nodes, added.month, last.month) == ("-1", "-", "-")
