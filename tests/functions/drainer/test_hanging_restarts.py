"""Restarts that hang when their drain has ended: undone by a later pass, looked at seldom, and never for nobody."""

from datetime import timedelta
from typing import Any

from functions.drainer.main import PushReply
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import OrderKind
from shared.errors import Forbidden, Retryable
from tests.depth import cases
from tests.functions.drainer.one_drain import RELEASE
from tests.functions.drainer.rollouts import NAME, fake_ebb
from tests.functions.drainer.test_drainer_surges import answers, restarts, to_the_end
from tests.functions.fake_ebb import FakeEbb


def test_a_right_that_was_withdrawn_keeps_no_node_cordoned() -> None:
    ebb, _ = fake_ebb(starts=False)

    stuck(ebb)

    assert answers(ebb)[-1] == "stuck"
    assert not ebb.cluster.nodes["n1"].unschedulable
    assert ebb.remembered().backoffs["uid-n1"].delay == timedelta(minutes=30)


def test_a_restart_that_could_not_be_undone_is_undone_by_the_next_pass() -> None:
    ebb, _ = fake_ebb(starts=False)
    stuck(ebb)
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


@cases("from_person", ("a person's", True), ("the planner's", False))
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


@cases(
    "expected, changes",
    ("its owner rolls out what hangs", 1, {"template": "by its owner"}),
    ("another has its name and its stamp", 0, {"uid": "another"}),
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


@cases("changes", ("it is rolled out", {"created": 1, "updated": 1}), ("nobody knows the drain", {"stamp": "unknown"}))
def test_a_pass_leaves_alone_what_hangs_for_nobody_that_is_known(changes: dict[str, Any]) -> None:
    ebb, rollouts = fake_ebb(starts=False)
    stuck(ebb)
    rollouts.put(rollouts.now, **changes)

    ebb.tick()

    assert ebb.log.of("healed") == []
