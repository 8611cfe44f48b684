from datetime import timedelta
from typing import Any

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment, PodDisruptionBudget, Workload
from shared.core.policy import Jobs, Limit, PoolPolicy, SingleReplicas
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pods import goes_last, judge
from tests.builders import NOW, pdb, pod
from tests.depth import cases

WEB = "default/ReplicaSet/web"
NAME = "default/Deployment/web"
MINUTE = timedelta(minutes=1)


def found(
    subject: Pod, workload: Workload | None = None, *budgets: PodDisruptionBudget, **policy: Any
) -> tuple[str, list[str]]:
    """Return in a word whether the pod moves, is waited for or blocks, and the words of all that keeps it."""
    known = {subject.spec.workload: workload} if workload else {}
    reasons = [blocker.reason for blocker in judge(subject, DrainContext(budgets, PoolPolicy(**policy), NOW, known))]
    kind = "moves" if not reasons else "waits" if all(reason.row.passes for reason in reasons) else "blocks"
    return kind, [reason.value for reason in reasons]


@cases(
    "expected, setting, owner, wanted",
    ("moved by default", [], SingleReplicas.MOVE, "ReplicaSet/web", 1),
    ("avoided is a matter of order, no block", [], SingleReplicas.AVOID, "ReplicaSet/web", 1),
    ("never moved", ["single_replica"], SingleReplicas.NEVER, "ReplicaSet/web", 1),
    ("nor of a StatefulSet", ["single_replica"], SingleReplicas.NEVER, "StatefulSet/db", 1),
    ("one of two is not single", [], SingleReplicas.NEVER, "ReplicaSet/web", 2),
    ("not known is not single", [], SingleReplicas.NEVER, "ReplicaSet/web", None),
    ("a Job's pod is the Job setting's", [], SingleReplicas.NEVER, "Job/batch", 1),
)
def test_a_single_replica_follows_the_policy(
    expected: list[str], setting: SingleReplicas, owner: str, wanted: int | None
) -> None:
    assert found(pod("p", owner=owner), Workload("w", wanted), single_replicas=setting, jobs=Jobs.MOVE)[1] == expected


@cases(
    "expected, settings",
    ("moved", ("moves", []), {"jobs": Jobs.MOVE}),
    ("waited for", ("waits", ["job_running"]), {"jobs": Jobs.WAIT}),
    ("never moved", ("blocks", ["job"]), {"jobs": Jobs.NEVER}),
    ("waited for unless the policy shows otherwise", ("waits", ["job_running"]), {}),
)
def test_a_jobs_pod_follows_the_policy(expected: tuple[str, list[str]], settings: dict[str, Any]) -> None:
    assert found(pod("p", owner="Job/batch"), **settings) == expected


@cases(
    "expected, minimum, changes",
    ("any age by default", [], 0, {"created": NOW}),
    ("a second short", ["too_young_pod"], 10, {"created": NOW - 10 * MINUTE + timedelta(seconds=1)}),
    ("at exactly that age it may go", [], 10, {"created": NOW - 10 * MINUTE}),
    ("a pod that is leaving keeps nothing", [], 10, {"created": NOW, "deleting": NOW}),
    ("of unknown age", [], 10, {"created": None}),
    ("a DaemonSet's", [], 10, {"created": NOW, "owner": "DaemonSet/agent"}),
)
def test_a_young_pod_keeps_its_node_for_a_while(expected: list[str], minimum: int, changes: dict[str, Any]) -> None:
    assert found(pod("p", **changes), minimum_pod_age=minimum * MINUTE)[1] == expected


def test_a_workload_in_a_rollout_waits_and_is_named() -> None:
    rolling = Workload(NAME, 3, 3, rolling=True)
    found = judge(pod("p"), DrainContext((), PoolPolicy(), NOW, {WEB: rolling}))

    assert all(blocker.reason.row.passes for blocker in found)
    assert [(blocker.reason.value, blocker.object, blocker.detail) for blocker in found] == [
        ("rolling_out", "default/p", NAME)
    ]


@cases(
    "expected, changes",
    ("it goes on", "", {}),
    ("a person halted it", ", paused", {"paused": True}),
    ("it makes no progress", ", past its progress deadline", {"progressing": False}),
)
def test_a_rollout_that_waiting_does_not_end_is_named(expected: str, changes: dict[str, Any]) -> None:
    rolling = Workload(NAME, 3, 3, rolling=True, deployment=Deployment(name=NAME, wanted=3, **changes))
    (found,) = judge(pod("p"), DrainContext((), PoolPolicy(), NOW, {WEB: rolling}))
    assert found.detail == NAME + expected


@cases(
    "expected, available, subject, budgets, settings",
    ("all there: one may go", [], 4, pod("p"), (), {}),
    ("a quarter away already", ["too_few_available"], 3, pod("p"), (), {}),
    ("the policy lets two be away", [], 3, pod("p"), (), {"unprotected": Limit(count=2)}),
    ("the one that is away may go", [], 3, pod("p", ready=False), (), {}),
    ("the one that is leaving may go", [], 3, pod("p", deleting=NOW), (), {}),
    ("a PDB speaks for itself", [], 3, pod("p"), (pdb("web", app="web"),), {}),
)
def test_a_workload_without_a_pdb_loses_no_more_than_a_quarter(
    expected: list[str],
    available: int,
    subject: Pod,
    budgets: tuple[PodDisruptionBudget, ...],
    settings: dict[str, Any],
) -> None:
    assert found(subject, Workload(NAME, 4, available), *budgets, **settings)[1] == expected


def test_what_waits_and_blocks_at_once_is_a_block() -> None:
    bare_job = pod("p", owner="Job/batch", annotations={"karpenter.sh/do-not-disrupt": "true"})
    assert found(bare_job) == ("blocks", ["job_running", "do_not_disrupt"])


def test_only_a_policy_that_avoids_single_replicas_sends_their_node_to_the_end() -> None:
    def last(*pods: Pod, **policy: Any) -> bool:
        return goes_last(pods, DrainContext((), PoolPolicy(**policy), NOW, {WEB: Workload(NAME, 1)}))

    assert last(pod("p"), single_replicas=SingleReplicas.AVOID)
    assert not last(pod("p"), single_replicas=SingleReplicas.MOVE)
    assert not last(pod("p", owner="ReplicaSet/other"), single_replicas=SingleReplicas.AVOID)
