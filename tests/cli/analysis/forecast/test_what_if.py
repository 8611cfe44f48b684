"""What a single change frees is planned, not guessed."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.forecast.scenarios import scenarios_of
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, find_steady_state
from functions.cli.analysis.forecast.what_if import WhyNot, find_relaxations, try_relaxations, why_not
from functions.cli.analysis.relaxations import Harm, Relaxation
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import HostPort, Volume
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from shared.core.planning.candidates import assess_nodes
from shared.core.policy import (
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    Limit,
    Policy,
    PoolPolicy,
    Schedule,
    SingleReplicas,
)
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as picture_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.builders import cluster, node, pdb, pod, policy, resources, taint
from tests.depth import cases, examples

WEB = LabelSelector((Requirement("app", "In", ("web",)),))
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
PRICES = load()


def _situation(picture: Snapshot, rules: Policy | None = None) -> Situation:
    return Situation(picture, ClusterState(), rules or policy())


def _freed(picture: Snapshot, rules: Policy | None = None, most: int = 9) -> WhyNot:
    return why_not(find_steady_state(_situation(picture, rules), {}, PRICES), most)


def _told(found: WhyNot) -> dict[str, int]:
    return {f"{freed.relaxation.reason.value} {freed.relaxation.object}".strip(): freed.nodes for freed in found.freed}


TWO = (node("n1"), node("n2"))
SMALL: dict[str, Any] = {"cpu": 0.2, "memory": 0.2}
HALF: dict[str, Any] = {"cpu": 2.2, "memory": 0.2}
"""Above what the autoscaler empties, and below the policy's limit."""
NEVER = pdb("db", allowed=0, max_unavailable=Limit(count=0), app="db")
KEPT: dict[str, Any] = {"annotations": {names.SAFE_TO_EVICT: "false"}, "scheduler": "own"}
KEEPS = pod("k", on="n2", owner="StatefulSet/k", **KEPT, **SMALL)
"""Keeps n2 for good, so that n1 alone is asked about."""


@cases(
    "relaxation, moving, changes, rules",
    ("safe-to-evict", Relaxation(PodBlock.NOT_SAFE_TO_EVICT, "default/ReplicaSet/web"),
     {"annotations": {names.SAFE_TO_EVICT: "false"}}, {}, {}),
    ("an opt-out", Relaxation(PodBlock.DO_NOT_DISRUPT, "default/ReplicaSet/web"),
     {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, {}, {}),
    ("a namespace", Relaxation(PodBlock.NAMESPACE_CLOSED, "default"), {},
     {"namespaces": {"default": {names.EVICTIONS_LABEL: "never"}}}, {}),
    ("a bare pod", Relaxation(PodBlock.NOT_REPLICATED, "default/p"), {"owner": None}, {}, {}),
    ("local storage", Relaxation(PodBlock.LOCAL_STORAGE, "default/ReplicaSet/web"),
     {"volumes": (Volume("cache", "emptyDir"),)}, {}, {}),
    ("kube-system", Relaxation(PodBlock.KUBE_SYSTEM, "a"), {"namespace": "kube-system"}, {},
     {"kube_system_pods": KubeSystemPods.LEAVE}),
    ("a PDB", Relaxation(PodBlock.PDB_EXHAUSTED, "default/web"), {},
     {"disruption_budgets": (pdb("web", allowed=0, app="web", expected_pods=3),)}, {}),
    ("a PDB that asks for all", Relaxation(PodBlock.PDB_NEVER_ALLOWS, "default/web"), {},
     {"disruption_budgets": (pdb("web", allowed=0, app="web", max_unavailable=Limit(count=0)),)}, {}),
    ("one PDB too many", Relaxation(PodBlock.SEVERAL_PDBS, "default/two"), {},
     {"disruption_budgets": (pdb("one", app="web"), pdb("two", app="web"))}, {}),
    ("a single replica", Relaxation(PodBlock.SINGLE_REPLICA, "a"), {},
     {"workloads": {"default/ReplicaSet/web": Workload("default/ReplicaSet/web", 1, 1)}},
     {"single_replicas": SingleReplicas.NEVER}),
    ("Jobs", Relaxation(PodBlock.JOB, "a"), {"owner": "Job/x"}, {}, {"jobs": Jobs.NEVER}),
    ("a running Job", Relaxation(PodBlock.JOB_RUNNING, "a"), {"owner": "Job/x"}, {}, {}),
    ("replicas that are away", Relaxation(PodBlock.TOO_FEW_AVAILABLE, "a"), {},
     {"workloads": {"default/ReplicaSet/web": Workload("default/ReplicaSet/web", 4, 3)}}, {}),
    ("a long grace", Relaxation(PodBlock.GRACE_TOO_LONG, "a"), {"grace_seconds": 3600}, {}, {}),
    ("a wide toleration", Relaxation(PodBlock.TOLERATES_DRAIN_TAINT, "default/ReplicaSet/web"),
     {"tolerations": (Toleration(operator="Exists"),)}, {}, {}),
    ("its node's name", Relaxation(PodBlock.NAMES_ITS_NODE, "default/ReplicaSet/web"),
     {"node_selector": {names.HOSTNAME_LABEL: "n1"}}, {}, {}),
    ("scheduling gates", Relaxation(PodBlock.SCHEDULING_GATES, "default/ReplicaSet/web"), {"scheduling_gates": ("g",)},
     {}, {}),
    ("a disabled pool", Relaxation(Unremovable.POOL_DISABLED, "a"), {}, {}, {"enabled": False}),
    ("a pool that is not autoscaled", Relaxation(Unremovable.NOT_AUTOSCALED, "a"), {},
     {"pools": {"a": NodePool("a", autoscaled=False)}}, {}),
    ("a pool's minimum", Relaxation(Unremovable.POOL_AT_MINIMUM, "a"), {}, {"pools": {"a": NodePool("a", min_total=2)}},
     {}),
    ("the minimum of its zone", Relaxation(Unremovable.POOL_AT_MINIMUM, "a"), {},
     {"pools": {"a": NodePool("a", min_per_zone=2)}}, {}),
    ("CPU in all", Relaxation(Unremovable.RESOURCE_MINIMUM), {}, {"minimum": resources(cpu=8)}, {}),
    ("WhenEmpty", Relaxation(Unremovable.NOT_EMPTY, "a"), {}, {},
     {"consolidation_policy": ConsolidationPolicy.WHEN_EMPTY}),
    ("CPU", Relaxation(Unremovable.CPU_ABOVE_LIMIT, "a"), {}, {}, {"cpu_limit": Fraction(1, 100)}),
    ("memory limit", Relaxation(Unremovable.MEMORY_ABOVE_LIMIT, "a"), {}, {}, {"memory_limit": Fraction(1, 100)}),
    ("Never", Relaxation(Unremovable.CONSOLIDATION_OFF, "a"), {}, {}, {"consolidate_after": None}),
    ("count", Relaxation(Unremovable.TOO_FEW_UNDERUTILIZED, "a"), {}, {}, {"required_count": 5}),
    ("excess", Relaxation(Unremovable.NO_EXCESS, "a"), {}, {}, {"excess_threshold": Fraction(5)}),
    ("money", Relaxation(Unremovable.SAVING_TOO_SMALL, "a"), {}, {}, {"minimum_saving": Fraction(900)}),
    ("a pause", Relaxation(Unremovable.PAUSED), {}, {}, {"cluster_wide": {"paused": True}}),
    ("nodes", Relaxation(Unremovable.MINIMUM_NODES), {}, {}, {"cluster_wide": {"minimum_nodes": 2}}),
    ("minimum without taints", Relaxation(Unremovable.MINIMUM_NON_TAINTED), {}, {},
     {"cluster_wide": {"minimum_non_tainted_nodes": 2}}),
)  # fmt: skip
def test_what_alone_keeps_a_node_is_found_and_frees_it(
    relaxation: Relaxation, moving: dict[str, Any], changes: dict[str, Any], rules: dict[str, Any]
) -> None:
    found = _freed(cluster(TWO, [pod("p", on="n1", **{**HALF, **moving}), KEEPS], **changes), policy(**rules))
    freed = [(freed.relaxation, freed.nodes) for freed in found.freed if freed.saving]
    assert (found.base.rest.gone, freed) == (0, [(relaxation, 1)])


@cases(
    "relaxation, own",
    ("a cordon", Relaxation(Unremovable.CORDONED_BY_OTHER, "n1"), {"unschedulable": True}),
    ("a taint", Relaxation(Unremovable.TAINTED, "a", "mine"), {"taints": (taint("mine"),)}),
    ("an annotation", Relaxation(Unremovable.SCALE_DOWN_DISABLED, "n1"),
     {"annotations": {names.SCALE_DOWN_DISABLED: "true"}}),
)  # fmt: skip
def test_what_is_shown_on_a_node_is_found_and_frees_it(relaxation: Relaxation, own: dict[str, Any]) -> None:
    found = _freed(cluster([node("n1", **own), node("n2")], [pod("p", on="n1", **HALF), KEEPS]))
    assert [(freed.relaxation, freed.nodes) for freed in found.freed] == [(relaxation, 1)]


@cases(
    "rule, spec",
    ("a selector", Exclusion.SELECTOR, {"node_selector": {"disk": "ssd"}}),
    ("apart", Exclusion.ANTI_AFFINITY, {"anti_affinity": (PodTerm(HOST, WEB, ("default",)),)}),
    ("company", Exclusion.AFFINITY,
     {"affinity": (PodTerm(HOST, LabelSelector((Requirement("x", "Exists"),)), ("default",)),)}),
    ("a port", Exclusion.HOST_PORT, {"host_ports": (HostPort("TCP", 80),)}),
    ("spread", Exclusion.SPREAD, {"hard_spread": (SpreadConstraint(ZONE, WEB),)}),
)  # fmt: skip
def test_a_rule_of_placement_that_alone_leaves_a_pod_no_place_is_found_and_frees_its_node(
    rule: Exclusion, spec: dict[str, Any]
) -> None:
    other = pod("k", on="n2", owner="StatefulSet/db", labels={"app": "web"}, host_ports=(HostPort("TCP", 80),),
                annotations={names.SAFE_TO_EVICT: "false"}, **SMALL)  # fmt: skip
    nodes = [node("n1", labels={"disk": "ssd"}), node("n2", zone="y")]
    found = _freed(cluster(nodes, [pod("p", on="n1", **SMALL, **spec), other]))
    assert (Relaxation(rule, "default/ReplicaSet/web"), 1) in [(freed.relaxation, freed.nodes) for freed in found.freed]


def test_headroom_is_tried_where_room_alone_is_short() -> None:
    pods = [pod("p", on="n1", **HALF), pod("k", on="n2", cpu=1.7, owner="StatefulSet/k", **KEPT)]
    found = _freed(cluster(TWO, pods), policy(headroom_percent=5, cpu_limit=Fraction(1)))
    assert _told(found) == {"room": 1}


def test_two_things_that_keep_one_node_are_no_single_change() -> None:
    picture = cluster([replace(TWO[0], unschedulable=True), TWO[1]], [pod("p", on="n1", owner=None), KEEPS])
    assert _told(_freed(picture)) == {}


def test_two_pods_of_one_workload_are_one_change() -> None:
    kind: dict[str, Any] = {"annotations": {names.SAFE_TO_EVICT: "false"}, **SMALL}
    pods = [pod(f"p{at}", on=f"n{at}", **kind) for at in (1, 2, 3)]
    found = _freed(cluster([node(f"n{at}") for at in range(1, 5)], pods))
    assert found.freed[0].relaxation == Relaxation(PodBlock.NOT_SAFE_TO_EVICT, "default/ReplicaSet/web")
    assert (found.base.rest.gone, found.freed[0].nodes, len(found.freed[0].held.nodes)) == (1, 2, 3)


@cases("expected, pools", ("in two pools: of all", "", ("a", "b")), ("in one: of that one", "a", ("a", "a")))
def test_a_setting_of_pools_is_one_change(expected: str, pools: tuple[str, str]) -> None:
    nodes = [node(f"n{at}", pool=pool) for at, pool in enumerate(pools)]
    pods = [pod(f"p{at}", on=one.name, owner="Job/j", **HALF) for at, one in enumerate(nodes)]
    ((found,), _) = find_relaxations(
        find_steady_state(_situation(cluster(nodes, pods), Policy(other_pools=PoolPolicy(enabled=True))), {}, PRICES)
    )
    assert (found.relaxation, found.nodes) == (Relaxation(PodBlock.JOB_RUNNING, expected), ("n0", "n1"))


def test_harmless_changes_come_first_whatever_the_others_free() -> None:
    nodes = [node("n1"), node("n2", machine="e2-standard-16"), node("n3")]
    kept: dict[str, Any] = {"annotations": {names.SAFE_TO_EVICT: "false"}, **SMALL}
    pods = [pod("p", on="n1", owner=None, **SMALL), pod("q", on="n2", **kept)]
    first, second = (freed for freed in _freed(cluster(nodes, pods)).freed if freed.saving)
    assert (first.relaxation.row.harm, second.relaxation.row.harm) == (Harm.NONE, Harm.WEAKENS)
    assert first.saving < second.saving


def test_a_change_without_room_for_what_it_lets_go_frees_nothing() -> None:
    pods = [pod("p", on="n1", cpu=3, annotations={"karpenter.sh/do-not-disrupt": "true"}), pod("q", on="n2", cpu=2.5)]
    found = _freed(cluster([*TWO, node("n3")], [*pods, pod("r", on="n3", cpu=2.5)]), policy(cpu_limit=Fraction(1)))
    assert _told(found)["do_not_disrupt default/ReplicaSet/web"] == 0


def test_where_the_bound_leaves_nothing_nothing_is_tried() -> None:
    """More than one node's CPU is asked for, so that both stay whatever is changed."""
    pods = [pod("p", on="n1", annotations={"karpenter.sh/do-not-disrupt": "true"}, **HALF), pod("q", on="n2", cpu=2.5)]
    found = _freed(cluster(TWO, pods))
    assert [held.relaxation.reason for held in found.hopeless] == [PodBlock.DO_NOT_DISRUPT]
    assert (found.freed, found.left) == ((), ())


def test_what_frees_most_money_comes_first_and_so_many_are_tried() -> None:
    rows = [("n1", "e2-standard-4"), ("n2", "e2-standard-16"), ("n3", "e2-standard-8")]
    nodes = [node(name, machine=machine) for name, machine in rows]
    pods = [pod(f"p-{name}", on=name, owner=None, **SMALL) for name, _ in rows]
    found = _freed(cluster([*nodes, node("n4")], pods), most=2)
    assert [freed.relaxation.object for freed in found.freed] == ["default/p-n2", "default/p-n3"]
    assert found.freed[0].saving > found.freed[1].saving > 0
    assert [held.relaxation.object for held in found.left] == ["default/p-n1"]


@cases(
    "gone, rules",
    ("a window has opened at rest", 1, {"windows": (Schedule("0 3 * * *", timedelta(hours=1)),)}),
    ("ages", 1, {"minimum_node_age": timedelta(days=100), "minimum_pod_age": timedelta(days=1)}),
    ("no window at all is no single change", 0, {"windows": ()}),
)
def test_what_time_opens_is_no_reason(gone: int, rules: dict[str, Any]) -> None:
    found = _freed(cluster(TWO, [pod("p", on="n1", **HALF), KEEPS]), policy(**rules))
    assert (found.base.rest.gone, found.freed) == (gone, ())


def test_a_relaxation_changes_nothing_else() -> None:
    pods = [pod("p", on="n1", owner=None), pod("q", on="n2", owner=None)]
    situation = _situation(cluster(TWO, pods))
    before = {row.node.name: row.blockers for row in assess_nodes(situation)}
    changed = Relaxation(PodBlock.NOT_REPLICATED, "default/p").apply(situation)
    after = {row.node.name: row.blockers for row in assess_nodes(changed)}
    assert (after["n1"], after["n2"]) == ((), before["n2"])
    assert {row.node.name: row.blockers for row in assess_nodes(situation)} == before


def test_how_far_it_is_is_shown_as_it_goes() -> None:
    heard: list[tuple[int, int]] = []
    picture = cluster(TWO, [KEEPS, pod("p", on="n1", owner=None)])
    why_not(find_steady_state(_situation(picture), {}, PRICES), 9, lambda *at: heard.append(at))
    assert heard[:2] == [(0, 1), (1, 1)]
    assert heard[-1][0] == heard[-1][1]


def test_what_keeps_a_node_now_and_not_alone_in_steady_state_is_named_and_not_tried() -> None:
    """n1 takes what leaves n2, and is as full then as the policy lets it be."""
    pods = [pod("p", on="n1", labels={"app": "db"}, **HALF), pod("q", on="n2", cpu=1)]
    found = _freed(cluster(TWO, pods, disruption_budgets=(NEVER,)))
    assert (found.base.rest.gone, found.freed) == (1, ())
    assert [held.relaxation for held in found.passing] == [Relaxation(PodBlock.PDB_NEVER_ALLOWS, "default/db")]


PASSING: Final = cluster(
    [node("n1", cpu=8, memory=32), node("n2", cpu=8, memory=32), node("big", cpu=16, memory=64)],
    [
        pod("p", on="n1", owner="Job/p", cpu=4.2, memory=0.2),
        pod("q", on="n2", cpu=2, memory=0.2),
        pod("k", on="big", owner="StatefulSet/k", cpu=9.6, memory=48, **KEPT),
    ],
)
"""The autoscaler empties n2, and then n1, where a Job runs, is too full for the policy, too."""


def test_a_setting_that_keeps_a_node_now_is_tried_from_now_as_a_plan_with_it_would() -> None:
    found = _freed(PASSING)
    moving = find_steady_state(_situation(PASSING, policy(jobs=Jobs.MOVE)), {}, PRICES)
    (freed,) = (freed for freed in found.freed if freed.relaxation.reason is PodBlock.JOB_RUNNING)
    assert (found.base.rest.order, moving.rest.order) == (("n2",), ("n1", "n2"))
    assert (freed.nodes, freed.saving, freed.rest.is_rest) == (1, moving.saving - found.base.saving, True)
    assert found.passing == ()
    scenarios = scenarios_of(find_steady_state(_situation(PASSING), {}, PRICES))
    assert [(scenario.change, scenario.nodes) for scenario in scenarios.relaxed] == [(freed.relaxation, 1)]


def test_a_node_that_goes_anyway_is_held_by_no_change() -> None:
    """The autoscaler empties n1, whatever Ebb may do with Jobs."""
    found = _freed(cluster(TWO, [pod("p", on="n1", owner="Job/p", **SMALL), KEEPS]))
    assert (found.base.rest.order, found.freed, found.passing) == (("n1",), (), ())


@examples(15)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(3, 14),
    fill=st.sampled_from((0.3, 0.5, 0.7)),
    profile=st.sampled_from(("BALANCED", "OPTIMIZE_UTILIZATION")),
)
def test_its_base_is_the_policys_steady_state_and_no_change_is_worth_more_than_the_bound_leaves(
    seed: int, nodes: int, fill: float, profile: str
) -> None:
    snapshot = replace(picture_of(generated(nodes, Mix.MIXED, fill=fill, pods_a_node=5, seed=seed)), profile=profile)
    situation = _situation(snapshot, Policy(other_pools=PoolPolicy(enabled=True)))
    base = find_steady_state(situation, {}, PRICES)
    found, told = why_not(base, 5), scenarios_of(base)
    rest = found.base.rest.snapshot.nodes
    assert (len(rest), PRICES.cost_of(rest), found.base.rest.by) == (told.at_rest.nodes, told.at_rest.cost, told.by)
    for freed in found.freed:
        assert 0 <= freed.saving <= PRICES.cost_of(rest)
        assert (freed.saving > 0) or freed.nodes == 0


def _at_rest(picture: Snapshot) -> PolicyAtRest:
    return find_steady_state(_situation(picture, policy(cpu_limit=Fraction(1))), {}, PRICES)


def test_what_goes_without_a_change_too_is_no_merit_of_one() -> None:
    """The rounds ended before the empty node went; only one node takes the pod that the change lets go: that one."""
    kept = pod("p", on="n1", cpu=3, annotations={"karpenter.sh/do-not-disrupt": "true"})
    base = _at_rest(cluster([*TWO, node("n3")], [kept, pod("q", on="n2", cpu=2.5)]))
    early = replace(base, rest=base.start, settled=False)
    (freed,) = try_relaxations(early, find_relaxations(early)[0], 9, 600).freed
    assert (freed.relaxation.reason, freed.nodes, freed.saving) == (PodBlock.DO_NOT_DISRUPT, 0, 0)


@pytest.mark.parametrize(("rounds", "is_rest", "left"), [(3, True, 600), (3, True, 3), (2, False, 2), (1, False, 1)])
def test_a_change_is_followed_for_no_more_rounds_than_all_changes_have(rounds: int, is_rest: bool, left: int) -> None:
    """The budget lets one pod go at a time: two rounds, and one in which nothing more goes."""
    pods = [pod(f"p{n}", on=f"n{n}", owner="ReplicaSet/db", **HALF) for n in range(3)]
    nodes = [*(node(f"n{n}") for n in range(3)), node("big", cpu=16)]
    full = pod("full", on="big", cpu=9, owner="ReplicaSet/full")
    base = _at_rest(cluster(nodes, [*pods, full], disruption_budgets=(NEVER,)))
    found = try_relaxations(base, find_relaxations(base)[0], 9, left)

    assert [(freed.rest.rounds, freed.rest.is_rest) for freed in found.freed] == [(rounds, is_rest)]


def test_what_holds_most_money_is_followed_furthest() -> None:
    """Both need two rounds, and have three together."""
    owners = ("ReplicaSet/db", "ReplicaSet/db", "ReplicaSet/db", "ReplicaSet/few")
    pods = [pod(f"p{n}", on=f"n{n}", owner=owner, **HALF) for n, owner in enumerate(owners)]
    full = pod("full", on="big", cpu=9, owner="ReplicaSet/full")
    few = pdb("few", allowed=0, max_unavailable=Limit(count=0), app="few")
    nodes = [*(node(f"n{n}") for n in range(4)), node("big", cpu=19)]
    base = _at_rest(cluster(nodes, [*pods, full], disruption_budgets=(NEVER, few)))
    found = try_relaxations(base, find_relaxations(base)[0], 9, 3)

    told = {freed.relaxation.object: (freed.rest.rounds, freed.rest.is_rest) for freed in found.freed}
    assert told == {"default/db": (2, True), "default/few": (1, False)}
