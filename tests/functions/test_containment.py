"""One odd thing stops nothing else: advice that cannot be read, a document of another version, a fault of our own."""

import json
from collections.abc import Callable
from dataclasses import replace as with_changes
from typing import Any

import msgspec
import pytest

from functions.drainer.main import PushReply
from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.resources import Resources
from shared.core.cluster.returning import VerticalAutoscalers
from shared.core.cluster.storage import Storage
from shared.core.policy import Policy
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import PoolMarks
from shared.errors import EbbError, Retryable, Terminal
from shared.ports import DocumentKey, PoolsReading, drain_key, pool_key
from tests.builders import NOW, node, order, our_taint, pod
from tests.depth import cases
from tests.functions.drainer.one_drain import released
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import MINUTE, begun, fake_ebb, marks

OUTAGE = Retryable("Kubernetes API, list events", "no answer (read timed out)")
DENIED = Terminal("Kubernetes API, list events", "403")


def overdue() -> FakeEbb:
    """n1 is drained, and its watchdog has gone off."""
    ebb = begun(fake_ebb())
    ebb.pass_time(minutes=30)
    return ebb


def of_another_version(ebb: FakeEbb, key: DocumentKey[Any]) -> None:
    """Let a document hold a word that this version does not know."""
    found = ebb.state.get(key)
    told = msgspec.to_builtins(found.value)
    ebb.state.documents[ebb.state.cluster, key.collection, key.id] = (
        json.dumps({**told, "phase": "parked", "marks": "none"}).encode(),
        str(found.version),
    )


def told(ebb: FakeEbb, reason: str) -> list[str]:
    return [str(line["message"]) for line in ebb.log.lines if line.get("reason") == reason]


def releases(ebb: FakeEbb) -> set[tuple[str, str]]:
    """Return the nodes for which a release is published, each with its reason."""
    return {(sent.node, sent.why) for sent in ebb.bus.published if sent.kind is OrderKind.RELEASE}


def carried_out(ebb: FakeEbb) -> list[PushReply]:
    """Deliver the releases that are published, and lose the orders."""
    published, ebb.bus.published = ebb.bus.published, []
    return [ebb.deliver(sent) for sent in published if sent.kind is OrderKind.RELEASE]


@cases("fault", ("an outage", OUTAGE), ("denied", DENIED))
def test_what_heals_does_so_while_the_autoscalers_events_cannot_be_read(fault: EbbError) -> None:
    ebb = overdue()
    ebb.cluster.put(node("n4", taints=(our_taint("foreign"),)))
    ebb.cluster.failures |= {"scale_ups": [fault], "deletion_attempts": [fault]}

    ebb.tick()

    assert releases(ebb) == {("n1", "watchdog"), ("n4", "orphan")}
    said = [line["severity"] for line in ebb.log.lines if line.get("reason") == "advice_missing"]
    assert said == ["WARNING"] * 2


def test_a_node_whose_failed_deletion_can_never_be_read_is_returned_and_both_functions_show_what_is_missing() -> None:
    ebb = overdue()
    ebb.cluster.put(with_changes(ebb.cluster.nodes["n1"], unschedulable=False))
    ebb.cluster.failures["deletion_attempts"] = [DENIED] * 9

    ebb.tick()
    assert carried_out(ebb) == [PushReply.DONE]

    assert (ebb.cluster.nodes["n1"].drain_taint, ebb.remembered().claims) == (None, {})
    said = [line for line in ebb.log.lines if line.get("reason") == "advice_missing"]
    expected = f"Going on without the autoscaler's events about n1: {DENIED}"
    assert {(line["event"], line["severity"], line["message"]) for line in said} == {
        ("run_summary", "WARNING", expected),
        ("drain_step", "WARNING", expected),
    }


AGAIN = "If that lasts, apply infra/rbac.yaml again."
ODD_BUFFERS = ("capacitybuffers shop/a: odd", *(f"b{number}: odd" for number in range(3)))


@cases(
    "expected, held",
    ("storage",
     [("Pods with volume claims stay where they are: no persistentvolumes, csinodes are known; "
       "apply infra/rbac.yaml again.")],
     {"storage_held": Storage(unread=("persistentvolumes", "csinodes"))}),
    ("autoscalers",
     ["Moved pods may come back larger than is known: Ebb could not list verticalpodautoscalers. " + AGAIN],
     {"autoscalers_held": VerticalAutoscalers(unread=("verticalpodautoscalers",))}),
    ("limits",
     ["A moved pod may come back larger, later or not at all: Ebb could not list limitranges, "
      "resourcequotas. " + AGAIN],
     {"limits_held": NamespaceLimits(unread=("limitranges", "resourcequotas"))}),
    ("buffers",
     ["The room of capacity buffers is not kept: Ebb could not list capacitybuffers, podtemplates. " + AGAIN],
     {"buffers_held": Buffers(unread=("capacitybuffers", "podtemplates"))}),
    ("classes",
     ["The room of capacity buffers is not kept: Ebb could not list computeclasses; nor does it know "
      "how long the autoscaler waits with nodes of ComputeClasses. " + AGAIN],
     {"buffers_held": Buffers(unread=("computeclasses",))}),
    ("objects of others",
     [("Moved pods may come back larger than is known, for these cannot be read: "
       "verticalpodautoscalers shop/web: odd."),
      ("The room that these ask for is not kept, for they cannot be read: "
       "capacitybuffers shop/a: odd; b0: odd; b1: odd; and 1 more.")],
     {"buffers_held": Buffers(faults=ODD_BUFFERS),
      "autoscalers_held": VerticalAutoscalers(faults=("verticalpodautoscalers shop/web: odd",))}),
)  # fmt: skip
def test_what_only_advises_and_cannot_be_read_is_shown_and_ends_no_pass(
    expected: list[str], held: dict[str, Any]
) -> None:
    ebb = fake_ebb()
    for name, reading in held.items():
        setattr(ebb.cluster, name, reading)

    ebb.tick()

    lines = [line for line in ebb.log.lines if line.get("reason") == "advice_missing"]
    assert [line["message"] for line in lines] == expected
    assert {(line["event"], line["severity"]) for line in lines} == {("run_summary", "WARNING")}
    assert [drain.node for drain in ebb.bus.drains] == ["n1"]


def two_drains() -> FakeEbb:
    """n1 and n2 are drained; the record of n2's drain is of another version."""
    ebb = FakeEbb(
        *(node(f"n{index}") for index in (1, 2, 3, 4)), pod("p", on="n1"), pod("q", on="n2", owner="ReplicaSet/q")
    )
    assert ebb.drain(order()) is PushReply.DONE
    assert ebb.drain(order("n2", order_id="other")) is PushReply.DONE
    of_another_version(ebb, drain_key("other"))
    return ebb


def test_a_record_that_does_not_decode_is_named_and_its_node_returned() -> None:
    ebb = two_drains()
    ebb.pass_time(minutes=2)

    ebb.tick()
    (line,) = [line for line in ebb.log.lines if line.get("reason") == "unreadable"]
    assert (line["severity"], "drains 'other'" in line["message"]) == ("ERROR", True)
    assert carried_out(ebb) == [PushReply.DONE]

    assert ebb.cluster.nodes["n2"].drain_taint is None
    assert not ebb.cluster.nodes["n2"].unschedulable
    assert [claim.node for claim in ebb.remembered().claims.values()] == ["n1"]


def test_a_record_that_does_not_decode_does_not_keep_the_others_from_healing() -> None:
    ebb = two_drains()
    ebb.pass_time(minutes=40)

    ebb.tick()

    assert releases(ebb) == {("n1", "watchdog"), ("n2", "orphan")}


def test_a_claim_whose_record_does_not_decode_is_settled_when_its_node_is_gone() -> None:
    ebb = two_drains()
    del ebb.cluster.nodes["n2"]
    ebb.pass_time(minutes=2)

    ebb.tick()

    assert "uid-n2" not in ebb.remembered().claims


@cases(
    "break_",
    ("the GKE API does not answer", lambda ebb: setattr(ebb.pools, "failure", OUTAGE)),
    ("the policy cannot be read", lambda ebb: setattr(ebb.policy, "policy", OUTAGE)),
)
def test_a_pass_that_only_heals_does_so_past_a_record_that_does_not_decode(break_: Callable[[FakeEbb], None]) -> None:
    ebb = two_drains()
    ebb.pass_time(minutes=40)
    break_(ebb)

    with pytest.raises(Retryable):
        ebb.tick()

    assert {sent.node for sent in ebb.bus.published} == {"n1", "n2"}


def test_a_persons_release_needs_no_record_that_decodes() -> None:
    ebb = two_drains()

    assert ebb.deliver(released(order_id="message", node="n2", node_uid="", origin="manual")) is PushReply.DONE

    assert ebb.cluster.nodes["n2"].drain_taint is None


def test_an_order_whose_record_does_not_decode_comes_again_only_while_its_claim_stands() -> None:
    ebb = two_drains()
    late = order("n2", order_id="other", generation=1)

    assert ebb.deliver(late) is PushReply.AGAIN
    ebb.pass_time(minutes=2)
    ebb.tick()
    carried_out(ebb)
    assert ebb.deliver(late) is PushReply.DONE

    assert [claim.node for claim in ebb.remembered().claims.values()] == ["n1"]


def test_an_ending_that_another_version_began_is_ended_with_its_word_as_the_detail() -> None:
    ebb = begun(fake_ebb())
    (claim,) = ebb.remembered().claims.values()
    key = drain_key(claim.order_id)
    found = ebb.state.get(key)
    assert found.value is not None
    halting = msgspec.structs.replace(found.value, phase=DrainPhase.HALTING, why="word_of_tomorrow", lease=None)
    ebb.state.put(key, halting, found.version)

    assert ebb.deliver(msgspec.structs.replace(halting.order, generation=1)) is PushReply.DONE

    record = ebb.record(claim.order_id)
    assert (record.phase, record.why, record.detail) == (DrainPhase.SETTLED, "orphan", "word_of_tomorrow")
    assert ebb.cluster.nodes["n1"].drain_taint is None


def test_marks_that_do_not_decode_begin_again_and_are_written_over() -> None:
    ebb = fake_ebb()
    ebb.tick()
    of_another_version(ebb, pool_key("a"))
    ebb.pass_time(minutes=5)

    ebb.tick()

    assert len(told(ebb, "unreadable")) == 1
    assert {mark.since for mark in marks(ebb).values()} == {NOW + 5 * MINUTE}
    assert ebb.state.all("pools", PoolMarks)["a"].fault == ""


class Refusing:
    """A bus that refuses the orders for some nodes, with whatever failure."""

    def __init__(self, ebb: FakeEbb, failure: Exception, *nodes: str) -> None:
        self._inner, self._failure, self._nodes = ebb.bus, failure, nodes
        self.asked: list[str] = []
        ebb.bus = self  # type: ignore[assignment]  # all that a pass asks of a bus
        self.published, self.reported = self._inner.published, self._inner.reported

    def publish(self, one: Order) -> None:
        self.asked.append(one.node)
        if one.node in self._nodes:
            raise self._failure
        self._inner.publish(one)

    def report(self, result: Any) -> None:
        self._inner.report(result)


def orphans(*names: str) -> FakeEbb:
    """Nodes with our taint and no claim."""
    return FakeEbb(*(node(name, taints=(our_taint(f"order-{name}"),), unschedulable=True) for name in names))


@cases("failure", ("denied", DENIED), ("a mistake of ours", ValueError("a mistake of ours")))
def test_what_cannot_be_mended_is_shown_and_the_others_are(failure: Exception) -> None:
    ebb = orphans("n1", "n2", "n3")
    Refusing(ebb, failure, "n2")

    summary = ebb.tick()

    assert [sent.node for sent in ebb.bus.published] == ["n1", "n3"]
    assert (summary["healed"], summary["not_healed"]) == (2, 1)
    assert [message.startswith("n2:") for message in told(ebb, "not_healed")] == [True]
    assert "2 healed, 1 not." in ebb.log.of("run_summary")[-1]["message"]


def test_an_outage_is_not_waited_for_once_a_finding() -> None:
    ebb = orphans(*(f"n{index}" for index in range(9)))
    bus = Refusing(ebb, OUTAGE, *(f"n{index}" for index in range(9)))

    with pytest.raises(Retryable):
        ebb.tick()

    assert len(bus.asked) == 3


class Broken:
    """A port that fails as nobody foresaw."""

    def read(self) -> Policy | PoolsReading:
        raise OverflowError("Python int too large to convert to C long")


def test_a_fault_of_our_own_releases_run_and_leases_of_pass_and_drain() -> None:
    ebb = fake_ebb()
    ebb.pools = Broken()  # type: ignore[assignment]  # it fails

    for _ in range(2):  # the same tick again: neither its run nor the lease stands in the way
        with pytest.raises(OverflowError):
            ebb.tick("2026-03-04T22:00:00Z")
    with pytest.raises(OverflowError):
        ebb.drain(order())

    assert (ebb.remembered().planner, ebb.record().lease) == (None, None)


@cases(
    "asked",
    ("cpu: 9E", {"cpu": 9 * 10**21}),
    ("two containers of 5Ei", {"memory": 2 * 5 * 2**60}),
    ("the largest number that there is", {"memory": 2**63 - 1, "example.com/dongle": 2**63 - 1}),
)
def test_a_pod_that_asks_for_more_than_there_is_stops_neither_planner_nor_drainer(asked: dict[str, int]) -> None:
    typo = pod("typo", requests=Resources.of(asked), unschedulable_since=NOW)
    ebb = fake_ebb()
    ebb.cluster.put(typo)

    assert ebb.tick()["orders"] == ["n1"]
    assert ebb.deliver(ebb.bus.published.pop()) is PushReply.DONE

    assert ebb.cluster.nodes["n1"].unschedulable
