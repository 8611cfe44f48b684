"""What stays saved is an estimate on the low side: no node counts longer than a day, nor once its pool has grown."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node
from shared.core.reasons import ReturnReason
from shared.core.records.claims import COUNTS_FOR, hours_since, settle, still_saved, with_removed
from shared.core.records.state import ClusterState, Reclaimed
from tests.builders import NOW, claim, node

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def row(nodes: int = 1, *, pool: str = "a", hour: datetime = NOW, cost: int = 100) -> Reclaimed:
    return Reclaimed(pool, hour, nodes, cost * nodes)


def test_a_removed_node_is_kept_with_its_cost_by_pool_and_hour() -> None:
    one = with_removed((), claim("n1", cost_per_hour=100), NOW + 5 * MINUTE)
    two = with_removed(one, claim("n2", cost_per_hour=50), NOW + 59 * MINUTE)
    three = with_removed(two, claim("n3", pool="b", cost_per_hour=70), NOW + HOUR)

    assert three == (Reclaimed("a", NOW, 2, 150), Reclaimed("b", NOW + HOUR, 1, 70))


@pytest.mark.parametrize(
    ("expected", "why"),
    [
        pytest.param(1, None, id="gone"),
        pytest.param(0, ReturnReason.DEADLINE, id="returned"),
        pytest.param(0, ReturnReason.RELEASED, id="released"),
    ],
)
def test_only_a_node_that_is_gone_counts_and_it_counts_once(expected: int, why: ReturnReason | None) -> None:
    state = ClusterState(claims={"uid-n1": claim("n1")})

    once = settle(state, "uid-n1", why, NOW)
    assert sum(reclaimed.nodes for reclaimed in once.reclaimed) == expected
    assert settle(once, "uid-n1", why, NOW).reclaimed == once.reclaimed


@pytest.mark.parametrize(
    ("expected", "added"),
    [
        pytest.param((row(3),), [], id="nobody came"),
        pytest.param((row(2),), [node("new", created=NOW + MINUTE)], id="one came back"),
        pytest.param((row(3),), [node("old", created=NOW - MINUTE)], id="one that stood before the last pass"),
        pytest.param((row(3),), [node("new", pool="b", created=NOW + MINUTE)], id="one of another pool"),
        pytest.param((), [node(f"new{index}", created=NOW + MINUTE) for index in range(5)], id="more than had gone"),
    ],
)
def test_each_node_added_since_the_last_pass_takes_one_off(expected: tuple[Reclaimed, ...], added: list[Node]) -> None:
    assert still_saved((row(3),), added, NOW, NOW + 5 * MINUTE) == expected


def test_a_node_counts_for_a_day_at_most() -> None:
    assert still_saved((row(),), (), NOW, NOW + COUNTS_FOR - MINUTE)
    assert still_saved((row(),), (), NOW, NOW + COUNTS_FOR) == ()


@pytest.mark.parametrize(
    ("expected", "last_pass"),
    [
        pytest.param(0, None, id="the first pass"),
        pytest.param(1 / 12, NOW - 5 * MINUTE, id="five minutes"),
        pytest.param(1, NOW - 3 * HOUR, id="a long silence"),
        pytest.param(0, NOW + MINUTE, id="a clock that went back"),
    ],
)
def test_a_pass_accounts_for_the_time_since_the_last_an_hour_at_most(
    expected: float, last_pass: datetime | None
) -> None:
    assert hours_since(last_pass, NOW) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30 * 60), st.integers(0, 10**7)), max_size=20))
def test_nothing_is_saved_that_was_not_removed(removals: list[tuple[str, int, int]]) -> None:
    saved: tuple[Reclaimed, ...] = ()
    for pool, minute, cost in sorted(removals, key=lambda removal: removal[1]):
        saved = with_removed(saved, claim("n", pool=pool, cost_per_hour=cost), NOW + minute * MINUTE)

    left = still_saved(saved, [node("new", created=NOW + 3 * HOUR)], NOW, NOW + 30 * HOUR)
    assert sum(reclaimed.nodes for reclaimed in left) <= sum(reclaimed.nodes for reclaimed in saved) == len(removals)
    assert sum(reclaimed.cost_per_hour for reclaimed in left) <= sum(cost for _, _, cost in removals)
    assert len({(reclaimed.pool, reclaimed.hour) for reclaimed in saved}) == len(saved)
