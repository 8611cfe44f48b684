import pytest

from functions.cli.plan.view import verdict_groups, view_of
from shared.core.planning.plan import NodeDecision, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.cli.plan.plans import blocked, busy, decision, in_flight, of_every_kind, order, ordered, plan, waiting


def test_what_goes_comes_first_and_what_stays_last() -> None:
    assert [part.title for part in verdict_groups(view_of(of_every_kind()))] == [
        "would order (1)",
        "waiting (1)",
        "in flight (1)",
        "keep (3)",
    ]


def test_each_node_has_exactly_one_row() -> None:
    given = of_every_kind()
    rows = [row.name for part in verdict_groups(view_of(given)) for row in part.nodes]
    assert sorted(rows) == sorted(each.name for each in given.decisions)


def test_orders_stand_as_they_were_taken() -> None:
    given = plan(ordered("n1"), ordered("n2"), orders=[order("n2"), order("n1")])
    assert [row.name for row in next(verdict_groups(view_of(given))).nodes] == ["n2", "n1"]


def test_kept_nodes_stand_by_pool_and_reason() -> None:
    given = plan(busy("n1", pool="b"), busy("n2"), decision("n3", Verdict.KEEP, Blocker(Unremovable.BUDGET)))
    assert [row.name for row in next(verdict_groups(view_of(given))).nodes] == ["n3", "n2", "n1"]


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param("now $73/mo", ordered("n", drain=None), id="an order shows what it saves"),
        pytest.param("now $73/mo, 3 rounds", ordered("n"), id="and how many rounds it takes"),
        pytest.param("from 22:03", waiting("n"), id="a waiting node shows from when"),
        pytest.param("", in_flight("n"), id="a node in flight has no time of its own"),
        pytest.param("since 21:51", busy("n", marked_since=ordered("n").marked_since), id="a mark that is old enough"),
        pytest.param("", busy("n"), id="a kept node without a mark"),
    ],
)
def test_when(expected: str, given: NodeDecision) -> None:
    shown = list(verdict_groups(view_of(plan(given, orders=[order("n")]))))
    assert shown[0].nodes[0].when == expected


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(("81% of 75%", ""), busy("n"), id="a detail"),
        pytest.param(
            ("shop/cart-0 volume cache +1", "shop/cart-0 +1", "+1", ""),
            blocked("n", "shop/cart-0", "shop/cart-1"),
            id="two pods",
        ),
        pytest.param(
            ("shop/db-0 volume cache", "shop/db-0", ""),
            blocked("n", "shop/db-0", by=PodBlock.PDB_EXHAUSTED),
            id="one pod",
        ),
        pytest.param(("",), ordered("n"), id="nothing in the way"),
    ],
)
def test_what_stands_in_the_way_has_shorter_wordings(expected: tuple[str, ...], given: NodeDecision) -> None:
    assert next(verdict_groups(view_of(plan(given)))).nodes[0].about == expected


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param("pod: pdb_exhausted", blocked("n", "shop/db-0", by=PodBlock.PDB_EXHAUSTED), id="the pod's own"),
        pytest.param("cpu_above_limit", busy("n"), id="the node's own"),
        pytest.param("underutilized", ordered("n"), id="why it goes"),
    ],
)
def test_a_row_shows_the_reason_of(expected: str, given: NodeDecision) -> None:
    assert next(verdict_groups(view_of(plan(given)))).nodes[0].reason == expected
