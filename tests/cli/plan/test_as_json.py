"""The plan as JSON, and its whole page: as they stand in golden files, a change is seen before a user sees it."""

import json
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from io import StringIO
from pathlib import Path

from rich.console import Console

from functions.cli.analysis.blocked import BlockedBy, BlockedNodes
from functions.cli.analysis.forecast.scenarios import LaterAddition
from functions.cli.input.pricing import PricedNodes
from functions.cli.output.answers import show
from functions.cli.plan import page
from functions.cli.plan.as_json import document
from functions.cli.plan.view import EVERY_NODE, view_of, with_scenarios
from shared.adapters.prices import load
from shared.core.cluster.autoscaling import SaidBy, ScaleDownRule
from shared.core.placement.packing import Move
from shared.core.planning.plan import AtRest, Potential
from shared.core.planning.prices import PriceBasis
from tests.cli.explain.explained import explanation, show_node
from tests.cli.plan.plans import (
    DOLLAR,
    ENDS,
    SUM,
    of_every_kind,
    order,
    ordered,
    plan,
    some_committed,
    some_scenarios,
    waiting,
)
from tests.depth import cases

GOLDEN = Path(__file__).with_name("plan.golden.json")
POTENTIAL = Potential(("gke-c-a-1f2e-0001",), DOLLAR // 3, (Move("shop/web-0", "gke-c-a-1f2e-0002"),))

REAPED = ScaleDownRule("BALANCED", Fraction(0), timedelta(minutes=1), SaidBy.COMPUTE_CLASS, SaidBy.COMPUTE_CLASS, "web")


def test_the_document_is_the_golden_one() -> None:
    """It has every key of the contract, and each list at least one row."""
    later = (LaterAddition(ENDS, ("n2",), 6, DOLLAR, is_rest=True),)
    going = POTENTIAL.nodes
    whole = replace(of_every_kind(), at_rest=AtRest(going, DOLLAR, 3, braked=False), wave=going, costly=going)
    view = with_scenarios(view_of(whole, POTENTIAL), some_scenarios())
    shown = document(
        replace(
            view,
            autoscaler={"a": REAPED},
            blocked=BlockedBy("team", (BlockedNodes("shop", "local_storage", "Set it.", 2, DOLLAR, 1),)),
            committed=some_committed(later=later),
            prices=replace(load(), discounts={"n2": Fraction(1, 4)}, basis=PriceBasis("own", "2026-03", "r", "USD")),
            priced=PricedNodes({"r": Fraction(1)}, spot=True),
        )
    )

    assert json.dumps(shown, indent=2, ensure_ascii=False) == GOLDEN.read_text().rstrip("\n")


def test_what_is_not_known_is_null_and_what_is_not_there_an_empty_list() -> None:
    shown = document(view_of(plan(cluster="")))

    assert {key for key, value in shown.items() if value is None} == {
        "cluster", "policy_hash", "partial", "prices", "at_rest", "potential", "kept_by",
    }  # fmt: skip
    assert {key for key, value in shown.items() if value == []} == {
        "ladder", "commitments", "later", "pools", "holds", "nodes", "orders", "wave", "costly",
    }  # fmt: skip


def test_without_scenarios_it_is_not_known_what_of_the_commitments_is_used_in_steady_state() -> None:
    rows = tuple(replace(row, at_rest=None) for row in some_committed().rows)
    shown = document(replace(view_of(of_every_kind()), committed=some_committed(rows=rows)))

    first, flexible = shown["commitments"]
    assert (first["used_vcpu"], first["used_vcpu_at_rest"]) == (30, None)
    assert (first["idle_per_hour"], first["idle_at_rest_per_hour"]) == (0.25, None)
    assert (flexible["family"], flexible["vcpu"], flexible["until"]) == ("flexible", None, None)
    assert shown["later"] == []


@cases(
    "expected, key",
    ("an hour's money has four decimals", 0.1235, "saving_per_hour"),
    ("a month is 730 exact hours, rounded once", 90.1229, "saving_per_month"),
    ("pods without a node", 3, "pending_pods"),
)
def test_totals_count(expected: float, key: str) -> None:
    given = plan(ordered("n1"), waiting("n2"), orders=[order("n1", saving=123_456)], pending=3)
    assert document(view_of(given))["totals"][key] == expected


def test_whether_only_empty_nodes_go_is_not_shown_of_a_class_that_is_not_known() -> None:
    view = replace(view_of(plan(ordered("n1"))), autoscaler={"a": replace(REAPED, class_known=False)})
    assert document(view)["pools"][0]["autoscaler"]["only_empty"] is None


GOLDEN_PAGE = Path(__file__).with_name("plan.golden.txt")


def test_the_table_and_each_explanation_are_the_golden_ones() -> None:
    pages = StringIO()
    console = Console(file=pages, width=100, height=60, force_terminal=True, color_system=None)

    told = view_of(of_every_kind(), POTENTIAL, ("warning: something is odd.", "Without a policy."))
    show(console, page.parts(told, SUM, console.width))
    console.print()
    show(console, page.parts(view_of(of_every_kind()), EVERY_NODE, console.width))
    for node in view_of(of_every_kind()).nodes:
        show_node(console, view_of(of_every_kind()), explanation(node.decision))

    assert [line.rstrip() for line in pages.getvalue().splitlines()] == GOLDEN_PAGE.read_text().splitlines()
