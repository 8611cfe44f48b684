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


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        pytest.param(NOT_KNOWN, told(node("n2")), id="nothing can be shown"),
        pytest.param("The autoscaler's message: failed to drain node.", told(node("n2"), said="failed to drain node."),
                     id="its own words"),
        pytest.param("Pool a is at its minimum: 1 nodes in z, minimum 1.",
                     told(node("n2", zone="y"), pool=NodePool("a", min_per_zone=1)), id="the zone is at its minimum"),
        pytest.param("Pool a is at its minimum: 2 nodes, minimum 2.", told(node("n2"), pool=NodePool("a", min_total=2)),
                     id="the pool is at its minimum"),
        pytest.param("Pool a is at its minimum: 1 nodes, minimum 1.",
                     told(node("n2", taints=GOING), pool=NodePool("a", min_total=1)),
                     id="a node that is being deleted is no part of the pool"),
        pytest.param("Pool a is at its minimum: 2 nodes, minimum 2.",
                     told(node("n2"), node("n3", pool="b"), pool=NodePool("a", min_total=2)),
                     id="another pool's node is no part of it either"),
        pytest.param("Autoscaling of pool a is off.", told(node("n2"), pool=NodePool("a", autoscaled=False)),
                     id="autoscaling was switched off"),
        pytest.param("An upgrade of pool a is under way.", told(node("n2"), pool=NodePool("a", upgrading=True)),
                     id="an upgrade has begun"),
        pytest.param("GKE reports no pool a.", told(node("n2"), pool=None), id="the pool was deleted"),
        pytest.param(f"The node's annotation {names.SCALE_DOWN_DISABLED} is true.",
                     told(node("n2"), annotations={names.SCALE_DOWN_DISABLED: "true"}), id="a person forbids it"),
        pytest.param("1 pods are on the node, default/p first.", told(node("n2"), pods=(pod("p", on="n1"),)),
                     id="a pod came back"),
        pytest.param("The autoscaler has begun to delete it.",
                     told(node("n2"), taints=(*OURS, *GOING)), id="it is at it"),
        pytest.param("The autoscaler counts it as unneeded and has not waited long enough yet.",
                     told(node("n2"), taints=(*OURS, taint(names.AUTOSCALER_CANDIDATE_TAINT))), id="it is about to"),
        pytest.param("ComputeClass web lets it wait 60 min before it deletes an unneeded node.",
                     of_class(delay=timedelta(hours=1)), id="its ComputeClass asks for patience"),
        pytest.param("Pool a lets it wait 60 min before it deletes an unneeded node.",
                     told(node("n2"), pool=NodePool("a", consolidation_delay=timedelta(hours=1))), id="its pool does"),
        pytest.param("ComputeClass web could not be read; it may set how long the autoscaler waits.",
                     told(node("n2"), labels={names.COMPUTE_CLASS_LABEL: "web"}), id="its ComputeClass is not known"),
        pytest.param("Under consolidationThreshold 0 of ComputeClass web it deletes only nodes that nothing is asked "
                     "of: if it counts DaemonSet pods there, it never deletes this one; write 1 or more.",
                     of_class(daemon_cpu=0.1, threshold=Fraction(0)), id="a reaper may count DaemonSets"),
        pytest.param(NOT_KNOWN, of_class(threshold=Fraction(0)), id="DaemonSets that ask for nothing"),
        pytest.param(NOT_KNOWN, of_class(daemon_cpu=0.1, threshold=Fraction(1, 10)), id="nor under a threshold"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "drain"),
    [
        pytest.param({"pods_evicted": 0}, ended(), id="never cordoned"),
        pytest.param({"drain_seconds": 90, "pods_evicted": 0}, ended(cordoned_at=NOW - 90 * SECOND), id="under way"),
        pytest.param({"drain_seconds": 60, "deletion_seconds": 30, "pods_evicted": 2}, DRAINED, id="drained"),
    ],
)
def test_an_account_shows_what_is_known(expected: dict[str, float], drain: DrainRecord) -> None:
    assert log_fields(drain, NOW) == expected


@pytest.mark.parametrize(
    ("expected", "before", "uid"),
    [
        pytest.param(None, row("later", detail="429"), "u", id="held by something else"),
        pytest.param(None, row("budget", detail="ns/pdb"), "other", id="another pod of that name"),
        pytest.param(("ns/pdb", 5 * SECOND), row("budget", detail="ns/pdb"), "u", id="held by a budget"),
    ],
)
def test_a_pod_is_held_from_a_budgets_refusal_to_the_next_answer(expected: Any, before: Any, uid: str) -> None:
    assert before.held_by_budget(uid, NOW + 5 * SECOND) == expected


OLD, NEW = "1.33.9-gke.200", "1.33.10-gke.100"
AT_WORK = NodePool("a", upgrading=True, version=NEW)


@pytest.mark.parametrize(
    ("expected", "version", "pool", "other"),
    [
        pytest.param(False, OLD, None, {}, id="a pool that GKE does not report"),
        pytest.param(False, OLD, NodePool("a", version=NEW), {}, id="no upgrade"),
        pytest.param(True, OLD, AT_WORK, {}, id="an old node"),
        pytest.param(True, OLD, AT_WORK, {"version": NEW}, id="the old version among newer ones"),
        pytest.param(False, NEW, AT_WORK, {}, id="a node that has the new version, among older ones"),
        pytest.param(True, NEW, AT_WORK, {"version": NEW}, id="all are alike: it may change something else"),
        pytest.param(True, NEW, AT_WORK, {"pool": "b"}, id="only another pool has older ones"),
        pytest.param(True, OLD, NodePool("a", upgrading=True, version=OLD), {}, id="work that brings no new version"),
        pytest.param(True, "", NodePool("a", upgrading=True), {}, id="nothing is known"),
    ],
)
def test_an_upgrade_may_take_what_is_not_known_to_be_done(
    expected: bool, version: str, pool: NodePool | None, other: dict[str, Any]
) -> None:
    nodes = [node("n1", version=version), node("n2", **{"version": OLD, **other})]
    assert may_be_taken(nodes[0], pool, nodes) is expected


LATER = NOW + timedelta(minutes=1)


@pytest.mark.parametrize("phase", ["cordoned", "drained"])
@pytest.mark.parametrize(
    ("expected", "before", "now"),
    [
        pytest.param(True, {"default/web": 3}, held(buffer("web", 3, ready=2)), id="one chunk has lost its room"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 3, ready=3)), id="all have it"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 2, ready=2)), id="fewer are wanted"),
        pytest.param(True, {"default/web": 3}, held(buffer("web", 2, ready=1)), id="fewer, and one has none"),
        pytest.param(False, {"default/web": 1}, held(buffer("web", 3, ready=1)), id="it was short before"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 3)), id="the autoscaler does not show"),
        pytest.param(False, {"default/web": 3}, held(), id="the buffer is gone"),
        pytest.param(False, {}, held(buffer("new", 3, ready=0)), id="a buffer that was not there before"),
    ],
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
