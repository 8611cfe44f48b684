"""A running drain ends as it was begun, and what merely waits or is going anyway is no failure of it. On fakes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace as changed

from functions.drainer.main import PushReply
from shared.core.cluster.pod import Volume
from shared.core.cluster.workloads import Workload
from shared.core.policy import Jobs, KubeSystemPods, LocalStorage, LongGrace, SingleReplicas
from shared.core.records.drain_record import DrainPhase
from shared.errors import BadPolicy, Retryable
from tests.builders import NOW, node, order, pdb, pod, pod_class, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import fake_ebb
from tests.functions.fake_ebb import FakeEbb


@cases(
    "begun, edited, kind",
    ("localStorage", {"local_storage": LocalStorage.EVICT}, {"local_storage": LocalStorage.BLOCK},
     {"volumes": (Volume("v", "emptyDir"),)}),
    ("kubeSystemPods", {}, {"kube_system_pods": KubeSystemPods.LEAVE}, {"namespace": "kube-system"}),
    ("minimumPodAge", {}, {"minimum_pod_age": timedelta(hours=2)}, {}),
    ("jobs", {"jobs": Jobs.MOVE}, {"jobs": Jobs.WAIT}, {"owner": "Job/web"}),
    ("singleReplicas", {}, {"single_replicas": SingleReplicas.NEVER}, {"owner": "StatefulSet/db"}),
    ("longGrace", {"long_grace": LongGrace.CUT}, {"long_grace": LongGrace.KEEP}, {"grace_seconds": 9999}),
)  # fmt: skip
def test_a_policy_edit_lets_running_drains_end(
    begun: Mapping[str, Any], edited: Mapping[str, Any], kind: Mapping[str, Any]
) -> None:
    spec = pod_class(**{"grace_seconds": 30, **kind})
    guard = pdb("web", namespace=spec.namespace, allowed=3)
    ebb = FakeEbb(
        *(node(f"n{index}") for index in (1, 2, 3)), pod("p", on="n1", kind=spec), guard, policy=policy(**begun)
    )
    ebb.cluster.workloads["default/StatefulSet/db"] = Workload("StatefulSet/db", 1)
    ebb.later(2, lambda: setattr(ebb.policy, "policy", policy(**edited)))

    assert ebb.drain(order()) is PushReply.DONE
    ebb.carry_on()

    assert ebb.record().phase is DrainPhase.DRAINED
    assert [call[1] for call in ebb.effects() if call[0] == "evict"] == [f"{spec.namespace}/p"]


def test_a_drain_that_lost_its_policy_still_holds_to_the_rules_it_was_begun_with() -> None:
    ebb = fake_ebb()
    ebb.later(2, lambda: ebb.cluster.put(pod("cron", on="n1", owner="Job/cron")))
    ebb.later(2, lambda: setattr(ebb.policy, "policy", BadPolicy("not: yaml")))

    ebb.drain(order())

    record = ebb.record()
    assert (record.outcome, record.why, record.detail) == ("given_back", "pod_waits", "default/cron: job_running")


def _lose_the_record_of_the_claim(ebb: FakeEbb) -> None:
    seen = ebb.state.put

    def put(key: Any, value: Any, expected: str | None) -> str:
        if key.collection == "drains" and value.phase is DrainPhase.CLAIMED:
            ebb.state.put = seen  # type: ignore[method-assign]  # only the first of these writes is lost
            raise Retryable("state", "killed")
        return seen(key, value, expected)

    ebb.state.put = put  # type: ignore[method-assign]  # a state that fails once


def test_a_drain_whose_step_died_between_claim_and_record_takes_the_rules_of_that_moment() -> None:
    ebb = fake_ebb(policy=policy(local_storage=LocalStorage.EVICT))
    _lose_the_record_of_the_claim(ebb)
    assert ebb.drain(order()) is PushReply.AGAIN
    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.record().rules == policy(local_storage=LocalStorage.EVICT).pool("a").pod_rules


def test_a_drain_that_lost_its_rules_and_its_policy_moves_nothing_that_a_policy_might_keep() -> None:
    ebb = fake_ebb(policy=policy(single_replicas=SingleReplicas.MOVE))
    ebb.cluster.put(pod("only", on="n1", owner="StatefulSet/db"))
    ebb.cluster.workloads["default/StatefulSet/db"] = Workload("StatefulSet/db", 1)
    _lose_the_record_of_the_claim(ebb)
    assert ebb.drain(order()) is PushReply.AGAIN

    ebb.policy.policy = BadPolicy("not: yaml")
    assert ebb.drain(order()) is PushReply.DONE

    assert [call for call in ebb.effects() if call[0] == "evict"] == []
    assert not ebb.cluster.nodes["n1"].unschedulable


@cases(
    "late, rules",
    ("a Job's pod", pod("late", on="n1", owner="Job/cron-28"), {}),
    ("a young pod", pod("late", on="n1", owner="ReplicaSet/x", created=NOW, started=NOW),
     {"minimum_pod_age": timedelta(minutes=10)}),
)  # fmt: skip
def test_what_merely_waits_and_binds_just_before_the_cordon_is_no_failure(late: Any, rules: Mapping[str, Any]) -> None:
    ebb = fake_ebb(policy=policy(**rules))
    ebb.later(2, lambda: ebb.cluster.put(late))

    assert ebb.drain(order()) is PushReply.DONE

    record = ebb.record()
    assert (record.outcome, record.why) == ("given_back", "pod_waits")
    assert not ebb.cluster.nodes["n1"].unschedulable
    assert ebb.remembered().backoffs == {}
    assert [call for call in ebb.effects() if call[0] == "evict"] == []


def test_a_pod_that_blocks_for_good_next_to_one_that_waits_is_the_reason() -> None:
    ebb = fake_ebb()
    ebb.later(2, lambda: ebb.cluster.put(pod("a-job", on="n1", owner="Job/x"), pod("bare", on="n1", owner=None)))

    ebb.drain(order())

    assert ebb.record().detail == "default/bare: not_replicated"
    assert ebb.remembered().backoffs["uid-n1"].why == "pod_blocks"


def test_a_pod_that_dies_for_longer_than_a_drain_lasts_keeps_its_node() -> None:
    dying = pod("dying", on="n1", owner="ReplicaSet/db", deleting=NOW + timedelta(hours=2))
    ebb = fake_ebb(dying, pod("p", on="n1", owner="ReplicaSet/web"))

    assert ebb.drain(order()) is PushReply.DONE

    record = ebb.record()
    assert (record.outcome, record.why) == ("refused", "blocked_by_pod")
    assert "default/dying" in record.detail
    assert ebb.effects() == []


def test_a_deadline_names_the_pod_that_was_given_longer_by_others() -> None:
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web"))
    until = NOW + timedelta(hours=2)
    ebb.later(2, lambda: ebb.cluster.put(changed(ebb.cluster.pods["default/p"], deleting=until)))

    for generation in range(9):
        ebb.deliver(order(generation=generation))

    record = ebb.record()
    assert (record.why, record.detail) == ("deadline", "held by default/p, which ends by 00:00:00")
