"""The drainer and the workloads of its pods: what refuses an order, what goes in turns, what a claim counts."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.workloads import Workload
from shared.core.policy import LongGrace, NamespaceRate, SingleReplicas
from tests.builders import order, pod, pod_class, pod_template, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder

WORKLOAD = "default/ReplicaSet/web"


@cases(
    "expected, workload",
    ("a rollout began", "rolling_out", Workload("default/Deployment/web", 2, 2, rolling=True)),
    ("it was scaled to one", "single_replica", Workload("default/Deployment/web", 1, 1)),
    ("its other replica was lost", "too_few_available", Workload("default/Deployment/web", 2, 1)),
    ("its template names the node", "names_its_node",
     Workload("default/Deployment/web", 2, 2, templates=(pod_template(node_name="n1"),))),
)  # fmt: skip
def test_what_became_of_a_workload_since_the_snapshot_refuses_the_order(expected: str, workload: Workload) -> None:
    ebb = fake_ebb(pod("p", on="n1"), policy=policy(single_replicas=SingleReplicas.NEVER))
    ebb.cluster.workloads[WORKLOAD] = workload

    ebb.drain(order())

    (result,) = ebb.log.of("drain_result")
    assert (result["reason"], expected in result["message"]) == ("blocked_by_pod", True)
    assert ebb.effects() == []


def test_a_template_by_which_no_other_node_would_take_the_pod_returns_the_node_untouched() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB))
    made = pod_template(node_selector={"nobody": "has"})
    ebb.cluster.workloads[WORKLOAD] = Workload("default/Deployment/web", 2, 2, templates=(made,))

    ebb.drain(order())

    (result,) = ebb.log.of("drain_result")
    assert (result["reason"], "nodeSelector of its template" in result["message"]) == ("stale", True)
    assert not any(call[0] == "evict" for call in ebb.effects())
    assert holder(ebb) is None


def test_a_workload_that_is_not_known_is_not_taken_for_a_single_replica() -> None:
    ebb = fake_ebb(pod("p", on="n1"), policy=policy(single_replicas=SingleReplicas.NEVER))

    ebb.drain(order())

    assert holder(ebb) == "order"


def test_an_unprotected_workload_loses_as_many_at_once_as_the_policy_lets_be_away() -> None:
    ebb = fake_ebb(*(pod(f"p{index}", on="n1", kind=WEB) for index in range(3)))
    ebb.cluster.workloads[WORKLOAD] = Workload("default/Deployment/web", 8, 8)

    ebb.drain(order())

    evicted = [call[1] for call in ebb.effects() if call[0] == "evict"]
    assert (set(evicted[:2]), evicted[2:]) == ({"default/p0", "default/p1"}, ["default/p2"])
    asked = [ebb.record().pods[f"default/p{index}"].at for index in range(3)]
    assert asked[0] == asked[1] < asked[2]


def test_a_drain_that_waited_for_lost_replicas_until_its_deadline_names_the_workload() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pod("q", on="n1", kind=WEB))
    ebb.cluster.workloads[WORKLOAD] = Workload("default/Deployment/web", 2, 2)

    def lose_one() -> None:
        if any(call[0] == "evict" and not call[3] for call in ebb.cluster.calls):
            ebb.cluster.workloads[WORKLOAD] = Workload("default/Deployment/web", 2, 1)

    ebb.clock.moves.append(lose_one)
    ebb.drain_to_end(order())

    record = ebb.record()
    assert (record.why, record.detail) == ("deadline", "held by default/Deployment/web: 1 of 2 away, 1 may be")


def test_a_claim_counts_the_pods_it_moves_and_the_next_one_is_bound_by_them() -> None:
    rules = policy(cluster_wide={"evictions_per_namespace": NamespaceRate(1, timedelta(hours=1))})
    ebb = fake_ebb(pod("p", on="n1"), pod("q", on="n2"), policy=rules)

    ebb.drain(order())
    assert [start.pods for start in ebb.remembered().starts] == [{"default": 1}]

    ebb.drain(order("n2", order_id="second"))
    assert ebb.reasons("drain_result") == ["namespace_rate"]

    ebb.pass_time(hours=1)
    ebb.drain(order("n2", order_id="third"))
    assert ebb.cluster.nodes["n2"].drain_taint == "third"


def test_without_the_setting_a_claim_remembers_no_pods() -> None:
    ebb = fake_ebb()

    ebb.drain(order())

    assert [start.pods for start in ebb.remembered().starts] == [{}]


@pytest.mark.acceptance(85)
@cases(
    "expected, rules",
    ("a match of an hour keeps its node", [], {}),
    ("the policy cuts it to eight minutes", [480], {"long_grace": LongGrace.CUT}),
)
def test_an_hour_of_grace_is_cut_only_by_a_policy_that_shows_it(expected: list[int], rules: dict[str, Any]) -> None:
    ebb = fake_ebb(
        pod("match-7", on="n1", kind=pod_class(owner="StatefulSet/game", grace_seconds=3600)), policy=policy(**rules)
    )

    ebb.drain(order())

    assert [call[2] for call in ebb.effects() if call[0] == "evict"] == expected
