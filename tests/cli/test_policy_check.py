from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console

from functions.cli.policy_check import cluster_settings, pool_settings, show
from shared.core.policy import Budget, Freeze, Limit, Policy, PoolPolicy, Rate, Schedule

OFFICE = Schedule("0 9 * * mon-fri", timedelta(hours=8), "Europe/Amsterdam")


@pytest.mark.parametrize(
    ("expected", "setting", "pool"),
    [
        pytest.param("0.75", "scaleDownCPURequestRatioLimit", PoolPolicy(), id="a ratio"),
        pytest.param("0.5", "scaleDownMemoryRequestRatioLimit", PoolPolicy(memory_limit=Fraction(1, 2)), id="a half"),
        pytest.param("Never", "disruption.expireAfter", PoolPolicy(), id="nodes that do not expire"),
        pytest.param("5m", "disruption.consolidateAfter", PoolPolicy(), id="the age a mark needs"),
        pytest.param("10% always", "disruption.budgets", PoolPolicy(), id="the budget that is left out"),
        pytest.param("no limit", "disruption.budgets", PoolPolicy(budgets=()), id="no budget"),
        pytest.param(
            '0 "0 9 * * mon-fri" for 8h (Europe/Amsterdam); 10 always for underutilized',
            "disruption.budgets",
            PoolPolicy(
                budgets=(Budget(Limit(0), OFFICE), Budget(Limit(10), reasons=frozenset({"underutilized"}))),
            ),
            id="budgets with schedule and reasons",
        ),
        pytest.param("always", "disruption.windows", PoolPolicy(), id="no windows"),
        pytest.param("never", "disruption.windows", PoolPolicy(windows=()), id="an empty list of windows"),
        pytest.param(
            '"0 9 * * mon-fri" for 8h (Europe/Amsterdam)',
            "disruption.windows",
            PoolPolicy(windows=(OFFICE,)),
            id="a window",
        ),
        pytest.param("the cluster's", "timeSinceLastAddition", PoolPolicy(), id="what the cluster says"),
        pytest.param("2 in any 1h", "rate", PoolPolicy(rate=Rate(Limit(2), timedelta(hours=1))), id="a pool's rate"),
        pytest.param("25%", "unprotected", PoolPolicy(), id="workloads without a PodDisruptionBudget"),
    ],
)
def test_a_pools_setting_is_said_as_the_policy_writes_it(expected: str, setting: str, pool: PoolPolicy) -> None:
    assert pool_settings(pool)[setting] == expected


@pytest.mark.parametrize(
    ("expected", "setting", "policy"),
    [
        pytest.param("true", "dryRun", Policy(), id="the safe default"),
        pytest.param("20% in any 1h", "rate", Policy(), id="the rate"),
        pytest.param("30m, doubling to 1d", "drain.backoff", Policy(), id="the back-off"),
        pytest.param("25m, 8m in the OPTIMIZE_UTILIZATION profile", "drain.watchdog", Policy(), id="the watchdog"),
        pytest.param("none", "freezes", Policy(), id="no freeze"),
        pytest.param(
            "2026-11-27 00:00:00 UTC to 2026-12-01 00:00:00 UTC",
            "freezes",
            Policy(freezes=(Freeze(datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),)),
            id="a freeze",
        ),
        pytest.param("windows", "manual.mayIgnore", Policy(), id="what a person may ignore"),
    ],
)
def test_the_clusters_setting_is_said_as_the_policy_writes_it(expected: str, setting: str, policy: Policy) -> None:
    assert cluster_settings(policy)[setting] == expected


def test_pools_with_the_same_settings_stand_together() -> None:
    pages = StringIO()
    pools = {"a": PoolPolicy(enabled=True), "b": PoolPolicy(), "c": PoolPolicy(enabled=True)}
    show(Console(file=pages, width=120, color_system=None), "policy.yaml", Policy(pools=pools))
    titles = [line.strip() for line in pages.getvalue().splitlines() if line.startswith("pool")]
    assert titles == ["pools a, c", "pool b"]
