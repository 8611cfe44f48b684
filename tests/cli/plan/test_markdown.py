import pytest

from functions.cli.plan.page import plan_as_markdown as page
from functions.cli.plan.view import EVERY_NODE, AskedNodes, view_of, with_scenarios
from tests.cli.plan.plans import blocked, of_every_kind, plan, some_scenarios


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("# projects/p/locations/l/clusters/c, 2026-03-04 22:00:00 UTC", id="the cluster"),
        pytest.param("| a | 3 | 50% | 25% | 1 | 1 | 1 | - | $219 | $73 |", id="a pool"),
        pytest.param("| $73 | 1 | cpu_above_limit | CPU requests are at or above", id="what keeps nodes"),
        pytest.param("> Without a policy.", id="what it rests on"),
    ],
)
def test_the_page_shows(expected: str) -> None:
    assert expected in page(view_of(of_every_kind(), notes=("Without a policy.",)), AskedNodes())


def test_the_scenarios_are_below_the_headline() -> None:
    shown = page(with_scenarios(view_of(of_every_kind()), some_scenarios(), "this policy"), AskedNodes())

    assert "| now | 10 | $730 | $8,760 | - | - |" in shown
    assert "| + running Jobs may move: a | 6 | $438 | $5,256 | 40% | 5.0 |" in shown
    assert shown.index("**Ebb adds $73") < shown.index("| **Ebb adds** |") < shown.index("| a | 3 |")


def test_nodes_are_listed_where_they_were_asked_for() -> None:
    row = "| gke-c-b-3d4c-0004 | b | 50% | 25% | $73 | keep | pod: local_storage |"
    assert row not in page(view_of(of_every_kind()), AskedNodes())
    assert row in page(view_of(of_every_kind()), EVERY_NODE)


def test_no_name_ends_a_cell_or_begins_a_tag() -> None:
    shown = page(view_of(plan(blocked("n1", "shop/a|b<img>"))), EVERY_NODE)
    assert "shop/a&#124;b&#60;img&#62;" in shown


def test_every_line_of_a_table_has_as_many_cells_as_its_head() -> None:
    rows = [line for line in page(view_of(of_every_kind()), EVERY_NODE).splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in rows if line.startswith("| gke-")} == {8}
