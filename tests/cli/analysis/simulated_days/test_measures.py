"""What runs come to, figure by figure."""

from datetime import timedelta

import pytest

from functions.cli.analysis.simulated_days.measures import Actor, Measures, Moment, PodWait, outcome
from tests.builders import NOW

HOUR = timedelta(hours=1)


def test_node_hours_and_money_are_those_of_each_stretch() -> None:
    rows = [Moment(NOW, 4, 400, 0), Moment(NOW + HOUR, 2, 200, 0)]
    told = outcome(Measures(series=rows), NOW, NOW + 4 * HOUR, ())

    assert (told.node_hours, told.cost, told.mean_nodes) == (4 + 6, 400 + 600, 2.5)
    assert (told.least_nodes, told.most_nodes, told.end_nodes) == (2, 4, 2)


@pytest.mark.parametrize(
    ("bill", "paid", "bills"),
    [
        pytest.param(None, 1000, (None, None), id="nothing is committed: the list price is paid"),
        pytest.param(300 + 3 * 50, 450, (300, 50), id="capacity is committed: the bill"),
    ],
)
def test_the_bill_of_days_is_that_of_each_stretch(
    bill: int | None, paid: int, bills: tuple[int | None, int | None]
) -> None:
    rows = [Moment(NOW, 4, 400, 0, bills[0]), Moment(NOW + HOUR, 2, 200, 0, bills[1])]
    told = outcome(Measures(series=rows), NOW, NOW + 4 * HOUR, ())

    assert (told.bill, told.paid) == (bill, paid)


@pytest.mark.parametrize(
    ("expected", "removed", "bought"),
    [
        pytest.param(1, [(0, "a")], [(1, "a")], id="within the hour"),
        pytest.param(0, [(0, "a")], [(1.1, "a")], id="later"),
        pytest.param(0, [(1, "a")], [(0, "a")], id="before"),
        pytest.param(0, [(0, "a")], [(1, "b")], id="of another pool"),
        pytest.param(1, [(0, "a")], [(0.5, "a"), (1, "a")], id="each removal counts once"),
    ],
)
def test_a_node_is_bought_back(
    expected: int, removed: list[tuple[float, str]], bought: list[tuple[float, str]]
) -> None:
    measures = Measures(
        series=[Moment(NOW, 1, 1, 0)],
        removed=[(NOW + at * HOUR, pool) for at, pool in removed],
        bought=[(NOW + at * HOUR, pool) for at, pool in bought],
    )

    assert outcome(measures, NOW, NOW + 4 * HOUR, ()).bought_back == expected


def test_waits_at_the_ramp_are_those_that_began_in_it() -> None:
    waits = [PodWait(NOW, timedelta(seconds=30)), PodWait(NOW + HOUR, timedelta(seconds=5), Actor.EBB)]
    told = outcome(Measures([Moment(NOW, 1, 1, 0)], waits=waits), NOW, NOW + 4 * HOUR, [(NOW + HOUR, NOW + 2 * HOUR)])

    assert (told.pending, told.pending_at_ramp) == (35, 5)
    assert (told.longest_wait, told.longest_wait_by_ebb) == (30, 5)


def test_a_pod_that_is_moved_again_is_counted() -> None:
    measures = Measures([Moment(NOW, 1, 1, 0)])
    for before in (0, 1, 2):
        measures.note_eviction(Actor.EBB, before=before)

    assert measures.twice == 2


def test_what_stood_for_no_time_is_neither_the_least_nor_the_most() -> None:
    """Several things happen in one moment."""
    rows = [Moment(NOW, 4, 400, 0), Moment(NOW + HOUR, 9, 900, 0), Moment(NOW + HOUR, 1, 100, 0)]
    rows.append(Moment(NOW + HOUR, 3, 300, 0))
    told = outcome(Measures(series=rows), NOW, NOW + 2 * HOUR, ())

    assert (told.least_nodes, told.most_nodes) == (3, 4)
