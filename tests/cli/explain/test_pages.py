"""The pages of explanations, on a terminal and as markdown: what they show, and how names of nodes are shortened."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from functions.cli.analysis.exclusions import Excluded, Exclusion, NodeChoice
from functions.cli.analysis.explanation import Explainer, NodeWorth
from functions.cli.analysis.openings import Closed
from functions.cli.explain.compute import PageSource
from functions.cli.explain.pages import NodeNamer, node_facts, place_table
from functions.cli.explain.resolve import resolve_name
from functions.cli.output.answers import write_markdown
from functions.cli.output.tables import draw
from functions.cli.plan.view import view_of
from shared.adapters.prices import load
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.builders import NOW
from tests.cli import dumps
from tests.cli.explain.explained import explanation, paused_situation, place, show_node
from tests.cli.plan.plans import busy, decision, of_every_kind, plan
from tests.cli.running import ebb, on_terminal
from tests.depth import cases


def _shown(name: str, given: Plan | None = None, width: int = 160, **known: Any) -> str:
    view = view_of(given or of_every_kind())
    (shown,) = (node.decision for node in view.nodes if node.name.endswith(name))
    return "\n".join(on_terminal(lambda console: show_node(console, view, explanation(shown, **known)), width))


def test_a_node_that_is_kept_is_promised_no_time() -> None:
    assert "removable at" not in _shown("n1", plan(busy("n1", removable_at=NOW, marked_since=NOW)))


@cases(
    "expected, closed",
    ("a window", '(a, "0 12 * * *") until 2026-03-04 22:00:00 UTC',
     Closed(Blocker(Unremovable.OUTSIDE_WINDOWS, "a"), '"0 12 * * *"', NOW)),
    ("a full budget, for nobody knows how long", "(a)\n", Closed(Blocker(Unremovable.BUDGET, "a"))),
)  # fmt: skip
def test_a_closed_gate_is_shown_with_its_line_of_the_policy_and_its_time(expected: str, closed: Closed) -> None:
    assert expected in _shown("0002", closed=(closed,))


@cases(
    "expected, which",
    ("nothing but what keeps the node", 1, ""),
    ("which line of the policy closes it", 2, "10% always"),
)
def test_a_closed_gate_is_shown_again_only_with_more_of_it(expected: int, which: str) -> None:
    full = Blocker(Unremovable.BUDGET, "a")
    kept = plan(decision("n1", Verdict.KEEP, full))
    assert _shown("n1", kept, closed=(Closed(full, which),)).count(Unremovable.BUDGET.remedy) == expected


SHUT_OUT = NodeChoice(8, 0, (Excluded(Exclusion.ROOM, "cpu", 3, 1), Excluded(Exclusion.ANTI_AFFINITY, "", 7, 5)))


@cases(
    "expected, known",
    ("where it would land", "shop/web-0  n7       n8          local_storage",
     {"pods": (place("shop/web-0", "n7", "n8", PodBlock.LOCAL_STORAGE),)}),
    ("that it has no place", "shop/web-0  nowhere  -", {"pods": (place("shop/web-0"),)}),
    ("why not all fit", "Some may find no place, depending on the scheduler's order: shop/web-0: why",
     {"pods": (place("shop/web-0"),), "refusal": "shop/web-0: why"}),
    ("what excludes most", "shop/web-0 has no place: anti_affinity excludes 7 of 8 other nodes.",
     {"pods": (place("shop/web-0", choice=SHUT_OUT),), "refusal": "why"}),
    ("what goes with the node", "No pod would have to move; 2 pods of DaemonSets", {"staying": 2}),
    ("what their requests leave out", "without a request: 1 of 2 pods request no CPU",
     {"pods": (place("shop/a"), place("shop/b", cpu=0))}),
)  # fmt: skip
def test_of_its_pods_it_shows(expected: str, known: dict[str, Any]) -> None:
    assert expected in _shown("0004", **known)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_long_names_lose_what_they_share(width: int) -> None:
    names = [f"gke-prod-europe-west4-default-pool-1a2b3c4d-{at:04}" for at in range(2)]
    pods = tuple(place(f"shop/web-5d4f8b9c77-{at}", names[at], names[1 - at]) for at in range(2))
    shown = _shown("0004", width=width, pods=pods)
    assert max(map(len, shown.splitlines())) <= width
    assert ("…0001" in shown) == (width < 200)


@cases(
    "expected, worth",
    ("nothing before the end of the commitment",
     "$0 a month if it alone goes, $73 from 2027-05-01: the rest of its price is committed (n2)",
     NodeWorth(0, ("n2",), datetime(2027, 5, 1, tzinfo=UTC), 100_000)),
    ("half", "$36 a month if it alone goes: the rest of its price is committed (n2)", NodeWorth(50_000, ("n2",))),
    ("its price", "$73 a month if it alone goes", NodeWorth(100_000)),
)  # fmt: skip
def test_where_capacity_is_committed_a_node_has_a_worth_besides_its_price(expected: str, worth: NodeWorth) -> None:
    facts = facts_with(worth)

    assert facts["costs"] == "$73 a month at list prices"
    assert facts["saves"] == expected


def test_without_commitments_a_node_has_its_price_alone() -> None:
    facts = facts_with(None)

    assert (facts["costs"], "saves" in facts) == ("$73 a month", False)


def facts_with(worth: NodeWorth | None) -> dict[str, object]:
    view, known = view_of(plan(busy("n1"))), explanation(busy("n1"), worth=worth)
    return dict(node_facts(view, view.node("n1"), known))


WEB = tuple(f"gke-c-web-1f2e-{at:04}" for at in range(6))
DB = tuple(f"gke-c-db-8d9c-{at:04}" for at in range(2))
POOLS = {**dict.fromkeys(WEB, "web"), **dict.fromkeys(DB, "db"), "bare": ""}


@cases(
    "expected, names",
    ("a whole pool", "all 6 of web", WEB),
    ("the first of many", "…0000, …0001, …0002 and 2 more of web", WEB[:5]),
    ("one", "…0003 of web", WEB[3:4]),
    ("several pools, the most first", "all 6 of web; …0001 of db", (*WEB, DB[1])),
    ("a node without a pool", "bare of no pool", ("bare",)),
)
def test_nodes_are_named(expected: str, names: tuple[str, ...]) -> None:
    assert NodeNamer(POOLS, cut=True).text(names) == expected


def test_a_pool_is_whole_without_the_node_that_the_pod_is_on() -> None:
    assert NodeNamer(POOLS, cut=True).text(WEB[1:], leaving=WEB[0]) == "all 5 of web"


def test_a_pipe_gets_whole_names() -> None:
    assert NodeNamer(POOLS, cut=False).text(WEB[:1]) == f"{WEB[0]} of web"


def test_of_many_pools_the_rest_is_counted() -> None:
    pools = {f"n{at}": f"p{at}" for at in range(6)}
    assert NodeNamer(pools, cut=True).text(pools).endswith("; 2 of 2 more pools")


WEB_NODE = "gke-prod-europe-west4-web-pool-1a2b3c4d-0001"
DB_NODE = "gke-prod-europe-west4-db-pool-9f8e7d6c-0002"
POOL_OF = {WEB_NODE: "web-pool", DB_NODE: "db-pool"}
ROWS = [("shop/web-5d4f8b9c77-x2x4z", WEB_NODE, DB_NODE, "pdb_exhausted"), ("shop/db-0", DB_NODE, "nowhere", "")]


def printed(width: int, *, terminal: bool = True) -> str:
    titles, namer = ("pod", "on", "would go to", "kept by"), NodeNamer(POOL_OF, cut=terminal)
    table = place_table(titles, ROWS, (1, 2), namer, width)
    return "\n".join(on_terminal(lambda console: draw(console, table), width, terminal=terminal))


@cases(
    "expected, width",
    ("whole names where there is room", f"shop/web-5d4f8b9c77-x2x4z  {WEB_NODE}  {DB_NODE}", 200),
    ("their pool in its place", "web-pool …0001  db-pool …0002  pdb_exhausted", 100),
    ("so too where nothing is short enough", "…0001", 30),
)
def test_names_are_as_long_as_there_is_room_for(expected: str, width: int) -> None:
    assert expected in printed(width)


def test_what_names_have_lost_is_shown() -> None:
    begins = "gke-prod-europe-west4-db-pool-9f8e7d6c- (db-pool), gke-prod-europe-west4-web-pool-1a2b3c4d- (web-pool)"
    assert f"Names of nodes begin with {begins}" in " ".join(printed(80).split())
    assert "begin with" not in printed(200)
    assert f"{WEB_NODE}  {DB_NODE}" in printed(10_000, terminal=False)


def _page(*words: str, name: str = "web-0") -> str:
    situation = paused_situation(name)
    made = make_plan(situation, {}, load())
    view = view_of(made)
    source, found = PageSource(view, Explainer(situation, made)), [resolve_name(situation, word) for word in words]
    return write_markdown(partial(source.pages, found))


@cases(
    "expected, word",
    ("a node", "# <code>n1</code>\n\n- pool: ", "n1"),
    ("what keeps it, with its object", "1. <code>pdb_exhausted</code>\n   - default/web-0 ", "n1"),
    ("what is closed", "| <code>paused</code> |", "n1"),
    ("where its pods would land", "| <code>default/web-0</code> | <code>n", "n1"),
    ("a pod", "# <code>default/web-0</code>\n\n- node: n1", "default/web-0"),
    ("what keeps the pod", "What keeps the pod where it is:\n\n1. <code>pdb", "default/web-0"),
    ("which nodes could take it", "Of 2 other nodes 1 could take it now: n2 of a.", "default/web-0"),
    ("which rule excludes how many", "| 1 | 1 | <code>room", "default/web-0"),
    ("a pod that goes with its node", "It keeps no node: it is a DaemonSet", "default/log-x1"),
    ("a workload", "1 pod on 1 node; ", "default/ReplicaSet/web"),
    ("what keeps its pods", "What keeps its pods:\n\n1. ", "default/ReplicaSet/web"),
)
def test_the_page_shows(expected: str, word: str) -> None:
    assert expected in _page(word)


def test_several_names_are_one_page() -> None:
    shown = _page("n1", "default/web-0")
    assert shown.index("# <code>n1</code>") < shown.index("# <code>default/web-0</code>")


def test_no_name_is_markup() -> None:
    shown = _page("n1", "default/a|b<img>", "default/ReplicaSet/web", name="a|b<img>")
    assert "a|b" not in shown
    assert "<img" not in shown


def test_it_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    shown = ebb("explain", "0007", dumps.write(tmp_path / "c.json", 8), "-o", "markdown")
    assert (shown.exit_code, shown.stderr, shown.stdout[:8]) == (0, "", "# <code>")
