from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from functions.cli.analysis.exclusions import Excluded, Exclusion, NodeChoice
from functions.cli.analysis.explanation import NodeWorth
from functions.cli.analysis.openings import Closed
from functions.cli.explain.pages import node_facts
from functions.cli.plan.view import view_of
from shared.core.planning.plan import Plan, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.builders import NOW
from tests.cli.explain.explained import explanation, place, show_node
from tests.cli.plan.plans import busy, decision, of_every_kind, plan


def _shown(name: str, given: Plan | None = None, width: int = 160, **known: Any) -> str:
    view, pages = view_of(given or of_every_kind()), StringIO()
    console = Console(file=pages, width=width, force_terminal=True, color_system=None)
    (shown,) = (node.decision for node in view.nodes if node.name.endswith(name))
    show_node(console, view, explanation(shown, **known))
    return pages.getvalue()


def test_a_node_that_is_kept_is_promised_no_time() -> None:
    assert "removable at" not in _shown("n1", plan(busy("n1", removable_at=NOW, marked_since=NOW)))


@pytest.mark.parametrize(
    ("expected", "node"),
    [
        pytest.param("keep: blocked_by_pod: A pod on the node may not be moved.", "0004", id="the verdict"),
        pytest.param("What keeps it; the first names the verdict:", "0005", id="that something keeps it"),
        pytest.param("shop/cart-1 volume cache", "0004", id="each pod that keeps it, not only the first"),
        pytest.param("localStorage: evict", "0004", id="what can be done"),
        pytest.param("removable at  2026-03-04 22:03:00 UTC", "0002", id="from when it may go"),
        pytest.param("3 rounds under shop/web: 1m to 2m30s", "0001", id="what its pods wait for"),
        pytest.param("$73 a month", "0001", id="what it costs"),
    ],
)
def test_explain_shows(expected: str, node: str) -> None:
    assert expected in _shown(node)


def test_a_reason_of_several_pods_is_explained_once_and_that_pods_block_not_at_all() -> None:
    shown = _shown("0004")
    assert shown.count(PodBlock.LOCAL_STORAGE.sentence) == 1
    assert Unremovable.BLOCKED_BY_POD.remedy not in shown


@pytest.mark.parametrize(
    ("expected", "closed"),
    [
        pytest.param('(a, "0 12 * * *") until 2026-03-04 22:00:00 UTC',
                     Closed(Blocker(Unremovable.OUTSIDE_WINDOWS, "a"), '"0 12 * * *"', NOW), id="a window"),
        pytest.param("(a)\n", Closed(Blocker(Unremovable.BUDGET, "a")), id="a full budget, for nobody knows how long"),
    ],
)  # fmt: skip
def test_a_closed_gate_is_shown_with_its_line_of_the_policy_and_its_time(expected: str, closed: Closed) -> None:
    lines = (line.rstrip() for line in _shown("0002", closed=(closed,)).splitlines())
    assert expected in "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("expected", "which"),
    [
        pytest.param(1, "", id="nothing but what keeps the node"),
        pytest.param(2, "10% always", id="which line of the policy closes it"),
    ],
)
def test_a_closed_gate_is_shown_again_only_with_more_of_it(expected: int, which: str) -> None:
    full = Blocker(Unremovable.BUDGET, "a")
    kept = plan(decision("n1", Verdict.KEEP, full))
    assert _shown("n1", kept, closed=(Closed(full, which),)).count(Unremovable.BUDGET.remedy) == expected


SHUT_OUT = NodeChoice(8, 0, (Excluded(Exclusion.ROOM, "cpu", 3, 1), Excluded(Exclusion.ANTI_AFFINITY, "", 7, 5)))


@pytest.mark.parametrize(
    ("expected", "known"),
    [
        pytest.param("shop/web-0  n7       n8          local_storage",
                     {"pods": (place("shop/web-0", "n7", "n8", PodBlock.LOCAL_STORAGE),)}, id="where it would land"),
        pytest.param("shop/web-0  nowhere  -", {"pods": (place("shop/web-0"),)}, id="that it has no place"),
        pytest.param("Some may find no place, depending on the scheduler's order: shop/web-0: why",
                     {"pods": (place("shop/web-0"),), "refusal": "shop/web-0: why"}, id="why not all fit"),
        pytest.param("shop/web-0 has no place: anti_affinity excludes 7 of 8 other nodes.",
                     {"pods": (place("shop/web-0", choice=SHUT_OUT),), "refusal": "why"}, id="what excludes most"),
        pytest.param("No pod would have to move; 2 pods of DaemonSets", {"staying": 2}, id="what goes with the node"),
        pytest.param("without a request: 1 of 2 pods request no CPU",
                     {"pods": (place("shop/a"), place("shop/b", cpu=0))}, id="what their requests leave out"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "worth"),
    [
        pytest.param(
            "$0 a month if it alone goes, $73 from 2027-05-01: the rest of its price is committed (n2)",
            NodeWorth(0, ("n2",), datetime(2027, 5, 1, tzinfo=UTC), 100_000),
            id="nothing before the end of the commitment",
        ),
        pytest.param(
            "$36 a month if it alone goes: the rest of its price is committed (n2)",
            NodeWorth(50_000, ("n2",)),
            id="half",
        ),
        pytest.param("$73 a month if it alone goes", NodeWorth(100_000), id="its price"),
    ],
)
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
