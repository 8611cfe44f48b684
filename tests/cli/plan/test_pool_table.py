from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.output.tables import draw
from functions.cli.plan.tables import pool_table
from functions.cli.plan.view import PlanView, view_of, with_scenarios
from shared.core.planning.plan import Plan, Potential
from tests.cli.plan.plans import busy, of_every_kind, plan, some_scenarios, waiting
from tests.cli.running import on_terminal


def _shown(given: Plan, width: int, *names: str) -> list[str]:
    return _drawn(view_of(given, Potential(names, 10**6, ()) if names else None), width)


def _drawn(view: PlanView, width: int) -> list[str]:
    return on_terminal(lambda console: draw(console, pool_table(view, width)), width)


def test_one_pool_needs_no_sum() -> None:
    assert [line.split()[0] for line in _shown(plan(busy("n1")), 100)] == ["pool", "a", "cpu,"]


def test_a_pool_shows_what_is_gone_in_steady_state_if_there_is_a_forecast() -> None:
    view = view_of(of_every_kind())
    with_rest = with_scenarios(
        view, replace(some_scenarios(), gone=frozenset({"gke-c-a-1f2e-0001", "gke-c-b-3d4c-0005"}))
    )
    head, *rows, meanings = _drawn(with_rest, 120)
    assert head.split()[-2:] == ["goes", "goes/mo"]
    assert [row.split()[-2:] for row in rows] == [["1", "$73"], ["1", "$73"], ["2", "$146"]]
    assert meanings == "cpu, memory: requests; goes: gone in steady state"


def test_verdicts_that_occur_nowhere_have_no_column() -> None:
    assert "waiting" not in _shown(plan(busy("n1")), 200)[0]


@given(st.lists(st.text("abcdefgh-", min_size=1, max_size=40), min_size=1, max_size=5), st.integers(60, 220))
def test_no_line_is_wider_than_the_terminal(pools: list[str], width: int) -> None:
    given = plan(*(busy(f"n{number}", pool=pool) for number, pool in enumerate(pools)))
    assert max(map(len, _shown(given, width, "n0"))) <= width


@pytest.mark.parametrize("names", [("n0",), ()])
@pytest.mark.parametrize("width", [80, 120])
def test_no_verdict_and_no_figure_is_cut_at(width: int, names: tuple[str, ...]) -> None:
    long = ("backend-pool-v2", "highmem-pool-europe")
    given = plan(*(kind(f"n{at}", pool=long[at % 2], cost=10**6) for at in range(8) for kind in (busy, waiting)))
    view = view_of(given, Potential(names, 10**6, ()) if names else None)
    shown = with_scenarios(view, replace(some_scenarios(), gone=frozenset({"n0"})))
    head, *rows, _ = _drawn(shown, width)
    assert "wait" in head
    assert not any("…" in cell for row in rows for cell in row.split()[1:])
    assert all("$" in row for row in rows)


def test_what_is_printed_of_the_pools_adds_up_to_what_is_printed_of_all() -> None:
    given = plan(*(busy(f"n{at}", pool=f"p{at}", cost=73_773) for at in range(7)))
    rows = [line.split() for line in _shown(given, 120)[1:-1]]
    cost = [int(row[-2].strip("$").replace(",", "")) for row in rows]
    assert sum(cost[:-1]) == cost[-1]
    assert len(set(cost[:-1])) == 2
