"""What the autoscaler would take by itself, rule by rule; `tests/local/test_forecast.py` holds it to a whole one."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.forecast.steady_state import left_alone, remove_departing
from functions.cli.analysis.forecast.unpaced_pass import Workings
from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.autoscaler_look import nodes_unneeded
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, our_taint, pod
from tests.depth import cases


def full(name: str, **changes: Any) -> tuple[Node, Pod]:
    """A node above every gate, with a core to spare."""
    return node(name, **changes), pod(f"big-{name}", on=name, cpu=3.6, owner=f"ReplicaSet/big-{name}")


def one_node(*pods: Pod, **changes: Any) -> Snapshot:
    """Node `n` with these pods, and a large one beside it that takes them."""
    spare, big = full("spare", cpu=8)
    return cluster([node("n", **changes), spare], [*pods, big, pod("big2", on="spare", cpu=2)])


def found(snapshot: Snapshot) -> tuple[str, ...]:
    return nodes_unneeded(snapshot, Situation(snapshot, ClusterState(), Policy()).drain_context(""))


def reaped(snapshot: Snapshot, *, spare: bool = True) -> Snapshot:
    """The same where the ComputeClass of node `n` (and of the spare one) lets only empty nodes go."""
    own, label = {"n", "spare"} if spare else {"n"}, {names.COMPUTE_CLASS_LABEL: "web"}
    nodes = (replace(one, labels={**one.labels, **label}) if one.name in own else one for one in snapshot.nodes)
    classes = ComputeClasses({"web": AutoscalingPolicy(threshold=Fraction(0))})
    return replace(snapshot, nodes=tuple(nodes), compute_classes=classes)


@cases(
    "takes, pods",
    ("an empty node", True, ()),
    ("one with DaemonSet pods", True, (pod("d", on="n", cpu=1, owner="DaemonSet/d"),)),
    ("one whose pods ask for nothing: they are moved", True, (pod("p", on="n", cpu=0, memory=0),)),
    ("no node of which anything is asked", False, (pod("p", on="n", cpu=0.001, memory=0),)),
)
@pytest.mark.parametrize("profile", ["BALANCED", "OPTIMIZE_UTILIZATION"])
def test_a_reaper_takes_only_nodes_of_which_nothing_is_asked(takes: bool, pods: tuple[Pod, ...], profile: str) -> None:
    snapshot = reaped(replace(one_node(*pods), profile=profile))

    assert ("n" in found(snapshot)) is takes
    assert left_alone(remove_departing(Situation(snapshot, ClusterState(), Policy()), Workings())).gone == takes


def test_a_pool_next_to_a_reapers_is_taken_as_its_profile_has_it() -> None:
    nodes = [node("n"), node("m"), node("spare", cpu=8)]
    pods = [pod("p", on="n", cpu=1), pod("q", on="m", cpu=1), pod("big", on="spare", cpu=5)]

    assert found(reaped(cluster(nodes, pods), spare=False)) == ("m",)


def test_left_alone_it_goes_on_until_nothing_more_fits() -> None:
    nodes = [node(f"n{number}") for number in range(6)]
    pods = [pod(f"p{number}", on=f"n{number}", cpu=1.2) for number in range(6)]

    rest = left_alone(remove_departing(Situation(cluster(nodes, pods), ClusterState(), Policy()), Workings()))

    assert (len(rest.snapshot.nodes), rest.gone, rest.is_rest) == (2, 4, True)
    assert {one.node for one in rest.snapshot.pods} == {one.name for one in rest.snapshot.nodes}


def test_what_is_on_its_way_out_already_is_gone_in_every_scenario() -> None:
    leaving = replace(node("n1"), taints=(our_taint(),))
    spare, big = full("n2")

    rest = remove_departing(Situation(cluster([leaving, spare], [big]), ClusterState(), Policy()), Workings())

    assert [own.name for own in rest.snapshot.nodes] == ["n2"]
