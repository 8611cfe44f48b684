"""What runs come to, figure by figure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import cache
from random import Random
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from functions.cli.analysis.simulated_days.measures import Actor, Measures, Moment, PodWait, outcome
from functions.cli.analysis.simulated_days.patterns import Curve, Range, ReplicaChange, by_curve, by_hours
from tests.bench.days.population import MIXES, case
from tests.bench.days.table import ALONE, DEFAULTS, INIT, SMALL, Row, Run, played, run_of
from tests.builders import NOW
from tests.depth import DEEP, SEED, cases

HOUR = timedelta(hours=1)


@cases(
    "bill, paid, bills",
    ("nothing is committed: the list price is paid", None, 1000, (None, None)),
    ("capacity is committed: the bill", 300 + 3 * 50, 450, (300, 50)),
)
def test_node_hours_and_money_are_those_of_each_stretch(
    bill: int | None, paid: int, bills: tuple[int | None, int | None]
) -> None:
    rows = [Moment(NOW, 4, 400, 0, bills[0]), Moment(NOW + HOUR, 2, 200, 0, bills[1])]
    told = outcome(Measures(series=rows), NOW, NOW + 4 * HOUR)

    assert (told.bill, told.paid) == (bill, paid)
    assert (told.node_hours, told.cost, told.mean_nodes) == (4 + 6, 400 + 600, 2.5)
    assert (told.least_nodes, told.most_nodes, told.end_nodes) == (2, 4, 2)


def test_the_longest_wait_is_also_known_of_those_that_ebb_evicted() -> None:
    waits = [PodWait(NOW, timedelta(seconds=30)), PodWait(NOW + HOUR, timedelta(seconds=5), Actor.EBB)]
    told = outcome(Measures([Moment(NOW, 1, 1, 0)], waits=waits), NOW, NOW + 4 * HOUR)

    assert (told.pending, told.longest_wait, told.longest_wait_by_ebb) == (35, 30, 5)


def test_what_stood_for_no_time_is_neither_the_least_nor_the_most() -> None:
    """Several things happen in one moment."""
    rows = [Moment(NOW, 4, 400, 0), Moment(NOW + HOUR, 9, 900, 0), Moment(NOW + HOUR, 1, 100, 0)]
    rows.append(Moment(NOW + HOUR, 3, 300, 0))
    told = outcome(Measures(series=rows), NOW, NOW + 2 * HOUR)

    assert (told.least_nodes, told.most_nodes) == (3, 4)


KINDS: Final = (DEFAULTS, INIT)
FEW, MANY = 2, 4
"""Throws of the autoscaler's dice."""
NUMBERS: Final = tuple(range(len(MIXES), 2 * len(MIXES)))
"""A case of each mix of machines, with some PodDisruptionBudgets."""


@cache
def run(number: int, kind: str, throw: int) -> Run:
    return run_of(case(number, nodes=SMALL), kind, [throw])


def row(number: int, throws: int = FEW, kinds: Sequence[str] = KINDS) -> Row:
    own = case(number, nodes=SMALL)
    plays = {kind: [run(number, kind, throw).plays[0] for throw in range(throws)] for kind in (ALONE, *kinds)}
    return Row(number, own.name, own.budgets, {kind: Run(plays[kind], {}) for kind in plays}, 0, own.snapshot.profile)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_bill_is_never_higher_than_without_ebb(number: int) -> None:
    """What seems dearer is played more often: two throws of the autoscaler's dice may lie close together by chance."""
    seems = [kind for kind in KINDS if row(number).is_dearer(kind)]

    assert [kind for kind in seems if row(number, MANY, [kind]).is_dearer(kind)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_bill_of_all_together_falls(kind: str) -> None:
    assert sum(row(number).percent(kind) for number in NUMBERS) / len(NUMBERS) < -5  # percent


@pytest.mark.deep
@pytest.mark.timeout(1200)
def test_the_bill_of_clusters_drawn_anew_is_never_higher() -> None:
    numbers = Random(SEED).sample(range(1000, 100_000), 24 if DEEP else 1)  # noqa: S311 - drawn again by its seed
    rows = [played(number, SMALL) for number in numbers]

    assert [(row.name, kind, row.percent(kind)) for row in rows for kind in KINDS if row.is_dearer(kind)] == []


MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)


@cases(
    "expected, hours, zone",
    ("at night nothing of the range", 0, 0, UTC),
    ("half way up", Fraction(1, 2), 8, UTC),
    ("at noon all of it", 1, 12, UTC),
    ("in the evening it falls", Fraction(1, 5), 21, UTC),
    ("on Saturday a part of the rise", Fraction(3, 10), 5 * 24 + 12, UTC),
    ("hours are those of the time zone", 1, 3, ZoneInfo("Asia/Tokyo")),
)
def test_a_share_of_the_range(expected: Fraction, hours: int, zone: tzinfo) -> None:
    assert Curve(zone=zone).share(MONDAY + timedelta(hours=hours)) == expected


def test_a_workload_follows_the_curve_between_its_limits() -> None:
    demand = by_curve({"a": Range(2, 10)}, Curve(), MONDAY, DAY)

    assert demand[0] == ReplicaChange(MONDAY, "a", 2)
    assert max(wish.replicas for wish in demand) == 10


def test_hours_of_a_week_begin_on_monday() -> None:
    demand = by_hours({"a": [number // 24 for number in range(168)]}, MONDAY + 2 * DAY, 2 * DAY)

    assert [(wish.at, wish.replicas) for wish in demand] == [(MONDAY + 2 * DAY, 2), (MONDAY + 3 * DAY, 3)]
