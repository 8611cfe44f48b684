"""A pass writes deletion costs on pods of the nodes that go next, and takes back what is ours elsewhere."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.policy import Policy
from shared.errors import EbbError, Forbidden, Gone, Retryable, Stale, Terminal
from tests.builders import node, pod, pod_class, policy
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web", cpu=1)
WAITS = policy(steer_scale_in=True, consolidate_after=timedelta(hours=9))
"""Nothing is ever due, so that nothing but costs is written."""


OFF = policy(consolidate_after=timedelta(hours=9))


def web(index: int, **changes: str) -> Pod:
    return pod(f"w{index}", on=f"n{index}", kind=WEB, **changes)


def fake_ebb(*pods: Pod, rules: Policy = WAITS) -> FakeEbb:
    return FakeEbb(node("n1"), node("n2"), node("n3"), *(pods or (web(1), web(2), web(3))), policy=rules)


def costs(ebb: FakeEbb) -> dict[str, str]:
    return {one_pod.name: one_pod.steered for one_pod in ebb.cluster.pods.values() if one_pod.steered}


def asked(ebb: FakeEbb) -> list[tuple[object, ...]]:
    return [call[1:] for call in ebb.cluster.calls if call[0] == "set_deletion_cost"]


def told(ebb: FakeEbb) -> list[str]:
    return [str(line["message"]) for line in ebb.log.of("scale_in_steered")]


def test_a_pass_marks_pods_of_nodes_that_go_next_and_the_next_one_writes_nothing() -> None:
    ebb = fake_ebb()

    said = ebb.tick()

    assert costs(ebb) == {"w1": "-601", "w2": "-401"}
    assert (said["costs_written"], said["costs_taken_back"]) == (2, 0)
    assert told(ebb) == ["Scale-in: 2 written, 0 taken back, 0 left to later passes."]
    ebb.pass_time(minutes=5)
    assert ebb.tick()["costs_written"] == 0
    assert len(asked(ebb)) == len(told(ebb)) + 1 == 2


def test_without_the_setting_no_pass_asks_anything_more() -> None:
    ebb = fake_ebb(rules=OFF)

    ebb.tick()

    assert {call[0] for call in ebb.cluster.calls} == {"read"}
    assert told(ebb) == []


def test_turning_the_setting_off_takes_back_what_is_ours() -> None:
    ebb = fake_ebb(web(1, steered="-1000"), web(2), web(3), rules=OFF)

    said = ebb.tick()

    assert (costs(ebb), said["costs_taken_back"]) == ({}, 1)


@pytest.mark.parametrize("fault", [None, Retryable("it", "timeout")], ids=["missing", "unread"])
def test_without_a_policy_what_is_ours_is_taken_back_and_without_an_answer_it_stays(fault: EbbError | None) -> None:
    """A policy that is missing or invalid wishes for nothing; of one that cannot be read nothing is known."""
    ebb = fake_ebb(web(1, steered="-1000"), web(2), web(3))
    ebb.policy.policy = fault

    if fault is None:
        assert ebb.tick()["costs_taken_back"] == 1
        assert costs(ebb) == {}
    else:
        with pytest.raises(Retryable):
            ebb.tick()
        assert costs(ebb) == {"w1": "-1000"}


def test_a_dry_run_writes_nothing_and_shows_what_it_would_write() -> None:
    ebb = fake_ebb(rules=replace(WAITS, dry_run=True))

    said = ebb.tick()

    assert (asked(ebb), said["costs_written"]) == ([], 0)
    assert told(ebb) == [
        "Scale-in: 2 pods would carry a deletion cost (dry run), 0 taken back, 0 left to later passes."
    ]


@cases(
    "left, fault",
    ("the pod changed", 0, Stale("it changed")),
    ("the pod is gone", 0, Gone("it is gone")),
    ("no answer", 1, Retryable("the API", "no answer")),
    ("refused", 1, Terminal("the API", "422")),
)
def test_one_write_that_fails_keeps_no_other_from_being_made(left: int, fault: EbbError) -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["set_deletion_cost"] = [fault]

    said = ebb.tick()

    assert (costs(ebb), said["costs_written"]) == ({"w2": "-401"}, 1)
    assert ebb.log.of("scale_in_steered")[0]["left"] == left
    assert ebb.reasons("run_summary").count("not_steered") == left
    ebb.pass_time(minutes=5)
    ebb.tick()
    assert costs(ebb).keys() == {"w1", "w2"}


def test_a_right_that_is_missing_is_shown_once_a_pass_with_its_remedy_and_the_pass_goes_on() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["set_deletion_cost"] = [Forbidden("not allowed to patch pods")]

    said = ebb.tick()

    assert (len(asked(ebb)), said["costs_written"]) == (1, 0)
    (line,) = [row for row in ebb.log.of("run_summary") if row.get("reason") == "not_steered"]
    assert "infra/options/steer.yaml" in str(line["message"])
    assert ebb.log.of("scale_in_steered")[0]["left"] == 2


@cases(
    "asks, written, left, failures",
    ("refused: the others are written", 18, 9, 9, [Terminal("the API", "a webhook denies it")] * 9),
    ("an outage: it ends the writes", 3, 0, 18, [Retryable("the API", "no answer")] * 18),
)
def test_of_many_writes_that_fail_few_are_shown(asks: int, written: int, left: int, failures: list[EbbError]) -> None:
    kinds = [pod_class(owner=f"ReplicaSet/r{index}") for index in range(9)]
    places = ("n1", "n2", "n3")
    ebb = fake_ebb(*(pod(f"w{index}-{name}", on=name, kind=kinds[index]) for index in range(9) for name in places))
    ebb.cluster.failures["set_deletion_cost"] = failures

    said = ebb.tick()

    assert (len(asked(ebb)), said["costs_written"], ebb.log.of("scale_in_steered")[0]["left"]) == (asks, written, left)
    assert ebb.reasons("run_summary").count("not_steered") == 3


def test_a_pass_whose_lease_is_over_writes_no_more_costs() -> None:
    ebb = fake_ebb()
    ebb.cluster.meanwhile["set_deletion_cost",] = lambda: ebb.pass_time(seconds=ebb.settings.pass_seconds)

    ebb.tick()

    assert len(asked(ebb)) == 1
    assert ebb.log.of("scale_in_steered")[0]["left"] == 1


def test_a_pod_template_that_carries_our_mark_is_shown_and_nothing_is_asked() -> None:
    ebb = fake_ebb(web(1, steered="-5"), web(2, steered="-5"), web(3, steered="-5"))
    ebb.cluster.workloads = {WEB.workload: Workload("default/Deployment/web", 3, 3, template_mark="-5")}

    ebb.tick()

    assert asked(ebb) == []
    (line,) = [row for row in ebb.log.of("run_summary") if row.get("reason") == "not_steered"]
    assert "default/ReplicaSet/web: its pods are not steered" in str(line["message"])
