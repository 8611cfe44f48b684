"""How old a reading may be that a drain goes by: as long as its constant says, and no second longer."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.drainer import reads
from functions.drainer.main import PushReply
from functions.drainer.observe import Observer
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.draining.drain import Observation, OtherDrains, Proof
from shared.core.draining.evicting import expires_at
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import ClusterState
from shared.errors import EbbError, Retryable, Terminal
from shared.ports import Ports, drain_key
from shared.store.drain_record import LeasedRecord
from tests.builders import NOW, claim, mounts, node, order, pod, policy, volume_claim
from tests.builders import storage as stored
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, fake_ebb
from tests.functions.fake_ebb import FakeEbb

OF_CLASS = node("n1", labels={COMPUTE_CLASS_LABEL: "cheap"})
CLAIMING = (pod("p", on="n1", owner="ReplicaSet/web", volumes=mounts("data")),)


@pytest.mark.parametrize("over", [0, 1], ids=["as old as it may be", "a second older"])
@cases(
    "read, call, seconds",
    ("nodes", reads.nodes, "all_nodes", 5),
    ("PodDisruptionBudgets", reads.disruption_budgets, "disruption_budgets", 2),
    ("waiting pods", reads.unbound_pods, "unbound_pods", 2),
    ("capacity buffers", reads.buffers, "buffers", 5),
    ("ComputeClasses", lambda ports, now: reads.compute_classes(ports, OF_CLASS, now), "buffers", 60),
    ("storage", lambda ports, now: reads.storage_of(ports, CLAIMING, now), "storage", 20),
    ("workloads", lambda ports, now: reads.workloads(ports, (WEB.workload,), now), "workloads_of", 3),
)
def test_what_another_order_has_read_is_used_for_so_many_seconds(
    read: Callable[[Ports, datetime], object], call: str, seconds: int, over: int
) -> None:
    ebb = fake_ebb(one_instance=True)
    ebb.cluster.storage_held = stored(volume_claim("data"))

    read(ebb.ports, NOW)
    read(ebb.ports, NOW + timedelta(seconds=seconds + over))

    assert calls(ebb, call) == 1 + over


def calls(ebb: FakeEbb, *names: str) -> int:
    return sum(call[0] in names for call in ebb.cluster.calls)


def step(ebb: FakeEbb, **known: Any) -> LeasedRecord:
    """Return a step of a drain; `known` is in its record."""
    ebb.state.put(drain_key("order"), DrainRecord(order=order(), node_uid="uid-n1", begun_at=NOW, **known), None)
    return LeasedRecord.open(ebb.state, ebb.clock, order(), "step", 480)


def observer(ebb: FakeEbb, **known: Any) -> Observer:
    """Return what a step of a drain sees with."""
    return Observer(ebb.ports, step(ebb, **known))


@cases("expected, seconds", ("four seconds later", 1, 4), ("five", 2, 5))
def test_a_drain_reads_what_changes_slowly_every_five_seconds(expected: int, seconds: int) -> None:
    ebb = fake_ebb()
    eyes = observer(ebb)

    eyes.observe()
    ebb.pass_time(seconds=seconds)
    eyes.observe()

    assert (calls(ebb, "unbound_pods"), calls(ebb, "pods_on")) == (expected, 2)


def test_what_undoes_a_drain_is_not_what_was_remembered() -> None:
    ebb = fake_ebb()
    eyes = observer(ebb)
    eyes.observe()

    ebb.remember(ClusterState(paused=True))

    assert (eyes.observe().paused, eyes.observe_again().paused) == (False, True)


@cases("expected, seconds", ("as old as the claim", 1, 0), ("older", 2, 1))
def test_where_waiting_pods_fit_is_shown_by_a_snapshot_of_after_the_claim(expected: int, seconds: float) -> None:
    ebb = fake_ebb(one_instance=True)
    drain, since = step(ebb), NOW + timedelta(seconds=seconds)
    beside(ebb)
    reads.whole_snapshot(ebb.ports, order(), ClusterState(), NOW)
    ebb.pass_time(seconds=5)

    observed = reads.with_others(ebb.ports, drain, Observation(None, claim("n1", since=since)))

    assert observed.others is not None
    assert observed.others.snapshot is not None
    assert (observed.others.snapshot.taken_at >= since, calls(ebb, "read")) == (True, expected)


def test_without_another_drain_no_snapshot_is_read_while_a_pod_waits() -> None:
    ebb = fake_ebb()

    assert reads.with_others(ebb.ports, step(ebb), Observation(None, claim("n1"))).others == OtherDrains((), (), None)
    assert calls(ebb, "read") == 0


@pytest.mark.parametrize("fault", [Retryable("kubernetes", "timeout"), Terminal("kubernetes", "403")])
def test_a_snapshot_that_cannot_be_read_keeps_no_drain_from_giving_way(fault: EbbError) -> None:
    ebb = fake_ebb()
    drain = step(ebb)
    beside(ebb)
    ebb.cluster.failures["read"] = [fault]

    observed = reads.with_others(ebb.ports, drain, Observation(None, claim("n1")))

    assert observed.others is not None
    assert (len(observed.others.drains), observed.others.snapshot) == (1, None)


def beside(ebb: FakeEbb) -> None:
    """Another drain is under way."""
    ebb.state.put(drain_key("second"), DrainRecord(order=order("n2", order_id="second"), node_uid="uid-n2"), None)
    ebb.remember(ClusterState(claims={"uid-n2": claim("n2", order_id="second")}))


def test_a_drain_proves_again_on_a_snapshot_of_after_its_last_proof() -> None:
    """Another drain has read one in between: it is young, and yet of before the last proof's end."""
    ebb = fake_ebb(one_instance=True)
    drain = step(ebb, cordoned_at=NOW)
    ebb.pass_time(seconds=15)
    reads.whole_snapshot(ebb.ports, order(), ClusterState(), ebb.clock.now())
    ebb.pass_time(seconds=6)

    assert (
        reads.prove(ebb.ports, drain, ebb.cluster.nodes["n1"], expires_at(Proof(NOW, NOW))).taken_at == ebb.clock.now()
    )


def test_a_node_reborn_since_others_were_read_is_counted_once() -> None:
    two = policy(cluster_wide={"minimum_nodes": 2})
    ebb = FakeEbb(node("n1"), node("n2"), policy=two, one_instance=True)
    reads.nodes(ebb.ports, ebb.clock.now())
    ebb.cluster.put(replace(node("n1"), uid="uid-second"))

    ebb.drain(order(node_uid="uid-second"))

    assert ebb.reasons("drain_result") == ["minimum_nodes"]


@cases(
    "expected, before",
    ("it has moved nothing: what another order has just read is good enough", 1, {}),
    ("it counts replacements: it reads the waiting pods itself", 2, {WEB.workload: None}),
)
def test_who_counts_replacements_reads_the_waiting_pods_after_the_workloads(
    expected: int, before: dict[str, None]
) -> None:
    """A pod that waits and is not seen would count as one that has its node."""
    ebb = fake_ebb(one_instance=True)
    reads.unbound_pods(ebb.ports, ebb.clock.now())
    ebb.pass_time(seconds=1)

    observer(ebb, before=before).observe()

    assert calls(ebb, "unbound_pods") == expected
    read = [call[0] for call in ebb.cluster.calls if call[0] in {"workloads_of", "unbound_pods"}]
    assert before == {} or read[-2:] == ["workloads_of", "unbound_pods"]


@cases(
    "expected, asked, preflight",
    ("its nodes were read a minute before", True, 0, 60),
    ("more than a minute before", False, 0, 61),
    ("another order had read them, a minute before", True, 5, 55),
    ("and more than that", False, 5, 56),
)
def test_a_claim_rests_on_nodes_that_were_read_within_a_minute(expected: bool, asked: int, preflight: int) -> None:
    """An instance may be paused between two of its calls for any time: here just before an eviction is tried."""
    ebb = fake_ebb(one_instance=True)
    reads.nodes(ebb.ports, ebb.clock.now())
    ebb.pass_time(seconds=asked)
    ebb.cluster.meanwhile["evict", "default/p", 30, True] = lambda: ebb.pass_time(seconds=preflight)
    reply = ebb.drain(order())

    assert (reply is PushReply.DONE) is expected
    assert bool(ebb.remembered().claims) is expected
