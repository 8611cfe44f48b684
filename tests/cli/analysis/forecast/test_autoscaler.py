"""What the autoscaler would take by itself, rule by rule; `tests/local/test_forecast.py` holds it to a whole one."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.forecast.steady_state import left_alone, remove_departing
from functions.cli.analysis.forecast.unpaced_pass import Workings
from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.autoscaler import soonest
from shared.core.planning.autoscaler_look import nodes_unneeded
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, our_taint, pdb, pod, taint
from tests.depth import cases

SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
OFF = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


def full(name: str, **changes: Any) -> tuple[Node, Pod]:
    """A node above every gate, with a core to spare."""
    return node(name, **changes), pod(f"big-{name}", on=name, cpu=3.6, owner=f"ReplicaSet/big-{name}")


def one_node(*pods: Pod, **changes: Any) -> Snapshot:
    """Node `n` with these pods, and a large one beside it that takes them."""
    spare, big = full("spare", cpu=8)
    return cluster([node("n", **changes), spare], [*pods, big, pod("big2", on="spare", cpu=2)])


def found(snapshot: Snapshot) -> tuple[str, ...]:
    return nodes_unneeded(snapshot, Situation(snapshot, ClusterState(), Policy()).drain_context(""))


@cases(
    "takes, cpu, profile",
    ("at the gate of 50 % it is taken", True, 2, "BALANCED"),
    ("above it it stays", False, 2.1, "BALANCED"),
    ("the other profile's gate is 85 %", True, 2.1, "OPTIMIZE_UTILIZATION"),
    ("above that it stays, too", False, 3.5, "OPTIMIZE_UTILIZATION"),
)
def test_the_gate_is_the_profiles(takes: bool, cpu: float, profile: str) -> None:
    snapshot = replace(one_node(pod("p", on="n", cpu=cpu)), profile=profile)

    assert ("n" in found(snapshot)) is takes


def reaped(snapshot: Snapshot, *, spare: bool = True, delay: timedelta | None = None) -> Snapshot:
    """The same where the ComputeClass of node `n` (and of the spare one) lets only empty nodes go."""
    own, label = {"n", "spare"} if spare else {"n"}, {names.COMPUTE_CLASS_LABEL: "web"}
    nodes = (replace(one, labels={**one.labels, **label}) if one.name in own else one for one in snapshot.nodes)
    classes = ComputeClasses({"web": AutoscalingPolicy(threshold=Fraction(0), delay=delay)})
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


def test_the_autoscaler_begins_as_soon_as_its_shortest_delay_has_passed() -> None:
    snapshot = one_node()
    assert soonest(snapshot, snapshot.nodes) == timedelta(minutes=10)
    classed = reaped(snapshot, delay=timedelta(minutes=1))
    assert soonest(classed, classed.nodes) == timedelta(minutes=1)


def test_daemon_set_pods_count_on_neither_side_of_the_gate() -> None:
    daemon = pod("d", on="n", cpu=1, owner="DaemonSet/d", node_selector={names.HOSTNAME_LABEL: "n"})

    assert found(one_node(daemon, pod("p", on="n", cpu=1.5))) == ("n",)
    assert found(one_node(daemon, pod("p", on="n", cpu=1.6))) == ()


@pytest.mark.parametrize(("takes", "pods"), [(True, ()), (False, (pod("p", on="n", cpu=0.001),))])
def test_a_node_that_daemon_set_pods_fill_is_empty_or_full(takes: bool, pods: tuple[Pod, ...]) -> None:
    daemon = pod("d", on="n", cpu=4, owner="DaemonSet/d", node_selector={names.HOSTNAME_LABEL: "n"})

    assert ("n" in found(one_node(daemon, *pods))) is takes


@cases(
    "takes, given",
    ("a ReplicaSet's is moved", True, {"owner": "ReplicaSet/web"}),
    ("one that nobody would start again is not", False, {"owner": None}),
    ("unless it shows that it may be", True, {"owner": None, "annotations": {SAFE: "true"}}),
    ("one that is not safe to evict stays", False, {"annotations": {SAFE: "false"}}),
    ("and so does one that waits for its end", False, {"annotations": {SAFE: "on-completion"}}),
    ("a running Job's is moved, whatever Ebb would do", True, {"owner": "Job/j"}),
    ("a PDB that allows nothing keeps its pods", False, {"namespace": "guarded"}),
    ("an old system pod is moved", True, {"namespace": "kube-system"}),
    ("a system pod without a PDB stays for its first hour", False,
     {"namespace": "kube-system", "created": NOW - timedelta(minutes=59)}),
)  # fmt: skip
def test_pods_keep_their_node_by_the_autoscalers_own_rules(takes: bool, given: dict[str, Any]) -> None:
    snapshot = replace(
        one_node(pod("p", on="n", cpu=1, **given)), disruption_budgets=(pdb("none", allowed=0, namespace="guarded"),)
    )

    assert ("n" in found(snapshot)) is takes


@cases(
    "changes",
    ("in deletion already", {"taints": (taint(names.AUTOSCALER_DELETING_TAINT),)}),
    ("scale-down disabled", {"annotations": {OFF: "true"}}),
    ("not Ready", {"ready": False}),
    ("standing by for a buffer", {"labels": {names.STANDBY_NODE: "true"}}),
    ("managed by Google", {"labels": {names.MANAGED_NODE: "true"}}),
    ("of no known pool", {"labels": {"cloud.google.com/gke-nodepool": "unknown"}}),
)
def test_nodes_that_the_autoscaler_leaves_alone(changes: dict[str, Any]) -> None:
    snapshot = one_node(**changes)

    assert found(replace(snapshot, pools={"a": NodePool("a")})) == ()


def test_it_takes_one_node_after_another_and_not_the_best_set() -> None:
    """The dear one is asked after the others, and then there is no room left for its pod."""
    nodes = [node("n1"), node("n2", cpu=8, machine="n2-standard-8"), node("home")]
    pods = [pod("p1", on="n1", cpu=2), pod("p2", on="n2", cpu=4), pod("full", on="home", cpu=2.1)]

    assert found(cluster(nodes, pods)) == ("n1",)


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
