"""Each rule of the cluster autoscaler, in its order, and what Ebb makes of it (docs/decisions/autoscaler.md has all).

Source: cluster-autoscaler, simulator/drainability/rules and core/scaledown, with the flags that GKE sets.
"""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import Toleration
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Jobs, KubeSystemPods, Limit, LocalStorage, PoolPolicy
from shared.core.reasons import DrainReason, PodBlock, Reason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import count_nodes
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.gates import claim_blockers
from shared.core.rules.nodes import judge_node
from shared.core.rules.pods import judge, stays_with_node
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pdb, pod, policy, resources, taint
from tests.depth import cases

EVERYTHING = (Toleration("", "Exists"),)
SKIPPED: Final = "stays with its node"
MOVED: Final = "is moved"
SAFE = {names.SAFE_TO_EVICT: "true"}
DISK = (Volume("data", "hostPath"),)
SHUT = pdb("web", allowed=0, expected_pods=3, current_healthy=2, desired_healthy=2)
IMPOSSIBLE = pdb("web", allowed=0, max_unavailable=Limit(count=0))
REPLICATED = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
LEAVE = {"kube_system_pods": KubeSystemPods.LEAVE}


class Case(NamedTuple):
    """A pod on a node that is to go, and what becomes of it."""

    expected: str | list[str]
    subject: Pod
    budgets: tuple[PodDisruptionBudget, ...] = ()
    settings: Mapping[str, Any] = MappingProxyType({})

    @property
    def reasons(self) -> list[str]:
        return [] if isinstance(self.expected, str) else self.expected

    def found(self) -> str | list[str]:
        context = DrainContext(self.budgets, PoolPolicy(**{"jobs": Jobs.MOVE, **self.settings}), NOW)
        if stays_with_node(self.subject, NOW):
            return SKIPPED
        return [blocker.reason.value for blocker in judge(self.subject, context)] or MOVED


def dying(seconds: int) -> Pod:
    return pod("p", deleting=NOW - timedelta(seconds=seconds))


POD_RULES: Mapping[str, tuple[Case, ...]] = {
    "Mirror": (Case(SKIPPED, pod("p", owner="Node/n1", annotations={names.MIRROR: "x"})),),
    "LongTerminating": (Case(SKIPPED, dying(61)), Case(MOVED, dying(60))),
    "DaemonSet": (
        Case(SKIPPED, pod("p", owner="DaemonSet/agent", volumes=DISK), (SHUT,)),
        Case(SKIPPED, pod("p", owner=None, annotations={names.DAEMON_SET_POD: "true"})),
    ),
    "SafeToEvict": (
        Case(MOVED, pod("p", annotations=SAFE, volumes=DISK)),
        Case(MOVED, pod("p", annotations=SAFE, namespace="kube-system"), settings=LEAVE),
        Case(["pdb_exhausted"], pod("p", annotations=SAFE), (SHUT,)),
        Case(["not_replicated"], pod("p", annotations=SAFE, owner=None)),
    ),
    "Terminal": (
        Case(SKIPPED, pod("p", owner=None, phase=Phase.FAILED)),
        Case(SKIPPED, pod("p", owner="Job/x", phase=Phase.SUCCEEDED, restart_policy="OnFailure")),
    ),
    "OnCompletion": (Case(["waits_for_completion"], pod("p", annotations={names.SAFE_TO_EVICT: "on-completion"})),),
    "Replicated": (
        Case(["not_replicated"], pod("p", owner=None)),
        Case(["not_replicated"], pod("p", owner="Workflow/x")),
        *(Case(MOVED, pod("p", owner=f"{kind}/x")) for kind in REPLICATED),
    ),
    "System": (
        Case(["kube_system"], pod("p", namespace="kube-system"), settings=LEAVE),
        Case(MOVED, pod("p", namespace="kube-system", created=NOW)),
    ),
    "NotSafeToEvict": (Case(["not_safe_to_evict"], pod("p", annotations={names.SAFE_TO_EVICT: "false"})),),
    "LocalStorage": (
        Case(["local_storage"], pod("p", volumes=DISK)),
        Case(MOVED, pod("p", volumes=DISK), settings={"local_storage": LocalStorage.EVICT}),
        Case(MOVED, pod("p", volumes=DISK, annotations={names.SAFE_LOCAL_VOLUMES: "data"})),
    ),
    "PDB": (Case(["pdb_exhausted"], pod("p"), (SHUT,)), Case(["pdb_never_allows"], pod("p"), (IMPOSSIBLE,))),
    "expendable pods": (
        Case(MOVED, pod("p", priority=-11)),
        Case(["not_replicated"], pod("p", priority=-11, owner=None)),
    ),
}
"""By the autoscaler's rule."""


def kept(
    pool: NodePool | None = None, on_n1: Pod | None = None, minimum: Resources = NOTHING, **first: Any
) -> list[str]:
    """Return by which words n1, one of two nodes, stays."""
    nodes, pods = [node("n1", **first), node("n2")], [on_n1] if on_n1 else []
    snapshot, state, n1 = cluster(nodes, pods, pools={"a": pool or NodePool("a")}), ClusterState(), nodes[0]
    counts = count_nodes(nodes, snapshot.pools, state, policy(), NOW, minimum)
    judged = judge_node(n1, Situation(snapshot, state, policy()))
    found = (*judged, *claim_blockers(counts, n1, DrainReason.UNDERUTILIZED))
    return [blocker.reason.value for blocker in found]


NODE_RULES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "group at its minimum size": ("pool_at_minimum", {"pool": NodePool("a", min_total=2)}),
    "no autoscaled group": ("not_autoscaled", {"pool": NodePool("a", autoscaled=False)}),
    "scale-down-disabled": ("scale_down_disabled", {"annotations": {names.SCALE_DOWN_DISABLED: "true"}}),
    "node being deleted": ("going_away", {"taints": (taint(names.AUTOSCALER_DELETING_TAINT),)}),
    "node not Ready": ("not_ready", {"ready": False}),
    "pods that come back": ("tolerates_drain_taint", {"on_n1": pod("p", on="n1", tolerations=EVERYTHING)}),
    "pods that do not end": ("still_terminating", {"on_n1": pod("p", on="n1", deleting=NOW + timedelta(hours=1))}),
    "upgrades": ("pool_upgrading", {"pool": NodePool("a", upgrading=True)}),
    "minimum of cores and memory": ("resource_minimum", {"minimum": resources(5)}),
    "atomic groups": ("atomic_pool", {"pool": NodePool("a", queued=True)}),
}
"""By what keeps a node from the autoscaler: the word, and what is wrong with n1 or its pool."""


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in POD_RULES.items() for case in cases])
def test_what_becomes_of_a_pod_by_the_autoscalers_rule(rule: str, case: Case) -> None:
    assert case.found() == case.expected, rule


@pytest.mark.parametrize("rule", NODE_RULES)
def test_a_node_that_the_autoscaler_would_keep_is_not_drained(rule: str) -> None:
    word, wrong = NODE_RULES[rule]
    assert [row for row in kept(**wrong) if row != "blocked_by_pod"] == [word]


MESSAGE_IDS: Final = frozenset(
    f"no.scale.down.{any_pod}"
    for any_pod in (
        "unexpected.error", "not.tried", "in.backoff", "in.progress",
        "node.scale.down.disabled.annotation", "node.node.group.min.size.reached",
        "node.minimal.resource.limits.exceeded", "node.no.place.to.move.pods", "node.unexpected.error",
        "node.pod.controller.not.found", "node.pod.min.replicas.reached", "node.pod.not.backed.by.controller",
        "node.pod.has.local.storage", "node.pod.not.safe.to.evict.annotation", "node.pod.kube.system.unmovable",
        "node.pod.not.enough.pdb", "node.pod.unexpected.error",
    )
) | frozenset(
    f"scale.down.error.{any_pod}"
    for any_pod in (
        "failed.to.mark.to.be.deleted", "failed.to.evict.pods", "failed.to.delete.node.min.size.reached",
        "failed.to.delete.node.other",
    )
)  # fmt: skip
"""Those of GKE's autoscaler about nodes that stay."""


@pytest.mark.parametrize("reason", [any_reason for any_reason in (*PodBlock, *Unremovable) if any_reason.message_id])
def test_a_message_id_that_a_reason_carries_is_one_of_gkes(reason: Reason) -> None:
    assert reason.message_id in MESSAGE_IDS


@cases(
    "expected, reason",
    ("a bare pod", "no.scale.down.node.pod.not.backed.by.controller", PodBlock.NOT_REPLICATED),
    ("a PDB", "no.scale.down.node.pod.not.enough.pdb", PodBlock.PDB_EXHAUSTED),
    ("two of ours, one of its", "no.scale.down.node.pod.not.enough.pdb", PodBlock.PDB_NEVER_ALLOWS),
    ("what the autoscaler knows nothing of", "", Unremovable.PAUSED),
)
def test_a_reason_names_the_autoscalers_message(expected: str, reason: Reason) -> None:
    assert reason.message_id == expected
