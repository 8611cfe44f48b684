"""What a pass has seen and not taken is told by the word that keeps it; a node that others need is no saving."""

from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.names import SAFE_TO_EVICT
from shared.core.planning.make_plan import make_plan
from shared.core.planning.metrics import MissedSaving, missed_savings
from shared.core.policy import Budget, Limit, Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, our_taint, pod, policy
from tests.core.planning.passes import marked

NONE = Limit(count=0)
PRICE = load().of(node("n")).per_hour


def told(
    pods: list[Any], rules: Policy | None = None, *, is_marked: bool = True, **first: Any
) -> tuple[MissedSaving, ...]:
    """Return what is missed of three nodes, the third of which has room for all pods."""
    nodes = [node("n1", **first), node("n2"), node("n3", cpu=32, memory=128, pool="b")]
    marks = marked("n1", "n2") if is_marked else {}
    state = ClusterState(last_pass=NOW - timedelta(minutes=5))
    full = pod("full", on="n3", cpu=30)
    situation = Situation(cluster(nodes, [*pods, full]), state, rules or policy("a", required_count=1))
    return missed_savings(make_plan(situation, marks, load()), situation.snapshot)


def small(number: int, **given: Any) -> Any:
    return pod(f"p{number}", on=f"n{number}", **{"cpu": 0.5, **given})


@pytest.mark.parametrize(
    ("expected", "pods", "rules"),
    [
        pytest.param(
            [("budget", 2)], [small(1), small(2)], policy("a", required_count=1, budgets=(Budget(NONE),)), id="a budget"
        ),
        pytest.param(
            [("nodes_per_pass", 1)], [small(1), small(2)], policy("a", required_count=0), id="one node a pass"
        ),
        pytest.param([("not_replicated", 1)], [small(1, owner=None), small(2)], None, id="a pod, by its own word"),
        pytest.param([], [small(1, cpu=3), small(2, cpu=3)], None, id="full nodes are no saving"),
        pytest.param(
            [], [small(1, node_selector={"disk": "ssd"}), small(2)], None, id="nor one whose pods find no other place"
        ),
    ],
)
def test_a_saving_is_missed_by(expected: list[tuple[str, int]], pods: list[Any], rules: Policy | None) -> None:
    found = told(pods, rules)
    assert [(each.reason, each.nodes) for each in found] == expected
    assert all((each.pool, each.per_hour) == ("a", each.nodes * PRICE) for each in found)


def test_of_several_pods_that_keep_a_node_the_first_ones_word_counts() -> None:
    """It is the word that the decision names first, so that metric and explanation agree."""
    stays = pod("stays", on="n1", annotations={SAFE_TO_EVICT: "false"}, owner="ReplicaSet/stays")
    found = {each.reason for each in told([small(1, owner=None), stays, small(2)])}

    assert found == {"not_replicated"}


def test_a_mark_that_is_too_young_is_a_saving_to_come() -> None:
    found = told(
        [small(1), small(2)], policy("a", required_count=1, consolidate_after=timedelta(hours=1)), is_marked=False
    )
    assert {each.reason for each in found} == {"marked_recently"}


def test_what_is_in_flight_is_not_missed() -> None:
    found = told([small(1), small(2)], taints=(our_taint(),))
    assert sum(each.nodes for each in found) <= 1
