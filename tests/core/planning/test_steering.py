from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from msgspec import structs

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from shared.core.planning.make_plan import PassOptions, make_plan
from shared.core.planning.plan import Plan, Verdict
from shared.core.planning.steering import MOST_STEERED, MOST_WRITES, Steering, steering
from shared.core.policy import Budget, Freeze, Limit, Policy, Schedule
from shared.core.records.state import Backoff, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import CLUSTER, NOW, claim, cluster, node, pod, pod_class, policy
from tests.core.planning.passes import MINUTE, between_passes, decision, ordered, plan
from tests.depth import cases

STEERS = policy(steer_scale_in=True)
WEB = pod_class(owner="ReplicaSet/web")
ONLY = -501
"""The cost of a node that goes alone."""
ZONES = (SpreadConstraint("topology.kubernetes.io/zone", LabelSelector()),)
HOSTS = (SpreadConstraint(names.HOSTNAME_LABEL, LabelSelector()),)


def web(name: str, on: str, **changes: Any) -> Pod:
    return pod(name, on=on, kind=WEB, **changes)


def picture(*pods: Pod) -> Snapshot:
    return cluster([node(name) for name in ("n1", "n2", "n3", "n4")], pods)


def made(*next_nodes: str, dry_run: bool = False, **verdicts: Verdict) -> Plan:
    decisions = tuple(decision(name, verdict) for name, verdict in verdicts.items())
    return Plan(CLUSTER, NOW, "test", dry_run, decisions, {}, 0, 0, 0, next_nodes=next_nodes)


def steered(pods: Iterable[Pod], plan: Plan, rules: Policy = STEERS) -> Steering:
    return steering(plan, Situation(picture(*pods), ClusterState(), rules))


def settle(pods: list[Pod], plan: Plan) -> tuple[list[Pod], list[int]]:
    """Write pass after pass until nothing is left to write; return the pods, and how many each pass wrote."""
    written = []
    while found := steered(pods, plan).writes:
        costs = {write.pod.uid: str(write.cost) for write in found}
        pods = [structs.replace(any_pod, steered=costs.get(any_pod.uid, any_pod.steered)) for any_pod in pods]
        written.append(len(found))
    return pods, written


def written(found: Steering) -> dict[str, int | None]:
    return {write.pod.name: write.cost for write in found.writes}


FOUR = [web("w1", "n1"), web("w2", "n2"), web("w3", "n3"), web("w4", "n4")]


COST = {names.DELETION_COST: "5"}
HELD = [web("w1", "n1", steered="-1000"), *FOUR[1:]]
EVEN = pod_class(hard_spread=HOSTS)
OLD = [structs.replace(row, created=NOW - timedelta(days=9)) for row in FOUR]
FULL = [web(f"w{n:03}", "n1", steered="-1000") for n in range(MOST_STEERED)]


@cases(
    "expected, plan, pods",
    ("the first node's cost least", {"w2": -601, "w1": -401}, made("n2", "n1"), FOUR),
    ("whatever their age: costs hang on what stands", {"w2": -601, "w1": -401}, made("n2", "n1"), OLD),
    ("a cost that stands is not written again", {}, made("n1"), HELD),
    ("a node keeps its cost when another comes before it", {"x1": -700, "w2": -500}, made("n2", "n1"),
     [web("w1", "n1", steered="-700"), web("x1", "n1"), *FOUR[1:]]),
    ("a spread over nodes hinders nobody", {"p1": ONLY}, made("n1"),
     [pod(f"p{n}", on=f"n{n}", kind=EVEN) for n in (1, 2)]),
    ("over a cost that somebody wrote the mark is taken back", {"w1": None}, made("n1"),
     [pod("w1", on="n1", kind=pod_class(annotations=COST), steered="-1000"), *FOUR[1:]]),
    ("and of a node that is on its way, too", {"w1": None}, made(n1=Verdict.ORDER),
     [pod("w1", on="n1", kind=pod_class(annotations=COST), steered="-1000"), *FOUR[1:]]),
    ("as many as may be steered are: they keep theirs", {}, made("n2", "n1"), [*FULL, *FOUR[1:]]),
    ("nothing is to go any more: it is taken back", {"w1": None}, made(), HELD),
    ("in a dry run", {"w1": None}, made("n1", dry_run=True), HELD),
    ("of a node that was returned", {"w1": None}, made(n1=Verdict.KEEP), HELD),
    ("nothing goes and nothing is ours", {}, made(), FOUR),
    *((f"a mark that cannot be ours, {mark[:12]}", {"w1": ONLY}, made("n1"), [web("w1", "n1", steered=mark), *FOUR[1:]])
      for mark in ("odd", "7", "-1001", "-99999999999", "--1", "0", "-²", "9" * 5_000)),
)  # fmt: skip
def test_a_pass_writes(expected: dict[str, int | None], plan: Plan, pods: list[Pod]) -> None:
    assert written(steered(pods, plan)) == expected


def test_costs_that_are_at_the_end_of_their_range_are_written_again_until_they_rise_again() -> None:
    pods = [web(f"w{n:03}", f"n{1 + n % 4}", steered="-1" if n % 4 < 3 else "") for n in range(240)]
    pods, written = settle(pods, made("n1", "n2", "n3"))
    assert len(written) == 3
    assert max(written) <= MOST_WRITES
    assert {any_pod.node: any_pod.steered for any_pod in pods} == {"n1": "-643", "n2": "-501", "n3": "-1", "n4": ""}


def test_what_stands_on_a_node_that_stays_is_taken_back_first() -> None:
    pods = [*FOUR[:3], web("w4", "n4", steered="-1000")]
    found = steered(pods, made("n1"))
    assert [(write.pod.name, write.cost) for write in found.writes] == [("w4", None), ("w1", ONLY)]


@pytest.mark.parametrize("verdict", [Verdict.ORDER, Verdict.IN_FLIGHT])
def test_nothing_is_taken_back_of_a_node_that_is_on_its_way(verdict: Verdict) -> None:
    pods = [web("w1", "n1", steered="-1000"), *FOUR[1:]]
    assert written(steered(pods, made(n1=verdict))) == {}
    assert written(steered(pods, made(n1=verdict), policy())) == {"w1": None}, "once nobody steers any more"


def test_a_dry_run_shows_what_would_be_written() -> None:
    found = steered(FOUR, made("n1", "n2", dry_run=True))
    assert (found.writes, len(found.wanted), found.nodes) == ((), 2, ("n1", "n2"))


@cases(
    "pods",
    ("it has a cost", [pod("w1", on="n1", kind=pod_class(annotations=COST)), *FOUR[1:]]),
    ("another of them does", [FOUR[0], pod("w9", on="n2", kind=pod_class(annotations=COST))]),
    ("or a disruption cost",
     [FOUR[0], pod("w9", on="n2", kind=pod_class(annotations={names.DISRUPTION_COSTS[0]: "5"}))]),
    ("or one that cannot be read",
     [FOUR[0], pod("w9", on="n2", kind=pod_class(annotations={names.DELETION_COST: "odd"}))]),
    ("it is the only one", [FOUR[0]]),
    ("all are on that node", [FOUR[0], web("w9", "n1")]),
    ("the others have no node", [FOUR[0], web("w9", "")]),
    ("the others have ended", [FOUR[0], web("w9", "n2", phase=Phase.SUCCEEDED)]),
    ("the others are on their way out", [FOUR[0], web("w9", "n2", deleting=NOW)]),
    ("it is on its way out", [web("w1", "n1", deleting=NOW), *FOUR[1:]]),
    *(
        (words, [pod(f"p{n}", on=f"n{n}", kind=kind) for n in (1, 2, 3)])
        for words, kind in (
            ("a StatefulSet's", pod_class(owner="StatefulSet/db")),
            ("a Job's", pod_class(owner="Job/run")),
            ("nobody's", pod_class(owner=None)),
            ("the cluster's own", pod_class(namespace="kube-system")),
            ("one spread over zones", pod_class(hard_spread=ZONES)),
        )
    ),
)  # fmt: skip
def test_left_alone_is_a_pod_that_a_scale_in_does_not_rank_or_that_people_do(pods: list[Pod]) -> None:
    assert written(steered(pods, made("n1"))) == {}


def test_a_pass_makes_so_many_writes_and_shows_how_many_are_left() -> None:
    many = [web(f"w{n:03}", "n1") for n in range(MOST_WRITES + 7)]
    found = steered([*many, FOUR[1]], made("n1"))
    assert (len(found.writes), found.later) == (MOST_WRITES, 7)


def test_passes_one_after_another_write_each_pod_once_and_no_more_than_may_stand() -> None:
    pods = [web(f"w{n:03}", f"n{1 + n % 2}") for n in range(MOST_STEERED + 40)] + [FOUR[2]]
    pods, written = settle(pods, made("n1", "n2"))
    standing = [any_pod for any_pod in pods if any_pod.steered]
    assert len(standing) == sum(written) == MOST_STEERED == 500


def copied(*pods: Pod, mark: str = "-5") -> Steering:
    """The pod template of the ReplicaSet carries a mark of ours, as one has that was copied from a pod."""
    known = {WEB.workload: Workload("default/Deployment/web", 4, template_mark=mark)}
    return steering(made("n1"), Situation(replace(picture(*pods), workloads=known), ClusterState(), STEERS))


def test_pods_whose_template_carries_our_mark_are_left_alone_and_named() -> None:
    found = copied(*(web(f"w{n}", f"n{n}", steered="-5") for n in (1, 2, 3)), web("w4", "n4"))
    assert (written(found), found.marked) == ({}, (WEB.workload,))


def test_what_we_wrote_before_the_mark_came_into_the_template_is_taken_back() -> None:
    found = copied(web("w1", "n1", steered="-501"), web("w2", "n2", steered="-5"))
    assert written(found) == {"w1": None}


HOUR = timedelta(hours=1)
AT_NOON = Schedule("0 12 * * *", HOUR)
"""Not now."""
STATE = between_passes()


def half_empty() -> Snapshot:
    """Two of three can go; n3 is used most."""
    names = ("n1", "n2", "n3")
    pods = [
        pod(f"p{index}-{name}", on=name, cpu=0.5, owner=f"ReplicaSet/r{index}")
        for place, name in enumerate(names)
        for index in range(1 + place)
    ]
    return cluster([node(name) for name in names], pods)


def steers(**settings: Any) -> Policy:
    return policy(**{"steer_scale_in": True, **settings})


def told(rules: Policy, state: ClusterState = STATE) -> tuple[list[str], tuple[str, ...]]:
    made: Plan = plan(half_empty(), rules, state=state)
    return ordered(made), made.next_nodes


@cases(
    "expected, settings",
    ("one goes in this pass, the other next", (["n1"], ("n2",)), {}),
    ("marks are young", ([], ("n1", "n2")), {"consolidate_after": 5 * MINUTE}),
    ("no window is open", ([], ("n1", "n2")), {"windows": (AT_NOON,)}),
    ("a drain has just begun", ([], ("n1", "n2")), {"cluster_wide": {"time_gap": HOUR}}),
    ("a budget allows nothing", ([], ()), {"budgets": (Budget(Limit(0)),)}),
    ("the pool is not enabled", ([], ()), {"windows": (AT_NOON,), "enabled": False}),
    ("paused", ([], ()), {"cluster_wide": {"paused": True}}),
    ("frozen: hands off", ([], ()), {"cluster_wide": {"freezes": (Freeze(NOW - HOUR, NOW + HOUR),)}}),
)
def test_what_only_waits_is_shown(expected: tuple[list[str], tuple[str, ...]], settings: dict[str, Any]) -> None:
    assert told(steers(**settings), between_passes(last_scale_down=NOW - MINUTE)) == expected


@cases(
    "now, later, settings, state",
    ("of a pool that does not steer", ["n1"], (), {"steer_scale_in": False}, {}),
    ("one that is left alone for a while", [], ("n2", "n3"), {},
     {"backoffs": {"uid-n1": Backoff("n1", NOW + HOUR, HOUR, "x")}}),
    ("one in flight", [], ("n2",), {"required_count": 0}, {"claims": {"uid-n1": claim("n1")}}),
)  # fmt: skip
def test_not_shown_is(now: list[str], later: tuple[str, ...], settings: dict[str, Any], state: dict[str, Any]) -> None:
    young = {} if now else {"consolidate_after": 5 * MINUTE}
    assert told(steers(**young, **settings), between_passes(**state)) == (now, later)


def test_a_pool_whose_window_is_shut_is_shown_beside_one_that_drains() -> None:
    """The plan that the pass follows is without it."""
    both = cluster([*half_empty().nodes, node("b1", pool="b"), node("b2", pool="b")], half_empty().pods)
    rules = steers()
    shut = replace(rules.pools["a"], windows=(AT_NOON,))
    made = plan(both, replace(rules, pools={"a": rules.pools["a"], "b": shut}))
    assert (ordered(made), made.next_nodes) == (["n1"], ("b1", "n2", "n3"))


def test_the_plan_that_the_pass_follows_is_not_searched_again() -> None:
    def asked(rules: Policy) -> int:
        """Return how often the search looks whether it must end."""
        looks = count()
        make_plan(Situation(half_empty(), STATE, rules), {}, load(), options=PassOptions(lambda: next(looks) < 0))
        return next(looks)

    assert asked(steers()) == asked(policy()) > 0


def test_a_pool_that_does_not_steer_is_not_shown() -> None:
    both = cluster([*half_empty().nodes, node("b1", pool="b"), node("b2", pool="b")], half_empty().pods)
    other = policy().pools["a"]
    quiet = replace(rules := steers(consolidate_after=5 * MINUTE), pools={**rules.pools, "b": other})
    loud = replace(rules, pools={**rules.pools, "b": replace(other, steer_scale_in=True)})
    assert plan(both, loud).next_nodes == ("b2", "n1", "n2")
    assert plan(both, quiet).next_nodes == ("n1", "n2")
