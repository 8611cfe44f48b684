"""The table of events: every line that Ebb writes, with its labels and fields. Tests compare it with the lines."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Type(StrEnum):
    """What a payload field is in JSON."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    FLAG = "true or false"
    TIME = "time"
    COUNTS = "counts by word"
    TEXTS = "list of texts"
    ROWS = "list of objects"


@dataclass(frozen=True)
class Field:
    """One field of the payload. `sometimes`: it may be missing, or null."""

    name: str
    type: Type
    about: str
    sometimes: bool = False


@dataclass(frozen=True)
class Event:
    """One kind of line. Labels besides `cluster` and `event`; the message is in each line."""

    name: str
    about: str
    labels: tuple[str, ...]
    """Always there."""
    other_labels: tuple[str, ...] = ()
    """There where they are known."""
    fields: tuple[Field, ...] = ()


POLICY_HASH: Final = Field("policy_hash", Type.TEXT, "the policy in force, empty without a valid one", sometimes=True)
GENERATION: Final = Field("generation", Type.INTEGER, "the number of the drain's step")
SIZES: Final = (
    Field("allocatable_cpu", Type.NUMBER, "cores that pods may request"),
    Field("allocatable_memory", Type.INTEGER, "bytes that pods may request"),
    Field("requested_cpu", Type.NUMBER, "cores that pods request"),
    Field("requested_memory", Type.INTEGER, "bytes that pods request"),
    Field("cpu_ratio", Type.NUMBER, "requested by allocatable CPU", sometimes=True),
    Field("memory_ratio", Type.NUMBER, "requested by allocatable memory", sometimes=True),
)
GAUGES: Final = (
    Field("nodes", Type.INTEGER, "all nodes"),
    Field("ready_nodes", Type.INTEGER, "nodes that are Ready"),
    Field("non_tainted_nodes", Type.INTEGER, "schedulable nodes without a taint that repels pods"),
    Field("unschedulable_nodes", Type.INTEGER, "all cordoned nodes"),
    Field("underutilized", Type.INTEGER, "nodes of enabled pools, old enough, below both ratio limits, not in flight"),
    Field("marked", Type.INTEGER, "nodes with a mark"),
    Field("in_flight", Type.INTEGER, "nodes that a drain holds"),
    Field("pods", Type.INTEGER, "pods; those of no node count for the cluster"),
    *SIZES,
    Field("excess_nodes", Type.NUMBER, "nodes to spare, in units of the least used one", sometimes=True),
    Field("cost_per_hour", Type.NUMBER, "dollars an hour at list prices"),
    Field("saving_per_hour", Type.NUMBER, "dollars an hour that this pass's orders save (in dry run: would save)"),
)
TOOK: Final = (
    Field("drain_seconds", Type.NUMBER, "from the cordon until the node was empty, or until now", sometimes=True),
    Field("deletion_seconds", Type.NUMBER, "from the empty node until now: the autoscaler's time", sometimes=True),
    Field("pods_evicted", Type.INTEGER, "pods that have moved", sometimes=True),
)
_DRAIN: Final = ("order_id", "node")
_STEP: Final = replace(GENERATION, sometimes=True)


def _event(
    name: str, about: str, labels: tuple[str, ...], other_labels: tuple[str, ...], *fields: Field, policy: bool = True
) -> Event:
    """Return an event whose line carries the policy in force, unless there is none."""
    return Event(name, about, labels, other_labels, (*fields, POLICY_HASH) if policy else fields)


EVENTS: Final = (
    _event(
        "run_summary", "One pass, or why it ended early (`reason`).", ("run_id",), ("reason",),
        Field("version", Type.TEXT, "Ebb's own", sometimes=True),
        Field("result", Type.TEXT, "`completed` in the one line of a whole pass", sometimes=True),
        Field("verdicts", Type.COUNTS, "nodes by verdict", sometimes=True),
        Field("orders", Type.TEXTS, "nodes whose orders were published", sometimes=True),
        Field("would_order", Type.TEXTS, "in dry run: nodes that would have been ordered", sometimes=True),
        Field("healed", Type.INTEGER, "findings that were repaired", sometimes=True),
        Field("not_healed", Type.INTEGER, "findings that could not be repaired, and come again", sometimes=True),
        Field("dry_run", Type.FLAG, "whether nothing is drained", sometimes=True),
        Field("at_rest", Type.INTEGER, "nodes that the plan of the steady state takes", sometimes=True),
        Field("wave_left", Type.INTEGER, "nodes of `cluster.wave` for later passes", sometimes=True),
        Field("search_braked", Type.FLAG, "whether the clock ended the search for it early", sometimes=True),
        Field("commitments", Type.TEXT, "where the planner reads them: read, stale or list_prices", sometimes=True),
        Field("commitments_read_at", Type.TIME, "when those that count were read", sometimes=True),
        Field("costs_written", Type.INTEGER, "deletion costs that steerScaleIn wrote on pods", sometimes=True),
        Field("costs_taken_back", Type.INTEGER, "deletion costs of Ebb's that it took back", sometimes=True),
        Field("saving_per_month", Type.NUMBER, "dollars that this pass's orders save", sometimes=True),
        Field("duration_ms", Type.INTEGER, "how long the pass took", sometimes=True),
        Field("api_calls", Type.INTEGER, "calls of the pass to the Kubernetes API", sometimes=True),
        Field("api_bytes", Type.INTEGER, "bytes of its answers", sometimes=True),
    ),
    _event(
        "cluster_state", "The cluster, once a pass.", ("run_id",), (),
        *GAUGES,
        Field("unschedulable_pods", Type.INTEGER, "pods that the scheduler found no place for"),
        Field("oldest_mark_seconds", Type.INTEGER, "age of the oldest mark"),
        Field("kept", Type.COUNTS, "nodes that stay, by theme: full, pods, room, limits, time, off, trouble"),
        Field("claims", Type.INTEGER, "drains not settled yet"),
        Field("overdue_claims", Type.INTEGER, "claims older than deadline, watchdog and two passes"),
        Field("open_breakers", Type.INTEGER, "pools in which no drain may start"),
        Field("backing_off", Type.INTEGER, "nodes that are left alone for a while"),
        Field("bill_per_hour", Type.NUMBER, "dollars an hour that are paid with commitments, fees included; "
                  "null where nothing is committed", sometimes=True),
        Field("idle_per_hour", Type.NUMBER, "dollars an hour of that for commitments that no node uses",
                  sometimes=True),
        Field("reclaimed_nodes", Type.INTEGER, "nodes removed within a day that have not come back"),
        Field("reclaimed_cost_per_hour", Type.NUMBER, "dollars an hour that those would cost"),
        Field("reclaimed_node_hours", Type.NUMBER, "their hours since the last pass"),
        Field("reclaimed_dollars", Type.NUMBER, "their cost since the last pass"),
    ),
    _event("pool_state", "A pool, once a pass.", ("run_id",), ("pool",), *GAUGES),
    _event(
        "missed_saving",
        "A saving seen and not taken, once a pass for each pool and each reason that keeps under-used nodes.",
        ("run_id", "reason"), ("pool",),
        Field("nodes", Type.INTEGER, "nodes that the reason keeps; each node counts with the first of its reasons"),
        Field("per_hour", Type.NUMBER, "dollars an hour that they would save"),
    ),
    _event(
        "node_decision",
        "A node's verdict with all its reasons, when it changed; with EBB_DECISION_LOG=all in every pass.",
        ("run_id", "node"), ("pool", "reason"),
        Field("verdict", Type.TEXT, "order, would_order, in_flight, waiting or keep"),
        Field("blockers", Type.ROWS, "all that stands in its way: reason, object, detail, often message_id"),
        *SIZES,
        Field("score", Type.NUMBER, "0.8 of the CPU and 0.2 of the memory percentage", sometimes=True),
        Field("marked_since", Type.TIME, "since when it could go", sometimes=True),
        Field("removable_at", Type.TIME, "when its mark is old enough", sometimes=True),
    ),
    _event(
        "order_published", "The planner orders a drain; `reason` shows why the node goes.",
        ("run_id", "order_id", "node", "pool", "reason"), (),
        Field("saving_per_hour", Type.NUMBER, "dollars that the bill falls by"),
    ),
    _event(
        "drain_step", "How a drain goes on.", (), ("order_id", "node", "pool", "reason"),
        Field("phase", Type.TEXT, "claimed, cordoned or drained", sometimes=True),
        Field("act", Type.TEXT, "cordon, drain or uncordon", sometimes=True),
        Field("result", Type.TEXT, "attempted or succeeded", sometimes=True),
        Field("shared", Type.FLAG, "whether another order had read the whole snapshot", sometimes=True),
        Field("age_seconds", Type.NUMBER, "how old that snapshot was", sometimes=True),
        _STEP,
        *TOOK,
    ),
    _event(
        "eviction",
        "One answer of the eviction API. When a drain stops, one more for each pod that a budget still holds.",
        _DRAIN, ("pool",),
        Field("pod", Type.TEXT, "namespace/name"),
        Field("answer", Type.TEXT, "granted, gone, budget, later, conflict, terminating, several_pdbs, forbidden"),
        Field("detail", Type.TEXT, "the PodDisruptionBudget, or the API's words"),
        Field("pdb", Type.TEXT, "which PodDisruptionBudget has held the pod since the last answer", sometimes=True),
        Field("blocked_seconds", Type.NUMBER, "how long it did", sometimes=True),
        GENERATION,
    ),
    _event(
        "surge", "How the restart of a Deployment goes on whose pods leave without a gap (singleReplicas: surge).",
        _DRAIN, ("pool",),
        Field("workload", Type.TEXT, "namespace/Deployment/name"),
        Field("answer", Type.TEXT, "asked (about to be restarted), restarted or refused. When a drain stops: "
                  "undone, left (nothing to undo), later (not written; passes try again) or stuck (undo it by kubectl "
                  "rollout undo)"),
        Field("detail", Type.TEXT, "what exactly"),
        GENERATION,
    ),
    _event(
        "drain_result", "How a drain ended (`outcome`), and why (`reason`).", _DRAIN, ("run_id", "pool", "reason"),
        Field("version", Type.TEXT, "Ebb's own"),
        Field("outcome", Type.TEXT, "removed, given_back, released, overruled, refused or would_drain"),
        Field("detail", Type.TEXT, "what exactly", sometimes=True),
        _STEP,
        *TOOK,
    ),
    _event(
        "healed", "A pass repaired what an earlier pass or a drain had left.",
        ("run_id", "order_id"), ("node", "pool", "reason"),
    ),
    _event(
        "scale_in_steered",
        "A pass wrote deletion costs on pods of the nodes that go next, took some back, or would (steerScaleIn).",
        ("run_id",), (),
        Field("wanted", Type.INTEGER, "pods that should carry one now"),
        Field("nodes", Type.INTEGER, "nodes that they are on"),
        Field("written", Type.INTEGER, "costs written in this pass"),
        Field("taken_back", Type.INTEGER, "costs taken back in this pass"),
        Field("left", Type.INTEGER, "writes that failed or are left to later passes"),
    ),
    _event(
        "wave",
        "A wave begins (`begun`), loses nodes that cannot go any more (`shrunk`), or ends (`reason` shows why).",
        ("run_id", "reason"), (),
        Field("wave", Type.TEXT, "the wave's id"),
        Field("nodes", Type.INTEGER, "nodes that it holds from now on"),
    ),
    _event(
        "soft_taints", "Soft taints of a wave are ordered by a pass, or written by the drainer: `hold` or `let_go`.",
        ("reason",), ("run_id", "order_id"),
        Field("nodes", Type.INTEGER, "nodes that the order names, or that were written"),
        _STEP,
    ),
    _event(
        "policy_invalid", "The policy is missing or invalid: nothing new is started.", (), ("run_id", *_DRAIN, "pool"),
        _STEP,
    ),
    _event(
        "policy_warning",
        "Something in the policy is probably a mistake, it names an unknown pool, or a pod's cost cannot be read; "
          "once a day. Or commitments cannot be read; every 15 minutes.",
        ("run_id", "reason"), ("pool",),
    ),
    _event(
        "weekly_summary",
        "A week has ended: the same as the [message](orders.md#weekly-summary). Or it is late (`reason`).",
        (), ("run_id", "reason"),
        Field("began", Type.TIME, "when the week began", sometimes=True),
        Field("ended", Type.TIME, "when it ended; the same end is the same summary", sometimes=True),
        Field("currency", Type.TEXT, "of all amounts in it", sometimes=True),
        Field("dry_run_since", Type.TIME, "since when nothing is drained", sometimes=True),
        Field("removed_by_ebb", Type.INTEGER, "nodes that drains removed", sometimes=True),
        Field("removed_by_others", Type.INTEGER, "nodes that the autoscaler or others removed", sometimes=True),
        Field("saved", Type.NUMBER, "money saved by the bill", sometimes=True),
        Field("saved_at_list", Type.NUMBER, "the same at list prices", sometimes=True),
        Field("promised", Type.NUMBER, "what the first day under the policy promised of a week", sometimes=True),
        Field("older_removals", Type.NUMBER, "what removed nodes add that saved counts no more", sometimes=True),
        Field("watched_hours", Type.NUMBER, "for how long of the week passes ran", sometimes=True),
        Field("evictions", Type.INTEGER, "pods that drains moved", sometimes=True),
        Field("returns", Type.COUNTS, "drains that returned their nodes, by reason", sometimes=True),
        Field("blockers", Type.ROWS, "what held most money: reason, cost, sentence, remedy", sometimes=True),
        Field("shortfall", Type.ROWS, "why a fifth less came than was promised", sometimes=True),
        Field("before", Type.ROWS, "the main figures of the four weeks before", sometimes=True),
    ),
    _event("breaker", "A breaker opened: no new drain in the pool for a while.", ("run_id", "pool", "reason"), ()),
    _event(
        "message_rejected", "A message was not an order for this cluster.", (), ("reason",),
        Field("message_id", Type.TEXT, "the message's id", sometimes=True),
        policy=False,
    ),
    _event(
        "outside_call",
        "At level DEBUG: one call to the Kubernetes API, Firestore, Pub/Sub, the GKE API or the policy's bucket.",
        (), ("run_id",),
        Field("call", Type.TEXT, "the port and its method, such as cluster.node"),
        Field("seconds", Type.NUMBER, "how long it took, also where it failed"),
        policy=False,
    ),
)  # fmt: skip
BY_NAME: Final = {event.name: event for event in EVENTS}
