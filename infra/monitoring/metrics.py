"""The log-based metrics: all gauges and counters of estafette and node-refiner, and what operating Ebb needs."""

from dataclasses import replace
from typing import Final

from infra.monitoring.query import AtLeast, Has, field, label
from infra.monitoring.table import Kind, Metric

POOL: Final = {"pool": "labels.pool"}
REASON: Final = {"reason": "labels.reason"}
_NODE: Final = {"node": "labels.node", "pool": "labels.pool"}
_ACT: Final = {"result": "jsonPayload.result", "pool": "labels.pool"}


def _cluster(name: str, value: str, about: str, unit: str = "1", seed: str = "") -> Metric:
    return Metric(name, Kind.GAUGE, "cluster_state", about, unit, value, seed=seed)


def _pool(name: str, value: str, about: str, unit: str = "1", seed: str = "") -> Metric:
    return Metric(name, Kind.GAUGE, "pool_state", about, unit, value, labels=POOL, seed=seed)


def _node(name: str, about: str, unit: str, seed: str) -> Metric:
    value = name.removeprefix("node_")
    return Metric(
        name, Kind.GAUGE, "node_decision", about, unit, value, labels=_NODE, per_node=True, seed=f"estafette {seed}"
    )


def _kept(theme: str, about: str) -> Metric:
    return _cluster(f"kept_{theme}", f"kept.{theme}", f"nodes that stay: {about}", "{node}")


def _act(name: str, act: str) -> Metric:
    return Metric(
        f"nodes_{name}", Kind.COUNTER, "drain_step", f"nodes {name}; attempts and successes apart (label result)",
        "{node}", where=(field("act", act),), labels=_ACT, seed=f"node-refiner nodes_{name}",
    )  # fmt: skip


CLUSTER: Final = (
    _cluster("cluster_nodes", "nodes", "nodes", "{node}", "node-refiner cluster_nodes"),
    _cluster(
        "cluster_non_tainted_nodes", "non_tainted_nodes", "schedulable nodes without a taint that repels pods",
        "{node}", "node-refiner cluster_non_tainted_nodes",
    ),
    _cluster(
        "cluster_unschedulable_nodes", "unschedulable_nodes", "all cordoned nodes", "{node}",
        "node-refiner cluster_unschedulable_nodes",
    ),
    _cluster("cluster_pods", "pods", "pods", "{pod}", "node-refiner cluster_pods"),
    _cluster("cluster_cpu_utilization", "cpu_ratio", "requested by allocatable CPU", "10^2.%",
             "node-refiner cluster_cpu_utilization"),
    _cluster("cluster_memory_utilization", "memory_ratio", "requested by allocatable memory", "10^2.%",
             "node-refiner cluster_memory_utilization"),
    _cluster("cluster_excess_nodes", "excess_nodes", "nodes to spare, in units of the least used one", "{node}",
             "node-refiner cluster_excess_nodes"),
    _cluster("cluster_unschedulable_pods", "unschedulable_pods", "pods that found no place", "{pod}"),
    _cluster("cluster_cost", "cost_per_hour", "dollars an hour, by the price table", "{USD}/h"),
    _cluster("possible_saving", "saving_per_hour", "dollars an hour that a pass orders away (or would)", "{USD}/h"),
    _cluster("oldest_mark", "oldest_mark_seconds", "age of the oldest mark", "s"),
    _cluster("claims", "claims", "drains not settled yet", "{node}"),
    _cluster("overdue_claims", "overdue_claims", "claims older than deadline, watchdog and two passes", "{node}"),
    _cluster("open_breakers", "open_breakers", "pools in which no drain may start", "{pool}"),
    _cluster("reclaimed_nodes", "reclaimed_nodes", "nodes removed within a day that have not come back", "{node}"),
    _cluster("reclaimed_cost", "reclaimed_cost_per_hour", "dollars an hour that those would cost", "{USD}/h"),
    _kept("full", "too full"),
    _kept("pods", "a pod on them may not be moved"),
    _kept("room", "the others have no room"),
    _kept("limits", "budgets, rates, minimums"),
    _kept("time", "ages, marks, gaps, windows"),
    _kept("off", "switched off, or not deletable"),
    _kept("trouble", "something is wrong or under way"),
)  # fmt: skip
AMOUNTS: Final = (
    Metric("reclaimed_node_hours", Kind.AMOUNT, "cluster_state", "hours of nodes that were removed and did not come "
           "back, at most a day each", "h", "reclaimed_node_hours"),
    Metric("reclaimed_dollars", Kind.AMOUNT, "cluster_state", "what those hours would have cost by the price table",
           "{USD}", "reclaimed_dollars"),
    Metric("blocked_seconds", Kind.AMOUNT, "eviction", "seconds for which a PodDisruptionBudget held a pod", "s",
           "blocked_seconds", where=(Has("jsonPayload.pdb"),), labels={"pdb": "jsonPayload.pdb"}),
)  # fmt: skip
POOLS: Final = (
    _pool("pool_nodes", "nodes", "nodes", "{node}", "estafette total_node_count"),
    _pool("pool_underutilized_nodes", "underutilized", "nodes below both ratio limits", "{node}",
          "estafette underutilized_node_count"),
    _pool("pool_marked_nodes", "marked", "nodes with a mark", "{node}", "estafette marked_for_removal_node_count"),
    _pool("pool_in_flight_nodes", "in_flight", "nodes that a drain holds", "{node}",
          "estafette scale_down_in_progress_node_count"),
    _pool("pool_excess_nodes", "excess_nodes", "nodes to spare", "{node}"),
    _pool("pool_cpu_utilization", "cpu_ratio", "requested by allocatable CPU", "10^2.%"),
    _pool("pool_memory_utilization", "memory_ratio", "requested by allocatable memory", "10^2.%"),
)  # fmt: skip
MISSED: Final = (
    Metric("missed_savings_per_hour", Kind.GAUGE, "missed_saving", "dollars an hour of under-used nodes that stay, by "
           "the reason that keeps them", "{USD}/h", "per_hour", labels={**POOL, **REASON}),
)  # fmt: skip
NODES: Final = (
    _node("node_allocatable_cpu", "cores that pods may request", "{cpu}", "allocatable_cpu"),
    _node("node_allocatable_memory", "bytes that pods may request", "By", "allocatable_memory"),
    _node("node_requested_cpu", "cores that pods request", "{cpu}", "total_cpu_requests"),
    _node("node_requested_memory", "bytes that pods request", "By", "total_memory_requests"),
    _node("node_cpu_ratio", "requested by allocatable CPU", "10^2.%", "utilized_cpu_ratio"),
    _node("node_memory_ratio", "requested by allocatable memory", "10^2.%", "utilized_memory_ratio"),
)
COUNTERS: Final = (
    Metric("passes", Kind.COUNTER, "run_summary", "whole passes", "{pass}", where=(field("result", "completed"),)),
    Metric("failed_passes", Kind.COUNTER, "run_summary", "passes that ended early", "{pass}",
           where=(label("reason", "unreachable", "terminal"),), labels=REASON),
    _act("cordoned", "cordon"),
    _act("drained", "drain"),
    _act("uncordoned", "uncordon"),
    Metric("orders", Kind.COUNTER, "order_published", "orders of the planner", "{order}", labels={**REASON, **POOL}),
    Metric("drains", Kind.COUNTER, "drain_result", "drains that ended, by outcome and reason", "{drain}",
           labels={"outcome": "jsonPayload.outcome", **REASON, **POOL}),
    Metric("evictions", Kind.COUNTER, "eviction", "answers of the eviction API; pods evicted: answer=granted", "{pod}",
           labels={"answer": "jsonPayload.answer", **POOL}),
    Metric("healed", Kind.COUNTER, "healed", "findings that a pass repaired", "1", labels=REASON),
    Metric("policy_invalid", Kind.COUNTER, "policy_invalid", "times the policy was missing or invalid", "1"),
    Metric("breakers_opened", Kind.COUNTER, "breaker", "breakers that opened", "1", labels=POOL),
    Metric("messages_rejected", Kind.COUNTER, "message_rejected", "messages that were no orders", "{message}",
           labels=REASON),
    Metric("faults", Kind.COUNTER, "", "lines of severity ERROR", "1", where=(AtLeast("severity", "ERROR"),),
           labels={"event": "labels.event", **REASON}),
)  # fmt: skip
SPREADS: Final = (
    Metric("pass_milliseconds", Kind.SPREAD, "run_summary", "how long a pass took", "ms", "duration_ms",
           where=(field("result", "completed"),)),
    Metric("drain_seconds", Kind.SPREAD, "drain_step", "from the cordon until the node was empty", "s", "drain_seconds",
           where=(field("act", "drain"), field("result", "succeeded")), labels=POOL),
    Metric("deletion_seconds", Kind.SPREAD, "drain_result", "from the empty node until it was seen gone", "s",
           "deletion_seconds", where=(field("outcome", "removed"), Has("jsonPayload.deletion_seconds")), labels=POOL),
)  # fmt: skip
METRICS: Final = (*CLUSTER, *AMOUNTS, *POOLS, *MISSED, *NODES, *COUNTERS, *SPREADS)
BY_NAME: Final = {metric.name: metric for metric in METRICS}
_OF_FLEET: Final = (
    "cluster_nodes", "cluster_cost", "reclaimed_dollars", "missed_savings_per_hour", "passes", "drains", "faults",
)  # fmt: skip
FLEET: Final = tuple(
    replace(BY_NAME[name], labels={"cluster": "labels.cluster", **BY_NAME[name].labels}) for name in _OF_FLEET
)
"""Metrics of all clusters of a project together, by cluster."""
