from io import StringIO

import pytest
from rich.console import Console

from functions.cli.plan.page import SUM, show
from functions.cli.plan.scenarios import POLICY
from functions.cli.plan.sentences import WordKind
from functions.cli.plan.tables import held_table
from functions.cli.plan.view import EVERY_NODE, AskedNodes, view_of, with_scenarios
from shared.core.planning.plan import Plan, Potential, Verdict
from shared.core.reasons import Blocker, Unremovable
from tests.cli.plan.plans import blocked, busy, decision, of_every_kind, plan, some_scenarios, waiting


def _shown(
    given: Plan,
    width: int = 80,
    potential: Potential | None = None,
    notes: tuple[str, ...] = (),
    asked: AskedNodes = EVERY_NODE,
    partial: str = "",
) -> str:
    pages = StringIO()
    console = Console(file=pages, width=width, force_terminal=True, color_system=None)
    show(console, view_of(given, potential, notes, partial), asked)
    return pages.getvalue()


@pytest.mark.parametrize(("first", "partial"), [(True, "no pods"), (False, "")])
def test_notes_of_a_partial_plan_come_first(first: bool, partial: str) -> None:
    top, *_ = _shown(of_every_kind(), notes=("Without a policy.",), partial=partial).splitlines()
    assert (top.strip() == "Without a policy.") == first


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("nodes", [60, 1000])
def test_every_node_has_a_line_with_its_whole_reason(width: int, nodes: int) -> None:
    names = [f"gke-prod-europe-west4-default-pool-1a2b3c4d-{number:04x}" for number in range(nodes)]
    lines = _shown(plan(*map(busy, names)), width).splitlines()
    for name in names:
        assert sum(name[-4:] in line and "cpu_above_limit" in line for line in lines) == 1


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, _shown(of_every_kind(), width).splitlines())) <= width


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("6 nodes with 120 pods", id="nodes and pods"),
        pytest.param("6 nodes with 120 pods for $438 a month ($0.60 an hour)", id="what the cluster costs"),
        pytest.param("$73 a month by 1 order (dry run: nothing is ordered)", id="what would be saved"),
        pytest.param("local_storage", id="what the pods show"),
        pytest.param("shop/cart-0, shop/cart-1 (volume cache)", id="which pods show it"),
        pytest.param("would order: 1, in flight: 1, waiting: 1, keep: 3", id="the sum"),
    ],
)
def test_the_table_shows(expected: str) -> None:
    assert expected in _shown(of_every_kind(), 120)


def test_the_potential_is_shown_above_and_marked_at_each_node() -> None:
    shown = _shown(plan(waiting("n1"), busy("n2")), 120, Potential(("n1",), 100_000, ()))
    assert "$73 a month by 1 node, 50% of the cost" in shown
    assert [line.split()[0] for line in shown.splitlines() if "yes" in line] == ["n1"]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_whatever_the_screen_a_reason_names_what_it_is_about_and_every_pool_has_a_line(width: int) -> None:
    names = [f"gke-prod-europe-west4-pool-1a2b3c4d-{number:04x}" for number in range(50)]
    rows = [blocked(name, f"shop/cart-{name[-4:]}", pool=f"pool-{int(name[-4:], 16) % 10}") for name in names]
    pages = StringIO()
    console = Console(file=pages, width=width, height=20, force_terminal=True, color_system=None)
    show(console, with_scenarios(view_of(plan(*rows)), some_scenarios(), POLICY), SUM)
    lines = pages.getvalue().splitlines()
    at = next(number for number, line in enumerate(lines) if "local_storage" in line)
    assert "shop/cart-0000" in " ".join(lines[at : at + 3])
    assert sum(line.startswith("pool-") for line in lines) == 10
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("expected", "reasons"),
    [
        pytest.param([Unremovable.BUDGET, Unremovable.TOO_YOUNG], 2, id="two"),
        pytest.param(["… 2 more"], 4, id="of four the last two are counted"),
    ],
)
def test_a_row_is_not_left_out_for_a_line_that_shows_it(expected: list[str], reasons: int) -> None:
    words = (Unremovable.BUDGET, Unremovable.TOO_YOUNG, Unremovable.TIME_GAP, Unremovable.NOT_READY)[:reasons]
    kept = [decision(f"n{at}", Verdict.KEEP, Blocker(word), cost=9 - at) for at, word in enumerate(words)]
    table = held_table(view_of(plan(*kept)).legend, WordKind.NODE, 2 if reasons > 2 else 1, 1)
    assert table
    assert list(table.columns[2].cells)[-len(expected) :] == [str(name) for name in expected]


def test_a_file_is_shown_the_bars_of_each_pool_and_of_all() -> None:
    shown = _shown(of_every_kind(), 120, asked=AskedNodes()).splitlines()
    assert [line.split()[0] for line in shown if "50%" in line] == ["a", "b", "all"]


def test_an_empty_cluster_is_no_table() -> None:
    assert _shown(plan()).splitlines()[-1].startswith("This pass")
