from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Phase
from shared.core.cluster.workloads import Workload
from shared.core.planning.make_plan import plan_without_policy
from shared.core.planning.plan import Verdict
from shared.core.policy import Policy, PoolPolicy, SingleReplicas
from shared.core.reasons import DrainReason
from shared.core.records.state import ClusterState, Mark
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, only_empty, our_taint, pod, policy
from tests.core.planning.passes import MINUTE, half_full, in_flight, marked, plan, verdicts
from tests.depth import cases


def test_every_node_stands_in_the_plan_exactly_once() -> None:
    made = plan(cluster([node("n1"), node("n2", pool="b"), node("n3", pool=""), node("n4", ready=False)]))

    assert [decision.name for decision in made.decisions] == ["n1", "n2", "n3", "n4"]


@pytest.mark.acceptance(1)
def test_nodes_are_judged_by_their_own_pool() -> None:
    pools = {"a": PoolPolicy(enabled=True), "b": PoolPolicy(enabled=False)}
    made = plan(cluster([node("n1"), node("n2"), node("n3", pool="b")]), Policy(pools=pools))

    assert [decision.pool for decision in made.decisions] == ["a", "a", "b"]
    assert verdicts(made)["n3"] == ("keep", "pool_disabled")
    assert verdicts(made)["n1"][1] == "marked_recently"


@pytest.mark.acceptance(3, 4)
def test_a_pool_that_the_policy_does_not_name_is_disabled_but_measured() -> None:
    made = plan(half_full("n1", "n2"), policy(pool="other"))

    assert {verdict for verdict, _ in verdicts(made).values()} == {"keep"}
    assert made.orders == ()
    assert [decision.cpu_ratio for decision in made.decisions] == [Fraction(1, 2)] * 2
    assert [int(decision.score or 0) for decision in made.decisions] == [40] * 2
    assert made.excess["a"] == 1


@pytest.mark.acceptance(29)
def test_a_node_that_becomes_underused_is_marked_with_now() -> None:
    made = plan(half_full("n1", "n2"), policy(consolidate_after=5 * MINUTE))

    assert made.marks["a"].marks["uid-n1"] == Mark("n1", NOW)
    assert made.decisions[0].verdict is Verdict.WAITING
    assert [row.marked_since for row in made.decisions[:2]] == [NOW, NOW]
    assert made.decisions[0].removable_at == NOW + 5 * MINUTE


@cases("expected, seconds", ("299 s: not yet", "waiting", 299), ("300 s: now", "order", 300))
@pytest.mark.acceptance(31)
def test_a_node_goes_only_after_it_was_marked_long_enough(expected: str, seconds: int) -> None:
    old = marked("n1", ago=timedelta(seconds=seconds))

    made = plan(half_full("n1", "n2"), policy(consolidate_after=5 * MINUTE), marks=old)

    assert made.decisions[0].verdict.value == expected


@pytest.mark.acceptance(34, 35)
def test_excess_is_counted_in_nodes_of_the_size_of_the_least_used_one() -> None:
    nodes = [node("a", cpu=8, memory=32), node("b")]
    pods = [pod("p", on="a", cpu=6, memory=24), pod("q", on="b", cpu=1, memory=4)]

    assert plan(cluster(nodes, pods)).excess["a"] == Fraction(5, 4)
    standby = node("standby", cpu=16, memory=64, labels={names.STANDBY_NODE: "true"})
    assert plan(cluster([*nodes, standby], pods)).excess["a"] == Fraction(5, 4), "whatever stands by"


def test_drains_in_flight_raise_the_count_that_is_needed_and_do_not_fill_it() -> None:
    picture = half_full("n0", "n1", "n2", "n3", cpu=1)
    flying = in_flight("n0")

    assert plan(picture, policy(required_count=3), state=flying).orders == ()
    assert len(plan(picture, policy(required_count=2), state=flying).orders) == 1


@pytest.mark.acceptance(36)
def test_an_order_shows_what_the_node_costs() -> None:
    made = plan(half_full("n1", "n2", cpu=1))

    assert [order.saving for order in made.orders] == [load().of(node("n1")).per_hour] == [made.saving]


@pytest.mark.acceptance(55)
def test_dry_run_gives_the_same_plan_and_shows_would() -> None:
    picture = half_full("n1", "n2", cpu=1)
    real, dry = plan(picture), plan(picture, policy(cluster_wide={"dry_run": True}))

    assert real.orders == dry.orders != ()
    assert verdicts(dry)["n1"] == ("would_order", "underutilized")


def test_each_node_that_stays_shows_why_in_a_word_and_a_sentence() -> None:
    picture = cluster([node("n1", ready=False), node("n2", unschedulable=True), node("n3", pool=""), node("n4")])

    for decided in plan(picture).decisions:
        words = [blocker.reason.value for blocker in decided.blockers]
        assert decided.reason == (words[0] if words else "empty")
        assert all(blocker.sentence.endswith((".", ")")) for blocker in decided.blockers)


@pytest.mark.acceptance(81)
def test_an_expired_node_goes_without_a_mark_however_full_it_is() -> None:
    rules = policy(expire_after=timedelta(hours=24), consolidate_after=None)

    made = plan(half_full("n1", "n2", cpu=1.9), rules)

    assert [(order.node, order.reason) for order in made.orders] == [("n1", DrainReason.EXPIRED)]


def test_a_claimed_node_is_in_flight_and_its_pods_keep_their_room() -> None:
    """n2 could take the pods of one node, but those of the claimed n0 come first."""
    nodes = [node("n0", unschedulable=True, taints=(our_taint(),)), node("n1"), node("n2", cpu=4)]
    pods = [pod("p0", on="n0", cpu=1.5), pod("p1", on="n1", cpu=2.5), pod("p2", on="n2", cpu=2.5)]
    flying = in_flight("n0")

    made = plan(cluster(nodes, pods), state=flying)

    assert verdicts(made)["n0"] == ("in_flight", "order")
    assert [row.drain is None for row in made.decisions] == [True, False, False], "no candidate any more"
    assert made.orders == ()


def test_without_a_policy_nothing_goes_and_no_mark_is_lost() -> None:
    old = marked("n1", "n2")

    half = half_full("n1", "n2")
    waiting = cluster(half.nodes, [*half.pods, pod("new", phase=Phase.PENDING)])

    made = plan_without_policy(waiting, ClusterState(), old, load())

    assert {reason for _, reason in verdicts(made).values()} == {"policy_invalid"}
    assert made.orders == ()
    assert made.marks == old
    assert (made.pods, made.pending, made.cost) == (3, 1, plan(half).cost)


def test_changing_budgets_alone_changes_no_mark_and_no_order() -> None:
    picture, old = half_full("n1", "n2", cpu=1), marked("n1", "n2")
    before = plan(picture, marks=old)

    after = plan(picture, policy(budgets=PoolPolicy().budgets), marks=old)

    assert after.marks == before.marks == old
    assert after.orders == before.orders


WEB = "default/ReplicaSet/web"
ONLY_ONE = {WEB: Workload("default/Deployment/web", 1, 1)}


def test_a_node_with_a_single_replica_to_be_avoided_goes_after_all_others() -> None:
    pods = [pod("only", on="n1", cpu=0.2), pod("other", on="n2", cpu=2, owner="ReplicaSet/other")]
    picture = only_empty(cluster([node("n1"), node("n2"), node("n3", pool="b")], pods, workloads=ONLY_ONE))
    avoiding = policy(single_replicas=SingleReplicas.AVOID)

    assert [order.node for order in plan(picture).orders] == ["n1"]
    assert [order.node for order in plan(picture, avoiding).orders] == ["n2"]


def test_a_single_replica_to_be_avoided_goes_when_no_other_candidate_is_there() -> None:
    picture = only_empty(cluster([node("n1"), node("n2", pool="b")], [pod("only", on="n1")], workloads=ONLY_ONE))

    made = plan(picture, policy(single_replicas=SingleReplicas.AVOID))

    assert [order.node for order in made.orders] == ["n1"]


@cases(
    "expected, subject, changes",
    ("a Job runs", "job_running", {"owner": "Job/batch"}, {}),
    ("a pod is young", "too_young_pod", {}, {"minimum_pod_age": 48 * 60 * MINUTE}),
    ("a rollout is under way", "rolling_out", {}, {}),
)
def test_what_passes_by_itself_keeps_the_node_for_now_and_its_mark_for_good(
    expected: str, subject: dict[str, Any], changes: dict[str, Any]
) -> None:
    """`--potential` does not count it: it asks how many could go at all."""
    rolling = {WEB: Workload("default/Deployment/web", 2, 2, rolling=expected == "rolling_out")}
    pods = [pod("p", on="n1", **subject), pod("bare", on="n2", owner=None)]
    picture = cluster([node("n1"), node("n2", pool="b")], pods, workloads=rolling)
    rules, old = policy(**changes), marked("n1")

    made = plan(picture, rules, marks=old)

    assert verdicts(made)["n1"] == ("keep", "blocked_by_pod")
    assert [blocker.reason.value for blocker in made.decisions[0].blockers] == ["blocked_by_pod", expected]
    assert made.marks["a"] == old["a"]
    assert potential(Situation(picture, ClusterState(), rules), load()).nodes == ("n1",)
