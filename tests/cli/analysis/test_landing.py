"""Where the pods of a node would go, told of each by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.exclusions import Landing, landings
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.placement import Simulation
from shared.core.reasons import PodBlock
from tests.builders import cluster, node, pod

HOST = "kubernetes.io/hostname"
APART = (PodTerm(HOST, LabelSelector((Requirement("app", "In", ("web",)),)), ("default",)),)


def _told(found: tuple[Landing, ...]) -> list[tuple[str, str, str]]:
    return [(landing.pod.name, landing.node, landing.runner_up) for landing in found]


def test_a_pod_goes_to_the_fullest_node_with_room_and_else_to_the_next() -> None:
    lying = [pod("a", on="n2", cpu=3), pod("b", on="n3", cpu=2)]
    simulation = Simulation.of(cluster([node("n1"), node("n2"), node("n3"), node("n4")], [pod("p", on="n1"), *lying]))
    assert _told(landings(simulation, "n1")) == [("p", "n2", "n3")]


def test_of_pods_that_do_not_all_fit_each_is_shown_about() -> None:
    pods = [pod("large", on="n1", cpu=3), pod("small", on="n1", cpu=1)]
    found = landings(Simulation.of(cluster([node("n1"), node("n2", cpu=1)], pods)), "n1")
    assert _told(found) == [("large", "", ""), ("small", "n2", "")]
    assert [excluded.rule.value for excluded in found[0].choice.excluded] == ["room"]


def test_the_runner_up_is_asked_for_without_the_pod_itself() -> None:
    """Its own anti-affinity keeps no pod off the node that it would have gone to otherwise."""
    pods = [pod("p", on="n1", anti_affinity=APART)]
    found = landings(Simulation.of(cluster([node("n1"), node("n2"), node("n3")], pods)), "n1")
    assert _told(found) == [("p", "n2", "n3")]
    assert found[0].choice.open == 2


def test_nobody_shows_where_a_pod_goes_that_is_not_modelled() -> None:
    (found,) = landings(Simulation.of(cluster([node("n1"), node("n2")], [pod("p", on="n1", scheduler="own")])), "n1")
    assert (found.node, [each.reason for each in found.fixed]) == ("", [PodBlock.FOREIGN_SCHEDULER])


def test_a_node_without_movable_pods_has_no_landings() -> None:
    assert landings(Simulation.of(cluster([node("n1")], [pod("d", on="n1", owner="DaemonSet/d")])), "n1") == ()


def test_an_unknown_node_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        landings(Simulation.of(cluster([node("n1")])), "n2")


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 1, 2])), max_size=10))
def test_what_all_fits_lands_where_the_proof_has_it_and_nothing_is_changed(rows: list[tuple[int, float]]) -> None:
    pods = [pod(f"p{at}", on=f"n{place}", cpu=cpu) for at, (place, cpu) in enumerate(rows)]
    simulation = Simulation.of(cluster([node(f"n{at}") for at in range(5)], pods), robust=False)
    before = simulation.assignments.steps()
    found = {landing.pod.key: landing.node for landing in landings(simulation, "n0")}
    assert simulation.assignments.steps() == before
    refused = simulation.try_remove("n0")
    assert (refused is None) == all(found.values())
    if refused is None:
        assert found == {move.pod: move.node for move in simulation.assignments.moves()["n0"]}
