"""The tables of a plan on a terminal and as markdown: what they show, and that they fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.input.options import Sort
from functions.cli.output.answers import show, write_markdown
from functions.cli.output.tables import Table, draw
from functions.cli.output.terminal import IN_A_FILE
from functions.cli.plan.page import parts
from functions.cli.plan.sentences import WordKind, legend
from functions.cli.plan.tables import held_table, node_table
from functions.cli.plan.view import EVERY_NODE, AskedNodes, PlanView, list_nodes, view_of, with_scenarios
from shared.core.planning.plan import Plan, Potential, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.cli.plan.plans import (
    DOLLAR,
    SUM,
    blocked,
    busy,
    decision,
    in_flight,
    of_every_kind,
    ordered,
    plan,
    some_scenarios,
    waiting,
)
from tests.cli.running import on_terminal
from tests.depth import cases


def _shown(
    given: Plan,
    width: int = 80,
    potential: Potential | None = None,
    notes: tuple[str, ...] = (),
    asked: AskedNodes = EVERY_NODE,
    partial: str = "",
) -> str:
    view = view_of(given, potential, notes, partial)
    return "\n".join(on_terminal(lambda console: show(console, parts(view, asked, console.width)), width))


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


def test_the_potential_is_shown_above_and_marked_at_each_node() -> None:
    shown = _shown(plan(waiting("n1"), busy("n2")), 120, Potential(("n1",), 100_000, ()))
    assert "$73 a month by 1 node, 50% of the cost" in shown
    assert [line.split()[0] for line in shown.splitlines() if "yes" in line] == ["n1"]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_whatever_the_screen_a_reason_names_what_it_is_about_and_every_pool_has_a_line(width: int) -> None:
    names = [f"gke-prod-europe-west4-pool-1a2b3c4d-{number:04x}" for number in range(50)]
    rows = [blocked(name, f"shop/cart-{name[-4:]}", pool=f"pool-{int(name[-4:], 16) % 10}") for name in names]
    view = with_scenarios(view_of(plan(*rows)), some_scenarios())
    lines = on_terminal(lambda console: show(console, parts(view, SUM, console.width)), width)
    at = next(number for number, line in enumerate(lines) if "local_storage" in line)
    assert "shop/cart-0000" in " ".join(lines[at : at + 3])
    assert sum(line.startswith("pool-") for line in lines) == 10
    assert max(map(len, lines)) <= width


@cases(
    "expected, reasons",
    ("two", [Unremovable.BUDGET, Unremovable.TOO_YOUNG], 2),
    ("of four the last two are counted", ["… 2 more"], 4),
)
def test_a_row_is_not_left_out_for_a_line_that_shows_it(expected: list[str], reasons: int) -> None:
    words = (Unremovable.BUDGET, Unremovable.TOO_YOUNG, Unremovable.TIME_GAP, Unremovable.NOT_READY)[:reasons]
    kept = [decision(f"n{at}", Verdict.KEEP, Blocker(word), cost=9 - at) for at, word in enumerate(words)]
    table = held_table(view_of(plan(*kept)).legend, WordKind.NODE, 2 if reasons > 2 else 1, 1)
    assert table
    assert list(table.columns[2].cells)[-len(expected) :] == [str(name) for name in expected]


def test_pods_without_a_node_are_counted_with_the_others() -> None:
    assert "1 node with 20 pods (13 pending)" in _shown(plan(busy("n1"), pending=13))


def test_an_empty_cluster_is_no_table() -> None:
    assert _shown(plan()).splitlines()[-1].startswith("This pass")


def test_each_reason_is_shown_once_under_what_it_is_shown_about() -> None:
    entries = legend(plan(busy("n1"), busy("n2"), ordered("n3"), in_flight("n4")))
    assert [(entry.kind, entry.word, entry.nodes) for entry in entries] == [
        (WordKind.GOES, "in flight", 1),
        (WordKind.GOES, "underutilized", 1),
        (WordKind.NODE, "cpu_above_limit", 2),
    ]


def test_what_holds_most_money_comes_first_however_few_nodes_it_is() -> None:
    entries = legend(plan(busy("n1"), busy("n2"), blocked("n3", "shop/a", cost=DOLLAR)))
    assert [(entry.word, entry.cost) for entry in entries if entry.kind is WordKind.NODE] == [
        ("blocked_by_pod", DOLLAR),
        ("cpu_above_limit", DOLLAR // 5),
    ]


def test_what_lies_on_the_most_expensive_node_is_named_first() -> None:
    entries = legend(plan(blocked("n1", "shop/a"), blocked("n2", "shop/b", cost=DOLLAR)))
    assert [name for name, _ in entries[-1].about] == ["shop/b", "shop/a"]


def test_what_pods_show_follows_the_reasons_of_the_verdicts_and_names_the_pods() -> None:
    entries = legend(plan(blocked("n1", "shop/b", "shop/a"), blocked("n2", "shop/a")))
    assert [(entry.word, entry.nodes, entry.about) for entry in entries] == [
        ("blocked_by_pod", 2, ()),
        ("local_storage", 2, (("shop/b", "volume cache"), ("shop/a", "volume cache"))),
    ]


def test_a_reason_that_is_not_the_first_is_shown_too() -> None:
    both = (Blocker(Unremovable.TOO_YOUNG), Blocker(Unremovable.NOT_READY))
    assert [entry.word for entry in legend(plan(decision("n1", Verdict.KEEP, *both)))] == ["too_young", "not_ready"]


def test_nodes_without_a_price_hold_no_sum_of_money() -> None:
    priced, unpriced = legend(plan(busy("n1"), decision("n2", Verdict.KEEP, Blocker(Unremovable.NO_POOL), cost=0)))
    assert (priced.month, unpriced.month) == ("$73", "-")


def test_every_entry_has_a_sentence() -> None:
    everything = [
        decision(f"n-{reason.value}", Verdict.KEEP, Blocker(reason))
        for kind in (Unremovable, PodBlock)
        for reason in kind
    ]
    expired = ordered("n1", reason="expired")
    assert all(entry.sentence for entry in legend(plan(*everything, expired, in_flight("n2"))))


def test_what_is_true_of_every_object_is_shown_once() -> None:
    same, other = (legend(plan(blocked("n1", "shop/a", "shop/b"), *more))[-1] for more in ((), (busy("n2"),)))
    assert same.some_objects(1) == "shop/a and 1 more (volume cache)"
    assert other.some_objects(3) == "shop/a, shop/b (volume cache)"
    own = legend(plan(decision("n1", Verdict.KEEP, *(Blocker(PodBlock.VOLUMES, f"shop/{at}", at) for at in "ab"))))[-1]
    assert own.some_objects(3) == "shop/a (a), shop/b (b)"


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


@cases(
    "expected, width",
    ("a file has room for all", WHOLE, IN_A_FILE),
    ("200 columns", WHOLE, 200),
    ("120 columns", [title for title in FULL if title != "verdict"], 120),
    ("80 columns", [title for title in FULL if title not in {"verdict", "pool"}], 80),
    ("58 columns", ["node", "cpu", "mem", "reason", "when (UTC)"], 58),
)
def test_columns_that_are_shown_elsewhere_go_first(expected: list[str], width: int) -> None:
    assert _titles(_table(_view([f"{LONG}{number:04x}" for number in range(8)]), width)) == expected


def test_names_lose_what_those_of_a_pool_share_before_the_cause_is_worded_shorter() -> None:
    names = [("web", "gke-prod-web-pool-1a2b-0001"), ("web", "gke-prod-web-pool-1a2b-0002"),
             ("db", "gke-prod-db-pool-3c4d-0001"), ("db", "gke-prod-db-pool-3c4d-0002")]  # fmt: skip
    view = view_of(plan(*(blocked(name, "shop/cart-5d4f8b-x2x4z", pool=pool) for pool, name in names)))
    table = _table(view, 90)
    assert table.lead.endswith("gke-prod-db-pool-3c4d- (db), gke-prod-web-pool-1a2b- (web)")
    assert ("…0001", "web", "50%", "25%", "pod: local_storage", "shop/cart-5d4f8b-x2x4z volume cache") in {
        row[:-1] for row in table.rows
    }
    bare = [f"…{name.removeprefix('gke-prod-')}" for _, name in sorted(names)]
    assert [row[0] for row in _table(view, 48).rows] == bare


@pytest.mark.parametrize("width", range(48, 90))
def test_a_short_cause_needs_no_more_room_than_there_is(width: int) -> None:
    short = decision("n1", Verdict.KEEP, Blocker(Unremovable.TOO_YOUNG, "", "1h"))
    assert _table(view_of(plan(short)), width).width <= width


NAMES = st.lists(st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?\Z"), min_size=1, max_size=9, unique=True)


@given(NAMES, st.integers(70, 220), st.booleans())
def test_no_line_of_drawn_names_is_wider_than_the_terminal(names: list[str], width: int, could_go: bool) -> None:
    table = _table(_view(names, could_go=could_go), width)
    assert max(map(len, on_terminal(lambda console: draw(console, table), width))) <= width


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


def page(view: PlanView, asked: AskedNodes = SUM) -> str:
    return write_markdown(lambda width: (parts(view, asked, width),))


@cases(
    "expected",
    ("the cluster", "- Cluster: projects/p/locations/l/clusters/c, 2026-03-04 22:00:00 UTC"),
    ("a pool", "| a | 3 | 50% | 25% | 1 | 1 | 1 | - | $219 | $73 |"),
    ("what keeps nodes", "| $73 | 1 | cpu_above_limit | CPU requests are at or above"),
    ("what it rests on", "> Without a policy."),
)
def test_markdown_shows(expected: str) -> None:
    assert expected in page(view_of(of_every_kind(), notes=("Without a policy.",)))


def test_the_scenarios_come_first_and_the_headline_last() -> None:
    shown = page(with_scenarios(view_of(of_every_kind()), some_scenarios()))

    assert "| now | 10 | $730 | $8,760 | - | - |" in shown
    assert "| + running Jobs may move: a | 6 | $438 | $5,256 | 40% | 5.0 |" in shown
    assert shown.index("| **Ebb adds** |") < shown.index("| a | 3 |") < shown.index("**Ebb adds $73")


def test_nodes_are_listed_where_they_were_asked_for() -> None:
    row = "| gke-c-b-3d4c-0004 | b | 50% | 25% | $73 | keep | pod: local_storage |"
    assert row not in page(view_of(of_every_kind()))
    assert row in page(view_of(of_every_kind()), EVERY_NODE)
