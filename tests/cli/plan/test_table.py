from io import StringIO

import pytest
from rich.console import Console

from functions.cli.plan import table
from functions.cli.plan.ladder import POLICY
from functions.cli.plan.table import SUM, SumDetail, show
from functions.cli.plan.view import EVERY_NODE, AskedNodes, view_of, with_ladder
from shared.core.planning.plan import Plan, Potential
from tests.cli.plan.plans import blocked, busy, of_every_kind, plan, some_ladder, waiting


def _shown(
    given: Plan,
    width: int = 80,
    potential: Potential | None = None,
    notes: tuple[str, ...] = (),
    asked: AskedNodes = EVERY_NODE,
) -> str:
    pages = StringIO()
    console = Console(file=pages, width=width, force_terminal=True, color_system=None)
    show(console, view_of(given, potential, notes), asked)
    return pages.getvalue()


def test_without_a_ladder_notes_come_first() -> None:
    assert _shown(of_every_kind(), notes=("Without a policy.",)).splitlines()[0].strip() == "Without a policy."


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
        pytest.param("local_storage", id="what the pods say"),
        pytest.param("shop/cart-0, shop/cart-1 (volume cache)", id="which pods say it"),
        pytest.param("would order: 1, in flight: 1, waiting: 1, keep: 3", id="the sum"),
    ],
)
def test_the_table_says(expected: str) -> None:
    assert expected in _shown(of_every_kind(), 120)


def test_the_potential_is_said_above_and_marked_at_each_node() -> None:
    shown = _shown(plan(waiting("n1"), busy("n2")), 120, Potential(("n1",), 100_000))
    assert "$73 a month by 1 node, 50% of the cost" in shown
    assert [line.split()[0] for line in shown.splitlines() if "yes" in line] == ["n1"]


NOTES = ("A note that is as long as those are that say what a plan of a dump rests on, and what is not known.",) * 5


def _five_hundred(width: int, height: int, *, terminal: bool = True) -> list[str]:
    """Return what is printed of 500 nodes of ten pools with a whole ladder and five notes."""
    names = [f"gke-prod-europe-west4-pool-1a2b3c4d-{number:04x}" for number in range(500)]
    rows = [blocked(name, f"shop/cart-{name[-4:]}", pool=f"pool-{int(name[-4:], 16) % 10}") for name in names]
    pages = StringIO()
    console = Console(file=pages, width=width, height=height, force_terminal=terminal, color_system=None)
    show(console, with_ladder(view_of(plan(*rows), Potential(tuple(names[:40])), NOTES), some_ladder(), POLICY), SUM)
    return pages.getvalue().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 50), (120, 45), (200, 40)])
def test_five_hundred_nodes_of_ten_pools_fit_a_screen_unless_they_are_asked_for(width: int, height: int) -> None:
    shown = _five_hundred(width, height)
    assert len(shown) < height
    assert max(map(len, shown)) <= width


@pytest.mark.parametrize(("width", "height"), [(80, 50), (80, 30), (100, 40), (120, 30), (200, 40)])
def test_whatever_the_screen_a_reason_names_what_it_is_about(width: int, height: int) -> None:
    """Objects of the dearest nodes come first; what the word means gives way to them."""
    shown = _five_hundred(width, height)
    at = next(number for number, line in enumerate(shown) if "local_storage" in line)
    assert "shop/cart-0000" in " ".join(shown[at : at + 2])


def test_a_row_is_not_left_out_for_a_line_that_says_so() -> None:
    rows = [blocked("n1", "shop/a"), busy("n2"), waiting("n3")]
    pages = StringIO()
    console = Console(file=pages, width=120, height=10, force_terminal=True, color_system=None)
    table.show_first(console, view_of(plan(*rows)).legend, SumDetail(3, 2, 1, meanings=False))
    assert "more" not in pages.getvalue()


def test_a_detail_that_has_no_room_is_left_out_before_the_object() -> None:
    far = "namespace/" + "a" * 36
    for width, expected in ((80, far), (120, f"{far} (volume cache)")):
        pages = StringIO()
        console = Console(file=pages, width=width, height=10, force_terminal=True, color_system=None)
        show(console, view_of(plan(blocked("n1", far))), SUM)
        (row,) = (line for line in pages.getvalue().splitlines() if "local_storage" in line)
        assert row.rstrip().endswith(f"local_storage  {expected}")


def test_what_has_no_room_is_one_row_and_its_money_is_counted() -> None:
    shown = _five_hundred(120, 45)
    rows = [line for line in shown if line.startswith(("pool-", "all pools")) or "more pools" in line]
    *pools, whole = (next(int(each[1:].replace(",", "")) for each in line.split() if each[0] == "$") for line in rows)
    assert sum(pools) == whole
    assert any("more pools" in line for line in rows)


def test_a_high_screen_and_a_file_have_room_for_every_pool() -> None:
    for shown in (_five_hundred(120, 90), _five_hundred(120, 10, terminal=False)):
        assert sum(line.startswith("pool-") for line in shown) == 10


def test_a_file_is_told_the_bars_of_each_pool_and_of_all() -> None:
    shown = _shown(of_every_kind(), 120, asked=AskedNodes()).splitlines()
    assert [line.split()[0] for line in shown if "50%" in line] == ["a", "b", "all"]


def test_an_empty_cluster_is_no_table() -> None:
    assert _shown(plan()).splitlines()[-1].startswith("This pass")
