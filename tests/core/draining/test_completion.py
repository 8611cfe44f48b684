from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.drain import Await, LeaveToAutoscaler, Observation, OtherDrains, ReturnNode, WritePhase
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import with_baselines
from shared.core.policy import BudgetUntil, DrainSettings
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress, Replicas
from tests.builders import NOW, claim, node, order, our_taint, pod, policy, taint
from tests.depth import cases

LATER = NOW + timedelta(minutes=1)  # A minute after the cordon.
SET, OTHER_SET, WEB = "default/ReplicaSet/web", "default/ReplicaSet/web-new", "default/Deployment/web"
DRAINED, LEAVE, WATCH = WritePhase(DrainPhase.DRAINED), LeaveToAutoscaler(), Await(timedelta(seconds=5))
PENDING = ReturnNode(ReturnReason.REPLACEMENT_PENDING, "default/new", ("default/new",))
DELETED = node("n1", unschedulable=True, taints=(our_taint(), taint(AUTOSCALER_DELETING_TAINT)))
WATCHDOG = DrainSettings().watchdog
REPLACED = policy(cluster_wide={"budget_until": BudgetUntil.REPLACED})
FOUR = Replicas(bound=4, available=4)
FOUR_OF_WEB = Replicas(bound=4, available=4, workload=WEB)


def record(phase: str = "cordoned", before: Any = FOUR, **changes: Any) -> DrainRecord:
    """A drain that has evicted a pod of the workload, half a minute ago."""
    row = PodProgress(uid="uid-old", answer="granted", owner=SET, at=LATER - timedelta(seconds=30))
    given: dict[str, Any] = {
        "node_uid": "uid-n1", "cordoned_at": NOW, "deadline": NOW + timedelta(minutes=9),
        "pods": {"default/old": row}, "before": before if isinstance(before, dict) else {SET: before}, **changes,
    }  # fmt: skip
    return DrainRecord(order=order(), phase=DrainPhase(phase), **given)


def web(created: int = 4, *, wanted: int = 4, available: int = 4, name: str = WEB) -> dict[str, Workload]:
    return {SET: Workload(name, wanted, available, created=created)}


def next_set(created: int = 4, **changes: Any) -> dict[str, Workload]:
    """The Deployment as another ReplicaSet of it tells; the one that was moved is deleted."""
    return {OTHER_SET: web(created, **changes)[SET]}


def waits(seconds: float | None = None, name: str = "new", **changes: Any) -> Pod:
    """A pod without a node, for which the scheduler has found no place for so long, or which it has not tried."""
    since = None if seconds is None else LATER - timedelta(seconds=seconds)
    given = {"created": NOW + timedelta(seconds=10), "ready": False, **changes}
    return pod(name, unschedulable_since=since, **given)


def observed(*unbound: Pod, **changes: Any) -> Observation:
    """The node is empty for ten seconds, and everything has been read in this moment."""
    given: dict[str, Any] = {
        "node": node("n1", unschedulable=True, taints=(our_taint(),)), "claim": claim("n1"), "policy": policy(),
        "unbound": unbound, "workloads": web(), "workloads_at": LATER, "emptied_at": LATER - timedelta(seconds=10),
        "others": OtherDrains(), **changes,
    }  # fmt: skip
    return Observation(**given)


def scene(expected: Any, title: str, *unbound: Pod, drain: Mapping[str, Any] | None = None, **seen: Any) -> Any:
    """A row of a table: the step of a drain that has moved a pod, and sees those pods without a node."""
    return title, expected, record(**(drain or {})), observed(*unbound, **seen)


THREE = {"before": Replicas(bound=3, available=3)}


@cases(
    "expected, drain, seen",
    scene(DRAINED, "as many have a node as before"),
    scene(DRAINED, "the node waits for no replica that only starts", workloads=web(available=3)),
    scene(Await(), "the replacement is not created yet", workloads=web(3)),
    scene(Await(), "the scheduler has not looked at it yet", waits()),
    scene(Await(), "no place for twenty seconds", waits(20)),
    scene(PENDING, "no place for longer", waits(21)),
    scene(DRAINED, "it asks for fewer by now and is owed none", workloads=web(3, wanted=3)),
    scene(DRAINED, "one was never created before, either", drain=THREE, workloads=web(3)),
    scene(DRAINED, "a pod waited before the drain, and waits on", waits(3600), drain=THREE),
    scene(DRAINED, "a pod that waited before took the place, and the replacement waits in its stead", waits(40),
          drain=THREE),
    scene(Await(), "one that waited before is no replacement to fail on", waits(3600)),
    scene(PENDING, "it grew meanwhile, and has a node fewer than before", waits(21), waits(21, "new-2"),
          waits(21, "new-3"), workloads=web(6, wanted=6)),
    scene(DRAINED, "it grew meanwhile, and as many as before have a node", waits(21), waits(21, "new-2"),
          workloads=web(6, wanted=6)),
    scene(PENDING, "the replacement is of another ReplicaSet of the same Deployment",
          waits(21, owner="ReplicaSet/web-new"), workloads={**web(), OTHER_SET: Workload(WEB, 4, 3, created=4)}),
    scene(PENDING, "and the ReplicaSet that was moved is deleted by now", waits(21, owner="ReplicaSet/web-new"),
          drain={"before": FOUR_OF_WEB}, workloads=next_set()),
    scene(Await(), "which is no reason not to count its Deployment", drain={"before": FOUR_OF_WEB},
          workloads=next_set(created=3)),
    scene(DRAINED, "unless a record of an older version does not name it", waits(21, owner="ReplicaSet/web-new"),
          workloads=next_set()),
    scene(Await(), "of two that were moved one is deleted",
          drain={"before": {SET: FOUR_OF_WEB, f"{SET}-older": FOUR_OF_WEB}}, workloads=web(3)),
    scene(DRAINED, "a stranger's pod waits", waits(60, owner="ReplicaSet/other")),
    scene(DRAINED, "a waiting pod that is being deleted is none", waits(60, deleting=LATER)),
    scene(DRAINED, "nobody counts it, none waits", drain={"before": None}, workloads={}),
    scene(Await(), "nobody counts it, one waits", waits(5), drain={"before": None}, workloads={}),
    scene(PENDING, "and finds none", waits(21), drain={"before": None}, workloads={}),
    scene(DRAINED, "nobody counts it, and the waiting one is older than the cordon", waits(3600),
          drain={"before": None}, workloads={}),
    scene(DRAINED, "the workload was deleted meanwhile and is owed none", workloads={}),
    scene(Await(), "the counts may not show the last pod's end yet", emptied_at=LATER - timedelta(seconds=4)),
    scene(Await(), "the counts were read before they could", workloads_at=LATER - timedelta(seconds=6)),
    ("a node from which nothing was moved is drained at once", DRAINED,
     DrainRecord(order=order(), phase=DrainPhase.CORDONED, node_uid="uid-n1", cordoned_at=NOW),
     observed(emptied_at=LATER)),
    scene(PENDING, "nobody waits for the last pod's long end", waits(21),
          pods=(pod("last", on="n1", deleting=LATER + timedelta(minutes=5)),)),
    scene(ReturnNode(ReturnReason.DEADLINE, f"held by replacements of {WEB} (replicas without a node: 1)"),
          "what is never created holds the node until the deadline, by name", drain={"deadline": LATER},
          workloads=web(3)),
    scene(Await(), "the autoscaler deletes the node already", workloads=web(3), node=DELETED),
    scene(DRAINED, "no deadline makes it a failure", drain={"deadline": LATER - timedelta(minutes=1)}),
    scene(Await(), "an empty node that owes nothing has a quarter of a minute more for its counts to be read",
          drain={"deadline": LATER - timedelta(seconds=14)}, workloads_at=LATER - timedelta(seconds=6)),
    scene(ReturnNode(ReturnReason.DEADLINE, "the replicas of what was moved could not be counted"), "and no longer",
          drain={"deadline": LATER - timedelta(seconds=15)}, workloads_at=LATER - timedelta(seconds=6)),
    scene(Await(), "what the autoscaler deletes is no failure at its deadline",
          drain={"deadline": LATER - WATCHDOG + timedelta(seconds=1)}, pods=(pod("last", on="n1"),), node=DELETED),
    scene(ReturnNode(ReturnReason.DEADLINE, f"held by replacements of {WEB} (replicas without a node: 1)"),
          "unless it does not come to an end", drain={"deadline": LATER - WATCHDOG}, workloads=web(3),
          node=DELETED),
)  # fmt: skip
def test_a_node_is_drained_once_its_pods_have_a_node_again(
    expected: Any, drain: DrainRecord, seen: Observation
) -> None:
    assert next_step(drain, seen, LATER) == expected


def drained(seconds: float = 30, **changes: Any) -> DrainRecord:
    return record("drained", drained_at=LATER - timedelta(seconds=seconds), **changes)


@cases(
    "expected, drain, seen",
    ("all run as before", LEAVE, drained(), observed()),
    ("a controller may be late to show that one is missing", WATCH, drained(29), observed()),
    ("one is starting", WATCH, drained(), observed(workloads=web(available=3))),
    ("one is starting, and the ReplicaSet that was moved is deleted", WATCH, drained(before=FOUR_OF_WEB),
     observed(workloads=next_set(available=3))),
    ("of two ReplicaSets' notes the higher counts", WATCH,
     drained(before={SET: FOUR_OF_WEB, OTHER_SET: Replicas(2, 2, WEB)}), observed(workloads=web(available=3))),
    ("as many run as before", LEAVE, drained(before=Replicas(4, 3)), observed(workloads=web(available=3))),
    ("it asks for fewer by now", LEAVE, drained(), observed(workloads=web(3, wanted=3, available=3))),
    ("one lost its node again", WATCH, drained(), observed(waits(5), workloads=web(available=3))),
    ("and finds no other", PENDING, drained(), observed(waits(21), workloads=web(available=3))),
    ("the deadline ends the watch", LEAVE, drained(deadline=LATER), observed(workloads=web(available=3))),
    ("nobody counts it, half a minute", WATCH, drained(29, before=None), observed(workloads={})),
    ("and no longer", LEAVE, drained(30, before=None), observed(workloads={})),
    ("one that waits is seen", PENDING, drained(60, before=None), observed(waits(21), workloads={})),
    ("a person takes the node back", ReturnNode(ReturnReason.OVERRULED), drained(), observed(node=node("n1"))),
)  # fmt: skip
def test_a_drained_node_is_looked_at_until_its_pods_run_as_before(
    expected: Any, drain: DrainRecord, seen: Observation
) -> None:
    assert next_step(drain, seen, LATER) == expected


def test_the_grace_of_a_replacement_leaves_time_within_half_a_minute() -> None:
    assert DrainSettings().pending_grace == timedelta(seconds=20)


@cases(
    "expected, drain, seen",
    ("all run as before", True, drained(), observed(policy=REPLACED)),
    ("nothing was moved", True, drained(0, before={}, pods={}), observed(policy=REPLACED)),
    ("a budget that ends with the node", False, drained(), observed()),
    ("the policy cannot be read", False, drained(), observed(policy=None)),
    ("nobody ever counted it", False, drained(before=None), observed(policy=REPLACED, workloads={})),
    ("nobody counts it any more", False, drained(), observed(policy=REPLACED, workloads={})),
    ("nobody counted it before", False, drained(before=None), observed(policy=REPLACED)),
    ("one has no node at the deadline, though as many are available", False, drained(deadline=LATER),
     observed(waits(5), policy=REPLACED)),
    ("the deadline ends the watch, not the disruption", False, drained(deadline=LATER),
     observed(policy=REPLACED, workloads=web(available=3))),
)  # fmt: skip
def test_a_budget_ends_once_what_was_moved_runs_again(expected: bool, drain: DrainRecord, seen: Observation) -> None:
    assert next_step(drain, seen, LATER) == LeaveToAutoscaler(replaced=expected)


def late(created: int, *, terminating: int | None = 0, available: int = 4) -> dict[str, Workload]:
    """A Deployment of four that makes a pod anew only when the old one has ended (TerminationComplete)."""
    return {SET: Workload(WEB, 4, available, created=created, terminating=terminating, replaced_at_end=True)}


@cases(
    "expected, workloads",
    ("all are there", 4, web(4)),
    ("one is missing, and its controller would have made another", 3, web(3)),
    ("one ends: another would have come", 3, {SET: Workload(WEB, 4, 3, created=3, terminating=1)}),
    ("one ends, and is made again only after that", 4, late(3, terminating=1)),
    ("how many end is not shown", 3, late(3, terminating=None)),
    ("one too many ends", 4, late(4, terminating=1)),
)
def test_what_a_workload_had_before_counts_a_pod_whose_replacement_is_still_to_come(
    expected: int, workloads: dict[str, Workload]
) -> None:
    """Another's pod that ends in these minutes must not stand for ours."""
    stood = with_baselines(record(before={}), observed(workloads=workloads), [pod("old", on="n1")])

    assert stood == {SET: Replicas(bound=expected, available=workloads[SET].available or 0, workload=WEB)}


def test_what_a_workload_had_before_its_first_eviction_stands_when_more_of_its_pods_go() -> None:
    """Else what the first ones lack would never be owed."""
    stood = with_baselines(record(), observed(workloads=web(3, available=3)), [pod("second", on="n1")])

    assert stood == {SET: FOUR}
