"""What the drainer does for what it moved: proves its place once more, and stays until it lives again. On fakes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace as changed

from functions.drainer.main import PushReply
from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.workloads import Workload, mark
from shared.core.reasons import ReturnReason
from shared.core.records.claims import settle
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.state import ClusterState, Lease, Start
from shared.errors import Retryable, Terminal
from shared.ports import drain_key
from tests.builders import CLUSTER, NOW, claim, node, order, our_taint, pdb, pod, pod_class, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder
from tests.functions.fake_ebb import FakeEbb

MOST = 30.0
"""Seconds that a replacement may wait before its node is given back (docs/decisions/promise.md)."""
BIG = pod_class(owner="ReplicaSet/web", cpu=1)
SSD = pod_class(owner="ReplicaSet/web", node_selector={"disk": "ssd"})


def reborn_without_a_place(ebb: FakeEbb, kind: PodClass = WEB) -> None:
    """The replacement of `p` comes when `p` begins to end, and the scheduler says at once that it fits nowhere."""

    def look() -> None:
        old = ebb.cluster.pods.get("default/p")
        if old and old.deleting and "default/new" not in ebb.cluster.pods:
            ebb.cluster.put(changed(waiting(ebb), spec=kind))

    ebb.clock.moves.insert(0, look)


def waiting(ebb: FakeEbb) -> Pod:
    now = ebb.clock.now()
    return pod("new", kind=WEB, phase=Phase.PENDING, ready=False, created=now, unschedulable_since=now)


def waited(ebb: FakeEbb) -> float:
    """Return for how many seconds the replacement has found no place."""
    since = ebb.cluster.pods["default/new"].unschedulable_since
    assert since is not None
    return (ebb.clock.now() - since).total_seconds()


def failing(ebb: FakeEbb, waits: Sequence[float], fault: type[Retryable | Terminal] = Retryable) -> None:
    """Reads of pods fail so many seconds after the replacement has begun to wait."""
    left = list(waits)

    def fail() -> None:
        new = ebb.cluster.pods.get("default/new")
        if new and new.unschedulable_since and left and waited(ebb) >= left[0]:
            left.pop(0)
            raise fault("Kubernetes API, list pods", "429")

    ebb.cluster.meanwhile["pods_on",] = fail


def counted(ebb: FakeEbb, *, available: int, created: int = 1) -> None:
    ebb.cluster.workloads[WEB.workload] = Workload("default/Deployment/web", 1, available, created=created)


@pytest.mark.parametrize("fault", [Retryable, Terminal])
@pytest.mark.parametrize("failures", [[15], [19], [15, 16], [10, 11, 12], [5, 6, 7, 8], [16, 17, 18, 19]])
def test_failed_reads_put_a_node_off_by_no_more_than_seconds(
    failures: list[float], fault: type[Retryable | Terminal]
) -> None:
    """Before, each one ended the step, and Pub/Sub decided when somebody looked again: after 155 s with four."""
    ebb = fake_ebb()
    reborn_without_a_place(ebb)
    failing(ebb, failures, fault)

    assert ebb.drain(order()) is PushReply.DONE

    assert waited(ebb) <= MOST
    assert ebb.reasons("drain_result") == ["replacement_pending"]


@pytest.mark.parametrize("grace", [0, 5, 30, 55, 90, 300])
def test_a_node_is_returned_within_half_a_minute_of_a_replacement_that_finds_no_place(grace: int) -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=replace(WEB, grace_seconds=grace)), pdb("web", app="web"))
    reborn_without_a_place(ebb)

    assert ebb.drain(order()) is PushReply.DONE

    assert waited(ebb) <= MOST
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])


def test_a_deployment_whose_moved_replica_set_is_deleted_is_owed_its_replacement() -> None:
    """A rollout ends during the drain, and `revisionHistoryLimit: 0` leaves nothing of the old ReplicaSet."""
    ebb = fake_ebb()
    counted(ebb, available=1)

    def roll_out() -> None:
        del ebb.cluster.workloads[WEB.workload]
        ebb.cluster.workloads["default/ReplicaSet/web-2"] = Workload("default/Deployment/web", 1, 0, created=1)
        kind = pod_class(owner="ReplicaSet/web-2")
        ebb.cluster.put(changed(waiting(ebb), spec=kind))

    ebb.later(20, roll_out)
    ebb.drain(order())

    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])


N9 = replace(node("n9"), unschedulable=True, taints=(our_taint("younger"),))


def younger_drain(ebb: FakeEbb) -> None:
    """Another instance has moved a pod of the same workload in the second of the replacement, and is at work."""
    now = ebb.clock.now()
    new = ebb.cluster.pods["default/new"]
    assert new.created is not None
    record = DrainRecord(
        order=order("n9", order_id="younger"),
        phase=DrainPhase.CORDONED,
        node_uid="uid-n9",
        cordoned_at=NOW,
        lease=Lease("another", now + timedelta(minutes=10)),
        pods={"default/q": PodProgress(uid="uid-q", answer="granted", owner=WEB.workload, at=new.created)},
        before={WEB.workload: None},
    )
    ebb.state.put(drain_key("younger"), record, None)
    state = ebb.remembered()
    ebb.remember(changed(state, claims={**state.claims, "uid-n9": claim("n9", order_id="younger", since=now)}))


def contested() -> FakeEbb:
    """Our drain's replacement finds no place, and a younger drain has moved a pod of its workload, too."""
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pdb("web", app="web"), N9)
    reborn_without_a_place(ebb)
    ebb.later(8, lambda: younger_drain(ebb))
    return ebb


def younger_returns(ebb: FakeEbb) -> None:
    ebb.remember(
        settle(ebb.remembered(), "uid-n9", ReturnReason.REPLACEMENT_PENDING, ebb.clock.now(), ("default/new",))
    )


def test_the_youngest_drain_that_moved_a_workload_gives_way_and_the_others_stay() -> None:
    ebb = contested()
    ebb.later(36, lambda: younger_returns(ebb))
    ebb.later(40, lambda: ebb.cluster.put(changed(ebb.cluster.pods["default/new"], node="n2", ready=True)))

    assert ebb.drain(order()) is PushReply.DONE

    assert (holder(ebb), ebb.reasons("drain_result")) == ("order", [])
    assert ebb.record().phase is DrainPhase.DRAINED


@pytest.mark.parametrize("step_seconds", [480, 12])
def test_the_drain_gives_way_on_whose_node_the_pod_fits_in_a_new_instance_too(step_seconds: int) -> None:
    """Each call is an instance of its own. The younger drain's node is without the disk that the pod asks for."""
    nodes = [node(name, labels={"disk": "ssd"}) for name in ("n1", "n2")]
    ebb = FakeEbb(*nodes, N9, pod("p", on="n1", kind=SSD), pdb("web", app="web"), step_seconds=step_seconds)
    reborn_without_a_place(ebb, SSD)
    ebb.later(8, lambda: younger_drain(ebb))

    ebb.drain(order())
    ebb.carry_on()

    assert waited(ebb) <= MOST
    assert ebb.reasons("drain_result") == ["replacement_pending"]


def test_a_node_that_was_returned_in_vain_is_followed_by_the_next_within_a_look() -> None:
    ebb = contested()
    ebb.later(36, lambda: younger_returns(ebb))

    assert ebb.drain(order()) is PushReply.DONE

    assert 36 + 5 <= ebb.clock.passed <= 36 + 10
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])


@pytest.mark.parametrize("is_cut_short", [False, True])
def test_a_node_returned_is_remembered_with_the_pods_it_was_returned_for(is_cut_short: bool) -> None:
    """Else the next drain would give its node back for the very same pod at once."""
    ebb = fake_ebb()
    reborn_without_a_place(ebb)
    if is_cut_short:
        ebb.cluster.failures["return_node"] = [Retryable("kubernetes", "timeout")]
        assert ebb.drain(order()) is PushReply.AGAIN

    ebb.deliver(order())

    assert ebb.record().gave_way_for == ("default/new",)
    assert ebb.remembered().backoffs["uid-n1"].gave_way_for == (mark("default/new"),)


def test_a_record_that_cannot_be_read_gives_no_node_back_in_our_stead() -> None:
    ebb = contested()
    place = (CLUSTER, "drains", "younger")
    ebb.later(9, lambda: ebb.state.documents.update({place: (b"{}", "1")}))

    assert ebb.drain(order()) is PushReply.DONE
    assert ebb.reasons("drain_result") == ["replacement_pending"]


def test_a_drained_node_is_looked_at_in_new_messages_until_its_replacements_run() -> None:
    ebb = fake_ebb(step_seconds=25)
    counted(ebb, available=1)
    ebb.later(10, lambda: counted(ebb, available=0))
    ebb.later(70, lambda: counted(ebb, available=1))

    ebb.drain(order())
    ebb.carry_on()

    assert holder(ebb) == "order"
    assert 70 <= ebb.clock.passed <= 100
    assert ebb.record().phase is DrainPhase.DRAINED
    assert ebb.record().lease is None


def test_a_replacement_that_loses_its_node_after_all_has_the_drained_one_returned() -> None:
    ebb = fake_ebb()
    counted(ebb, available=1)
    ebb.later(10, lambda: counted(ebb, available=0))
    ebb.later(60, lambda: ebb.cluster.put(waiting(ebb)))

    ebb.drain(order())

    assert ebb.record().drained_at is not None
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])
    assert ebb.clock.passed <= 60 + MOST


def test_a_replacement_that_never_starts_does_not_hold_a_message_beyond_the_deadline() -> None:
    ebb = fake_ebb(step_seconds=3600)
    counted(ebb, available=1)
    ebb.later(10, lambda: counted(ebb, available=0))

    ebb.drain(order())

    deadline = ebb.record().deadline
    assert deadline is not None
    assert timedelta(0) <= ebb.clock.now() - deadline < timedelta(seconds=10)
    assert ebb.record().phase is DrainPhase.DRAINED


def test_a_watch_that_the_pass_has_ended_meanwhile_shows_nothing_of_its_lease() -> None:
    ebb = fake_ebb()

    def the_pass_sees_the_node_gone() -> None:
        del ebb.cluster.nodes["n1"]
        ebb.tick()

    ebb.later(45, the_pass_sees_the_node_gone)

    assert ebb.drain(order()) is PushReply.AGAIN
    assert ebb.deliver(order()) is PushReply.DONE
    assert not [line for line in ebb.log.of("drain_step") if "lapse" in str(line["message"])]
    assert ebb.record().outcome == "removed"


def test_room_taken_before_the_first_eviction_gives_the_node_back_untouched() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"))
    rival = pod_class(owner="ReplicaSet/rival", cpu=3.5)
    ebb.later(3, lambda: ebb.cluster.put(*(pod(f"rival-{name}", on=name, kind=rival) for name in ("n2", "n3"))))

    assert ebb.drain(order()) is PushReply.DONE

    assert [call[0] for call in ebb.effects()] == ["take", "return_node"]
    (result,) = ebb.log.of("drain_result")
    assert (result["outcome"], result["reason"]) == ("stale", "stale")
    assert "default/p" in str(result["detail"])
    assert (ebb.remembered().claims, ebb.remembered().backoffs) == ({}, {})


def test_the_headroom_is_there_for_what_happens_between_plan_and_eviction() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"), policy=policy(headroom_percent=25))
    rival = pod_class(owner="ReplicaSet/rival", cpu=2.8)
    ebb.later(3, lambda: ebb.cluster.put(*(pod(f"rival-{name}", on=name, kind=rival) for name in ("n2", "n3"))))

    ebb.drain(order())

    assert [call[0] for call in ebb.effects()] == ["take", "evict"]


@cases(
    "expected, state",
    ("an older one", False, ClusterState(starts=(Start(NOW - timedelta(minutes=1), "a"),))),
    ("known by its start", True, ClusterState(starts=(Start(NOW, "a"),))),
    ("known as the last", True, ClusterState(last_scale_down=NOW)),
)
def test_a_drain_that_began_and_ended_since_the_snapshot_asks_for_a_new_proof(expected: bool, state: Any) -> None:
    """It moved pods, and no claim of it is left that would tell."""
    ebb = fake_ebb()
    ebb.remember(state)

    ebb.drain(order())

    before_the_cordon = ebb.cluster.calls[: ebb.cluster.calls.index(("take", "n1", "order"))]
    assert expected == (("read",) in before_the_cordon)


def test_a_drained_node_whose_step_was_lost_is_watched_again_and_its_claim_shows_it() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    claims = ebb.remembered().claims
    ebb.remember(changed(ebb.remembered(), claims={"uid-n1": changed(claims["uid-n1"], drained=UNSET)}))
    ebb.pass_time(minutes=2)

    ebb.tick()
    (again,) = [sent for sent in ebb.bus.published if sent.order_id == "order"]
    assert again.generation == 1
    assert ebb.deliver(again) is PushReply.DONE

    assert ebb.remembered().claims["uid-n1"].drained is True
