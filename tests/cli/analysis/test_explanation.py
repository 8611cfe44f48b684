"""What is known of a node, a pod or a workload is the pass's own: its rules, its simulation, after its orders."""

from functions.cli.analysis.explanation import Explainer, NodeExplanation
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Policy
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, pdb, pod, policy

MARKED = {"a": PoolMarks(marks={f"uid-n{at}": Mark(f"n{at}", NOW) for at in range(9)})}


def _explained(name: str, picture: Snapshot, rules: Policy | None = None, **state: object) -> NodeExplanation:
    situation = Situation(picture, ClusterState(last_pass=NOW, **state), rules or policy())  # type: ignore[arg-type]
    return Explainer(situation, make_plan(situation, MARKED, load())).node(name)


def test_a_pod_is_shown_with_what_keeps_it_and_where_it_would_go_all_the_same() -> None:
    pods = [pod("p", on="n1", owner=None), pod("q", on="n2", cpu=1, owner=None)]
    found = _explained("n1", cluster([node("n1"), node("n2")], pods, disruption_budgets=(pdb("web"),)))
    (place,) = found.pods
    assert [blocker.reason for blocker in place.blockers] == [PodBlock.NOT_REPLICATED]
    assert (place.landing.node, found.refusal) == ("n2", "")
    assert [budget.key for budget in place.budgets] == ["default/web"]


def test_pods_land_where_there_is_room_after_the_orders_before_them() -> None:
    """The empty n1 goes first, so that n2's pod lands on n3."""
    pods = [pod("p", on="n2", cpu=1), pod("q", on="n3", cpu=3.5)]
    found = _explained("n2", cluster([node("n1"), node("n2"), node("n3", cpu=8)], pods))
    assert [each.landing.node for each in found.pods] == ["n3"]


def test_a_refusal_names_the_pod_that_has_no_place() -> None:
    pods = [pod("p", on="n1", cpu=3), pod("q", on="n2", cpu=3)]
    assert "default/p: " in _explained("n1", cluster([node("n1"), node("n2")], pods)).refusal


def test_gates_are_shown_before_the_mark_is_ripe() -> None:
    found = _explained("n1", cluster([node("n1"), node("n2")]), policy(windows=()))
    assert [each.blocker.reason for each in found.closed] == [Unremovable.OUTSIDE_WINDOWS]


def test_pods_of_a_drain_in_flight_are_shown_with_the_place_that_is_kept_for_them() -> None:
    picture = cluster([node("n1"), node("n2")], [pod("p", on="n1")])
    found = _explained("n1", picture, claims={"uid-n1": claim("n1")})
    assert [each.landing.node for each in found.pods] == ["n2"]
    assert found.closed == ()


def test_pods_that_go_with_the_node_are_counted() -> None:
    pods = [pod("p", on="n1"), pod("d", on="n1", owner="DaemonSet/d")]
    found = _explained("n1", cluster([node("n1"), node("n2")], pods))
    assert (len(found.pods), found.staying) == (1, 1)
