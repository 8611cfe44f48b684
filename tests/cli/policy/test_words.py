"""Every setting of the policy is shown, by the name and in the words that the policy gives it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from fractions import Fraction
from io import StringIO
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from rich.console import Console

from functions.cli.policy import check
from functions.cli.policy.diff import settings
from functions.cli.policy.words import cluster_settings, pool_settings
from shared.core.policy import (
    Budget,
    DrainSettings,
    Freeze,
    Limit,
    NamespaceRate,
    Policy,
    PoolPolicy,
    Preference,
    Rate,
    Schedule,
)
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment, WaveLimits
from tests.depth import cases
from tests.docs.policy_page import rows
from tests.docs.policy_schema import schema

OFFICE = Schedule("0 9 * * mon-fri", timedelta(hours=8), "Europe/Amsterdam")
COMMITTED = Commitments(
    families=(
        Commitment(
            "n2", Capacity(Fraction(160), Fraction(640)), datetime(2027, 5, 1, tzinfo=UTC), discount=Fraction(55, 100)
        ),
    ),
    flexible=FlexibleCommitment(Fraction(25, 2), Fraction(28, 100)),
    elsewhere={"n2": Capacity(vcpu=Fraction(40))},
    shared_by=("prod-a", "prod-b"),
    read=True,
)


@cases(
    "expected, setting, pool",
    ("a ratio", "0.75", "scaleDownCPURequestRatioLimit", PoolPolicy()),
    ("nodes that do not expire", "Never", "disruption.expireAfter", PoolPolicy()),
    ("the age a mark needs", "5m", "disruption.consolidateAfter", PoolPolicy()),
    ("the budget that is left out", "10% always", "disruption.budgets", PoolPolicy()),
    ("no budget", "no limit", "disruption.budgets", PoolPolicy(budgets=())),
    ("budgets with schedule and reasons", '0 "0 9 * * mon-fri" for 8h (Europe/Amsterdam); 10 always for underutilized',
     "disruption.budgets",
     PoolPolicy(budgets=(Budget(Limit(0), OFFICE), Budget(Limit(10), reasons=frozenset({"underutilized"}))))),
    ("no windows", "always", "disruption.windows", PoolPolicy()),
    ("an empty list of windows", "never", "disruption.windows", PoolPolicy(windows=())),
    ("a window", '"0 9 * * mon-fri" for 8h (Europe/Amsterdam)', "disruption.windows", PoolPolicy(windows=(OFFICE,))),
    ("what the cluster shows", "the cluster's", "timeSinceLastAddition", PoolPolicy()),
    ("a pool's rate", "2 in any 1h", "rate", PoolPolicy(rate=Rate(Limit(2), timedelta(hours=1)))),
    ("workloads without a PodDisruptionBudget", "25%", "unprotected", PoolPolicy()),
)  # fmt: skip
def test_a_pools_setting_is_shown_as_the_policy_writes_it(expected: str, setting: str, pool: PoolPolicy) -> None:
    assert pool_settings(pool)[setting] == expected


@cases(
    "expected, setting, policy",
    ("the safe default", "true", "dryRun", Policy()),
    ("the first back-off", "30m", "drain.backoff.first", Policy()),
    ("the watchdog", "25m, 8m in the OPTIMIZE_UTILIZATION profile", "drain.watchdog", Policy()),
    ("no bound of waves", "of any size, at the pace of timeGap", "cluster.wave", Policy()),
    ("waves", "30% for at most 1h30m", "cluster.wave",
     Policy(wave=WaveLimits(Limit(percent=30), timedelta(minutes=90)))),
    ("no freeze", "none", "cluster.freezes", Policy()),
    ("a freeze", "2026-11-27 00:00:00 UTC to 2026-12-01 00:00:00 UTC", "cluster.freezes",
     Policy(freezes=(Freeze(datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),))),
    ("what a person may ignore", "windows", "manual.mayIgnore", Policy()),
    ("nothing committed", "none", "cluster.commitments", Policy()),
    ("all that can be committed",
     ("n2 160 vCPUs 640 GiB at 55% off until 2027-05-01 00:00:00 UTC; 12.5 dollars an hour at 28% off; "
       "elsewhere n2 40 vCPUs 0 GiB; shared by prod-a, prod-b; read once an hour"), "cluster.commitments",
     Policy(commitments=COMMITTED)),
    ("commitments that nobody else uses", "elsewhere nothing", "cluster.commitments",
     Policy(commitments=Commitments(elsewhere={}))),
)  # fmt: skip
def test_the_clusters_setting_is_shown_as_the_policy_writes_it(expected: str, setting: str, policy: Policy) -> None:
    assert cluster_settings(policy)[setting] == expected


OTHERS: dict[Any, Any] = {
    bool: lambda value: not value,
    int: lambda value: value + 1,
    timedelta: lambda value: (value or timedelta(0)) + timedelta(hours=7),
    Fraction: lambda value: value / 3 or Fraction(1),
    Limit: lambda value: Limit(count=(value.count or 0) + 7),
    Rate: lambda _: Rate(Limit(count=7), timedelta(hours=7)),
    WaveLimits: lambda _: WaveLimits(Limit(count=7), timedelta(hours=7)),
    NamespaceRate: lambda _: NamespaceRate(7, timedelta(hours=7)),
    frozenset: lambda value: value | {"another"},
    Budget: lambda _: (Budget(Limit(count=7)),),
    Schedule: lambda _: (OFFICE,),
    Preference: lambda _: (Preference.OLD,),
    Commitments: lambda _: COMMITTED,
    Freeze: lambda _: (Freeze(datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),),
}
"""By type: a value that differs from the one given."""


def another(value: Any, hint: Any) -> Any:
    """Return a value of the field's type that is not this one."""
    kinds = [hint, *get_args(hint), *(argument for part in get_args(hint) for argument in get_args(part))]
    if isinstance(value, Enum):
        return next(member for member in type(value) if member is not value)
    kind = frozenset if isinstance(value, frozenset) else next(kind_ for kind_ in kinds if kind_ in OTHERS)
    return OTHERS[kind](value)


def changed_pools() -> Iterator[Any]:
    hints = get_type_hints(PoolPolicy)
    for name, field in POOL_FIELDS.items():
        value = another(getattr(PoolPolicy(), name), hints[name])
        yield pytest.param(field.path, replace(PoolPolicy(), **{name: value}), id=name)


def changed_policies() -> Iterator[Any]:
    hints, drain = get_type_hints(Policy), get_type_hints(DrainSettings)
    for name, field in CLUSTER_FIELDS.items():
        value = another(getattr(Policy(), name), hints[name])
        yield pytest.param(field.path, replace(Policy(), **{name: value}), id=name)
    for name, field in DRAIN_FIELDS.items():
        value = msgspec.structs.replace(DrainSettings(), **{name: another(getattr(DrainSettings(), name), drain[name])})
        yield pytest.param(field.path, Policy(drain=value, watchdog_by_profile=name != "watchdog"), id=f"drain {name}")
    yield pytest.param(DRAIN_FIELDS["watchdog"].path, Policy(watchdog_by_profile=False), id="watchdog_by_profile")


def printed(policy: Policy) -> dict[str, str]:
    """Return what `ebb policy check` prints, by the first word of each line."""
    pages = StringIO()
    check.show(Console(file=pages, width=1000, color_system=None), "policy.yaml", policy)
    lines = (line.split(maxsplit=1) for line in pages.getvalue().splitlines() if line.strip())
    return {line[0]: line[-1].strip() for line in lines}


@pytest.mark.parametrize(("path", "pool"), list(changed_pools()))
def test_every_field_of_a_pool_is_printed_by_check_and_named_by_diff(path: str, pool: PoolPolicy) -> None:
    old, new = (Policy(pools={"a": own}) for own in (PoolPolicy(), pool))
    assert [(setting.place, setting.name) for setting in settings(old, new)] == [("pool a", path)]
    assert printed(old)[path] != printed(new)[path] == pool_settings(pool)[path]


@pytest.mark.parametrize(("path", "policy"), list(changed_policies()))
def test_every_field_of_the_cluster_is_printed_by_check_and_named_by_diff(path: str, policy: Policy) -> None:
    assert [(setting.place, setting.name) for setting in settings(Policy(), policy)] == [("cluster", path)]
    assert printed(Policy())[path] != printed(policy)[path] == cluster_settings(policy)[path]


@cases(
    "shown",
    *((f"pool {pool.id}", pool_settings(pool.values[1])) for pool in changed_pools()),
    *((policy.id, cluster_settings(policy.values[1])) for policy in changed_policies()),
)
def test_no_setting_is_shown_as_python_writes_it(shown: dict[str, str]) -> None:
    assert [value for value in shown.values() if re.search(r"\w\(\w*=|datetime", value)] == []


def test_settings_have_the_paths_of_the_document_and_every_path_is_shown() -> None:
    written = {row.path.split("[]")[0]: row for row in rows(schema())}
    pool = {f"nodePools.NAME.{path}" for path in pool_settings(PoolPolicy())}
    shown = {*cluster_settings(Policy()), *pool}
    assert shown <= written.keys()
    mappings = {path for path, row in written.items() if any(other.startswith(f"{path}.") for other in written)}
    parts = {path for path in written if any(path.startswith(f"{other}.") for other in shown)}
    assert shown == written.keys() - (mappings - shown) - parts - {"defaults"}
