"""The log-based metrics: all gauges and counters of estafette and node-refiner, and what operating Ebb needs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from infra.monitoring.events import BY_NAME as BY_EVENT


def term(path: str, *values: str) -> str:
    """Return a term of Cloud Logging: the field has one of these values."""
    quoted = [f'"{value}"' for value in values]
    return f"{path}={quoted[0]}" if len(quoted) == 1 else f"{path}=({' OR '.join(quoted)})"


def payload(name: str, *values: str) -> str:
    return term(f"jsonPayload.{name}", *values)


def label(name: str, *values: str) -> str:
    return term(f"labels.{name}", *values)


class Kind(StrEnum):
    """How the lines become a metric."""

    COUNTER = "counter"
    """How many lines there were."""
    GAUGE = "gauge"
    """A number as it stands; log-based metrics know none, so it is a distribution of which the mean is read."""
    AMOUNT = "amount"
    """Numbers that add up; the sum of a distribution is read (in PromQL)."""
    SPREAD = "spread"
    """Numbers whose percentiles matter."""


@dataclass(frozen=True)
class Metric:
    """One log-based metric, named `${name}/<name>`."""

    name: str
    kind: Kind
    event: str
    about: str
    unit: str = "1"
    value: str = ""
    """The payload field that holds the number; empty for a counter."""
    where: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Where in the entry each label is found; the last part of the path is its name."""
    per_node: bool = False
    """Made only with EBB_DECISION_LOG=all: a series for each node costs money."""
    seed: str = ""
    """What estafette or node-refiner called it."""

    @property
    def label_paths(self) -> dict[str, str]:
        """The path of each label, by its name."""
        return {path.rpartition(".")[2]: path for path in self.labels}

    @property
    def filter(self) -> str:
        """The filter of what it counts among the lines of its cluster's functions, which are Cloud Run services."""
        ours = (term("resource.type", "cloud_run_revision"), label("cluster", "${cluster}"))
        event = (label("event", self.event),) if self.event else ()
        return " AND ".join((*ours, *event, *self.where))


POOL: Final = "labels.pool"
REASON: Final = "labels.reason"


def _gauge(event: str, name: str, value: str, unit: str, **more: Any) -> Metric:
    """Return a gauge of one field of an event, with the field's sentence."""
    (about,) = (field.about for field in BY_EVENT[event].fields if field.name == value)
    return Metric(name, Kind.GAUGE, event, about, unit, value, **more)


def _cluster(name: str, value: str, unit: str, seed: str = "") -> Metric:
    return _gauge("cluster_state", name, value, unit, seed=seed and f"{seed} {name}")


def _pool(name: str, value: str, unit: str, seed: str = "") -> Metric:
    return _gauge("pool_state", name, value, unit, labels=(POOL,), seed=seed)


def _node(value: str, unit: str, seed: str) -> Metric:
    more = {"labels": ("labels.node", POOL), "per_node": True, "seed": f"estafette {seed}"}
    return _gauge("node_decision", f"node_{value}", value, unit, **more)


def _kept_metric(theme: str, about: str) -> Metric:
    return Metric(f"kept_{theme}", Kind.GAUGE, "cluster_state", f"nodes that stay: {about}", "{node}", f"kept.{theme}")


def _act(name: str, act: str) -> Metric:
    return Metric(
        f"nodes_{name}", Kind.COUNTER, "drain_step", f"nodes {name}; attempts and successes apart (label result)",
        "{node}", where=(payload("act", act),), labels=("jsonPayload.result", POOL),
        seed=f"node-refiner nodes_{name}",
    )  # fmt: skip


_PERCENT: Final = "10^2.%"
_REFINER: Final = "node-refiner"
METRICS: Final = (
    _cluster("cluster_nodes", "nodes", "{node}", _REFINER),
    _cluster("cluster_non_tainted_nodes", "non_tainted_nodes", "{node}", _REFINER),
    _cluster("cluster_unschedulable_nodes", "unschedulable_nodes", "{node}", _REFINER),
    _cluster("cluster_pods", "pods", "{pod}", _REFINER),
    _cluster("cluster_cpu_utilization", "cpu_ratio", _PERCENT, _REFINER),
    _cluster("cluster_memory_utilization", "memory_ratio", _PERCENT, _REFINER),
    _cluster("cluster_excess_nodes", "excess_nodes", "{node}", _REFINER),
    _cluster("cluster_unschedulable_pods", "unschedulable_pods", "{pod}"),
    _cluster("cluster_cost", "cost_per_hour", "{USD}/h"),
    _cluster("possible_saving", "saving_per_hour", "{USD}/h"),
    _cluster("oldest_mark", "oldest_mark_seconds", "s"),
    _cluster("claims", "claims", "{node}"),
    _cluster("overdue_claims", "overdue_claims", "{node}"),
    _cluster("open_breakers", "open_breakers", "{pool}"),
    _cluster("reclaimed_nodes", "reclaimed_nodes", "{node}"),
    _cluster("reclaimed_cost", "reclaimed_cost_per_hour", "{USD}/h"),
    _kept_metric("full", "too full"),
    _kept_metric("pods", "a pod on them may not be moved"),
    _kept_metric("room", "the others have no room"),
    _kept_metric("limits", "budgets, rates, minimums"),
    _kept_metric("time", "ages, marks, gaps, windows"),
    _kept_metric("off", "switched off, or not deletable"),
    _kept_metric("trouble", "something is wrong or under way"),
    Metric("reclaimed_node_hours", Kind.AMOUNT, "cluster_state", "hours of nodes that were removed and did not come "
           "back, at most a day each", "h", "reclaimed_node_hours"),
    Metric("reclaimed_dollars", Kind.AMOUNT, "cluster_state", "what those hours would have cost by the bill",
           "{USD}", "reclaimed_dollars"),
    Metric("blocked_seconds", Kind.AMOUNT, "eviction", "seconds for which a PodDisruptionBudget held a pod", "s",
           "blocked_seconds", where=("jsonPayload.pdb:*",), labels=("jsonPayload.pdb",)),
    _pool("pool_nodes", "nodes", "{node}", "estafette total_node_count"),
    _pool("pool_underutilized_nodes", "underutilized", "{node}", "estafette underutilized_node_count"),
    _pool("pool_marked_nodes", "marked", "{node}", "estafette marked_for_removal_node_count"),
    _pool("pool_in_flight_nodes", "in_flight", "{node}", "estafette scale_down_in_progress_node_count"),
    _pool("pool_excess_nodes", "excess_nodes", "{node}"),
    _pool("pool_cpu_utilization", "cpu_ratio", _PERCENT),
    _pool("pool_memory_utilization", "memory_ratio", _PERCENT),
    Metric("missed_savings_per_hour", Kind.GAUGE, "missed_saving", "dollars an hour of under-used nodes that stay, by "
           "the reason that keeps them", "{USD}/h", "per_hour", labels=(POOL, REASON)),
    _node("allocatable_cpu", "{cpu}", "allocatable_cpu"),
    _node("allocatable_memory", "By", "allocatable_memory"),
    _node("requested_cpu", "{cpu}", "total_cpu_requests"),
    _node("requested_memory", "By", "total_memory_requests"),
    _node("cpu_ratio", _PERCENT, "utilized_cpu_ratio"),
    _node("memory_ratio", _PERCENT, "utilized_memory_ratio"),
    Metric("passes", Kind.COUNTER, "run_summary", "whole passes", "{pass}", where=(payload("result", "completed"),)),
    Metric("failed_passes", Kind.COUNTER, "run_summary", "passes that ended early", "{pass}",
           where=(label("reason", "unreachable", "terminal"),), labels=(REASON,)),
    _act("cordoned", "cordon"),
    _act("drained", "drain"),
    _act("uncordoned", "uncordon"),
    Metric("orders", Kind.COUNTER, "order_published", "orders of the planner", "{order}", labels=(REASON, POOL)),
    Metric("drains", Kind.COUNTER, "drain_result", "drains that ended, by outcome and reason", "{drain}",
           labels=("jsonPayload.outcome", REASON, POOL)),
    Metric("evictions", Kind.COUNTER, "eviction", "answers of the eviction API; pods evicted: answer=granted", "{pod}",
           labels=("jsonPayload.answer", POOL)),
    Metric("healed", Kind.COUNTER, "healed", "findings that a pass repaired", "1", labels=(REASON,)),
    Metric("policy_invalid", Kind.COUNTER, "policy_invalid", "times the policy was missing or invalid", "1"),
    Metric("breakers_opened", Kind.COUNTER, "breaker", "breakers that opened", "1", labels=(POOL,)),
    Metric("messages_rejected", Kind.COUNTER, "message_rejected", "messages that were no orders", "{message}",
           labels=(REASON,)),
    Metric("faults", Kind.COUNTER, "", "lines of severity ERROR", "1", where=("severity>=ERROR",),
           labels=("labels.event", REASON)),
    Metric("pass_milliseconds", Kind.SPREAD, "run_summary", "how long a pass took", "ms", "duration_ms",
           where=(payload("result", "completed"),)),
    Metric("drain_seconds", Kind.SPREAD, "drain_step", "from the cordon until the node was empty", "s", "drain_seconds",
           where=(payload("act", "drain"), payload("result", "succeeded")), labels=(POOL,)),
    Metric("deletion_seconds", Kind.SPREAD, "drain_result", "from the empty node until it was seen gone", "s",
           "deletion_seconds", where=(payload("outcome", "removed"), "jsonPayload.deletion_seconds:*"), labels=(POOL,)),
)  # fmt: skip
BY_NAME: Final = {metric.name: metric for metric in METRICS}
