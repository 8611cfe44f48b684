from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from functions.cli.input.options import Sort
from functions.cli.output.tables import Table, draw
from functions.cli.output.terminal import IN_A_FILE
from functions.cli.plan.tables import node_table
from functions.cli.plan.view import AskedNodes, PlanView, list_nodes, view_of
from shared.core.planning.plan import Potential, Verdict
from shared.core.reasons import Blocker, Unremovable
from tests.cli.plan.plans import blocked, busy, decision, plan, waiting

LONG = "gke-prod-europe-west4-default-pool-1a2b3c4d-"


def _view(names: list[str], *, could_go: bool = False) -> PlanView:
    kinds = (
        waiting,
        busy,
        lambda name: blocked(name, "shop/cart-5d4f8b-x2x4z", "shop/cart-1"),
        lambda name: decision(name, Verdict.KEEP, Blocker(Unremovable.MINIMUM_NON_TAINTED, "", "2 of 2")),
    )
    made = plan(*(kinds[number % len(kinds)](name) for number, name in enumerate(names)))
    return view_of(made, Potential(tuple(names), 0, ()) if could_go else None)


def _table(view: PlanView, width: int, *, by_cost: bool = False) -> Table:
    return node_table(list_nodes(view, AskedNodes(nodes=True, sort=Sort.COST if by_cost else None)), width)


def _titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


WHOLE = ["node", "pool", "cpu", "mem", "cost/mo", "verdict", "reason", "because of", "when (UTC)"]
FULL = [title for title in WHOLE if title != "cost/mo"]


@pytest.mark.parametrize(
    ("expected", "width"),
    [
        pytest.param(WHOLE, IN_A_FILE, id="a file has room for all"),
        pytest.param(WHOLE, 200, id="200 columns"),
        pytest.param([title for title in FULL if title != "verdict"], 120, id="120 columns"),
        pytest.param([title for title in FULL if title != "verdict"], 90, id="90 columns"),
        pytest.param([title for title in FULL if title not in {"verdict", "pool"}], 80, id="80 columns"),
        pytest.param(["node", "cpu", "mem", "reason", "when (UTC)"], 58, id="58 columns"),
    ],
)
def test_columns_that_are_shown_elsewhere_go_first(expected: list[str], width: int) -> None:
    assert _titles(_table(_view([f"{LONG}{number:04x}" for number in range(8)]), width)) == expected


def test_a_narrow_table_shows_names_without_their_shared_beginning() -> None:
    table = _table(_view([f"{LONG}00a1", f"{LONG}00b2"]), 80)
    assert table.lead.endswith(f" {LONG}")
    assert table.columns[0].cells == ("…00a1", "…00b2")


def test_names_lose_what_those_of_a_pool_share_before_the_cause_is_worded_shorter() -> None:
    names = [("web", "gke-prod-web-pool-1a2b-0001"), ("web", "gke-prod-web-pool-1a2b-0002"),
             ("db", "gke-prod-db-pool-3c4d-0001"), ("db", "gke-prod-db-pool-3c4d-0002")]  # fmt: skip
    view = view_of(plan(*(blocked(name, "shop/cart-5d4f8b-x2x4z", pool=pool) for pool, name in names)))
    table = _table(view, 90)
    assert table.lead.endswith("gke-prod-db-pool-3c4d- (db), gke-prod-web-pool-1a2b- (web)")
    assert ("…0001", "web", "50%", "25%", "pod: local_storage", "shop/cart-5d4f8b-x2x4z volume cache") in {
        row[:-1] for row in table.rows
    }


@pytest.mark.parametrize("width", range(48, 90))
def test_a_short_cause_needs_no_more_room_than_there_is(width: int) -> None:
    short = decision("n1", Verdict.KEEP, Blocker(Unremovable.TOO_YOUNG, "", "1h"))
    assert _table(view_of(plan(short)), width).width <= width


NAMES = st.lists(st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?\Z"), min_size=1, max_size=9, unique=True)


@given(NAMES, st.integers(70, 220), st.booleans())
def test_no_line_is_wider_than_the_terminal(names: list[str], width: int, could_go: bool) -> None:
    pages = StringIO()
    console = Console(file=pages, width=width, force_terminal=True, color_system=None)
    draw(console, _table(_view(names, could_go=could_go), width))
    assert max(map(len, pages.getvalue().splitlines())) <= width


@given(NAMES, st.integers(70, 220))
def test_a_reason_is_never_cut(names: list[str], width: int) -> None:
    table = _table(_view(names), width)
    others = sum(column.width + table.gap for column in table.columns[1:])
    assert "reason" in _titles(table)
    assert others + min(12, table.columns[0].width) <= width


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_what_nodes_are_sorted_by_is_shown_at_every_width(width: int) -> None:
    layout = _table(_view([f"{LONG}{number:04x}" for number in range(8)]), width, by_cost=True)
    assert "cost/mo" in _titles(layout)
    assert layout.width <= width
