import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.policy import (
    Budget,
    BudgetUntil,
    ConsolidationPolicy,
    Freeze,
    Jobs,
    KubeSystemPods,
    Limit,
    LocalStorage,
    LongGrace,
    NamespaceRate,
    Policy,
    PoolPolicy,
    Rate,
    Schedule,
    SingleReplicas,
)
from shared.core.policy.fields import enough_nodes
from shared.core.policy.parsing import parse
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from tests.depth import cases

DESIGN = """
dryRun: true
paused: false
cluster:
  minimumNodes: 2
  minimumNonTaintedNodes: 2
  timeSinceLastAddition: 60m
  timeGap: 10m
  disruption: {budgets: [{nodes: 10%}], awaitingDeletion: 5}
  rate: {nodes: 20%, per: 1h}
  evictionsPerNamespace: {pods: 20, per: 30m}
  freezes: [{from: 2026-11-27, to: 2026-12-01, timeZone: Europe/Amsterdam}]
  commitments:
    families: {n2: {vcpu: 160, gib: 640, until: 2027-05-01, discount: 55%}, e2: {vcpu: 8, gib: 0.5}}
    flexible: {perHour: 12.5, discount: 46%, until: "2027-02-01T12:00+02:00"}
    elsewhere: {n2: {vcpu: 40, gib: 160}}
    sharedBy: [prod-a, prod-b]
    read: true
drain:
  {maxGracePeriod: 7m, timeout: 9m30s, watchdog: 20m, pendingGrace: 45s, backoff: {first: 1h, most: 12h},
   maxParallelEvictions: 5, budgetUntil: replaced}
manual: {mayIgnore: [windows, budgets]}
defaults: {}
nodePools:
  nodepool1:
    enabled: true
    scaleDownCPURequestRatioLimit: 0.6
    scaleDownMemoryRequestRatioLimit: 0.8
    scaleDownRequiredUnderutilizedNodeCount: 5
    minimumNodeAge: 30m
    excessNodesThreshold: 1.5
    maxNodesPerPass: 3
    headroom: 5%
    kubeSystemPods: leave
    localStorage: evict
    longGrace: cut
    unprotected: 50%
    singleReplicas: avoid
    jobs: never
    minimumPodAge: 10m
    ignoreTaints: [example.com/dedicated]
    timeSinceLastAddition: 15m
    rate: {nodes: 3, per: 30m}
    disruption:
      consolidationPolicy: WhenEmpty
      consolidateAfter: 5m
      expireAfter: Never
      budgets:
        - {nodes: 0, schedule: "0 9 * * mon-fri", duration: 8h, timeZone: Europe/Amsterdam}
        - {nodes: 10, reasons: [underutilized]}
      windows:
        - {schedule: "0 20 * * *", duration: 10h, timeZone: Europe/Amsterdam}
"""


def policy_of(document: Mapping[str, Any]) -> Policy:
    return parse(json.dumps(document).encode())


def pool_of(**settings: Any) -> PoolPolicy:
    return policy_of({"nodePools": {"a": settings}}).pools["a"]


def disruption(**settings: Any) -> PoolPolicy:
    return pool_of(disruption=settings)


def test_every_setting_of_the_cluster_arrives() -> None:
    policy = parse(DESIGN.encode())
    assert policy.freezes == (Freeze(datetime(2026, 11, 26, 23, tzinfo=UTC), datetime(2026, 11, 30, 23, tzinfo=UTC)),)
    assert (policy.budgets, policy.rate) == ((Budget(Limit(percent=10)),), Rate(Limit(percent=20), timedelta(hours=1)))
    assert policy.evictions_per_namespace == NamespaceRate(20, timedelta(minutes=30))
    assert policy.manual_may_ignore == {"windows", "budgets"}
    assert (policy.drain.max_grace, policy.drain.timeout) == (timedelta(minutes=7), timedelta(minutes=9, seconds=30))
    assert (policy.drain.watchdog, policy.drain.pending_grace) == (timedelta(minutes=20), timedelta(seconds=45))
    assert (policy.drain.backoff_first, policy.drain.backoff_most) == (timedelta(hours=1), timedelta(hours=12))
    assert policy.drain.max_parallel_evictions == 5
    assert (policy.budget_until, policy.awaiting_deletion) == (BudgetUntil.REPLACED, Limit(count=5))
    assert policy.commitments == Commitments(
        families=(
            Commitment("e2", Capacity(Fraction(8), Fraction(1, 2)), None, Fraction(37, 100)),
            Commitment(
                "n2", Capacity(Fraction(160), Fraction(640)), datetime(2027, 5, 1, tzinfo=UTC), Fraction(55, 100)
            ),
        ),
        flexible=FlexibleCommitment(Fraction(25, 2), Fraction(46, 100), datetime(2027, 2, 1, 10, tzinfo=UTC)),
        elsewhere={"n2": Capacity(Fraction(40), Fraction(160))},
        shared_by=("prod-a", "prod-b"),
        read=True,
    )


@cases(
    "expected, commitments",
    ("it is not known who else uses them", None, {}),
    ("nobody else uses them", {}, {"elsewhere": {}}),
)
def test_an_empty_use_elsewhere_is_another_fact_than_an_unknown_one(expected: object, commitments: object) -> None:
    assert policy_of({"cluster": {"commitments": commitments}}).commitments.elsewhere == expected


def test_a_cluster_named_twice_shares_the_commitments_once() -> None:
    found = policy_of({"cluster": {"commitments": {"sharedBy": ["prod-b", "prod-a", "prod-b"]}}}).commitments
    assert found.shared_by == ("prod-b", "prod-a")


def test_every_setting_of_a_pool_arrives() -> None:
    amsterdam = "Europe/Amsterdam"
    office = Schedule("0 9 * * mon-fri", timedelta(hours=8), amsterdam)
    assert parse(DESIGN.encode()).pools["nodepool1"] == PoolPolicy(
        enabled=True,
        cpu_limit=Fraction(3, 5),
        memory_limit=Fraction(4, 5),
        required_count=5,
        minimum_node_age=timedelta(minutes=30),
        excess_threshold=Fraction(3, 2),
        max_nodes_per_pass=3,
        headroom_percent=5,
        kube_system_pods=KubeSystemPods.LEAVE,
        local_storage=LocalStorage.EVICT,
        long_grace=LongGrace.CUT,
        unprotected=Limit(percent=50),
        single_replicas=SingleReplicas.AVOID,
        jobs=Jobs.NEVER,
        minimum_pod_age=timedelta(minutes=10),
        ignore_taints=frozenset({"example.com/dedicated"}),
        time_since_last_addition=timedelta(minutes=15),
        consolidation_policy=ConsolidationPolicy.WHEN_EMPTY,
        consolidate_after=timedelta(minutes=5),
        expire_after=None,
        budgets=(Budget(Limit(count=0), office), Budget(Limit(count=10), None, frozenset({"underutilized"}))),
        windows=(Schedule("0 20 * * *", timedelta(hours=10), amsterdam),),
        rate=Rate(Limit(count=3), timedelta(minutes=30)),
    )


@pytest.mark.parametrize("name", [field.name for field in fields(Policy) if field.name != "hash"])
def test_an_empty_document_is_the_policy_of_defaults(name: str) -> None:
    assert getattr(parse(b"{}"), name) == getattr(Policy(), name)


def test_a_pool_without_settings_is_the_pool_of_defaults() -> None:
    assert pool_of() == PoolPolicy()


@pytest.mark.acceptance(77)
@cases(
    "expected, block",
    ("default", "WhenUnderutilized", {}),
    ("v1beta1", "WhenUnderutilized", {"consolidationPolicy": "WhenUnderutilized"}),
    ("v1", "WhenUnderutilized", {"consolidationPolicy": "WhenEmptyOrUnderutilized"}),
    ("only empty nodes", "WhenEmpty", {"consolidationPolicy": "WhenEmpty"}),
)
def test_karpenters_policies_keep_their_meaning(expected: str, block: dict[str, str]) -> None:
    assert disruption(**block).consolidation_policy == expected


def test_karpenters_v1_block_drops_in_unchanged() -> None:
    pool = disruption(
        consolidationPolicy="WhenEmptyOrUnderutilized",
        consolidateAfter="0s",
        budgets=[
            {"nodes": "20%", "reasons": ["Empty", "Drifted"]},
            {"nodes": "5"},
            {"nodes": "0", "schedule": "@daily", "duration": "1h0m0s", "reasons": ["Underutilized"]},
        ],
    )
    assert pool.consolidate_after == timedelta(0)
    assert pool.budgets == (
        Budget(Limit(percent=20), None, frozenset({"empty", "drifted"})),
        Budget(Limit(count=5)),
        Budget(Limit(count=0), Schedule("@daily", timedelta(hours=1)), frozenset({"underutilized"})),
    )


@cases(
    "after, expiry, pool",
    ("a block that writes neither", timedelta(minutes=5), None, disruption()),
    ("a block for its budgets", timedelta(minutes=5), None, disruption(budgets=[{"nodes": 1}])),
    ("no block", timedelta(minutes=5), None, pool_of()),
    ("Never", None, None, disruption(consolidateAfter="Never", expireAfter="Never")),
    ("set", timedelta(minutes=90), timedelta(hours=720), disruption(consolidateAfter="1h30m", expireAfter="720h")),
)
def test_timers_that_are_not_written_are_estafettes_whether_there_is_a_block_or_not(
    after: timedelta | None, expiry: timedelta | None, pool: PoolPolicy
) -> None:
    assert (pool.consolidate_after, pool.expire_after) == (after, expiry)


@pytest.mark.acceptance(58, 59)
@cases(
    "expected, pool",
    ("no block", (Budget(Limit(percent=10)),), pool_of()),
    ("a block without budgets", (Budget(Limit(percent=10)),), disruption()),
    ("an empty list is no limit", (), disruption(budgets=[])),
)
def test_budgets_left_out_are_one_of_ten_percent(expected: tuple[Budget, ...], pool: PoolPolicy) -> None:
    assert pool.budgets == expected


@pytest.mark.acceptance(60)
@cases(
    "expected, nodes",
    ("0", Limit(count=0), 0),
    ("0%", Limit(percent=0), "0%"),
    ("100%", Limit(percent=100), "100%"),
    ("a number in quotes", Limit(count=10), "10"),
)
def test_a_budget_takes_numbers_and_percentages(expected: Limit, nodes: object) -> None:
    assert disruption(budgets=[{"nodes": nodes}]).budgets == (Budget(expected),)


@pytest.mark.acceptance(11)
@cases(
    "expected, limit",
    ("0.9 gives 10, not 11 as in floats", 10, "0.9"),
    ("0.75", 4, "0.75"),
    ("0.6", 3, "0.6"),
    ("0.5", 2, "0.5"),
    ("0.999", 1000, "0.999"),
    ("at 1 there is none", 1, "1"),
)
def test_the_required_count_is_the_smallest_that_absorbs_one_node(expected: int, limit: str) -> None:
    pool = parse(f"nodePools: {{a: {{scaleDownCPURequestRatioLimit: {limit}}}}}".encode()).pools["a"]
    assert pool.required_count == enough_nodes(Fraction(limit)) == expected


def test_ratios_are_read_as_they_are_written() -> None:
    text = "nodePools: {a: {scaleDownCPURequestRatioLimit: 9e-1, scaleDownMemoryRequestRatioLimit: .7}}"
    pool = parse(text.encode()).pools["a"]
    assert (pool.cpu_limit, pool.memory_limit) == (Fraction(9, 10), Fraction(7, 10))


def test_defaults_stand_under_each_pool_and_enable_no_other() -> None:
    policy = policy_of(
        {
            "defaults": {"enabled": True, "headroom": "7%", "disruption": {"consolidateAfter": "10m", "budgets": []}},
            "nodePools": {"a": {}, "b": {"headroom": "1%", "disruption": {"consolidateAfter": "1m"}}},
        }
    )
    a, b, other = policy.pool("a"), policy.pool("b"), policy.pool("z")
    assert (a.enabled, a.headroom_percent, a.consolidate_after) == (True, 7, timedelta(minutes=10))
    assert (b.enabled, b.headroom_percent, b.consolidate_after, b.budgets) == (True, 1, timedelta(minutes=1), ())
    assert (other.enabled, other.headroom_percent) == (False, 7)


@cases(
    "text",
    ("a pool with nothing behind it", "nodePools: {a: }"),
    ("Terraform's nulls", '{"nodePools": {"a": {"disruption": null, "headroom": null}}}'),
)
def test_null_is_the_same_as_left_out(text: str) -> None:
    assert parse(text.encode()).pools["a"] == PoolPolicy()


@cases(
    "expected, profile, drain",
    ("balanced", 25, "BALANCED", {}),
    ("optimize-utilization", 8, "OPTIMIZE_UTILIZATION", {}),
    ("written", 12, "OPTIMIZE_UTILIZATION", {"watchdog": "12m"}),
)
def test_the_watchdog_follows_the_profile_unless_it_is_written(
    expected: int, profile: str, drain: dict[str, str]
) -> None:
    assert policy_of({"drain": drain}).drain_for(profile).watchdog == timedelta(minutes=expected)


def test_the_hash_is_that_of_the_content() -> None:
    one = parse(b"dryRun: true\nnodePools: {a: {scaleDownCPURequestRatioLimit: 0.90, enabled: true}}")
    same = parse(b'{"nodePools": {"a": {"enabled": true, "scaleDownCPURequestRatioLimit": 0.9}}, "dryRun": true}')
    other = parse(b"dryRun: true\nnodePools: {a: {scaleDownCPURequestRatioLimit: 0.91, enabled: true}}")
    assert one.hash == same.hash != other.hash
    assert len(one.hash) == 12
