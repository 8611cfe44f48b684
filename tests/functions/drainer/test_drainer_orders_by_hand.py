"""Orders of a person, on fakes."""

import json

import pytest

from functions.drainer.main import PushReply
from shared.core.policy import Budget, Limit
from tests.builders import node, pod, policy
from tests.functions.drainer.one_drain import fake_ebb, holder
from tests.functions.fake_ebb import FakeEbb


def test_a_person_needs_to_name_only_the_node() -> None:
    ebb = fake_ebb()

    assert ebb.deliver(json.dumps({"node": "n1"}).encode()) is PushReply.DONE

    assert ebb.cluster.nodes["n1"].drain_taint == "message"
    assert ("read",) in ebb.cluster.calls


def test_words_that_the_policy_does_not_let_count_are_named_in_the_log_and_in_the_refusal() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"windows"})})
    ebb = fake_ebb(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["windows", "budgets", "nonsense"]}).encode())

    said = "Of ignore, budgets, 'nonsense' did not count: manual.mayIgnore of the policy allows windows."
    record = ebb.record("message")
    assert record is not None
    assert (record.why, record.detail.endswith(said)) == ("budget", True)
    assert [line["message"] for line in ebb.log.of("drain_step") if line["severity"] == "WARNING"] == [said]
    assert said in ebb.log.of("drain_result")[0]["message"]


@pytest.mark.parametrize("words", [["x" * 60_000], [f"w-{number}" for number in range(5_000)]], ids=["long", "many"])
def test_words_without_end_make_no_long_line(words: list[str]) -> None:
    ebb = fake_ebb()

    ebb.deliver(json.dumps({"node": "n1", "ignore": words}).encode())

    (said,) = (line["message"] for line in ebb.log.of("drain_step") if line["severity"] == "WARNING")
    assert len(said) < 600


def test_words_that_the_policy_allows_count_and_are_not_complained_of() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"budgets"})})
    ebb = fake_ebb(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["budgets"]}).encode())

    assert holder(ebb) == "message"
    assert "ignore_not_allowed" not in ebb.reasons("drain_step")


def test_a_manual_drain_of_pods_that_fit_nowhere_is_refused() -> None:
    ebb = FakeEbb(node("n1"), node("n2", cpu=1), pod("p", on="n1", cpu=2))

    ebb.deliver(json.dumps({"node": "n1"}).encode())

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == ["no_place_for_pods"]
