from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import NOTHING, TPU, Resources
from shared.core.policy import ConsolidationPolicy, Policy
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.state import Backoff, ClusterState
from shared.core.rules.nodes import SAFETY_RULES, atomic_group, judge_node
from shared.core.rules.situation import Situation
from tests.builders import NOW, announced_taint, cluster, node, our_taint, pod, policy, taint
from tests.core.planning.passes import ordered, plan, verdicts
from tests.depth import cases

GPU = taint("nvidia.com/gpu", value="present")


def reasons(subject: Node, *others: Node | Pod, settings: Policy | None = None, **context: Any) -> list[str]:
    nodes = [subject, *(other for other in others if isinstance(other, Node))]
    pods = [other for other in others if isinstance(other, Pod)]
    snapshot = cluster(nodes, pods, pools=context.pop("pools", None))
    state = context.pop("state", ClusterState())
    judged = judge_node(subject, Situation(snapshot, state, settings or policy()), **context)
    return [blocker.reason.value for blocker in judged]


def test_a_plain_old_node_is_a_candidate() -> None:
    assert reasons(node("n1"), pod("p", on="n1")) == []


@pytest.mark.acceptance(2)
def test_a_node_without_a_pool_is_never_a_candidate() -> None:
    assert reasons(node("n1", pool=""))[0] == Unremovable.NO_POOL


@pytest.mark.acceptance(3)
@cases(
    "settings",
    ("the pool is not in the policy", Policy()),
    ("enabled is false, as when omitted", policy("a", enabled=False)),
)
def test_a_pool_that_the_policy_does_not_enable_is_left_alone(settings: Policy) -> None:
    assert reasons(node("n1"), settings=settings) == [Unremovable.POOL_DISABLED]


@pytest.mark.acceptance(110)
def test_a_pool_without_autoscaling_is_refused_with_a_reason() -> None:
    assert reasons(node("n1"), pools={"a": NodePool("a", autoscaled=False)}) == [Unremovable.NOT_AUTOSCALED]


@cases(
    "expected, known", ("GKE answered without it", [Unremovable.POOLS_UNKNOWN], True), ("GKE was not asked", [], False)
)
def test_a_pool_that_gke_does_not_report_is_refused(expected: list[str], known: bool) -> None:
    snapshot = replace(cluster([node("n1")]), pools={}, pools_known=known)
    judged = judge_node(snapshot.nodes[0], Situation(snapshot, ClusterState(), policy()))
    assert [blocker.reason for blocker in judged] == expected


@pytest.mark.acceptance(24)
@cases("changes", ("no allocatable", {"allocatable": NOTHING}), ("no CPU", {"cpu": 0}), ("no memory", {"memory": 0}))
def test_a_node_without_allocatable_is_skipped_with_a_reason(changes: dict[str, Any]) -> None:
    assert reasons(node("n1", **changes)) == [Unremovable.NO_ALLOCATABLE]


@pytest.mark.acceptance(28)
@cases(
    "expected, age",
    ("1199 s no", [Unremovable.TOO_YOUNG], 1199),
    ("1200 s: strictly older is asked", [Unremovable.TOO_YOUNG], 1200),
    ("1201 s yes", [], 1201),
)
def test_a_node_must_be_older_than_the_minimum_age(expected: list[str], age: int) -> None:
    assert reasons(node("n1", created=NOW - timedelta(seconds=age))) == expected


@cases(
    "expected, subject",
    ("cordoned by a person", [Unremovable.CORDONED_BY_OTHER], node("n1", unschedulable=True)),
    ("cordoned by us is the planner's", [], node("n1", unschedulable=True, taints=(our_taint(),))),
    ("not ready", [Unremovable.NOT_READY], node("n1", ready=False)),
    ("it never was ready", [Unremovable.NOT_READY], node("n1", ready=False, once_ready=False)),
    ("a candidate of the autoscaler, which has done nothing yet", [], node("n1", taints=(announced_taint(),))),
    ("being deleted", [Unremovable.GOING_AWAY], node("n1", taints=(taint(names.AUTOSCALER_DELETING_TAINT),))),
)
@pytest.mark.acceptance(41, 43)
def test_a_node_in_another_state_shows_it(expected: list[str], subject: Node) -> None:
    assert reasons(subject) == expected


@pytest.mark.acceptance(42)
@cases(
    "expected, others, ignored",
    ("a taint of its own", [Unremovable.TAINTED], [node("n2")], ()),
    ("the pool's permanent taint", [], [node("n2", taints=(GPU,))], ()),
    ("on the ignore list", [], [node("n2")], ("nvidia.com/gpu",)),
)
def test_a_tainted_node_is_excluded_unless_the_taint_is_known(
    expected: list[str], others: list[Node], ignored: tuple[str, ...]
) -> None:
    settings = policy(ignore_taints=frozenset(ignored))
    assert reasons(node("n1", taints=(GPU,)), *others, settings=settings) == expected


def test_a_soft_taint_does_not_count_and_a_condition_is_never_permanent() -> None:
    assert reasons(node("n1", taints=(taint("soft", "PreferNoSchedule"),)), node("n2")) == []
    assert reasons(node("n1", taints=(taint("node.kubernetes.io/disk-pressure"),))) == [Unremovable.TAINTED]


def test_a_node_backs_off_until_its_time() -> None:
    def at(until: timedelta) -> ClusterState:
        return ClusterState(backoffs={"uid-n1": Backoff("n1", NOW + until, timedelta(minutes=30), "deadline")})

    assert reasons(node("n1"), state=at(timedelta(seconds=1))) == [Unremovable.BACKING_OFF]
    assert reasons(node("n1"), state=at(timedelta(0))) == []


@cases(
    "expected, note",
    ("somebody undid it", [Unremovable.BACKING_OFF], '{"order_id":"o","since":"2026-03-04T22:00:00Z"}'),
    ("nonsense proves nothing", [], "not json"),
)
def test_what_is_left_of_our_annotation_keeps_the_node_until_it_is_cleared(
    expected: list[Unremovable], note: str
) -> None:
    assert reasons(node("n1", annotations={names.OUR_ANNOTATION: note})) == expected


@pytest.mark.acceptance(37, 39)
def test_a_blocking_pod_blocks_the_node_and_is_named() -> None:
    held = [pod("bare", on="n1", owner=None), pod("held", on="n1", annotations={names.SAFE_TO_EVICT: "false"})]
    snapshot = cluster([node("n1")], held)
    judged = judge_node(snapshot.nodes[0], Situation(snapshot, ClusterState(), policy()))
    assert [(blocker.reason, blocker.object) for blocker in judged] == [
        (Unremovable.BLOCKED_BY_POD, "default/bare"),
        (PodBlock.NOT_REPLICATED, "default/bare"),
        (PodBlock.NOT_SAFE_TO_EVICT, "default/held"),
    ]


@pytest.mark.acceptance(78)
def test_when_empty_lets_only_daemons_be() -> None:
    settings = policy(consolidation_policy=ConsolidationPolicy.WHEN_EMPTY)
    assert reasons(node("n1"), pod("web", on="n1"), settings=settings) == [Unremovable.NOT_EMPTY]
    assert reasons(node("n1"), pod("agent", on="n1", owner="DaemonSet/agent"), settings=settings) == []


def test_all_reasons_are_kept_in_the_order_of_the_rules() -> None:
    subject = node("n1", ready=False, unschedulable=True, created=NOW)
    assert reasons(subject, pod("bare", on="n1", owner=None), settings=policy(enabled=False)) == [
        "pool_disabled",
        "not_ready",
        "cordoned_by_other",
        "too_young",
        "blocked_by_pod",
        "not_replicated",
    ]


def test_potential_leaves_out_timers_and_constraints_but_no_safety_rule() -> None:
    subject = node("n1", ready=False, created=NOW)
    assert reasons(subject, settings=policy(enabled=False), rules=SAFETY_RULES) == [Unremovable.NOT_READY]


def test_a_refusal_that_passes_with_time_shows_how_far_it_is() -> None:
    snapshot = cluster([node("n1", created=NOW - timedelta(seconds=600))])
    (judged,) = judge_node(snapshot.nodes[0], Situation(snapshot, ClusterState(), policy()))
    assert judged.detail == "600 s of 1200 s"


SUSPENDED = {
    "labels": {names.STANDBY_NODE: "true"},
    "taints": (taint(names.STANDBY_SUSPENDED_TAINT), taint(names.STANDBY_NODE, "PreferNoSchedule")),
    "unschedulable": True,
    "ready": False,
    "conditions": frozenset({names.SUSPENDED_CONDITION}),
}


@cases(
    "expected, changes",
    ("suspended: cordoned, not Ready, tainted by GKE", [Unremovable.STANDBY_NODE], SUSPENDED),
    ("waiting, by its label", [Unremovable.STANDBY_NODE], {"labels": {names.STANDBY_NODE: "true"}}),
    ("by its taint", [Unremovable.STANDBY_NODE], {"taints": (taint(names.STANDBY_NODE, "PreferNoSchedule"),)}),
    ("used up: the label is gone", [], {"labels": {f"{names.STANDBY_NODE}-buffer": "shop/b"}}),
    ("managed by Google", [Unremovable.MANAGED_NODE],
     {"labels": {names.MANAGED_NODE: "true"}, "taints": (taint(names.MANAGED_NODE, value="true"),)}),
    ("a virtual kubelet", [Unremovable.MANAGED_NODE], {"labels": {"type": "virtual-kubelet"}}),
    *((name, [Unremovable.BEING_MAINTAINED], {"conditions": frozenset({name})}) for name in names.LIFECYCLE_CONDITIONS),
)  # fmt: skip
def test_nodes_that_are_not_there_to_be_consolidated_show_it_alone(
    expected: list[str], changes: dict[str, Any]
) -> None:
    """Of a suspended node the one reason is told, not that it is cordoned, tainted and not Ready."""
    assert reasons(node("n1", **changes), node("n2")) == expected


QUEUED, PROVISIONED = names.QUEUED_KEYS
GROUP, NAMED = names.PLACEMENT_LABELS


def tpu(chips: int, topology: str = "", machine: str = "ct5lp-hightpu-4t", **changes: Any) -> Node:
    labels = {names.MACHINE_LABEL: machine, **({names.TPU_TOPOLOGY_LABEL: topology} if topology else {})}
    plain = node("n1", cpu=112, memory=180, labels=labels, **changes)
    return replace(plain, allocatable=plain.allocatable + Resources.of({TPU: chips}))


@cases(
    "expected, subject, pool",
    ("a plain node", "", node("n1"), NodePool("a")),
    ("a pool that GKE does not report", "", node("n1"), None),
    # TPU
    ("eight hosts by their label", "TPU slice 4x8 of several hosts", tpu(4, "4x8"), None),
    ("by the API", "TPU slice 4x8 of several hosts", tpu(4), NodePool("a", tpu_topology="4x8")),
    ("three dimensions", "TPU slice 2x2x2 of several hosts", tpu(4, "2x2x2"), None),
    ("one host with all chips", "", tpu(8, "2x4", "ct5lp-hightpu-8t"), None),
    ("one chip", "", tpu(1, "1x1", "ct5lp-hightpu-1t"), NodePool("a", tpu_topology="1x1")),
    ("one host whose device plugin is not up yet", "", tpu(0, "2x4", "ct5lp-hightpu-8t"), None),
    ("nor is that of several", "TPU slice 4x8 of several hosts", tpu(0, "4x8"), None),
    ("chips that nothing shows", "TPU slice 2x2 of several hosts", tpu(0, "2x2", "custom"), None),
    ("a shape that cannot be read", "TPU slice odd of several hosts", tpu(4, "odd"), None),
    # queued provisioning
    ("queued by the API", "queued provisioning", node("n1"), NodePool("a", queued=True)),
    ("by a label", "queued provisioning", node("n1", labels={QUEUED: "true"}), None),
    ("by its request's label", "queued provisioning", node("n1", labels={PROVISIONED: "r-1"}), None),
    ("by a taint", "queued provisioning", node("n1", taints=(taint(QUEUED),)), None),
    # compact placement
    ("compact by the API", "compact placement", node("n1"), NodePool("a", compact=True)),
    ("by its group's label", "compact placement", node("n1", labels={GROUP: "g"}), None),
    ("by its policy's label", "compact placement", node("n1", labels={NAMED: "mine"}), None),
)
def test_what_binds_a_node_to_others(expected: str, subject: Node, pool: NodePool | None) -> None:
    assert atomic_group(subject, pool) == expected


def test_an_idle_slice_of_several_hosts_is_left_whole() -> None:
    hosts = [replace(tpu(4, "4x8"), name=f"tpu-{number}", uid=f"uid-tpu-{number}") for number in range(8)]

    made = plan(cluster([*hosts, node("web")]), policy(max_nodes_per_pass=9))

    assert ordered(made) == ["web"]
    assert {verdicts(made)[host.name] for host in hosts} == {("keep", "atomic_pool")}


def test_what_could_go_at_all_counts_no_part_of_a_group() -> None:
    snapshot = cluster([node("n1"), node("n2", labels={QUEUED: "true"}), node("n3")])

    assert potential(Situation(snapshot, ClusterState(), policy()), load()).nodes == ("n1", "n3")
