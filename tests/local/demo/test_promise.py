"""The promise's checker finds each breach in a hand-made record of a few entries."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from infra.local.demo import promise as judge
from infra.local.demo.evidence import Evidence, Limits, PassRecord, limits_of
from infra.local.demo.promise import check
from tests.depth import cases

Entry = dict[str, Any]
OURS = "status-taint.cluster-autoscaler.kubernetes.io/ebb=order-1:NoSchedule"
SOFT = "status-taint.cluster-autoscaler.kubernetes.io/ebb-held=:PreferNoSchedule"
LIMITS = Limits(pools={"web": 2}, ceiling=3, starts_per_hour=5, minimum_nodes=1, longest_cordon=60.0)


def node(name: str, *, at: float = 0.0, actor: str = "scenario", pool: str = "web", **changes: Any) -> Entry:
    """A change of a node; `taints` and `unschedulable` as they are after it."""
    brief = {"ready": True, "unschedulable": False, "taints": [], "pool": pool, "zone": "a"}
    return _change("nodes", name, at, actor, {**brief, **changes}, namespace="")


def drained(name: str, *, at: float = 1.0, actor: str = "ebb", **changes: Any) -> Entry:
    """A node that Ebb has just cordoned and tainted."""
    return node(name, at=at, actor=actor, **{"unschedulable": True, "taints": [OURS], **changes})


def pod(name: str, *, at: float = 0.0, actor: str = "kubelet", **changes: Any) -> Entry:
    """A change of a healthy pod of the workload `api`."""
    brief = {"node": "n-1", "phase": "Running", "ready": True, "terminating": False, "unschedulable": False}
    return _change("pods", name, at, actor, {**brief, "owner": "rs-api", "labels": {"app": "api"}, **changes})


def evicted(name: str, *, at: float = 2.0, actor: str = "ebb", left: int = 2, terminating: bool = False) -> Entry:
    """An eviction that left so many healthy pods of the two that the PDB `api` asks for."""
    about = {"namespace": "shop", "name": name, "uid": f"uid-{name}", "actor": actor, "terminating": terminating}
    budget = {"name": "api", "desired": 2, "healthy_after": left, "broken": left < 2}
    return {"type": "eviction", "at": at, **about, "budgets": [budget]}


def asked(verb: str, path: str, *, user_agent: str = "ebb") -> Entry:
    return {"type": "request", "at": 1.0, "verb": verb, "path": path, "user_agent": user_agent}


def evidence(*entries: Entry, limits: Limits = LIMITS, passes: Sequence[PassRecord] = (), **others: Any) -> Evidence:
    return Evidence(entries, limits, passes, **others)


def _change(kind: str, name: str, at: float, actor: str, brief: Entry, namespace: str = "shop") -> Entry:
    verb = brief.pop("verb", "update")
    about = {"verb": verb, "kind": kind, "namespace": namespace, "name": name, "uid": f"uid-{name}", "actor": actor}
    return {"type": "change", "at": at, **about, **brief}


Rule = Callable[[Evidence], Iterator[str]]
THREE = (pod("a"), pod("b"), pod("c"))
TWO_NODES = (node("n-1"), node("n-2"))
WAITING: dict[str, Any] = {"phase": "Pending", "ready": False, "unschedulable": True, "node": ""}
STOPPED = "ToBeDeletedByClusterAutoscaler=1:NoSchedule"


def good() -> Evidence:
    return evidence(
        *TWO_NODES,
        *THREE,
        node("n-2", at=0.5, actor="kubectl", unschedulable=True),
        drained("n-1", at=1.0),
        asked("POST", "/api/v1/namespaces/shop/pods/a/eviction"),
        evicted("a", at=2.0),
        pod("a", at=2.0, actor="ebb", terminating=True),
        pod("d", at=2.1, **WAITING),
        pod("d", at=20.0),
        pod("a", at=20.0, verb="delete"),
        node("n-1", at=30.0, actor="autoscaler", verb="delete"),
        passes=[PassRecord(2, [("n-1", "underutilized"), ("n-2", "cordoned_by_other")])],
        cordoned_by_persons=frozenset({"n-2"}),
    )


def test_a_drain_as_it_should_be_keeps_every_promise() -> None:
    assert [finding.breaches for finding in check(good())] == [()] * 8


def test_a_record_in_which_ebb_did_nothing_proves_nothing() -> None:
    idle = next(finding for finding in check(evidence(*TWO_NODES)) if finding.promise == "Ebb was at work")
    assert [breach.partition(":")[0] for breach in idle.breaches] == [
        "no drain began",
        "no pod was evicted",
        "the planner made no pass",
    ]


@cases(
    "found, rule, record",
    ("an eviction that left too few pods", "shop/a: its eviction left 1 healthy pods, PDB shop/api requires 2",
     judge.broken_budgets, evidence(*THREE, evicted("a", left=1))),
    ("a drain over the pool's budget", "n-3: its drain began with 3 nodes of pool web in use, allowed are 2",
     judge.exceeded_limits,
     evidence(*TWO_NODES, node("n-3"), node("n-4"), drained("n-1"), drained("n-2"), drained("n-3"))),
    ("a drain over the budget by a node that is not ready",
     "n-2: its drain began with 3 nodes of pool web in use, allowed are 2", judge.exceeded_limits,
     evidence(*TWO_NODES, node("n-3"), node("n-3", ready=False), drained("n-1"), drained("n-2"))),
    ("a drain over the cluster's ceiling", "b-1: its drain began with 2 nodes of the cluster in use, allowed are 1",
     judge.exceeded_limits,
     evidence(*TWO_NODES, node("b-1", pool="backend"), drained("n-1"), drained("b-1", pool="backend"),
      limits=replace(LIMITS, ceiling=1))),
    ("one start too many within the hour", "n-2: its drain began with 2 drains within an hour, allowed are 1",
     judge.exceeded_limits,
     evidence(*TWO_NODES, node("n-3"), drained("n-1", at=0), node("n-1", at=9, verb="delete"), drained("n-2", at=3599),
      limits=replace(LIMITS, starts_per_hour=1))),
    ("a drain below the minimum of nodes", "n-2: its drain began with 0 nodes left, the minimum is 1",
     judge.exceeded_limits, evidence(*TWO_NODES, drained("n-1"), drained("n-2"))),
    ("a replacement that waited for a place too long", "shop/d: unschedulable for over 30 s", judge.left_without_place,
     evidence(*THREE, evicted("a"), pod("d", at=3, **WAITING), pod("b", at=34), pod("d", at=34))),
    ("a pod that is Pending at the end", "shop/d: still Pending at the end", judge.left_without_place,
     evidence(*THREE, evicted("a"), pod("d", at=3, phase="Pending", ready=False))),
    ("a node held longer than deadline and watchdog", "n-1: held by Ebb for 99 s at the end, allowed are 60 s",
     judge.cordons_for_nothing, evidence(*TWO_NODES, drained("n-1", at=1), node("n-2", at=100))),
    ("a node that no wave holds any more", "n-1: the soft taint of a wave is left at the end",
     judge.cordons_for_nothing, evidence(*TWO_NODES, node("n-1", actor="ebb", taints=[SOFT]))),
    ("a node returned with its cordon left on", "n-1: Ebb's taint is gone, its cordon is not",
     judge.cordons_for_nothing,
     evidence(*TWO_NODES, drained("n-1"), node("n-1", at=3, actor="ebb", unschedulable=True))),
    ("a person's cordon undone", "n-1: Ebb undid a cordon that was not its own", judge.meddling,
     evidence(*TWO_NODES, node("n-1", actor="kubectl", unschedulable=True), node("n-1", actor="ebb"))),
    ("a person's cordoned node taken", "n-1: Ebb took a node that somebody else had cordoned", judge.meddling,
     evidence(*TWO_NODES, node("n-1", actor="kubectl", unschedulable=True), drained("n-1"))),
    ("a taint of the autoscaler written", f"n-1: Ebb changed taints that are not its own: {STOPPED}", judge.meddling,
     evidence(*TWO_NODES, drained("n-1", taints=[OURS, STOPPED]))),
    ("a node deleted", "n-1: deleted by Ebb", judge.meddling,
     evidence(*TWO_NODES, node("n-1", actor="ebb", verb="delete"))),
    ("a person's cordon gone, no matter who undid it", "n-2: a person cordoned it, and it is uncordoned",
     judge.meddling, evidence(*TWO_NODES, cordoned_by_persons=frozenset({"n-2"}))),
    ("a pod deleted past the Eviction API", "Ebb requested DELETE /api/v1/namespaces/shop/pods/a", judge.deleted_by_ebb,
     evidence(asked("DELETE", "/api/v1/namespaces/shop/pods/a", user_agent="ebb/0.1"))),
    ("two verdicts for one node", "pass 1: n-1 has 2 verdicts", judge.find_unexplained,
     evidence(passes=[PassRecord(1, [("n-1", "order"), ("n-1", "rate")])])),
    ("a verdict without a reason", "pass 1: n-1 has no reason", judge.find_unexplained,
     evidence(passes=[PassRecord(1, [("n-1", "")])])),
    ("a node without a verdict", "pass 1: 2 nodes and verdicts for 1", judge.find_unexplained,
     evidence(passes=[PassRecord(2, [("n-1", "rate")])])),
    ("a node of the end that nobody spoke of", "n-2: in the cluster at the end, but without a verdict in the last pass",
     judge.find_unexplained, evidence(*TWO_NODES, passes=[PassRecord(1, [("n-1", "rate")])])),
)  # fmt: skip
def test_each_breach_is_found_and_named(found: str, rule: Rule, record: Evidence) -> None:
    assert list(rule(record)) == [found]


@cases(
    "rule, record",
    ("an eviction that somebody else asked for", judge.broken_budgets,
     evidence(*THREE, evicted("a", left=1, actor="somebody"))),
    ("the eviction of a pod that was on its way out anyway", judge.broken_budgets,
     evidence(*THREE, evicted("a", left=1, terminating=True))),
    ("a replacement placed after exactly 30 s", judge.left_without_place,
     evidence(*THREE, evicted("a"), pod("d", at=3, **WAITING), pod("d", at=33))),
    ("a pod of a workload that was never drained waits long", judge.left_without_place,
     evidence(*THREE, evicted("a"), pod("e", at=3, owner="rs-new", **WAITING), pod("e", at=99, owner="rs-new"))),
    ("a node that is booting does not count", judge.exceeded_limits,
     evidence(*TWO_NODES, node("n-3", ready=False), node("n-4"), drained("n-1"), drained("n-2"))),
    ("a node returned whole", judge.cordons_for_nothing,
     evidence(*TWO_NODES, drained("n-1"), node("n-1", at=5, actor="ebb"), node("n-2", at=999))),
    ("the soft taint of a costly node", judge.cordons_for_nothing,
     evidence(*TWO_NODES, node("n-1", actor="ebb", taints=[SOFT]), costly=frozenset({"n-1"}))),
    ("the soft taint of a wave, written and removed", judge.meddling,
     evidence(*TWO_NODES, node("n-1", actor="ebb", taints=[SOFT]), node("n-1", actor="ebb"))),
    ("another client whose name begins alike", judge.deleted_by_ebb,
     evidence(asked("DELETE", "/api/v1/nodes/n-1", user_agent="ebb-demo"))),
)  # fmt: skip
def test_what_is_allowed_is_not_held_against_ebb(rule: Rule, record: Evidence) -> None:
    assert list(rule(record)) == []


def test_the_policys_numbers_are_read_as_they_are_written() -> None:
    text = """
    cluster: {minimumNodes: 6, disruption: {budgets: [{nodes: 7}, {nodes: 9}]}, rate: {nodes: 30, per: 1h}}
    drain: {timeout: 1m, maxGracePeriod: 3s, watchdog: 30s}
    nodePools:
      web: {disruption: {budgets: [{nodes: 5}]}}
      free: {disruption: {budgets: []}}
      batch: {enabled: false}
    """
    assert limits_of(text, interval=2.0) == Limits({"web": 5, "batch": 0}, 7, 30, 6, 97.0)
