import re
from fractions import Fraction

import pytest

from functions.cli.output.format import monthly
from functions.cli.top.view import LiveView, NodeBar, Sign, lines, sign_of, view_of
from shared.adapters.prices import load
from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT
from shared.core.cluster.node import Node
from shared.core.planning.bill import Savings
from shared.core.planning.plan import NodeDecision, Verdict
from shared.core.policy.values import Capacity, Commitment, Commitments
from tests.builders import NOW, cluster, node, our_taint, taint
from tests.cli.plan.plans import DOLLAR, blocked, busy, decision, in_flight, ordered, plan, waiting


@pytest.mark.parametrize(
    ("expected", "there", "decided"),
    [
        pytest.param(Sign.KEPT, node("n1"), busy("n1"), id="kept"),
        pytest.param(Sign.POD, node("n1"), blocked("n1", "default/p"), id="kept by a pod"),
        pytest.param(Sign.MARKED, node("n1"), waiting("n1"), id="waiting"),
        pytest.param(Sign.NEXT, node("n1"), ordered("n1"), id="removable in dry run"),
        pytest.param(Sign.NEXT, node("n1"), decision("n1", Verdict.ORDER), id="removable"),
        pytest.param(Sign.DRAINING, node("n1"), in_flight("n1"), id="with a claim"),
        pytest.param(
            Sign.DRAINING,
            node("n1", unschedulable=True, taints=(our_taint(),)),
            busy("n1"),
            id="with our taint, as a kubeconfig alone shows it",
        ),
        pytest.param(
            Sign.AUTOSCALER,
            node("n1", taints=(our_taint(), taint(AUTOSCALER_DELETING_TAINT))),
            in_flight("n1"),
            id="drained, and being deleted",
        ),
        pytest.param(Sign.CORDONED, node("n1", unschedulable=True), busy("n1"), id="cordoned by another user"),
        pytest.param(Sign.NOT_READY, node("n1", ready=False), busy("n1"), id="not ready"),
    ],
)
def test_a_node_has_one_sign(expected: Sign, there: Node, decided: NodeDecision) -> None:
    assert sign_of(there, decided) is expected


def moment(*names: str, before: LiveView | None = None) -> LiveView:
    return view_of(plan(*map(busy, names)), cluster([node(name) for name in names], []), before)


def test_a_node_that_is_gone_stays_in_the_view_without_its_money() -> None:
    first = moment("n1", "n2")
    now = moment("n1", "n3", before=moment("n1", "n2", before=first))

    assert [(bar.name, bar.sign) for bar in now.bars] == [
        ("n1", Sign.KEPT),
        ("n2", Sign.GONE),
        ("n3", Sign.KEPT),
    ]
    assert sum(bar.cost for bar in now.bars) == 2 * DOLLAR // 10
    assert now.first is first
    assert any("1 removed, 1 added" in line.plain for line in lines(now, 80, 24))


def test_what_pools_cost_adds_up_to_what_the_cluster_costs() -> None:
    view = view_of(
        plan(*(busy(name, pool=name, cost=2_000) for name in "abc")), cluster([node(each) for each in "abc"], [])
    )

    whole, *pools = (
        int(amount.replace(",", "")) for line in lines(view, 80, 24) for amount in re.findall(r"\$([\d,]+)", line.plain)
    )

    assert (whole, sum(pools)) == (4, 4)


def test_where_capacity_is_committed_the_money_is_the_bill_with_the_list_price_next_to_it() -> None:
    """Two of three equal nodes are committed for nothing: of two that could go one saves its price."""
    nodes, prices = [node(name) for name in ("n1", "n2", "n3")], load()
    committed = Commitment("e2", Capacity(Fraction(8), Fraction(32)), discount=Fraction(1))
    savings = Savings.among(nodes, (), prices, Commitments((committed,), elsewhere={}), NOW)
    cost = prices.of(nodes[0]).per_hour
    decisions = [ordered("n1", cost=cost), ordered("n2", cost=cost), busy("n3", cost=cost)]
    now = view_of(plan(*decisions, savings=savings), cluster(nodes, []))
    after = view_of(plan(*decisions[1:], savings=savings), cluster(nodes[1:], []), now)
    _, whole, removable, *_ = (line.plain for line in lines(now, 120, 24))

    assert f"{monthly(cost)} a month ({monthly(3 * cost)} at list prices)" in whole
    assert f"removable: 2 ({monthly(cost)} a month) now" in removable
    assert any(f"{monthly(cost)} a month less" in line.plain for line in lines(after, 120, 24))


def many(nodes: int) -> LiveView:
    bars = tuple(NodeBar(f"gke-p-{each:04}", "p", Sign.POD, Fraction(each, nodes), 1_000) for each in range(nodes))
    return LiveView("prod", NOW, bars, 10, 0)


@pytest.mark.parametrize("failure", ["", "the cluster: no answer from https://10.0.0.1 (Connection refused)"])
@pytest.mark.parametrize(("width", "height"), [(40, 8), (80, 24), (120, 40), (200, 12)])
@pytest.mark.parametrize("scrolled", [0, 3, 10_000])
def test_it_fits_every_screen_and_keeps_heads_and_feet(width: int, height: int, scrolled: int, failure: str) -> None:
    shown = lines(many(300), width, height, scrolled, failure)

    assert len(shown) <= height
    assert max(line.cell_len for line in shown) <= width
    assert shown[0].plain == "prod"
    assert shown[-1].plain == (failure[: width - 1] + "…" if len(failure) > width else failure or "q quits")


def test_every_node_is_seen_by_scrolling() -> None:
    view = many(300)
    seen = {word for first in range(300) for line in lines(view, 80, 20, first) for word in line.plain.split()}

    assert {f"{each:04}" for each in range(300)} <= seen


@pytest.mark.parametrize(
    ("expected", "share"),
    [("░" * 10, Fraction(0)), ("█" * 5 + "░" * 5, Fraction(1, 2)), ("█" * 10, Fraction(3, 2))],
)
def test_a_bar_is_as_full_as_the_node(expected: str, share: Fraction) -> None:
    view = LiveView("prod", NOW, (NodeBar("n", "p", Sign.KEPT, share, 0),), 0, 0)

    assert f" {expected} " in lines(view, 21, 24)[-3].plain
