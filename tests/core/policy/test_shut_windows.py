"""A window in which nothing can ever go is found, however its budgets of 0 are written."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.policy import Budget, Limit, Policy, PoolPolicy, Schedule
from shared.core.policy.warnings import shut_windows, warnings

HOUR = timedelta(hours=1)
AMSTERDAM = "Europe/Amsterdam"


def at(cron: str, hours: float, zone: str = AMSTERDAM) -> Schedule:
    return Schedule(cron, hours * HOUR, zone)


def zero(cron: str, hours: float, zone: str = AMSTERDAM, **more: Any) -> Budget:
    return Budget(Limit(count=0), at(cron, hours, zone), **more)


OFFICE = zero("0 9 * * mon-fri", 8)
TEN = at("0 10 * * mon-fri", 1)


@pytest.mark.parametrize(
    ("expected", "window", "budgets"),
    [
        pytest.param(True, TEN, [OFFICE], id="an hour of the office's day"),
        pytest.param(True, at("0 9 * * mon-fri", 8), [OFFICE], id="the very same time"),
        pytest.param(False, at("0 9 * * mon-fri", 9), [OFFICE], id="an hour longer"),
        pytest.param(False, at("30 8 * * mon-fri", 1), [OFFICE], id="half an hour earlier"),
        pytest.param(False, at("0 10 * * *", 1), [OFFICE], id="on Saturdays too"),
        pytest.param(True, TEN, [zero("0 9 * * mon-fri", 1.5), zero("30 10 * * mon-fri", 2)], id="two that follow"),
        pytest.param(False, TEN, [zero("0 9 * * mon-fri", 1.5), zero("31 10 * * mon-fri", 2)], id="a minute between"),
        pytest.param(False, TEN, [zero("0 9 * * mon-fri", 8, reasons=frozenset({"empty"}))], id="one reason only"),
        pytest.param(False, TEN, [Budget(Limit(count=1), at("0 9 * * mon-fri", 8))], id="a budget of one"),
        pytest.param(True, TEN, [Budget(Limit(percent=0), at("0 9 * * mon-fri", 8))], id="nought per cent"),
        pytest.param(False, at("0 8 * * *", 1, "UTC"), [zero("0 9 * * *", 1)], id="equal in winter, not in summer"),
        pytest.param(False, TEN, [], id="no budgets"),
        pytest.param(False, at("* * * * *", 1), [zero("* * * * *", 1)], id="too often to look at a year of it"),
        pytest.param(False, at("0 0 29 2 *", 1), [OFFICE], id="one that does not open in the year"),
    ],
)
def test_a_window_is_shut_when_budgets_of_nothing_cover_all_of_it(
    expected: bool, window: Schedule, budgets: list[Budget]
) -> None:
    assert shut_windows((window,), budgets) == ((0,) if expected else ())


NIGHT = at("0 20 * * *", 8)


@pytest.mark.parametrize(
    ("expected", "windows", "ceiling"),
    [
        pytest.param("disruption.windows: a budget of 0 is active whenever one is open", (TEN,), (), id="all"),
        pytest.param(
            "disruption.windows[1]: a budget of 0 is active for the whole window", (NIGHT, TEN), (), id="the second"
        ),
        pytest.param("", (NIGHT,), (), id="none"),
        pytest.param("disruption.windows: a budget of 0", (NIGHT,), (zero("0 19 * * *", 10),), id="by the cluster's"),
    ],
)
def test_it_is_warned_about(expected: str, windows: tuple[Schedule, ...], ceiling: tuple[Budget, ...]) -> None:
    always = Budget(Limit(count=1))
    pool = PoolPolicy(enabled=True, windows=windows, budgets=(always, OFFICE))
    said = [
        warning for warning in warnings(Policy(pools={"a": pool}, budgets=(always, *ceiling))) if "windows" in warning
    ]
    assert [warning.startswith(f"nodePools.a.{expected}") for warning in said] == ([True] if expected else [])
