"""The whole of what is drawn of one plan, as it stands in a file: a change of it is seen before a user sees it."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from functions.cli.plan import page
from functions.cli.plan.view import EVERY_NODE, view_of
from tests.cli.explain.explained import explanation, show_node
from tests.cli.plan.plans import of_every_kind
from tests.cli.plan.test_as_json import POTENTIAL

GOLDEN = Path(__file__).with_name("plan.golden.txt")


def test_the_table_and_each_explanation_are_the_golden_ones() -> None:
    pages = StringIO()
    console = Console(file=pages, width=100, height=60, force_terminal=True, color_system=None)

    page.show(console, view_of(of_every_kind(), POTENTIAL, ("warning: something is odd.", "Without a policy.")))
    console.print()
    page.show(console, view_of(of_every_kind()), EVERY_NODE)
    for node in view_of(of_every_kind()).nodes:
        show_node(console, view_of(of_every_kind()), explanation(node.decision))

    assert [line.rstrip() for line in pages.getvalue().splitlines()] == GOLDEN.read_text().splitlines()
