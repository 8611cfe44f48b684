"""Filters of Cloud Logging, term by term, and the weekly questions that people ask with them."""

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
