"""The plan as JSON, and its whole page: as they stand in golden files, a change is seen before a user sees it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from rich.console import Console

from functions.cli.analysis.forecast.committed import LaterAddition
from functions.cli.plan import page
from functions.cli.plan.as_json import document
from functions.cli.plan.view import EVERY_NODE, view_of
from shared.core.cluster.autoscaling import SaidBy, ScaleDownRule
from shared.core.placement.assignments import Move
from shared.core.planning.plan import Plan, Potential
from tests.cli.explain.explained import explanation, show_node
from tests.cli.plan.plans import DOLLAR, ENDS, of_every_kind, order, ordered, plan, some_committed, waiting

GOLDEN = Path(__file__).with_name("plan.golden.json")
POTENTIAL = Potential(("gke-c-a-1f2e-0001",), DOLLAR // 3, (Move("shop/web-0", "gke-c-a-1f2e-0002"),))

REAPED = ScaleDownRule("BALANCED", Fraction(0), timedelta(minutes=1), SaidBy.COMPUTE_CLASS, SaidBy.COMPUTE_CLASS, "web")


class _Exact(msgspec.Struct, forbid_unknown_fields=True):
    """No key more and, since no field has a default, no key less."""


class _Totals(_Exact):
    nodes: int
    pods: int
    pending_pods: int
    orders: int
    marked: int
    removable: int
    cost_per_hour: float
    saving_per_hour: float
    saving_per_month: float


class _Blocker(_Exact):
    reason: str
    object: str | None
    detail: str | None
    message_id: str | None


class _Drain(_Exact):
    rounds: int
    limit: str | None
    least_seconds: int
    most_seconds: int
    deadline_seconds: int


class _Verdicts(_Exact):
    order: int
    would_order: int
    in_flight: int
    waiting: int
    keep: int


class _Pool(_Exact):
    name: str | None
    nodes: int
    cpu_ratio: float | None
    memory_ratio: float | None
    cost_per_hour: float
    verdicts: _Verdicts
    saving_per_hour: float
    gone_at_rest: int | None
    saving_at_rest_per_hour: float | None
    autoscaler: "_Autoscaler | None"


class _Autoscaler(_Exact):
    threshold: float
    threshold_by: str
    delay_seconds: int
    delay_by: str
    compute_class: str | None
    only_empty: bool | None


class _Held(_Exact):
    reason: str
    of: str
    nodes: int
    cost_per_hour: float


class _Node(_Exact):
    name: str
    pool: str | None
    verdict: str
    reason: str | None
    blockers: list[_Blocker]
    cost_per_hour: float
    cpu_ratio: float | None
    memory_ratio: float | None
    movable_cpu_ratio: float | None
    movable_memory_ratio: float | None
    accelerator_ratio: float | None
    score: float | None
    marked_since: datetime | None
    removable_at: datetime | None
    drain: _Drain | None
    removed_by: Literal["ebb", "autoscaler", "stays"] | None


class _Move(_Exact):
    pod: str
    to: str


class _Order(_Exact):
    node: str
    reason: str
    saving_per_hour: float
    moves: list[_Move]


class _Potential(_Exact):
    nodes: list[str]
    saving_per_hour: float
    moves: list[_Move]


class _AtRest(_Exact):
    nodes: list[str]
    saving_per_hour: float
    steps: int
    braked: bool


class _Discount(_Exact):
    family: str | None
    share: float


class _Prices(_Exact):
    source: str | None
    as_of: str | None
    region: str | None
    currency: str
    discounts: list[_Discount]


class _HeldUp(_Exact):
    reason: str
    seconds: int


class _Never(_Exact):
    reason: str
    nodes: int


class _Scenario(_Exact):
    rung: str
    wish: str | None
    about: str | None
    nodes: int
    cost_per_month: float
    evictions: int
    removed: int
    by: datetime | None
    held_up: list[_HeldUp]
    never: list[_Never]


class _Commitment(_Exact):
    family: str
    vcpu: float | None
    gib: float | None
    until: datetime | None
    fee_per_hour: float
    used_vcpu: float | None
    used_gib: float | None
    idle_per_hour: float
    used_vcpu_at_rest: float | None
    used_gib_at_rest: float | None
    idle_at_rest_per_hour: float | None


class _Later(_Exact):
    at: datetime
    families: list[str]
    nodes: int
    added_per_hour: float
    is_rest: bool


class _Document(_Exact):
    schema: int
    cluster: str | None
    taken_at: datetime
    policy_hash: str | None
    dry_run: bool
    partial: str | None
    prices: _Prices | None
    ladder: list[_Scenario]
    commitments: list[_Commitment]
    later: list[_Later]
    totals: _Totals
    pools: list[_Pool]
    holds: list[_Held]
    nodes: list[_Node]
    orders: list[_Order]
    at_rest: _AtRest | None
    wave: list[str]
    potential: _Potential | None


@pytest.mark.parametrize(
    ("potential", "given"),
    [
        pytest.param(None, of_every_kind(), id="every verdict"),
        pytest.param(POTENTIAL, of_every_kind(), id="with the potential"),
        pytest.param(None, plan(cluster=""), id="an empty cluster without a name"),
    ],
)
def test_the_document_has_exactly_the_keys_of_the_contract(potential: Potential | None, given: Plan) -> None:
    text = json.dumps(document(view_of(given, potential)))
    assert msgspec.json.decode(text, type=_Document).schema == 1


@pytest.mark.parametrize(
    ("used", "idle", "later"),
    [
        pytest.param([30, 20], [0.25, 0.5], 1, id="with scenarios"),
        pytest.param([30, None], [0.25, None], 0, id="without scenarios"),
    ],
)
def test_the_commitments_have_their_keys(used: list[float], idle: list[float], later: int) -> None:
    additions = (LaterAddition(ENDS, ("n2",), 6, DOLLAR, is_rest=True),) * later
    rows = some_committed().rows if later else tuple(replace(row, at_rest=None) for row in some_committed().rows)
    shown = document(replace(view_of(of_every_kind()), committed=some_committed(rows=rows, later=additions)))

    msgspec.json.decode(json.dumps(shown), type=_Document)
    first, flexible = shown["commitments"]
    assert [first["used_vcpu"], first["used_vcpu_at_rest"]] == used
    assert [first["idle_per_hour"], first["idle_at_rest_per_hour"]] == idle
    assert (flexible["family"], flexible["vcpu"], flexible["until"]) == ("flexible", None, None)
    assert [each["added_per_hour"] for each in shown["later"]] == [1.0] * later


def test_the_document_is_the_golden_one() -> None:
    shown = document(replace(view_of(of_every_kind(), POTENTIAL), autoscaler={"a": REAPED}))
    assert json.dumps(shown, indent=2, ensure_ascii=False) == GOLDEN.read_text().rstrip("\n")


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        pytest.param(0.1235, "saving_per_hour", id="an hour's money has four decimals"),
        pytest.param(90.1229, "saving_per_month", id="a month is 730 exact hours, rounded once"),
        pytest.param(2, "marked", id="a mark that waits counts as marked"),
        pytest.param(1, "removable", id="only a mark of age counts as removable"),
        pytest.param(1, "orders", id="an order in dry run counts"),
        pytest.param(3, "pending_pods", id="pods without a node"),
    ],
)
def test_totals_count(expected: float, key: str) -> None:
    given = plan(ordered("n1"), waiting("n2"), orders=[order("n1", saving=123_456)], pending=3)
    assert document(view_of(given))["totals"][key] == expected


def test_whether_only_empty_nodes_go_is_not_shown_of_a_class_that_is_not_known() -> None:
    view = replace(view_of(plan(ordered("n1"))), autoscaler={"a": replace(REAPED, class_known=False)})
    assert document(view)["pools"][0]["autoscaler"]["only_empty"] is None


def test_times_are_utc_with_z() -> None:
    given = plan(taken_at=datetime(2026, 1, 31, 9, 0, tzinfo=UTC))
    assert document(view_of(given))["taken_at"] == "2026-01-31T09:00:00Z"


GOLDEN_PAGE = Path(__file__).with_name("plan.golden.txt")


def test_the_table_and_each_explanation_are_the_golden_ones() -> None:
    pages = StringIO()
    console = Console(file=pages, width=100, height=60, force_terminal=True, color_system=None)

    page.show(console, view_of(of_every_kind(), POTENTIAL, ("warning: something is odd.", "Without a policy.")))
    console.print()
    page.show(console, view_of(of_every_kind()), EVERY_NODE)
    for node in view_of(of_every_kind()).nodes:
        show_node(console, view_of(of_every_kind()), explanation(node.decision))

    assert [line.rstrip() for line in pages.getvalue().splitlines()] == GOLDEN_PAGE.read_text().splitlines()
