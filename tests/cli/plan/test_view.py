"""What the view of a plan shows: groups, what was asked for, and plans without marks."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.cli.input.options import Only, Sort
from functions.cli.plan.as_json import document
from functions.cli.plan.view import EVERY_NODE, AskedNodes, NodeView, PlanView, check_pools, list_nodes, view_of
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from shared.errors import BadInput
from tests.cli import dumps
from tests.cli.dumps.rich_dump import rich_dump
from tests.cli.plan.plans import (
    DOLLAR,
    blocked,
    busy,
    decision,
    in_flight,
    of_every_kind,
    order,
    ordered,
    plan,
    waiting,
)
from tests.cli.running import ebb, read_json
from tests.depth import cases


def _listed(given: Plan) -> tuple[NodeView, ...]:
    return list_nodes(view_of(given), EVERY_NODE).nodes


def test_orders_stand_as_they_were_taken() -> None:
    given = plan(ordered("n1"), ordered("n2"), orders=[order("n2"), order("n1")])
    assert [row.name for row in _listed(given)] == ["n2", "n1"]


def test_kept_nodes_stand_by_pool_and_reason() -> None:
    given = plan(busy("n1", pool="b"), busy("n2"), decision("n3", Verdict.KEEP, Blocker(Unremovable.BUDGET)))
    assert [row.name for row in _listed(given)] == ["n3", "n2", "n1"]


@cases(
    "field, expected, given",
    ("an order shows what it saves", "when", "now $73/mo", ordered("n", drain=None)),
    ("and how many rounds it takes", "when", "now $73/mo, 3 rounds", ordered("n")),
    ("a waiting node shows from when", "when", "from 22:03", waiting("n")),
    ("a node in flight has no time of its own", "when", "", in_flight("n")),
    ("a mark of age", "when", "since 21:51", busy("n", marked_since=ordered("n").marked_since)),
    ("a kept node without a mark", "when", "", busy("n")),
    ("a detail", "about", "81% of 75%", busy("n")),
    ("two pods", "about", "shop/cart-0 volume cache +1", blocked("n", "shop/cart-0", "shop/cart-1")),
    ("one pod", "about", "shop/db-0 volume cache", blocked("n", "shop/db-0")),
    ("nothing in the way", "about", "", ordered("n")),
    ("a pod's", "reason", "pod: pdb_exhausted", blocked("n", "s/db", by=PodBlock.PDB_EXHAUSTED)),
    ("a node's", "reason", "cpu_above_limit", busy("n")),
    ("why it goes", "reason", "underutilized", ordered("n")),
)
def test_a_row_shows(field: str, expected: str, given: NodeDecision) -> None:
    (row,) = _listed(plan(given, orders=[order("n")]))
    assert getattr(row, field) == expected


def _view() -> PlanView:
    return view_of(of_every_kind())


@cases(
    "expected, asked",
    ("all", ["0001", "0002", "0003", "0004", "0005", "0006"], AskedNodes(nodes=True)),
    ("of a pool", ["0004", "0005", "0006"], AskedNodes(pools=("b",))),
    ("that go, in dry run too", ["0001"], AskedNodes(only=(Only.ORDER,))),
    ("of two verdicts", ["0001", "0003"], AskedNodes(only=(Only.ORDER, Only.IN_FLIGHT))),
    ("the first of each verdict", ["0001", "0002", "0003", "0004"], AskedNodes(top=1)),
    ("of which there are none", [], AskedNodes(pools=("b",), only=(Only.ORDER,))),
)
def test_the_nodes_shown_are_those(expected: list[str], asked: AskedNodes) -> None:
    assert [node.name[-4:] for node in list_nodes(_view(), asked).nodes] == expected


@cases(
    "expected, sort",
    ("name", ["n1", "n2", "n3"], Sort.NAME),
    ("the most expensive first", ["n3", "n1", "n2"], Sort.COST),
    ("the emptiest first, what is not known last", ["n2", "n3", "n1"], Sort.CPU),
    ("memory", ["n1", "n2", "n3"], Sort.MEMORY),
    ("reason", ["n1", "n2", "n3"], Sort.REASON),
)
def test_they_are_sorted_by(expected: list[str], sort: Sort) -> None:
    view = view_of(plan(busy("n1", cpu_ratio=None), busy("n2", cpu_ratio=0), busy("n3", cost=DOLLAR)))
    assert [node.name for node in list_nodes(view, AskedNodes(sort=sort)).nodes] == expected
    assert [node.name for node in AskedNodes(sort=sort).choose(view.nodes)] == expected


def test_a_tool_gets_the_first_of_those_that_were_asked_for() -> None:
    found = document(_view(), AskedNodes(pools=("b",), top=2))["nodes"]

    assert [node["name"][-4:] for node in found] == ["0004", "0005"]


def test_what_top_leaves_out_is_counted() -> None:
    view = view_of(plan(busy("n1"), busy("n2"), busy("n3"), waiting("n4")))
    assert list_nodes(view, AskedNodes(top=1)).more == 2


def test_a_pool_that_no_cluster_has_is_a_mistake() -> None:
    views = [_view(), view_of(plan(busy("n1", pool="c")))]
    check_pools(views, ("c", "a"))
    assert list_nodes(_view(), AskedNodes(pools=("c",))).nodes == ()
    with pytest.raises(BadInput, match="there is no pool 'd'; there are a, b, c"):
        check_pools(views, ("d",))


def test_without_any_of_them_nodes_are_not_listed() -> None:
    assert not AskedNodes().lists_nodes
    assert AskedNodes(top=3).lists_nodes


APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


def one_pod_a_node(**spec: Any) -> list[dict[str, Any]]:
    """Eight nodes of one pool, each with one pod."""
    numbers = range(0, 16, 2)
    on = [dumps.name_of(number) for number in numbers]
    system = dumps.pod("logs", on[0], app="logs", kind="DaemonSet", namespace="kube-system")
    pods = [dumps.pod(f"w-{number}", name, **spec) for number, name in enumerate(on)]
    return [*map(dumps.node, numbers), *pods, system]


APART_EACH = one_pod_a_node(affinity=APART)
TOO_BIG = one_pod_a_node(cpu="2200m")


@pytest.mark.parametrize("objects", [APART_EACH, TOO_BIG], ids=["pods exclude each other", "no node has room for two"])
def test_a_node_that_can_never_go_does_not_wait_for_a_mark(objects: list[dict[str, Any]], tmp_path: Path) -> None:
    dump = dumps.write_items(tmp_path / "dump.json", objects)

    table, told = ebb("plan", dump).stdout, read_json("plan", dump)

    assert {(node["verdict"], node["reason"]) for node in told["nodes"]} == {("keep", "no_place_for_pods")}
    assert "no_place_for_pods" in table
    assert "marked_recently" not in table
    assert "must wait" not in table


@pytest.mark.parametrize(
    "objects", [APART_EACH, list(dumps.items(12)), rich_dump(0), rich_dump(1)], ids=["apart", "plain", "rich", "rich 2"]
)
def test_plan_explain_and_report_give_each_node_the_same_reason(objects: list[dict[str, Any]], tmp_path: Path) -> None:
    dump, page = dumps.write_items(tmp_path / "dump.json", objects), tmp_path / "report.json"
    nodes = [thing["metadata"]["name"] for thing in objects if thing["kind"] == "Node"]

    plan, explained = read_json("plan", dump), read_json("explain", *nodes, dump)["explained"]
    ebb("report", "--dump", dump, "--output", "json", "--out", page)

    reasons = {node["name"]: (node["verdict"], node["reason"]) for node in plan["nodes"]}
    assert {node["name"]: (node["verdict"], node["reason"]) for node in explained} == reasons
    assert json.loads(page.read_text())["nodes"] == plan["nodes"]
    assert [node["name"] for node in explained if node["refusal"] and node["verdict"] == "waiting"] == []
