"""What a pass knows of each node beforehand."""

from dataclasses import replace
from fractions import Fraction

from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.autoscaler import EXPENDABLE_BELOW, drop_expendable
from shared.core.planning.autoscaler_look import rounds_alone
from shared.core.planning.bill import Bill, Savings
from shared.core.planning.candidates import assess_node, assess_nodes, counts_and_excess, saves_too_little
from shared.core.planning.prices import HOURS_PER_MONTH
from shared.core.policy import ConsolidationPolicy, Policy
from shared.core.records.state import MICRO, ClusterState
from shared.core.rules.drain_time import NO_ESTIMATE
from shared.core.rules.nodes import NODE_RULES, SAFETY_RULES, NodeRule
from shared.core.rules.situation import Situation
from tests.builders import claim, cluster, node, pod, policy
from tests.depth import cases

ONE_FULL = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=3.9), pod("q", on="n2")])


def seen(snapshot: Snapshot, rules: Policy, *claimed: str) -> Situation:
    return Situation(snapshot, ClusterState(claims={f"uid-{name}": claim(name) for name in claimed}), rules)


@cases(
    "expected, rules",
    ("all rules ask it", ["not_empty", "cpu_above_limit", "consolidation_off"], NODE_RULES),
    ("those of safety do not", [], SAFETY_RULES),
)
def test_how_full_a_node_is_and_what_the_policy_wants_are_no_matter_of_safety(
    expected: list[str], rules: tuple[NodeRule, ...]
) -> None:
    wish = policy(consolidate_after=None, consolidation_policy=ConsolidationPolicy.WHEN_EMPTY)
    found = assess_node(ONE_FULL.nodes[0], seen(ONE_FULL, wish), rules)

    assert [blocker.reason.value for blocker in found.blockers] == expected


@cases(
    "expected, claimed", ("of a candidate", [False, True], ()), ("of none that is on its way", [False, False], ("n2",))
)
def test_what_a_drain_waits_for_is_known(expected: list[bool], claimed: tuple[str, ...]) -> None:
    found = assess_nodes(seen(ONE_FULL, policy(), *claimed))

    assert [row.estimate is not NO_ESTIMATE for row in found] == expected


def test_of_nodes_as_little_used_the_first_by_name_is_the_unit_of_excess() -> None:
    nodes = [node("n2", cpu=8, memory=32), node("n1", cpu=4, memory=16), node("n0", cpu=0)]
    situation = seen(cluster(nodes), policy())

    _, excess = counts_and_excess(situation, assess_nodes(situation))

    assert excess == {"a": Fraction(3), "": Fraction(3)}


def test_without_a_node_whose_size_is_known_nothing_is_in_excess() -> None:
    situation = seen(cluster([node("n1", cpu=0)]), policy())

    assert counts_and_excess(situation, assess_nodes(situation))[1] == {"a": Fraction(0), "": Fraction(0)}


@cases("is_kept, more", ("as much as the policy asks", False, 0), ("a cent less", True, Fraction(1, 100)))
def test_a_node_goes_that_saves_for_each_of_its_pods(is_kept: bool, more: Fraction) -> None:
    picture = cluster([node("n1", machine="m")], [pod("p", on="n1"), pod("q", on="n1")])
    savings = Savings(Bill(replace(load(), machines={"m": Fraction(1)})))
    situation = seen(picture, policy(minimum_saving=Fraction(HOURS_PER_MONTH, 2) + more))

    found = saves_too_little(assess_node(picture.nodes[0], situation), situation, savings)

    assert savings.of(picture.nodes[0]) == MICRO
    assert bool(found) is is_kept


def test_the_autoscaler_sees_the_very_same_cluster_if_no_pod_is_expendable() -> None:
    assert drop_expendable(ONE_FULL) is ONE_FULL


def test_an_expendable_pod_without_a_place_ends_with_the_node_that_the_autoscaler_removes() -> None:
    pods = [pod("p", on="n1", cpu=1), pod("idle", on="n1", cpu=3, priority=EXPENDABLE_BELOW - 1)]
    picture = cluster([node("n1"), node("n2")], [*pods, pod("q", on="n2", cpu=2, owner="Odd/q")])

    assert [step.gone for step in rounds_alone(picture, lambda _: ("n1",), 1)] == [("n1",)]
