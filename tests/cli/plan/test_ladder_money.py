"""What a reader subtracts from what comes out as it is printed, whatever the amounts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.plan.ladder import LadderMoney
from tests.cli.plan.plans import some_ladder

AMOUNTS = st.integers(0, 10**8)


def of(now: int, alone: int, rest: int) -> Ladder:
    ladder = some_ladder()
    costs = {"now": now, "alone": alone, "at_rest": rest}
    return replace(ladder, **{name: replace(getattr(ladder, name), cost=cost) for name, cost in costs.items()})


def printed(text: str) -> int:
    return 0 if text.startswith("<") else int(text.strip("$").replace(",", ""))


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_printed_money_subtracts_as_it_is_printed(now: int, alone: int, rest: int) -> None:
    ladder = of(now + alone + rest, alone + rest, rest)
    money = LadderMoney(ladder)

    for step in (ladder.alone, ladder.at_rest):
        assert printed(money.month(ladder.now)) - printed(money.month(step)) == printed(money.saved_month(step))
        assert printed(money.year(ladder.now)) - printed(money.year(step)) == printed(money.saved_year(step))
    beyond = printed(money.saved_month(ladder.at_rest)) - printed(money.saved_month(ladder.alone))
    assert printed(money.between_months(ladder.alone, ladder.at_rest)) == beyond


@pytest.mark.parametrize(
    ("expected", "now", "rest"),
    [
        pytest.param("33%", 3_000, 2_000, id="a third"),
        pytest.param("66%", 3_000, 1_000, id="two thirds are not 67%"),
        pytest.param("99%", 1_000, 1, id="not all"),
        pytest.param("0%", 1_000, 1_000, id="nothing"),
        pytest.param("0%", 0, 0, id="nothing of nothing"),
    ],
)
def test_no_greater_share_is_saved_than_is(expected: str, now: int, rest: int) -> None:
    ladder = of(now, now, rest)

    assert LadderMoney(ladder).saved_share(ladder.at_rest) == expected


@pytest.mark.parametrize(
    ("expected", "now", "rest"),
    [
        pytest.param(("$646,000", "$391,000", "$255,000"), 73_773_500, 44_706_800, id="three digits"),
        pytest.param(("$646,300", "$644,800", "$1,500"), 73_773_500, 73_600_000, id="two of what is saved"),
        pytest.param(("$8,760", "$8,760", "$0"), 1_000_000, 1_000_000, id="nothing saved"),
    ],
)
def test_a_year_has_the_digits_that_are_known(expected: tuple[str, str, str], now: int, rest: int) -> None:
    ladder = of(now, now, rest)
    money = LadderMoney(ladder)

    assert (money.year(ladder.now), money.year(ladder.at_rest), money.saved_year(ladder.at_rest)) == expected
