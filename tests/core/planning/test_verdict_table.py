from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.autoscaling import NO_BUFFERS, Buffers
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Pod, Volume
from shared.core.cluster.resources import GPU, NOTHING, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan, plan_without_policy
from shared.core.planning.plan import Plan, Verdict
from shared.core.policy import (
    Budget,
    BudgetUntil,
    ConsolidationPolicy,
    Freeze,
    Limit,
    NamespaceRate,
    Policy,
    Rate,
    Schedule,
)
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.state import Backoff, Breaker, ClusterState, PoolMarks, Start
from shared.core.rules.situation import Situation
from tests.builders import (
    NOW,
    announced_taint,
    buffer,
    cluster,
    committed,
    held,
    node,
    only_empty,
    pdb,
    pod,
    pod_class,
    policy,
    resources,
    taint,
)
from tests.core.planning.passes import MINUTE, marked
from tests.depth import cases

HOUR = timedelta(hours=1)
NONE = Limit(count=0)
TRAINING = pod_class(owner="ReplicaSet/one", requests=resources(1, **{GPU: 6}))
AT_NOON = Schedule("0 12 * * *", HOUR)
SLOW = pod_class(owner="ReplicaSet/slow", labels={"app": "slow"})
"""Two pods of it, one after another, take longer than a drain lasts."""


@dataclass(frozen=True)
class Case:
    """What is wrong. `first` changes the node n1, `load` replaces n1's pod, `more` are there besides."""

    first: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[Pod, ...] = ()
    rules: Policy | None = field(default_factory=policy)
    state: Mapping[str, Any] = field(default_factory=dict)
    pools: Mapping[str, NodePool] | None = None
    minimum: Resources = NOTHING
    buffers: Buffers = NO_BUFFERS
    profile: str = "BALANCED"
    now: datetime = NOW
    marks: Mapping[str, PoolMarks] = field(default_factory=dict)
    is_alone: bool = True
    """Whether the autoscaler would remove no node with pods itself."""

    def picture(self) -> Snapshot:
        """n1 and n2 with a quarter of load each, and room for both pods on n3 of another pool."""
        nodes = [node("n1", **self.first), node("n2"), node("n3", pool="b")]
        pods: list[Pod] = [
            pod("p1", on="n1", **{"cpu": 1, "owner": "ReplicaSet/one", **self.load}),
            pod("p2", on="n2", cpu=1, owner="ReplicaSet/two"),
            *self.more,
        ]
        besides: dict[str, Any] = {"minimum": self.minimum, "buffers": self.buffers, "profile": self.profile}
        found = cluster(nodes, pods, now=self.now, disruption_budgets=(pdb("slow", app="slow"),), **besides)
        seen = only_empty(found) if self.is_alone else found
        return seen if self.pools is None else replace(seen, pools=self.pools)

    def plan(self) -> Plan:
        state = ClusterState(**{"last_pass": NOW - 5 * MINUTE, **self.state})
        if self.rules is None:
            return plan_without_policy(self.picture(), state, {}, load())
        return make_plan(Situation(self.picture(), state, self.rules), self.marks, load())


def wide(**settings: Any) -> Policy:
    return policy(cluster_wide=settings)


TABLE: Mapping[Unremovable, Case] = {
    Unremovable.NO_POOL: Case(first={"pool": ""}, rules=policy(pool="")),
    Unremovable.POOL_DISABLED: Case(rules=policy(enabled=False)),
    Unremovable.POLICY_INVALID: Case(rules=None),
    Unremovable.NOT_AUTOSCALED: Case(pools={"a": NodePool("a", autoscaled=False), "b": NodePool("b")}),
    Unremovable.ATOMIC_POOL: Case(first={"labels": {names.QUEUED_KEYS[0]: "true"}}),
    Unremovable.POOLS_UNKNOWN: Case(pools={"b": NodePool("b")}),
    Unremovable.POOL_UPGRADING: Case(pools={"a": NodePool("a", upgrading=True), "b": NodePool("b")}),
    Unremovable.POOL_AT_MINIMUM: Case(pools={"a": NodePool("a", min_total=2), "b": NodePool("b")}),
    Unremovable.RESOURCE_MINIMUM: Case(minimum=resources(10)),
    Unremovable.STANDBY_NODE: Case(first={"labels": {names.STANDBY_NODE: "true"}}),
    Unremovable.MANAGED_NODE: Case(first={"labels": {names.MANAGED_NODE: "true"}}),
    Unremovable.BEING_MAINTAINED: Case(first={"conditions": frozenset({"MaintenancePlanned"})}),
    Unremovable.NOT_READY: Case(first={"ready": False}),
    Unremovable.NO_ALLOCATABLE: Case(first={"allocatable": NOTHING}),
    Unremovable.CORDONED_BY_OTHER: Case(first={"unschedulable": True}),
    Unremovable.TAINTED: Case(first={"taints": (taint("somebody"),)}),
    Unremovable.GOING_AWAY: Case(first={"taints": (taint(names.AUTOSCALER_DELETING_TAINT),)}),
    Unremovable.SCALE_DOWN_DISABLED: Case(first={"annotations": {names.NODE_OPT_OUTS[0]: "true"}}),
    Unremovable.TOO_YOUNG: Case(first={"created": NOW}),
    Unremovable.BACKING_OFF: Case(state={"backoffs": {"uid-n1": Backoff("n1", NOW + HOUR, HOUR, "deadline")}}),
    Unremovable.BLOCKED_BY_POD: Case(load={"owner": None}),
    Unremovable.NOT_EMPTY: Case(rules=policy(consolidation_policy=ConsolidationPolicy.WHEN_EMPTY)),
    Unremovable.CPU_ABOVE_LIMIT: Case(load={"cpu": 3}),
    Unremovable.MEMORY_ABOVE_LIMIT: Case(load={"memory": 12}),
    Unremovable.ACCELERATOR_ABOVE_LIMIT: Case(first={"allocatable": resources(4, 16, pods=110, **{GPU: 8})},
                                              load={"kind": TRAINING}),
    Unremovable.CONSOLIDATION_OFF: Case(rules=policy(consolidate_after=None)),
    Unremovable.MARKED_RECENTLY: Case(rules=policy(consolidate_after=MINUTE)),
    Unremovable.TOO_FEW_UNDERUTILIZED: Case(rules=policy(required_count=3)),
    Unremovable.NO_EXCESS: Case(rules=policy(excess_threshold=2)),
    Unremovable.PAUSED: Case(state={"paused": True}),
    Unremovable.RECENT_ADDITION: Case(rules=wide(time_since_last_addition=timedelta(days=2))),
    Unremovable.TIME_GAP: Case(rules=wide(time_gap=HOUR), state={"last_scale_down": NOW - MINUTE}),
    Unremovable.MINIMUM_NODES: Case(rules=wide(minimum_nodes=3)),
    Unremovable.MINIMUM_NON_TAINTED: Case(rules=wide(minimum_non_tainted_nodes=3)),
    Unremovable.BREAKER_OPEN: Case(state={"breakers": {"a": Breaker(NOW + HOUR, "pending")}}),
    Unremovable.FROZEN: Case(rules=wide(freezes=(Freeze(NOW - HOUR, NOW + HOUR),))),
    Unremovable.OUTSIDE_WINDOWS: Case(rules=policy(windows=(AT_NOON,))),
    Unremovable.BUDGET: Case(rules=policy(budgets=(Budget(NONE),))),
    Unremovable.CLUSTER_BUDGET: Case(rules=wide(budgets=(Budget(NONE),))),
    Unremovable.AWAITING_DELETION: Case(
        rules=wide(budget_until=BudgetUntil.REPLACED, awaiting_deletion=NONE)),
    Unremovable.RATE: Case(rules=wide(rate=Rate(Limit(count=1), HOUR)), state={"starts": (Start(NOW - MINUTE, "b"),)}),
    Unremovable.NAMESPACE_RATE: Case(rules=wide(evictions_per_namespace=NamespaceRate(1, HOUR)),
                                     state={"starts": (Start(NOW - MINUTE, "b", {"default": 1}),)}),
    Unremovable.WORKLOAD_MOVING: Case(load={"owner": "ReplicaSet/two"},
                                      rules=policy(max_nodes_per_pass=2, required_count=0)),
    Unremovable.DRAIN_TOO_LONG: Case(more=tuple(
        pod(f"slow-{number}", on="n1", kind=SLOW, started=NOW - HOUR, ready_since=NOW - HOUR + 5 * MINUTE)
        for number in (1, 2)), rules=policy(required_count=0, max_nodes_per_pass=2)),
    Unremovable.NODES_PER_PASS: Case(rules=policy(required_count=0)),
    Unremovable.NO_PLACE_FOR_PODS: Case(
        load={"node_selector": {"disk": "ssd"}}, more=(pod("bare", on="n2", owner=None),),
        rules=policy(required_count=0, max_nodes_per_pass=2)),
    Unremovable.NEEDED_BY_BUFFER: Case(buffers=held(buffer("web", 3, cpu=2.9))),
    Unremovable.KEPT_AS_DESTINATION: Case(
        more=(pod("small", on="n1", cpu=0.2, owner="ReplicaSet/one"), pod("big", on="n3", cpu=2.5)),
        rules=policy(required_count=0, consolidate_after=5 * MINUTE), marks=marked("n1")),
    Unremovable.LEFT_TO_AUTOSCALER: Case(
        first={"taints": (announced_taint(),)},
        rules=policy(required_count=0)),
    Unremovable.AUTOSCALER_DOES_BETTER: Case(
        first={"machine": "e2-standard-2"}, load={"cpu": 2.4}, is_alone=False,
        more=(pod("job", on="n2", cpu=0.1, owner="Job/j"), pod("big", on="n3", cpu=3.5))),
    Unremovable.AUTOSCALER_PACKS: Case(profile="OPTIMIZE_UTILIZATION", is_alone=False),
    Unremovable.SAVING_TOO_SMALL: Case(rules=policy(minimum_saving=1000)),
    Unremovable.COVERED_BY_COMMITMENT: Case(rules=wide(commitments=committed("e2", vcpu=12, gib=48))),
}  # fmt: skip
SECOND_IN_TURN = {Unremovable.WORKLOAD_MOVING, Unremovable.NODES_PER_PASS}
"""What only another node of the same pass brings about: n2 is asked after n1."""


def test_every_word_has_a_case() -> None:
    elsewhere = {Unremovable.UNFORESEEN}  # a fault of the code: test_selection
    assert set(TABLE) == set(Unremovable) - elsewhere, "give the new word a picture in which it alone keeps n1"


@pytest.mark.acceptance(104)
@pytest.mark.parametrize("word", TABLE, ids=str)
def test_a_node_that_stays_shows_the_word_of_what_keeps_it(word: Unremovable) -> None:
    made = TABLE[word].plan()

    kept = made.of("n2" if word in SECOND_IN_TURN else "n1")
    assert kept is not None
    assert kept.verdict in {Verdict.KEEP, Verdict.WAITING}
    assert kept.reason == word
    assert kept.name not in {order.node for order in made.orders}
    assert {blocker.reason for blocker in kept.blockers if isinstance(blocker.reason, Unremovable)} == {word}


def test_without_anything_wrong_the_node_goes() -> None:
    made = Case().plan()

    assert [(order.node, order.reason) for order in made.orders] == [("n1", DrainReason.UNDERUTILIZED)]


@pytest.mark.acceptance(62)
def test_a_budget_of_no_nodes_stops_its_pool_and_names_itself() -> None:
    """Whatever the reason for which a node would go; a pool without that budget goes on."""
    empty = cluster([node("n1"), node("n2"), node("n3", created=NOW - timedelta(days=9)), node("m1", pool="b")])
    closed = policy(budgets=(Budget(NONE),), expire_after=timedelta(days=8))
    rules = replace(closed, pools={**closed.pools, "b": policy("b").pool("b")})

    made = make_plan(Situation(empty, ClusterState(last_pass=NOW), rules), {}, load())

    assert [order.node for order in made.orders] == ["m1"]
    assert {decision.name: decision.reason for decision in made.decisions if decision.pool == "a"} == dict.fromkeys(
        ("n1", "n2", "n3"), Unremovable.BUDGET.value
    )


@pytest.mark.acceptance(45)
@cases(
    "expected, spec",
    ("a volume", "volumes", {"volumes": (Volume("d", "persistentVolumeClaim"),)}),
    ("a dynamic resource claim", "resource_claims", {"resource_claims": ("gpu",)}),
)
def test_what_placement_does_not_model_keeps_the_node_by_name_before_any_cordon(
    expected: str, spec: dict[str, Any]
) -> None:
    """An empty node stands beside it: were the rule assumed away, the pod would fit."""
    kept = Case(load=spec).plan().of("n1")

    assert kept is not None
    assert kept.reason == Unremovable.BLOCKED_BY_POD
    assert [blocker.reason.value for blocker in kept.blockers] == ["blocked_by_pod", expected]
