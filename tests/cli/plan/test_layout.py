import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.plan.nodes import Layout, fit
from functions.cli.plan.view import NodeView, view_of
from shared.core.planning.plan import Potential, Verdict
from shared.core.reasons import Blocker, Unremovable
from tests.cli.plan.plans import blocked, busy, decision, plan, waiting

LONG = "gke-prod-europe-west4-default-pool-1a2b3c4d-"


def _rows(names: list[str], *, could_go: bool = False) -> list[NodeView]:
    kinds = (
        waiting,
        busy,
        lambda name: blocked(name, "shop/cart-5d4f8b-x2x4z", "shop/cart-1"),
        lambda name: decision(name, Verdict.KEEP, Blocker(Unremovable.MINIMUM_NON_TAINTED, "", "2 of 2")),
    )
    made = plan(*(kinds[number % len(kinds)](name) for number, name in enumerate(names)))
    return list(view_of(made, Potential(tuple(names)) if could_go else None).nodes)


def _titles(layout: Layout) -> list[str]:
    return [column.title for column in layout.columns]


WHOLE = ["node", "pool", "cpu", "mem", "cost/mo", "verdict", "reason", "because of", "when (UTC)"]
FULL = [title for title in WHOLE if title != "cost/mo"]


@pytest.mark.parametrize(
    ("expected", "width"),
    [
        pytest.param(WHOLE, None, id="a file has room for all"),
        pytest.param(WHOLE, 200, id="200 columns"),
        pytest.param([title for title in FULL if title != "verdict"], 120, id="120 columns"),
        pytest.param([title for title in FULL if title != "verdict"], 90, id="90 columns"),
        pytest.param([title for title in FULL if title not in {"verdict", "pool"}], 80, id="80 columns"),
        pytest.param(["node", "cpu", "mem", "reason", "when (UTC)"], 58, id="58 columns"),
    ],
)
def test_columns_that_are_said_elsewhere_go_first(expected: list[str], width: int | None) -> None:
    assert _titles(fit(_rows([f"{LONG}{number:04x}" for number in range(8)]), width)) == expected


def test_a_narrow_table_shows_names_without_their_shared_beginning() -> None:
    layout = fit(_rows([f"{LONG}00a1", f"{LONG}00b2"]), 80)
    assert set(layout.prefixes.values()) == {LONG}
    assert [layout.columns[0].cell(row) for row in _rows([f"{LONG}00a1"])] == ["…00a1"]


def test_names_lose_what_those_of_a_pool_share_before_the_cause_is_worded_shorter() -> None:
    names = [("web", "gke-prod-web-pool-1a2b-0001"), ("web", "gke-prod-web-pool-1a2b-0002"),
             ("db", "gke-prod-db-pool-3c4d-0001"), ("db", "gke-prod-db-pool-3c4d-0002")]  # fmt: skip
    rows = view_of(plan(*(blocked(name, "shop/cart-5d4f8b-x2x4z", pool=pool) for pool, name in names))).nodes
    layout = fit(rows, 90)
    assert layout.prefixes == {"web": "gke-prod-web-pool-1a2b-", "db": "gke-prod-db-pool-3c4d-"}
    shown = [[column.cell(row) for column in layout.columns if column.title != "when (UTC)"] for row in rows]
    assert shown[0] == ["…0001", "web", "50%", "25%", "pod: local_storage", "shop/cart-5d4f8b-x2x4z volume cache"]


@pytest.mark.parametrize("width", range(48, 90))
def test_a_short_cause_needs_no_more_room_than_there_is(width: int) -> None:
    short = decision("n1", Verdict.KEEP, Blocker(Unremovable.TOO_YOUNG, "", "1h"))
    assert fit(view_of(plan(short)).nodes, width).width <= width


NAMES = st.lists(st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?\Z"), min_size=1, max_size=9, unique=True)


@given(NAMES, st.integers(70, 220), st.booleans())
def test_no_line_is_wider_than_the_terminal(names: list[str], width: int, could_go: bool) -> None:
    assert fit(_rows(names, could_go=could_go), width).width <= width


@given(NAMES, st.integers(70, 220))
def test_a_reason_is_never_cut(names: list[str], width: int) -> None:
    rows = _rows(names)
    reason = next(column for column in fit(rows, width).columns if column.title == "reason")
    assert reason.width >= max(len(reason.cell(row)) for row in rows)


@given(NAMES, st.integers(70, 220))
def test_what_stands_in_the_way_fits_its_column(names: list[str], width: int) -> None:
    rows = _rows(names)
    for column in fit(rows, width).columns:
        if column.title == "because of":
            assert max(len(column.cell(row)) for row in rows) <= column.width


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_what_nodes_are_sorted_by_is_shown_at_every_width(width: int) -> None:
    layout = fit(_rows([f"{LONG}{number:04x}" for number in range(8)]), width, by_cost=True)
    assert "cost/mo" in _titles(layout)
    assert layout.width <= width
