"""The drainer and single replicas that leave without a gap: restarted once, never evicted, undone where it fails."""

from typing import Any, SupportsIndex

from functions.drainer.main import PushReply
from shared.core.policy import SingleReplicas
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase
from shared.errors import EbbError, Forbidden, Retryable, Stale
from tests.builders import order, policy
from tests.depth import cases
from tests.fakes import failing
from tests.functions.drainer.one_drain import RELEASE, evicted
from tests.functions.drainer.rollouts import NAME, Rollouts, fake_ebb
from tests.functions.fake_ebb import FakeEbb


def to_the_end(ebb: FakeEbb) -> None:
    """Let the drain end, or leave its node to the autoscaler."""
    ebb.drain_to_end(order(), DrainPhase.SETTLED, DrainPhase.DRAINED)


def restarts(ebb: FakeEbb) -> list[str]:
    """Return the stamps that were written, in order."""
    return [str(call[2]) for call in ebb.cluster.calls if call[0] == "restart" and not call[3]]


def answers(ebb: FakeEbb) -> list[object]:
    return [line["answer"] for line in ebb.log.of("surge")]


def test_a_single_replica_leaves_by_a_restart_and_the_others_by_evictions_after_it() -> None:
    ebb, _ = fake_ebb()

    to_the_end(ebb)

    assert (ebb.record().phase, restarts(ebb), evicted(ebb)) == (DrainPhase.DRAINED, ["order"], ["default/other"])
    done = [call[0] for call in ebb.cluster.calls if call[-1] is not True]
    assert [word for word in done if word in {"take", "restart", "evict"}] == ["take", "restart", "evict"]
    assert answers(ebb) == ["asked", "restarted"]
    assert ebb.cluster.deployments[NAME].stamp == "order"


def test_nothing_is_asked_of_deployments_where_nobody_asks_for_surges() -> None:
    ebb, _ = fake_ebb(setting=SingleReplicas.MOVE)

    to_the_end(ebb)

    assert not [call for call in ebb.cluster.calls if call[0] in {"deployment", "restart"}]
    assert sorted(map(str, evicted(ebb))) == ["default/old", "default/other"]


def test_a_dry_run_shows_what_it_would_restart_and_tries_it_dry() -> None:
    ebb, _ = fake_ebb(policy=policy(single_replicas=SingleReplicas.SURGE, cluster_wide={"dry_run": True}))

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


@cases(
    "why, undone, changes",
    ("somebody has changed the template", ReturnReason.SURGE_PENDING, "left", {"template": "x"}),
    ("another one has the name", ReturnReason.SURGE_FAILED, "left", {"uid": "another"}),
    ("somebody has undone it", ReturnReason.SURGE_FAILED, "left", {"stamp": "", "observed": False}),
    ("its own deadline has passed", ReturnReason.SURGE_FAILED, "undone", {"progressing": False}),
)
def test_a_rollout_that_comes_to_nothing_is_undone_only_where_it_is_still_ours(
    why: ReturnReason, undone: str, changes: dict[str, Any]
) -> None:
    ebb, rollouts = fake_ebb(starts=False)
    ebb.later(20, lambda: rollouts.put(rollouts.now, **changes))

    to_the_end(ebb)

    assert (ebb.record().outcome, ebb.record().why, answers(ebb)[-1]) == ("given_back", why, undone)
    assert (restarts(ebb), evicted(ebb)) == (["order", ""] if undone == "undone" else ["order"], [])


@cases(
    "expected, changes",
    ("it never stood: one change is not ours and another's", ["order"], {"generation": 1}),
    ("it stood, and was undone", [], {"generation": 2}),
    ("another one has the name", ["order"], {"generation": 2, "uid": "another"}),
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


class RefusedOnce(list[EbbError]):
    """A refusal because the Deployment has changed; before it is read again, it changes once more."""

    def __init__(self, rollouts: Rollouts, **changes: Any) -> None:
        super().__init__([Stale("it changed")])
        self._rollouts, self._changes = rollouts, changes

    def pop(self, index: SupportsIndex = -1) -> EbbError:
        self._rollouts.put(self._rollouts.now, **self._changes)
        return super().pop(index)


def test_what_was_refused_because_it_had_changed_counts_as_never_asked_for() -> None:
    ebb, rollouts = fake_ebb(at_rest={"generation": 5})
    ebb.later(
        4, lambda: ebb.cluster.failures.update(restart=RefusedOnce(rollouts, generation=rollouts.now.generation + 2))
    )

    to_the_end(ebb)

    assert (ebb.record().phase, restarts(ebb)) == (DrainPhase.DRAINED, ["order", "order"])


def test_a_deployment_that_others_write_again_and_again_is_restarted_with_a_pause() -> None:
    ebb, _ = fake_ebb()
    ebb.cluster.meanwhile["restart", NAME, "order", False] = failing(Stale("it changed"))

    ebb.drain(order())

    assert len(restarts(ebb)) <= ebb.clock.passed


def test_a_restart_that_hangs_while_it_is_repeated_is_remembered_and_undone() -> None:
    """The one that was sent before, and whose answer was lost, has just come to stand."""
    ebb, rollouts = fake_ebb(starts=False)
    answer_is_lost(ebb)
    landed: dict[str, Any] = {"stamp": "order", "generation": rollouts.now.generation + 1, "observed": False}
    ebb.cluster.failures["restart"] = RefusedOnce(rollouts, **landed)

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


@cases("fault", ("it changed", Stale("it changed")), ("no answer came", Retryable("no answer")))
def test_a_restart_whose_answer_was_lost_is_asked_for_again(fault: EbbError) -> None:
    ebb, _ = fake_ebb()
    ebb.later(4, lambda: ebb.cluster.failures.setdefault("restart", []).append(fault))

    ebb.drain(order())
    to_the_end(ebb)

    assert (ebb.record().phase, set(restarts(ebb))) == (DrainPhase.DRAINED, {"order"})
    assert evicted(ebb) == ["default/other"]


def test_a_deployment_that_is_no_more_is_not_asked_for_again_and_again() -> None:
    ebb, rollouts = fake_ebb()
    ebb.clock.moves.remove(rollouts.move)
    del ebb.cluster.deployments[NAME]

    to_the_end(ebb)

    reads = [call for call in ebb.cluster.calls if call[0] == "deployment"]
    assert 0 < len(reads) < ebb.clock.passed
