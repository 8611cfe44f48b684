import pytest

from functions.cli.input.options import Only, Sort
from functions.cli.plan.view import AskedNodes, PlanView, check_pools, choose_nodes, list_nodes, view_of
from shared.errors import BadInput
from tests.cli.plan.plans import DOLLAR, busy, of_every_kind, plan, waiting


def _view() -> PlanView:
    return view_of(of_every_kind())


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        pytest.param(["0001", "0002", "0003", "0004", "0005", "0006"], AskedNodes(nodes=True), id="all"),
        pytest.param(["0004", "0005", "0006"], AskedNodes(pools=("b",)), id="of a pool"),
        pytest.param(["0001"], AskedNodes(only=(Only.ORDER,)), id="that go, in dry run too"),
        pytest.param(["0001", "0003"], AskedNodes(only=(Only.ORDER, Only.IN_FLIGHT)), id="of two verdicts"),
        pytest.param(["0001", "0002", "0003", "0004"], AskedNodes(top=1), id="the first of each verdict"),
        pytest.param([], AskedNodes(pools=("b",), only=(Only.ORDER,)), id="of which there are none"),
    ],
)
def test_the_nodes_shown_are_those(expected: list[str], asked: AskedNodes) -> None:
    assert [node.name[-4:] for node in list_nodes(_view(), asked).nodes] == expected


@pytest.mark.parametrize(
    ("expected", "sort"),
    [
        pytest.param(["n1", "n2", "n3"], Sort.NAME, id="name"),
        pytest.param(["n3", "n1", "n2"], Sort.COST, id="the most expensive first"),
        pytest.param(["n2", "n3", "n1"], Sort.CPU, id="the emptiest first, what is not known last"),
        pytest.param(["n1", "n2", "n3"], Sort.MEMORY, id="memory"),
        pytest.param(["n1", "n2", "n3"], Sort.REASON, id="reason"),
    ],
)
def test_they_are_sorted_by(expected: list[str], sort: Sort) -> None:
    view = view_of(plan(busy("n1", cpu_ratio=None), busy("n2", cpu_ratio=0), busy("n3", cost=DOLLAR)))
    assert [node.name for node in list_nodes(view, AskedNodes(sort=sort)).nodes] == expected
    assert [node.name for node in choose_nodes(view, AskedNodes(sort=sort))] == expected


def test_a_tool_gets_the_first_of_those_that_were_asked_for() -> None:
    found = choose_nodes(_view(), AskedNodes(pools=("b",), top=2))

    assert [node.name[-4:] for node in found] == ["0004", "0005"]


def test_what_top_leaves_out_is_counted() -> None:
    view = view_of(plan(busy("n1"), busy("n2"), busy("n3"), waiting("n4")))
    assert list_nodes(view, AskedNodes(top=1)).more == 2


def test_a_pool_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(BadInput, match="the cluster has no pool 'c'; it has a, b"):
        check_pools([_view()], ("c",))


def test_of_several_clusters_one_has_to_have_the_pool() -> None:
    other = view_of(plan(busy("n1", pool="c")))
    check_pools([_view(), other], ("c", "a"))
    assert list_nodes(_view(), AskedNodes(pools=("c",))).nodes == ()
    with pytest.raises(BadInput, match="no cluster has a pool 'd'; there are a, b, c"):
        check_pools([_view(), other], ("d",))


def test_without_any_of_them_nodes_are_not_listed() -> None:
    assert not AskedNodes().lists_nodes
    assert AskedNodes(top=3).lists_nodes
