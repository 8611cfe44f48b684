"""Filters of Cloud Logging, term by term, and the questions that people ask with them."""

from dataclasses import dataclass
from typing import Final


def term(path: str, *values: str) -> str:
    """Return a term of Cloud Logging: the field has one of these values."""
    quoted = [f'"{value}"' for value in values]
    return f"{path}={quoted[0]}" if len(quoted) == 1 else f"{path}=({' OR '.join(quoted)})"


def payload(name: str, *values: str) -> str:
    return term(f"jsonPayload.{name}", *values)


def label(name: str, *values: str) -> str:
    return term(f"labels.{name}", *values)


_FUNCTIONS: Final = term("resource.type", "cloud_run_revision")
"""Both functions log as Cloud Run services (2nd generation)."""
OURS: Final = (_FUNCTIONS, label("cluster", "${cluster}"))
"""Lines of this cluster's functions."""
ANY: Final = (_FUNCTIONS, "labels.cluster:*")
"""Lines of every cluster's functions."""


@dataclass(frozen=True)
class Query:
    """A question and the terms of its query."""

    question: str
    terms: tuple[str, ...]
    hint: str


WHY_HERE: Final = Query(
    "Why is node X still here?",
    (*OURS, label("event", "node_decision", "order_published", "drain_step", "drain_result", "healed"),
     label("node", "NODE")),
    "Write the node's name for NODE. The newest `node_decision` has the verdict and all reasons that stand now: it "
    "is written when it changes, so look back far enough.",
)  # fmt: skip
LAST_NIGHT: Final = Query(
    "What did Ebb do last night?",
    (*OURS, label("event", "order_published", "drain_result", "breaker", "healed", "policy_invalid",
                  "scale_in_steered")),
    "Choose the time; `drain_result` has outcome and reason, and one drain's lines share `operation.id`.",
)  # fmt: skip
QUERIES: Final = (
    WHY_HERE,
    LAST_NIGHT,
    Query(
        "What went wrong?",
        (*OURS, "severity>=WARNING"),
        "Lines that need a person's attention.",
    ),
    Query(
        "How did one drain go, step by step?",
        (term("operation.id", "ORDER"), term("operation.producer", "ebb")),
        "Write the order's id for ORDER; every line of a drain carries it.",
    ),
    Query(
        "Did Ebb restart this Deployment?",
        (*OURS, label("event", "surge"), payload("workload", "NAMESPACE/Deployment/NAME")),
        "Write namespace and name. Only `singleReplicas: surge` restarts any; the annotation `ebb.internal/surged-for` "
        "of its pod template is the id of the order that did it last.",
    ),
    Query(
        "What is paid where capacity is committed?",
        (*OURS, label("event", "cluster_state"), "jsonPayload.bill_per_hour>0"),
        "A line a pass. `cost_per_hour` is the list price of all nodes, `bill_per_hour` what is paid with the "
        "commitments, `idle_per_hour` what of that no node uses. The last month of `idle_per_hour` shows what not to "
        "renew.",
    ),
    Query(
        "What was not saved, and why?",
        (*OURS, label("event", "missed_saving")),
        "A line a pass for each pool and reason; `per_hour` is what those nodes would save. `ebb why-not` shows which "
        "single change would free most.",
    ),
)


@dataclass(frozen=True)
class Review:
    """A query over all clusters for once a week: what it counts by, what is normal, when to act."""

    key: str
    question: str
    terms: tuple[str, ...]
    by: tuple[str, ...]
    """Fields of the log entry, in the order in which `gcloud` prints them."""
    normal: str
    act: str
    days: int = 7
    """How far back it looks."""


REVIEWS: Final = (
    Review(
        "drains",
        "How did drains end?",
        (*ANY, label("event", "drain_result")),
        ("labels.cluster", "jsonPayload.outcome", "labels.reason"),
        "Most drains are `removed`. Some are `refused` or `given_back`, for various reasons.",
        "One reason ends more than a fifth of a cluster's drains: `docs/reasons.md` has the remedy. Any `watchdog` or "
        "`replacement_pending`.",
    ),
    Review(
        "trouble",
        "What needs a person?",
        (*ANY, "severity>=WARNING"),
        ("labels.cluster", "labels.event", "labels.reason"),
        "A few `unreachable`, `retryable` and `stale`: Ebb tries again by itself.",
        "Any line of severity ERROR, `policy_invalid`, `breaker` or `message_rejected`, or a count that has doubled "
        "since last week.",
    ),
    Review(
        "passes",
        "Which passes ended early or found a fault?",
        (*ANY, label("event", "run_summary"), "labels.reason:*"),
        ("labels.cluster", "labels.reason"),
        "Nothing, or single `unreachable` passes.",
        "`terminal`, `advice_missing` or `not_healed` in every pass: the message names what to fix. Several "
        "`unreachable` a day: the way to that control plane is unstable.",
    ),
    Review(
        "missed",
        "What was not saved, and why?",
        (*ANY, label("event", "missed_saving")),
        ("labels.cluster", "labels.reason"),
        "Windows, budgets, marks and rates lead: Ebb waits because the policy wants that.",
        "Pods lead for weeks (`blocked_by_pod`, `no_place_for_pods`): `ebb why-not` ranks the changes by money. A "
        "budget leads every night: raise it.",
        days=1,
    ),
)  # fmt: skip
