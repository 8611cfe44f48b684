"""The drain as a reconciler: what stands now → the one next step (docs/acceptance.md rows 82 to 93)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT, OUR_ANNOTATION
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.completion import deadline
from shared.core.draining.cordon import uncordoned_by_autoscaler
from shared.core.draining.drain import Await, Cordon, Observation, Proof, ReturnNode, WritePhase
from shared.core.draining.next_step import next_step
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from tests.builders import NOW, claim, mounts, node, order, our_taint, pdb, pod, pod_template, policy, taint
from tests.depth import cases

WEB = "default/ReplicaSet/web"
LATER, OVERDUE = NOW + timedelta(minutes=1), NOW + timedelta(minutes=9)
STAYS = pod("p", on="n1")
RELEASED = ReturnNode(ReturnReason.RELEASED, "the claim has been ended")
WORKED_ON = node("n1", unschedulable=True, taints=(our_taint(),), conditions=frozenset({"DrainInProgress"}))
UNCORDONED = node("n1", taints=(our_taint(),))


def record(phase: str, **changes: Any) -> DrainRecord:
    given: dict[str, Any] = {"node_uid": "uid-n1", "cordoned_at": NOW, "deadline": OVERDUE, **changes}
    return DrainRecord(order=order(), phase=DrainPhase(phase), **given)


def observed(*pods: Any, taken: bool = True, **changes: Any) -> Observation:
    ours: dict[str, Any] = {"unschedulable": True, "taints": (our_taint(),)} if taken else {}
    given: dict[str, Any] = {"node": node("n1", **ours), "claim": claim("n1"), "pods": pods, "policy": policy()}
    given["proof"] = Proof(LATER, LATER)
    return Observation(**{**given, **changes})


def noted_by(order_id: str) -> dict[str, str]:
    """Our annotation, as the patch that took the node wrote it."""
    return {OUR_ANNOTATION: f'{{"order_id": "{order_id}", "since": "{NOW.isoformat()}"}}'}


def asked(pod_name: str, answer: str, *, ago: float = 60, **changes: Any) -> dict[str, PodProgress]:
    at = LATER - timedelta(seconds=ago)
    row = PodProgress(uid=f"uid-{pod_name}", answer=answer, at=at, **changes)
    return {f"default/{pod_name}": row}


def scene(
    expected: Any, phase: str, title: str, *pods: Pod, drain: Mapping[str, Any] | None = None, **seen: Any
) -> Any:
    """A row of a table: the step of a drain in that phase that sees those pods."""
    return title, expected, record(phase, **(drain or {})), observed(*pods, **seen)


STILL_THERE = "held by default/p, which is still there"
HELD_UP = asked("p", "budget", detail="default/web")


@cases(
    "expected, minutes, seen",
    ("nobody works on the node", ReturnNode, 0, {}),
    ("an upgrade may have taken it", Await, 0, {"in_upgrade": True}),
    ("for ten minutes", Await, 9.9, {"in_upgrade": True}),
    ("and no longer", ReturnNode, 10, {"in_upgrade": True}),
    ("it shows that others work on it", Await, 24, {"node": WORKED_ON}),
    ("for no longer than a drained node is waited for", ReturnNode, 25, {"node": WORKED_ON}),
    ("a pause is a person's word", ReturnNode, 0, {"in_upgrade": True, "paused": True}),
    ("a release is, too", ReturnNode, 0, {"in_upgrade": True, "claim": None}),
)
def test_past_the_deadline_a_node_that_others_empty_is_not_uncordoned_at_once(
    expected: type, minutes: float, seen: dict[str, Any]
) -> None:
    step = next_step(record("cordoned", pods=HELD_UP), observed(STAYS, **seen), OVERDUE + timedelta(minutes=minutes))

    assert type(step) is expected


@cases(
    "expected, drain, seen",
    scene(Cordon(node("n1", annotations=noted_by("earlier"))), "claimed",
          "an earlier order's annotation shows nothing about this one",
          node=node("n1", annotations=noted_by("earlier"))),
    scene(RELEASED, "cordoned", "released meanwhile", claim=None),
    scene(RELEASED, "cordoned", "another order holds the node", claim=claim("n1", order_id="another")),
    scene(ReturnNode(ReturnReason.OVERRULED), "cordoned", "a person took our taint and cordon off", taken=False),
    scene(ReturnNode(ReturnReason.OVERRULED), "cordoned", "the cordon was cleared under our taint",
          node=node("n1", taints=(our_taint(),))),
    scene(Cordon(UNCORDONED), "cordoned", "the autoscaler cleared the cordon after a failed deletion",
          node=UNCORDONED, deletion_begun_at=NOW),
    scene(ReturnNode(ReturnReason.OVERRULED), "cordoned",
          "a deletion from before our cordon does not excuse a person", node=UNCORDONED,
          deletion_begun_at=NOW - timedelta(minutes=5)),
    scene(Cordon(UNCORDONED), "drained", "and when drained", node=UNCORDONED, deletion_begun_at=NOW),
    scene(ReturnNode(ReturnReason.PAUSED, "pause flag"), "cordoned", "paused by flag", paused=True),
    scene(ReturnNode(ReturnReason.PAUSED, "dryRun"), "cordoned", "switched to dry run",
          policy=policy(cluster_wide={"dry_run": True})),
    scene(ReturnNode(ReturnReason.PAUSED, "enabled: false"), "cordoned", "the pool was disabled",
          policy=policy(enabled=False)),
    scene(WritePhase(DrainPhase.DRAINED), "cordoned", "nothing left to move"),
    scene(WritePhase(DrainPhase.DRAINED), "cordoned", "an invalid policy does not stop a running drain",
          policy=None),
    scene(ReturnNode(ReturnReason.POD_BLOCKS, "default/bare: not_replicated"), "cordoned",
          "a bare pod slipped in before the cordon", pod("bare", on="n1", owner=None)),
    scene(ReturnNode(ReturnReason.POD_BLOCKS, "default/p: names_its_node"), "cordoned",
          "a pod came back because its template names the node", pod("p", on="n1"),
          drain={"pods": asked("p", "granted")},
          workloads={WEB: Workload(WEB, templates=(pod_template(node_name="n1"),))}),
    scene(ReturnNode(ReturnReason.POD_WAITS, "default/p: job_running"), "cordoned",
          "a Job's pod slipped in before the cordon", pod("p", on="n1", owner="Job/x"),
          drain={"rules": policy().pool("a").pod_rules}),
    scene(ReturnNode(ReturnReason.POD_BLOCKS, "default/p: eviction_responders"), "cordoned",
          "a pod names who answers for its eviction, whatever an earlier version asked of them",
          pod("p", on="n1", eviction_responders=("example.com/mover",)), drain={"pods": asked("p", "granted")}),
    scene(ReturnNode(ReturnReason.SEVERAL_PDBS, "default/p: two"), "cordoned", "two PDBs match a pod",
          pod("p", on="n1"), drain={"pods": asked("p", "several_pdbs", detail="two")}),
    scene(ReturnNode(ReturnReason.EVICTION_FORBIDDEN, "default/p: webhook"), "cordoned",
          "a webhook denied an eviction", pod("p", on="n1"),
          drain={"pods": asked("p", "forbidden", detail="webhook")}),
    scene(WritePhase(DrainPhase.DRAINED), "cordoned", "a denied pod that went by itself does not halt",
          drain={"pods": asked("p", "forbidden", detail="webhook")}),
)  # fmt: skip
def test_each_scene_has_one_next_step(expected: Any, drain: DrainRecord, seen: Observation) -> None:
    assert expected == next_step(drain, seen, LATER)


@pytest.mark.acceptance(82)
def test_the_node_is_cordoned_before_any_pod_is_evicted() -> None:
    seen = observed(pod("p", on="n1"), taken=False)

    assert next_step(record("claimed"), seen, LATER) == Cordon(seen.node)  # type: ignore[arg-type]  # a node was seen


@pytest.mark.acceptance(90)
def test_a_pdb_that_never_opens_ends_the_drain_and_is_named() -> None:
    held = record("cordoned", pods=asked("p", "budget", detail="default/web"), deadline=LATER)
    seen = observed(pod("p", on="n1"), disruption_budgets=(pdb("web", allowed=0, app="web"),))

    assert next_step(held, seen, LATER) == ReturnNode(ReturnReason.DEADLINE, "held by default/web")


@cases(
    "expected, drain, seen",
    scene(STILL_THERE, "cordoned", "a pod that has never been asked for", STAYS, drain={"deadline": LATER}),
    scene(STILL_THERE, "cordoned", "and no budget of a pod that is gone", STAYS,
          drain={"deadline": LATER, "pods": asked("gone", "budget", detail="default/web")}),
    scene(STILL_THERE, "claimed", "a pod of a node that was never cordoned", STAYS, drain={"deadline": LATER},
          taken=False),
    scene("held by " + ", ".join(f"default/p{row}, which is still there" for row in range(5)) + " and 1 more",
          "cordoned", "as many as an event can carry", *(pod(f"p{row}", on="n1") for row in range(6)),
          drain={"deadline": LATER}),
)  # fmt: skip
def test_a_drain_that_is_late_shows_what_it_waits_for(expected: str, drain: DrainRecord, seen: Observation) -> None:
    assert next_step(drain, seen, LATER) == ReturnNode(ReturnReason.DEADLINE, expected)


def test_an_empty_node_is_cordoned_however_late() -> None:
    seen = observed(taken=False)

    assert next_step(record("claimed", deadline=NOW), seen, LATER) == Cordon(seen.node)  # type: ignore[arg-type]  # a node was seen


@pytest.mark.acceptance(89)
def test_the_deadline_is_eight_and_a_half_minutes_plus_the_longest_capped_grace() -> None:
    pods = (pod("a", grace_seconds=30), pod("b", grace_seconds=3600))

    assert deadline(claim("n1"), pods) == NOW + timedelta(minutes=8, seconds=30) + timedelta(minutes=8)


def test_a_drain_has_more_time_for_disks_that_move_in_turn() -> None:
    pods = [pod(f"db-{row}", owner="StatefulSet/db", grace_seconds=30, volumes=mounts(f"d{row}")) for row in (0, 1)]

    assert deadline(claim("n1"), pods) == NOW + timedelta(minutes=8, seconds=30) + timedelta(seconds=30 + 2 * 90)


@cases(
    "expected, begun, cordoned, changes",
    ("the autoscaler has done nothing", False, None, NOW, {}),
    ("it deletes the node", True, None, None, {"taints": (taint(AUTOSCALER_DELETING_TAINT),)}),
    ("it began to, since our cordon", True, NOW, NOW - timedelta(seconds=1), {}),
    ("in its very second: events are shown in whole ones", True, NOW, NOW, {}),
    ("it began before, and our cordon came after", False, NOW, NOW + timedelta(seconds=1), {}),
    ("nobody knows when we cordoned", False, NOW, None, {}),
)
def test_a_missing_cordon_is_the_autoscalers_if_it_was_at_the_node_since_ours(
    expected: bool, begun: Any, cordoned: Any, changes: dict[str, Any]
) -> None:
    assert uncordoned_by_autoscaler(node("n1", **changes), begun, cordoned) is expected
