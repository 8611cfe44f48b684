from io import StringIO

import pytest
from rich.console import Console

from functions.cli.plan.explain import show
from functions.cli.plan.view import view_of
from functions.cli.remedies import REMEDIES
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.errors import BadInput
from tests.builders import NOW
from tests.cli.plan.plans import busy, of_every_kind, plan

NODES = plan(busy("gke-c-a-1f2e-00a1"), busy("gke-c-a-1f2e-00b1"), busy("1"))


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        pytest.param("gke-c-a-1f2e-00a1", "gke-c-a-1f2e-00a1", id="a whole name"),
        pytest.param("gke-c-a-1f2e-00b1", "00b1", id="an unmistakable end"),
        pytest.param("1", "1", id="a whole name that is also an end"),
    ],
)
def test_a_node_is_found_by(expected: str, name: str) -> None:
    assert view_of(NODES).node(name).name == expected


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        pytest.param("write the whole name", "01", id="an end of two"),
        pytest.param("no node 'x1'", "x1", id="a name that is not there"),
    ],
)
def test_a_node_is_not_found_by(expected: str, name: str) -> None:
    both = view_of(plan(busy("a-01"), busy("b-01")))
    with pytest.raises(BadInput, match=expected):
        both.node(name)


@pytest.mark.parametrize("reason", [*Unremovable, *PodBlock])
def test_every_reason_that_keeps_a_node_has_a_remedy(reason: Reason) -> None:
    assert REMEDIES[reason].endswith(".")


def test_a_node_that_is_kept_is_promised_no_time() -> None:
    given = plan(busy("n1", removable_at=NOW, marked_since=NOW))
    pages = StringIO()
    show(Console(file=pages, width=160, color_system=None), view_of(given), "n1")
    assert "removable at" not in pages.getvalue()


@pytest.mark.parametrize(
    ("expected", "node"),
    [
        pytest.param("keep: blocked_by_pod: A pod on the node may not be moved.", "0004", id="the verdict"),
        pytest.param("3 things in the way", "0004", id="how many things are in the way"),
        pytest.param("shop/cart-1 volume cache", "0004", id="each of them, not only the first"),
        pytest.param("localStorage: evict", "0004", id="what can be done"),
        pytest.param("removable at  2026-03-04 22:03:00 UTC", "0002", id="from when it may go"),
        pytest.param("→ gke-c-a-1f2e-0002", "0001", id="where its pods would go"),
    ],
)
def test_explain_says(expected: str, node: str) -> None:
    pages = StringIO()
    show(Console(file=pages, width=160, color_system=None), view_of(of_every_kind()), node)
    assert expected in pages.getvalue()
