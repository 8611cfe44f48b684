from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, Buffers, ComputeClasses, scale_down_of
from shared.core.cluster.node import NodePool
from shared.core.draining.completion import NOT_KNOWN, reasons_not_deleted
from shared.core.draining.cordon import may_be_taken
from shared.core.draining.drain import ReturnNode, log_fields
from shared.core.draining.next_step import next_step
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainRecord, PodProgress
from tests.builders import NOW, buffer, held, node, order, our_taint, pod, taint
from tests.core.draining.test_next_step import observed, record
from tests.depth import cases

OURS = (our_taint(),)
POOL = NodePool("a")
GOING = (taint(names.AUTOSCALER_DELETING_TAINT),)


def told(*others: Any, pool: NodePool | None = POOL, said: str = "", pods: tuple[Any, ...] = (), **changes: Any) -> str:
    classes = ComputeClasses(changes.pop("classes", {}))
    drained = node("n1", **{"unschedulable": True, "taints": OURS, **changes})
    rule = scale_down_of(drained, pool, "BALANCED", classes)
    return reasons_not_deleted(drained, pods, [drained, *others], pool, rule, said, NOW)


def of_class(daemon_cpu: float = 0, **said: Any) -> str:
    """What is told of a node of a ComputeClass with a DaemonSet's pod."""
    return told(node("n2"), labels={names.COMPUTE_CLASS_LABEL: "web"}, classes={"web": AutoscalingPolicy(**said)},
                pods=(pod("d", on="n1", owner="DaemonSet/d", cpu=daemon_cpu, memory=0),))  # fmt: skip


@cases(
    "expected, found",
    ("nothing can be shown", NOT_KNOWN, told(node("n2"))),
    ("its own words", "The autoscaler's message: failed to drain node.",
     told(node("n2"), said="failed to drain node.")),
    ("the zone is at its minimum", "Pool a is at its minimum: 1 nodes in z, minimum 1.",
     told(node("n2", zone="y"), pool=NodePool("a", min_per_zone=1))),
    ("the pool is at its minimum", "Pool a is at its minimum: 2 nodes, minimum 2.",
     told(node("n2"), pool=NodePool("a", min_total=2))),
    ("a node that is being deleted is no part of the pool", "Pool a is at its minimum: 1 nodes, minimum 1.",
     told(node("n2", taints=GOING), pool=NodePool("a", min_total=1))),
    ("another pool's node is no part of it either", "Pool a is at its minimum: 2 nodes, minimum 2.",
     told(node("n2"), node("n3", pool="b"), pool=NodePool("a", min_total=2))),
    ("autoscaling was switched off", "Autoscaling of pool a is off.",
     told(node("n2"), pool=NodePool("a", autoscaled=False))),
    ("an upgrade has begun", "An upgrade of pool a is under way.",
     told(node("n2"), pool=NodePool("a", upgrading=True))),
    ("the pool was deleted", "GKE reports no pool a.", told(node("n2"), pool=None)),
    ("a person forbids it", f"The node's annotation {names.SCALE_DOWN_DISABLED} is true.",
     told(node("n2"), annotations={names.SCALE_DOWN_DISABLED: "true"})),
    ("a pod came back", "1 pods are on the node, default/p first.", told(node("n2"), pods=(pod("p", on="n1"),))),
    ("it is at it", "The autoscaler has begun to delete it.", told(node("n2"), taints=(*OURS, *GOING))),
    ("it is about to", "The autoscaler counts it as unneeded and has not waited long enough yet.",
     told(node("n2"), taints=(*OURS, taint(names.AUTOSCALER_CANDIDATE_TAINT)))),
    ("its ComputeClass asks for patience", "ComputeClass web lets it wait 60 min before it deletes an unneeded node.",
     of_class(delay=timedelta(hours=1))),
    ("its pool does", "Pool a lets it wait 60 min before it deletes an unneeded node.",
     told(node("n2"), pool=NodePool("a", consolidation_delay=timedelta(hours=1)))),
    ("its ComputeClass is not known", "ComputeClass web could not be read; it may set how long the autoscaler waits.",
     told(node("n2"), labels={names.COMPUTE_CLASS_LABEL: "web"})),
    ("a reaper may count DaemonSets",
     ("Under consolidationThreshold 0 of ComputeClass web it deletes only nodes that nothing is asked "
      "of: if it counts DaemonSet pods there, it never deletes this one; write 1 or more."),
     of_class(daemon_cpu=0.1, threshold=Fraction(0))),
    ("DaemonSets that ask for nothing", NOT_KNOWN, of_class(threshold=Fraction(0))),
    ("nor under a threshold", NOT_KNOWN, of_class(daemon_cpu=0.1, threshold=Fraction(1, 10))),
)  # fmt: skip
def test_what_keeps_a_drained_node_is_shown_in_a_sentence(expected: str, found: str) -> None:
    assert found == expected


def test_the_autoscalers_words_come_first_and_the_rest_follows() -> None:
    found = told(node("n2"), said="could not drain.", pool=NodePool("a", min_total=2))

    assert found == "The autoscaler's message: could not drain. Pool a is at its minimum: 2 nodes, minimum 2."


SECOND = timedelta(seconds=1)


def ended(**changes: Any) -> DrainRecord:
    return DrainRecord(order=order(), **changes)


def row(answer: str, **changes: Any) -> PodProgress:
    return PodProgress(uid="u", answer=answer, at=NOW, **changes)


ANSWERS = {"ns/a": row("granted"), "ns/b": row("gone"), "ns/c": row("budget")}
DRAINED = ended(cordoned_at=NOW - 90 * SECOND, drained_at=NOW - 30 * SECOND, pods=ANSWERS)


@cases(
    "expected, drain",
    ("never cordoned", {"pods_evicted": 0}, ended()),
    ("under way", {"drain_seconds": 90, "pods_evicted": 0}, ended(cordoned_at=NOW - 90 * SECOND)),
    ("drained", {"drain_seconds": 60, "deletion_seconds": 30, "pods_evicted": 2}, DRAINED),
)
def test_an_account_shows_what_is_known(expected: dict[str, float], drain: DrainRecord) -> None:
    assert log_fields(drain, NOW) == expected


@cases(
    "expected, before, uid",
    ("held by something else", None, row("later", detail="429"), "u"),
    ("another pod of that name", None, row("budget", detail="ns/pdb"), "other"),
    ("held by a budget", ("ns/pdb", 5 * SECOND), row("budget", detail="ns/pdb"), "u"),
)
def test_a_pod_is_held_from_a_budgets_refusal_to_the_next_answer(expected: Any, before: Any, uid: str) -> None:
    assert before.held_by_budget(uid, NOW + 5 * SECOND) == expected


OLD, NEW = "1.33.9-gke.200", "1.33.10-gke.100"
AT_WORK = NodePool("a", upgrading=True, version=NEW)


@cases(
    "expected, version, pool, other",
    ("a pool that GKE does not report", False, OLD, None, {}),
    ("no upgrade", False, OLD, NodePool("a", version=NEW), {}),
    ("an old node", True, OLD, AT_WORK, {}),
    ("the old version among newer ones", True, OLD, AT_WORK, {"version": NEW}),
    ("a node that has the new version, among older ones", False, NEW, AT_WORK, {}),
    ("all are alike: it may change something else", True, NEW, AT_WORK, {"version": NEW}),
    ("only another pool has older ones", True, NEW, AT_WORK, {"pool": "b"}),
    ("work that brings no new version", True, OLD, NodePool("a", upgrading=True, version=OLD), {}),
    ("nothing is known", True, "", NodePool("a", upgrading=True), {}),
)
def test_an_upgrade_may_take_what_is_not_known_to_be_done(
    expected: bool, version: str, pool: NodePool | None, other: dict[str, Any]
) -> None:
    nodes = [node("n1", version=version), node("n2", **{"version": OLD, **other})]
    assert may_be_taken(nodes[0], pool, nodes) is expected


LATER = NOW + timedelta(minutes=1)


@pytest.mark.parametrize("phase", ["cordoned", "drained"])
@cases(
    "expected, before, now",
    ("one chunk has lost its room", True, {"default/web": 3}, held(buffer("web", 3, ready=2))),
    ("all have it", False, {"default/web": 3}, held(buffer("web", 3, ready=3))),
    ("fewer are wanted", False, {"default/web": 3}, held(buffer("web", 2, ready=2))),
    ("fewer, and one has none", True, {"default/web": 3}, held(buffer("web", 2, ready=1))),
    ("it was short before", False, {"default/web": 1}, held(buffer("web", 3, ready=1))),
    ("the autoscaler does not show", False, {"default/web": 3}, held(buffer("web", 3))),
    ("the buffer is gone", False, {"default/web": 3}, held()),
    ("a buffer that was not there before", False, {}, held(buffer("new", 3, ready=0))),
)
def test_a_buffer_that_falls_gives_the_node_back(
    expected: bool, phase: str, before: dict[str, int], now: Buffers
) -> None:
    step = next_step(record(phase, buffers=before), observed(pod("p", on="n1"), buffers=now), LATER)
    assert (isinstance(step, ReturnNode) and step.why is ReturnReason.BUFFER) is expected


def test_it_shows_how_many_chunks_had_room_and_have() -> None:
    now = held(buffer("web", 4, ready=2))
    step = next_step(record("cordoned", buffers={"default/web": 3}), observed(buffers=now), LATER)
    assert step == ReturnNode(ReturnReason.BUFFER, "default/web: 2 of 4 chunks have room, 3 had before")
