"""What a single change frees is planned, not guessed; and every reason is either tried or told why not."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import HostPort, Volume
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from shared.core.placement.exclusions import Exclusion
from shared.core.planning.candidates import assess_nodes
from shared.core.planning.lifting import Subject
from shared.core.planning.lifts import LIFTS, NOT_LIFTED, lifted
from shared.core.planning.reach import reach
from shared.core.planning.subjects import Held, subjects
from shared.core.planning.why_not import Freed, WhyNot, freed_by, why_not
from shared.core.policy import (
    Budget,
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    Limit,
    Policy,
    Schedule,
    SingleReplicas,
)
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pdb, pod, policy, resources, taint

WEB = LabelSelector((Requirement("app", "In", ("web",)),))
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
PRICES = load()


def _situation(picture: Snapshot, rules: Policy | None = None) -> Situation:
    return Situation(picture, ClusterState(), rules or policy())


def _freed(picture: Snapshot, rules: Policy | None = None, most: int = 9) -> WhyNot:
    return why_not(_situation(picture, rules), PRICES, most)


def _told(found: WhyNot) -> dict[str, int]:
    return {f"{each.subject.reason.value} {each.subject.object}".strip(): each.nodes for each in found.freed}


def test_every_reason_is_lifted_or_it_is_said_why_not() -> None:
    said = [*LIFTS, *(reason for reasons in NOT_LIFTED.values() for reason in reasons)]
    everything: set[Reason] = {*PodBlock, *Unremovable, *Exclusion}
    assert len(said) == len(set(said))
    assert set(said) == everything


TWO = (node("n1"), node("n2"))
SMALL: dict[str, Any] = {"cpu": 0.2, "memory": 0.2}
KEEPS = pod("k", on="n2", owner="StatefulSet/k", scheduler="own", **SMALL)
"""Keeps n2 for good, so that n1 alone is asked about."""


@pytest.mark.parametrize(
    ("subject", "moving", "changes", "rules"),
    [
        pytest.param(Subject(PodBlock.NOT_SAFE_TO_EVICT, "default/ReplicaSet/web"),
                     {"annotations": {names.SAFE_TO_EVICT: "false"}}, {}, {}, id="safe-to-evict"),
        pytest.param(Subject(PodBlock.DO_NOT_DISRUPT, "default/ReplicaSet/web"),
                     {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, {}, {}, id="an opt-out"),
        pytest.param(Subject(PodBlock.NAMESPACE_CLOSED, "default"), {},
                     {"namespaces": {"default": {names.EVICTIONS_LABEL: "never"}}}, {}, id="a namespace"),
        pytest.param(Subject(PodBlock.NOT_REPLICATED, "default/p"), {"owner": None}, {}, {}, id="a bare pod"),
        pytest.param(Subject(PodBlock.LOCAL_STORAGE, "default/ReplicaSet/web"),
                     {"volumes": (Volume("cache", "emptyDir"),)}, {}, {}, id="local storage"),
        pytest.param(Subject(PodBlock.KUBE_SYSTEM, "a"), {"namespace": "kube-system"}, {},
                     {"kube_system_pods": KubeSystemPods.LEAVE}, id="kube-system"),
        pytest.param(Subject(PodBlock.PDB_EXHAUSTED, "default/web"), {},
                     {"disruption_budgets": (pdb("web", allowed=0, app="web", expected_pods=3),)}, {}, id="a PDB"),
        pytest.param(Subject(PodBlock.PDB_NEVER_ALLOWS, "default/web"), {},
                     {"disruption_budgets": (pdb("web", allowed=0, app="web", max_unavailable=Limit(count=0)),)}, {},
                     id="a PDB that asks for all"),
        pytest.param(Subject(PodBlock.SEVERAL_PDBS, "default/two"), {},
                     {"disruption_budgets": (pdb("one", app="web"), pdb("two", app="web"))}, {}, id="one PDB too many"),
        pytest.param(Subject(PodBlock.SINGLE_REPLICA, "a"), {},
                     {"workloads": {"default/ReplicaSet/web": Workload("default/ReplicaSet/web", 1, 1)}},
                     {"single_replicas": SingleReplicas.NEVER}, id="a single replica"),
        pytest.param(Subject(PodBlock.JOB, "a"), {"owner": "Job/x"}, {}, {"jobs": Jobs.NEVER}, id="Jobs"),
        pytest.param(Subject(PodBlock.JOB_RUNNING, "a"), {"owner": "Job/x"}, {}, {}, id="a running Job"),
        pytest.param(Subject(PodBlock.TOO_FEW_AVAILABLE, "a"), {},
                     {"workloads": {"default/ReplicaSet/web": Workload("default/ReplicaSet/web", 4, 3)}}, {},
                     id="replicas that are away"),
        pytest.param(Subject(PodBlock.GRACE_TOO_LONG, "a"), {"grace_seconds": 3600}, {}, {}, id="a long grace"),
        pytest.param(Subject(PodBlock.TOLERATES_DRAIN_TAINT, "default/ReplicaSet/web"),
                     {"tolerations": (Toleration(operator="Exists"),)}, {}, {}, id="a wide toleration"),
        pytest.param(Subject(PodBlock.NAMES_ITS_NODE, "default/ReplicaSet/web"),
                     {"node_selector": {names.HOSTNAME_LABEL: "n1"}}, {}, {}, id="its node's name"),
        pytest.param(Subject(PodBlock.SCHEDULING_GATES, "default/ReplicaSet/web"), {"scheduling_gates": ("g",)}, {}, {},
                     id="scheduling gates"),
        pytest.param(Subject(Unremovable.POOL_DISABLED, "a"), {}, {}, {"enabled": False}, id="a disabled pool"),
        pytest.param(Subject(Unremovable.NOT_AUTOSCALED, "a"), {},
                     {"pools": {"a": NodePool("a", autoscaled=False)}}, {}, id="a pool that is not autoscaled"),
        pytest.param(Subject(Unremovable.POOL_AT_MINIMUM, "a"), {}, {"pools": {"a": NodePool("a", min_total=2)}}, {},
                     id="a pool's minimum"),
        pytest.param(Subject(Unremovable.RESOURCE_MINIMUM), {}, {"minimum": resources(cpu=8)}, {}, id="a CPU minimum"),
        pytest.param(Subject(Unremovable.NOT_EMPTY, "a"), {}, {},
                     {"consolidation_policy": ConsolidationPolicy.WHEN_EMPTY}, id="WhenEmpty"),
        pytest.param(Subject(Unremovable.CPU_ABOVE_LIMIT, "a"), {}, {}, {"cpu_limit": Fraction(1, 100)}, id="CPU"),
        pytest.param(Subject(Unremovable.MEMORY_ABOVE_LIMIT, "a"), {}, {}, {"memory_limit": Fraction(1, 100)},
                     id="memory limit"),
        pytest.param(Subject(Unremovable.CONSOLIDATION_OFF, "a"), {}, {}, {"consolidate_after": None}, id="Never"),
        pytest.param(Subject(Unremovable.TOO_FEW_UNDERUTILIZED, "a"), {}, {}, {"required_count": 5}, id="count"),
        pytest.param(Subject(Unremovable.NO_EXCESS, "a"), {}, {}, {"excess_threshold": Fraction(5)}, id="excess"),
        pytest.param(Subject(Unremovable.SAVING_TOO_SMALL, "a"), {}, {}, {"minimum_saving": Fraction(900)}, id="money"),
        pytest.param(Subject(Unremovable.PAUSED), {}, {}, {"cluster_wide": {"paused": True}}, id="a pause"),
        pytest.param(Subject(Unremovable.MINIMUM_NODES), {}, {}, {"cluster_wide": {"minimum_nodes": 2}}, id="minimum"),
        pytest.param(Subject(Unremovable.MINIMUM_NON_TAINTED), {}, {},
                     {"cluster_wide": {"minimum_non_tainted_nodes": 2}}, id="minimum without taints"),
    ],
)  # fmt: skip
def test_what_alone_keeps_a_node_is_found_and_frees_it(
    subject: Subject, moving: dict[str, Any], changes: dict[str, Any], rules: dict[str, Any]
) -> None:
    found = _freed(cluster(TWO, [pod("p", on="n1", **{**SMALL, **moving}), KEEPS], **changes), policy(**rules))
    assert (found.nodes, [(each.subject, each.nodes) for each in found.freed if each.saving]) == (0, [(subject, 1)])


@pytest.mark.parametrize(
    ("subject", "own"),
    [
        pytest.param(Subject(Unremovable.CORDONED_BY_OTHER, "n1"), {"unschedulable": True}, id="a cordon"),
        pytest.param(Subject(Unremovable.TAINTED, "a", "mine"), {"taints": (taint("mine"),)}, id="a taint"),
        pytest.param(Subject(Unremovable.SCALE_DOWN_DISABLED, "n1"),
                     {"annotations": {names.SCALE_DOWN_DISABLED: "true"}}, id="an annotation"),
    ],
)  # fmt: skip
def test_what_is_said_on_a_node_is_found_and_frees_it(subject: Subject, own: dict[str, Any]) -> None:
    found = _freed(cluster([node("n1", **own), node("n2")], [KEEPS]))
    assert [(each.subject, each.nodes) for each in found.freed] == [(subject, 1)]


@pytest.mark.parametrize(
    ("rule", "spec"),
    [
        pytest.param(Exclusion.SELECTOR, {"node_selector": {"disk": "ssd"}}, id="a selector"),
        pytest.param(Exclusion.ANTI_AFFINITY, {"anti_affinity": (PodTerm(HOST, WEB, ("default",)),)}, id="apart"),
        pytest.param(Exclusion.AFFINITY, {"affinity": (PodTerm(HOST, LabelSelector((Requirement("x", "Exists"),)),
                                                               ("default",)),)}, id="company"),
        pytest.param(Exclusion.HOST_PORT, {"host_ports": (HostPort("TCP", 80),)}, id="a port"),
        pytest.param(Exclusion.SPREAD, {"hard_spread": (SpreadConstraint(ZONE, WEB),)}, id="spread"),
    ],
)  # fmt: skip
def test_a_rule_of_placement_that_alone_leaves_a_pod_no_place_is_found_and_frees_its_node(
    rule: Exclusion, spec: dict[str, Any]
) -> None:
    other = pod("k", on="n2", owner="StatefulSet/db", labels={"app": "web"}, host_ports=(HostPort("TCP", 80),),
                annotations={names.SAFE_TO_EVICT: "false"}, **SMALL)  # fmt: skip
    nodes = [node("n1", labels={"disk": "ssd"}), node("n2", zone="y")]
    found = _freed(cluster(nodes, [pod("p", on="n1", **SMALL, **spec), other]))
    assert (Subject(rule, "default/ReplicaSet/web"), 1) in [(each.subject, each.nodes) for each in found.freed]


def test_headroom_is_tried_where_room_alone_is_short() -> None:
    pods = [pod("p", on="n1", cpu=1), pod("k", on="n2", cpu=2.9, owner=None)]
    found = _freed(cluster(TWO, pods), policy(headroom_percent=5, cpu_limit=Fraction(1)))
    assert _told(found) == {"room": 1, "not_replicated default/k": 0}


def test_two_things_that_keep_one_node_are_no_single_change() -> None:
    picture = cluster([replace(TWO[0], unschedulable=True), TWO[1]], [pod("p", on="n1", owner=None), KEEPS])
    assert _told(_freed(picture)) == {}


def test_two_pods_of_one_workload_are_one_change() -> None:
    kind: dict[str, Any] = {"annotations": {names.SAFE_TO_EVICT: "false"}, **SMALL}
    pods = [pod(f"p{at}", on=f"n{at}", **kind) for at in (1, 2, 3)]
    found = _freed(cluster([node(f"n{at}") for at in range(1, 5)], pods))
    assert found.freed[0].subject == Subject(PodBlock.NOT_SAFE_TO_EVICT, "default/ReplicaSet/web")
    assert (found.nodes, found.freed[0].nodes, len(found.freed[0].held.nodes)) == (1, 2, 3)


def test_a_change_without_room_for_what_it_lets_go_frees_nothing() -> None:
    pods = [pod("p", on="n1", cpu=3, owner=None), pod("q", on="n2", cpu=3)]
    found = _freed(cluster(TWO, pods), policy(cpu_limit=Fraction(1)))
    assert _told(found)["not_replicated default/p"] == 0


def test_what_frees_most_money_comes_first_and_so_many_are_tried() -> None:
    rows = [("n1", "e2-standard-4"), ("n2", "e2-standard-16"), ("n3", "e2-standard-8")]
    nodes = [node(name, machine=machine) for name, machine in rows]
    pods = [pod(f"p-{name}", on=name, owner=None, **SMALL) for name, _ in rows]
    found = _freed(cluster([*nodes, node("n4", unschedulable=True)], pods), most=2)
    assert [each.subject.object for each in found.freed] == ["default/p-n2", "default/p-n3"]
    assert found.freed[0].saving > found.freed[1].saving > 0
    assert [each.subject.object for each in found.left] == ["n4", "default/p-n1"]


def test_the_clock_is_no_reason() -> None:
    """A shut window, a freeze or a budget of none opens again: what it keeps counts as reached."""
    night = Schedule("0 3 * * *", timedelta(hours=1))
    always = Schedule("0 0 * * *", timedelta(hours=24))
    shut = policy(windows=(night,), budgets=(Budget(Limit(count=0), always),))
    assert reach(_situation(cluster(TWO, [KEEPS]), shut), PRICES).nodes == ("n1",)


def test_what_is_young_grows_old() -> None:
    day = timedelta(days=1)
    careful = policy(minimum_node_age=400 * day, minimum_pod_age=day)
    assert reach(_situation(cluster(TWO, [KEEPS]), careful), PRICES).nodes == ("n1",)


def test_a_pool_without_any_window_is_never_reached() -> None:
    assert reach(_situation(cluster(TWO, [KEEPS]), policy(windows=())), PRICES).nodes == ()


def test_a_lift_changes_nothing_else() -> None:
    pods = [pod("p", on="n1", owner=None), pod("q", on="n2", owner=None)]
    situation = _situation(cluster(TWO, pods))
    before = {each.node.name: each.blockers for each in assess_nodes(situation)}
    after = {
        each.node.name: each.blockers
        for each in assess_nodes(lifted(situation, Subject(PodBlock.NOT_REPLICATED, "default/p")))
    }
    assert (after["n1"], after["n2"]) == ((), before["n2"])
    assert {each.node.name: each.blockers for each in assess_nodes(situation)} == before


def test_what_is_gained_is_told_as_it_goes() -> None:
    heard: list[tuple[int, int]] = []
    why_not(_situation(cluster(TWO, [KEEPS, pod("p", on="n1", owner=None)])), PRICES, 9, lambda *at: heard.append(at))
    assert heard == [(0, 1), (1, 1)]


def test_what_the_search_had_only_missed_before_is_no_merit_of_a_change() -> None:
    """n1 could go all the time; that the search found it on the changed picture alone frees nothing."""
    pods = [pod("p", on="n1", **SMALL), pod("k", on="n2", cpu=3.5, owner=None)]
    base = reach(_situation(cluster([*TWO, node("n3")], [*pods, pod("q", on="n3", cpu=3.9, owner=None)])), PRICES)
    held = Held(Subject(PodBlock.NOT_REPLICATED, "default/k"), ("n2",), 1)
    assert base.nodes == ("n1",)
    assert freed_by(held, replace(base, nodes=(), saving=0), PRICES) == Freed(held, 0, 0)


def test_only_what_is_there_is_tried() -> None:
    assert subjects(reach(_situation(cluster([node("n1")])), PRICES), PRICES) == ()
