"""The drainer and single replicas that leave without a gap: restarted once, never evicted, undone where it fails."""

import json
from datetime import timedelta
from typing import Any, SupportsIndex

import pytest

from functions.drainer.main import PushReply
from shared.core.policy import SingleReplicas
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import OrderKind
from shared.errors import EbbError, Forbidden, Retryable, Stale
from tests.builders import order, policy
from tests.fakes import failing
from tests.functions.drainer.rollouts import NAME, Rollouts, fake_ebb
from tests.functions.fake_ebb import FakeEbb

RELEASE = json.dumps({"kind": "release", "node": "n1"}).encode()


def to_the_end(ebb: FakeEbb) -> None:
    """Let the drain end, or leave its node to the autoscaler."""
    ebb.drain_to_end(order(), DrainPhase.SETTLED, DrainPhase.DRAINED)


def restarts(ebb: FakeEbb) -> list[str]:
    """Return the stamps that were written, in order."""
    return [str(call[2]) for call in ebb.cluster.calls if call[0] == "restart" and not call[3]]


def evicted(ebb: FakeEbb) -> list[object]:
    return [call[1] for call in ebb.effects() if call[0] == "evict"]


def answers(ebb: FakeEbb) -> list[object]:
    return [line["answer"] for line in ebb.log.of("surge")]


def test_a_single_replica_leaves_by_a_restart_and_the_others_by_evictions_after_it() -> None:
    ebb, _ = fake_ebb()

    to_the_end(ebb)

    assert (ebb.record().phase, restarts(ebb), evicted(ebb)) == (DrainPhase.DRAINED, ["order"], ["default/other"])
    touched = [
        call[0] for call in ebb.cluster.calls if call[0] in {"take", "restart", "evict"} and call[-1] is not True
    ]
    assert touched == ["take", "restart", "evict"]
    assert answers(ebb) == ["asked", "restarted"]
    assert ebb.cluster.deployments[NAME].stamp == "order"


def test_nothing_is_asked_of_deployments_where_nobody_asks_for_surges() -> None:
    ebb, _ = fake_ebb(setting=SingleReplicas.MOVE)

    to_the_end(ebb)

    assert not [call for call in ebb.cluster.calls if call[0] in {"deployment", "restart"}]
    assert sorted(map(str, evicted(ebb))) == ["default/old", "default/other"]


def test_a_dry_run_shows_what_it_would_restart_and_tries_it_dry() -> None:
    ebb, _ = fake_ebb(
        policy=policy(single_replicas=SingleReplicas.SURGE, cluster_wide={"dry_run": True}),
    )

    ebb.drain(order())

    (result,) = ebb.log.of("drain_result")
    assert (result["outcome"], result["detail"]) == ("would_drain", f"would restart {NAME}")
    assert [call for call in ebb.cluster.calls if call[0] == "restart"] == [("restart", NAME, "order", True)]
    assert restarts(ebb) == []


def test_a_restart_that_may_not_be_written_is_refused_before_anything_is_touched() -> None:
    ebb, _ = fake_ebb()
    ebb.cluster.failures["restart"] = [Forbidden("not allowed to patch deployments")]

    ebb.drain(order())

    (result,) = ebb.log.of("drain_result")
    assert (result["reason"], NAME in str(result["detail"])) == ("preflight", True)
    assert ebb.effects() == []
    assert ebb.remembered().backoffs


def test_a_new_pod_that_finds_no_node_is_dropped_and_the_restart_undone() -> None:
    ebb, _ = fake_ebb(starts=False)

    to_the_end(ebb)

    record = ebb.record()
    assert (record.why, record.detail) == (ReturnReason.SURGE_PENDING, "default/new")
    assert (restarts(ebb), evicted(ebb), answers(ebb)) == (["order", ""], [], ["asked", "restarted", "undone"])
    ebb.pass_time(seconds=1)
    assert set(ebb.cluster.pods) == {"default/old", "default/other"}
    assert not ebb.cluster.nodes["n1"].unschedulable


def test_undoing_restores_the_stamp_of_an_earlier_drain() -> None:
    ebb, rollouts = fake_ebb(starts=False)
    rollouts.put(rollouts.now, stamp="earlier")

    to_the_end(ebb)

    assert restarts(ebb) == ["order", "earlier"]


@pytest.mark.parametrize(
    ("why", "undone", "changes"),
    [
        pytest.param(ReturnReason.SURGE_PENDING, "left", {"template": "x"}, id="somebody has changed the template"),
        pytest.param(ReturnReason.SURGE_FAILED, "left", {"uid": "another"}, id="another one has the name"),
        pytest.param(ReturnReason.SURGE_FAILED, "left", {"stamp": "", "observed": False}, id="somebody has undone it"),
        pytest.param(ReturnReason.SURGE_FAILED, "undone", {"progressing": False}, id="its own deadline has passed"),
    ],
)
def test_a_rollout_that_comes_to_nothing_is_undone_only_where_it_is_still_ours(
    why: ReturnReason, undone: str, changes: dict[str, Any]
) -> None:
    ebb, rollouts = fake_ebb(starts=False)
    ebb.later(20, lambda: rollouts.put(rollouts.now, **changes))

    to_the_end(ebb)

    assert (ebb.record().outcome, ebb.record().why, answers(ebb)[-1]) == ("given_back", why, undone)
    assert (restarts(ebb), evicted(ebb)) == (["order", ""] if undone == "undone" else ["order"], [])


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        pytest.param(["order"], {"generation": 1}, id="it never stood: one change is not ours and another's"),
        pytest.param([], {"generation": 2}, id="it stood, and was undone"),
        pytest.param(["order"], {"generation": 2, "uid": "another"}, id="another one has the name"),
    ],
)
def test_a_restart_whose_answer_was_lost_and_that_somebody_undid_is_not_written_again(
    expected: list[str], changes: dict[str, Any]
) -> None:
    ebb, rollouts = fake_ebb(at_rest={"generation": 5})
    answer_is_lost(ebb)
    given = {**changes, "generation": rollouts.now.generation + changes["generation"]}
    rollouts.put(rollouts.now, **given)

    to_the_end(ebb)

    record = ebb.record()
    assert restarts(ebb)[1:] == expected
    assert (record.why == ReturnReason.SURGE_FAILED, "default/old" in ebb.cluster.pods) == (not expected, not expected)


def answer_is_lost(ebb: FakeEbb) -> None:
    """Let the first restart that is no trial go out without an answer."""
    ebb.later(4, lambda: ebb.cluster.failures.setdefault("restart", []).append(Retryable("no answer")))
    assert ebb.drain(order()) is not PushReply.DONE
    assert restarts(ebb) == ["order"]


class ChangedTwice(list[EbbError]):
    """A refusal because the Deployment has changed; before it is read again, it changes once more."""

    def __init__(self, rollouts: Rollouts) -> None:
        super().__init__([Stale("it changed")])
        self._rollouts = rollouts

    def pop(self, index: SupportsIndex = -1) -> EbbError:
        self._rollouts.put(self._rollouts.now, generation=self._rollouts.now.generation + 2)
        return super().pop(index)


def test_what_was_refused_because_it_had_changed_counts_as_never_asked_for() -> None:
    ebb, rollouts = fake_ebb(at_rest={"generation": 5})
    ebb.later(4, lambda: ebb.cluster.failures.update(restart=ChangedTwice(rollouts)))

    to_the_end(ebb)

    assert (ebb.record().phase, restarts(ebb)) == (DrainPhase.DRAINED, ["order", "order"])


def test_a_deployment_that_others_write_again_and_again_is_restarted_with_a_pause() -> None:
    ebb, _ = fake_ebb()
    ebb.cluster.meanwhile["restart", NAME, "order", False] = failing(Stale("it changed"))

    ebb.drain(order())

    assert len(restarts(ebb)) <= ebb.clock.passed


class LandsNow(list[EbbError]):
    """A refusal because a restart that was sent before, and whose answer was lost, has just come to stand."""

    def __init__(self, rollouts: Rollouts) -> None:
        super().__init__([Stale("it changed")])
        self._rollouts = rollouts

    def pop(self, index: SupportsIndex = -1) -> EbbError:
        standing = self._rollouts.now
        self._rollouts.put(standing, stamp="order", generation=standing.generation + 1, observed=False)
        return super().pop(index)


def test_a_restart_that_hangs_while_it_is_repeated_is_remembered_and_undone() -> None:
    ebb, rollouts = fake_ebb(starts=False)
    answer_is_lost(ebb)
    ebb.cluster.failures["restart"] = LandsNow(rollouts)

    to_the_end(ebb)

    record = ebb.record()
    assert (record.why, list(record.surges)) == (ReturnReason.SURGE_PENDING, [NAME])
    assert (answers(ebb)[-1], rollouts.now.stamp) == ("undone", "")


def test_a_deployment_that_changes_before_the_restart_is_left_alone_and_named() -> None:
    ebb, rollouts = fake_ebb()
    ebb.later(3, lambda: rollouts.put(rollouts.now, rolling_update=False))

    to_the_end(ebb)

    record = ebb.record()
    assert (record.why, record.detail) == (ReturnReason.POD_BLOCKS, "default/old: surge_impossible")
    assert (restarts(ebb), evicted(ebb)) == ([], [])


def test_a_release_during_the_rollout_undoes_it() -> None:
    ebb, _ = fake_ebb(starts=False, step_seconds=15)
    ebb.drain(order())

    ebb.deliver(RELEASE)

    assert restarts(ebb) == ["order", ""]
    assert not ebb.cluster.nodes["n1"].unschedulable


def test_a_rollout_that_is_over_is_not_undone_when_the_node_is_returned() -> None:
    ebb, _ = fake_ebb()
    to_the_end(ebb)

    ebb.deliver(RELEASE)

    assert restarts(ebb) == ["order"]


@pytest.mark.parametrize(
    "fault",
    [pytest.param(Stale("it changed"), id="it changed"), pytest.param(Retryable("no answer"), id="no answer came")],
)
def test_a_restart_whose_answer_was_lost_is_asked_for_again(fault: EbbError) -> None:
    ebb, _ = fake_ebb()
    ebb.later(4, lambda: ebb.cluster.failures.setdefault("restart", []).append(fault))

    ebb.drain(order())
    to_the_end(ebb)

    assert (ebb.record().phase, set(restarts(ebb))) == (DrainPhase.DRAINED, {"order"})
    assert evicted(ebb) == ["default/other"]


def test_a_right_that_was_withdrawn_keeps_no_node_cordoned() -> None:
    ebb, _ = fake_ebb(starts=False)

    def withdraw() -> None:
        ebb.cluster.failures["restart"] = [Forbidden("not allowed to patch deployments")]

    ebb.later(20, withdraw)
    to_the_end(ebb)

    assert answers(ebb)[-1] == "stuck"
    assert not ebb.cluster.nodes["n1"].unschedulable
    assert ebb.remembered().backoffs["uid-n1"].delay == timedelta(minutes=30)


def test_a_restart_that_could_not_be_undone_is_undone_by_the_next_pass() -> None:
    ebb, _ = fake_ebb(starts=False)
    ebb.later(20, lambda: ebb.cluster.failures.update(restart=[Forbidden("not allowed to patch deployments")]))
    to_the_end(ebb)
    assert answers(ebb)[-1] == "stuck"

    ebb.tick()
    (found,) = ebb.log.of("healed")
    (repair,) = ebb.releases()
    ebb.deliver(repair)

    assert (found["reason"], NAME in str(found["message"])) == ("orphan", True)
    assert (restarts(ebb)[-1], answers(ebb)[-1]) == ("", "undone")
    assert not ebb.record().surges[NAME].stuck


def webhook_is_down(ebb: FakeEbb, failures: int) -> None:
    """Let each write of a Deployment fail from the moment at which the new pod waits."""
    down = Retryable("Kubernetes API, patch deployments", "500 failed calling webhook")
    ebb.later(20, lambda: ebb.cluster.failures.update(restart=[down] * failures))


def test_a_deployment_that_cannot_be_written_keeps_no_node_cordoned() -> None:
    ebb, _ = fake_ebb(starts=False)
    webhook_is_down(ebb, failures=100)

    to_the_end(ebb)

    record = ebb.record()
    assert (record.phase, list(record.surges), answers(ebb)[-1]) == (DrainPhase.SETTLED, [NAME], "later")
    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.remembered().claims) == (False, {})


@pytest.mark.parametrize("from_person", [pytest.param(True, id="a person's"), pytest.param(False, id="the planner's")])
def test_a_release_is_done_though_a_deployment_cannot_be_written(from_person: bool) -> None:
    ebb, _ = fake_ebb(starts=False)
    webhook_is_down(ebb, failures=100)
    to_the_end(ebb)
    ebb.tick()
    (repair,) = ebb.releases()

    assert ebb.deliver(RELEASE if from_person else repair) is PushReply.DONE


def test_a_restart_is_undone_once_the_webhook_is_back_after_two_hours() -> None:
    ebb, _ = fake_ebb(starts=False)
    webhook_is_down(ebb, failures=25)
    to_the_end(ebb)

    assert released(ebb, passes=26) == 25
    assert (restarts(ebb)[-1], answers(ebb)[-1]) == ("", "undone")


def stuck(ebb: FakeEbb) -> None:
    """Let a drain end whose restart may not be undone."""
    ebb.later(20, lambda: ebb.cluster.failures.update(restart=[Forbidden("kept from Ebb")]))
    to_the_end(ebb)
    (told,) = (line for line in ebb.log.of("surge") if line["answer"] == "stuck")
    assert (told["severity"], "kept from Ebb" in str(told["detail"])) == ("WARNING", True)
    (result,) = ebb.log.of("drain_result")
    command = "kubectl -n default rollout undo deployment web"
    assert all(command in str(line["detail"]) for line in (told, result))


def released(ebb: FakeEbb, passes: int) -> int:
    """Let some passes heal, and whatever they publish be carried out; return how many releases that were."""
    count = 0
    for _ in range(passes):
        before = len(ebb.bus.published)
        ebb.pass_time(seconds=300)
        ebb.tick()
        due = [sent for sent in ebb.bus.published[before:] if sent.kind is OrderKind.RELEASE]
        assert [ebb.deliver(sent) for sent in due] == [PushReply.DONE] * len(due)
        count += len(due)
    return count


def test_a_release_that_is_refused_again_and_again_is_published_three_times_and_no_more() -> None:
    ebb, _ = fake_ebb(starts=False)
    stuck(ebb)
    ebb.cluster.failures["restart"] = [Forbidden("kept from Ebb")] * 20

    assert released(ebb, passes=8) == 3
    assert answers(ebb).count("stuck") == 4


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        pytest.param(1, {"template": "by its owner"}, id="its owner rolls out what hangs"),
        pytest.param(0, {"uid": "another"}, id="another has its name and its stamp"),
    ],
)
def test_what_is_not_ours_any_more_is_looked_at_once(expected: int, changes: dict[str, Any]) -> None:
    ebb, rollouts = fake_ebb(starts=False)
    stuck(ebb)
    rollouts.put(rollouts.now, generation=9, **changes)

    assert released(ebb, passes=6) == expected
    assert restarts(ebb) == ["order", ""]
    rollouts.put(rollouts.now, generation=10)
    assert released(ebb, passes=3) == expected


def test_what_the_drain_itself_left_to_its_owner_is_never_looked_at_again() -> None:
    ebb, rollouts = fake_ebb(starts=False)
    ebb.later(20, lambda: rollouts.put(rollouts.now, template="by its owner", generation=9))
    to_the_end(ebb)
    assert answers(ebb)[-1] == "left"

    assert released(ebb, passes=4) == 0


def test_a_look_at_a_drain_that_is_over_does_not_change_when_it_ended() -> None:
    ebb, rollouts = fake_ebb(starts=False)
    stuck(ebb)
    before = ebb.record()
    rollouts.put(rollouts.now, generation=9, template="by its owner")

    assert released(ebb, passes=1) == 1

    after = ebb.record()
    assert (after.updated_at, after.surges[NAME].looked_at) == (before.updated_at, 9)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"created": 1, "updated": 1}, id="it is rolled out"),
        pytest.param({"stamp": "unknown"}, id="nobody knows the drain"),
    ],
)
def test_a_pass_leaves_alone_what_hangs_for_nobody_that_is_known(changes: dict[str, Any]) -> None:
    ebb, rollouts = fake_ebb(starts=False)
    ebb.later(20, lambda: ebb.cluster.failures.update(restart=[Forbidden("not allowed to patch deployments")]))
    to_the_end(ebb)
    rollouts.put(rollouts.now, **changes)

    ebb.tick()

    assert ebb.log.of("healed") == []


def test_a_deployment_that_is_no_more_is_not_asked_for_again_and_again() -> None:
    ebb, rollouts = fake_ebb()
    ebb.clock.moves.remove(rollouts.move)
    del ebb.cluster.deployments[NAME]

    to_the_end(ebb)

    reads = [call for call in ebb.cluster.calls if call[0] == "deployment"]
    assert 0 < len(reads) < ebb.clock.passed
