"""The alert policies and their conditions."""

from dataclasses import dataclass
from typing import Final

from infra.monitoring.metrics import BY_NAME
from infra.monitoring.query import FUNCTION, monitoring_term, series

HOUR: Final = 3600


@dataclass(frozen=True)
class Condition:
    """One condition. Series of all revisions are reduced to one, so that a new revision is no absence of the old."""

    title: str
    filter: str
    aligner: str
    reducer: str
    period: str
    """Of alignment, and so the rolling window."""
    kind: str = "threshold"
    """Or `absent`."""
    comparison: str = "COMPARISON_GT"
    threshold: float = 0
    duration: str = "0s"
    missing: str = ""
    """What a window without data means: empty, or EVALUATION_MISSING_DATA_…, which needs a duration of a minute."""


def above(title: str, name: str, period: int, *, most: float = 0, where: tuple[str, ...] = ()) -> Condition:
    """More than `most` of a counter in a rolling window, or a gauge that stands higher."""
    metric = BY_NAME[name]
    chosen = series(metric.type, FUNCTION, *where)
    return Condition(title, chosen, metric.aligner, metric.reducer, f"{period}s", threshold=most)


FAILURES: Final = (
    "deadline", "eviction_forbidden", "several_pdbs", "pod_blocks", "replacement_pending", "surge_pending",
    "surge_failed", "surge_refused", "watchdog",
)  # fmt: skip
"""Halts of drains that did not work; the others are what somebody wanted.

The breaker's, and those of restarts: they open none, for they have moved no pod, but somebody has to look.
"""


@dataclass(frozen=True)
class Alert:
    """One alert policy and its section of the runbook."""

    key: str
    title: str
    severity: str
    conditions: tuple[Condition, ...]
    means: str
    look: tuple[str, ...]
    do: tuple[str, ...]


def _subscription(metric: str) -> str:
    """Return the filter of a metric of the orders' subscription."""
    own = monitoring_term("resource.labels.subscription_id", "${orders_subscription}")
    return series(f"pubsub.googleapis.com/subscription/{metric}", "pubsub_subscription", own)


_PASSES: Final = series(BY_NAME["passes"].type, FUNCTION)
ALERTS: Final = (
    Alert(
        "no_pass",
        "no successful pass",
        "CRITICAL",
        (
            Condition("no line of a whole pass for so long", _PASSES, "ALIGN_SUM", "REDUCE_SUM", "60s",
                      kind="absent", duration="${absence_seconds}s"),
            Condition("no whole pass counted in that time", _PASSES, "ALIGN_SUM", "REDUCE_SUM", "${window_seconds}s",
                      comparison="COMPARISON_LT", threshold=1, duration="60s",
                      missing="EVALUATION_MISSING_DATA_ACTIVE"),
        ),
        "No pass of the planner has succeeded for ${missed_passes} intervals. Nothing new is drained, and nothing is "
        "repaired either: a drain that hangs now stays as it is. A single missed pass is normal and raises no alert. "
        "An installation that never had a pass raises none either: look for the first one by hand.",
        (
            "The lines of the planner: `run_summary` shows why passes ended early (`unreachable`, `terminal`).",
            "Cloud Scheduler: is the job there, not paused, and what did its last attempts answer?",
            "Cloud Run: does the planner start, does it have enough memory, does it reach the control plane?",
        ),
        (
            "`unreachable`: restore the way to the control plane, the GKE API or Firestore; the next pass goes on.",
            "`terminal`: the message names what a person has to fix.",
            "Until then `ebb release all` from a laptop uncordons every node that Ebb holds.",
        ),
    ),
    Alert(
        "policy_invalid",
        "policy missing or invalid",
        "ERROR",
        (above("the policy could not be used", "policy_invalid", 600),),
        "The policy object is missing or invalid. Nothing new is drained; running drains end as they were begun, and "
        "repairs go on.",
        (
            "The `policy_invalid` lines: each fault with its path and remedy.",
            "The last versions of the bucket's object.",
        ),
        (
            "`ebb policy check FILE` on what Terraform writes; fix it and apply.",
            "In a hurry: restore the object's last good version. Every pass reads it again.",
        ),
    ),
    Alert(
        "dead_letters",
        "dead or rejected messages",
        "ERROR",
        (
            Condition("a message went to the dead letters",
                      _subscription("dead_letter_message_count"), "ALIGN_SUM", "REDUCE_SUM", "600s"),
            above("a message was not an order", "messages_rejected", 600),
        ),
        "A message went to the dead letters after a hundred failed deliveries, or a message was not an order for this "
        "cluster. No node is lost: later passes find a drain that fell silent, and the next pass orders again.",
        (
            "`message_rejected` lines; what was sent is on the rejected topic.",
            "The dead letters: `gcloud pubsub subscriptions pull ${dead_letters_subscription} --limit=10`.",
            "`drain_step` lines with reason `retryable` or `terminal`: why it was never carried out.",
        ),
        (
            "A person's message: correct and send it again (docs/orders.md).",
            "An order of the planner: fix what its lines report; do not replay it, orders expire on purpose.",
        ),
    ),
    Alert(
        "old_messages",
        "an order waits too long",
        "WARNING",
        (
            Condition("the oldest message is older than half an hour", _subscription("oldest_unacked_message_age"),
                      "ALIGN_MAX", "REDUCE_MAX", "300s", threshold=1800, duration="300s"),
        ),
        "A message has been redelivered for over half an hour. A step takes about a minute at most, and an order that "
        "nobody claimed expires after ten.",
        (
            "`drain_step` lines of severity WARNING or ERROR: why the message is redelivered.",
            "Does the drainer start, and does the push account have the right to call it?",
        ),
        ("Fix what the lines report; the message is then processed without further help.",),
    ),
    Alert(
        "drain_failed",
        "drains fail",
        "WARNING",
        (above("more than two drains failed within six hours", "drains", 6 * HOUR, most=2,
               where=(monitoring_term("metric.labels.outcome", "given_back"),
                      monitoring_term("metric.labels.reason", *FAILURES))),),
        "Several drains failed, and their nodes were uncordoned. Ebb leaves these nodes alone, half an hour at first "
        "and longer each time. A single failure raises no alert.",
        (
            "`drain_result` lines: reason and detail name the pod, the PodDisruptionBudget, Deployment or webhook.",
            "`surge` lines: what became of Deployments that were restarted (`singleReplicas: surge`).",
            "Blocked time by PodDisruptionBudget in the dashboard.",
        ),
        (
            "`deadline`: a budget that never allows a disruption; give its workload another replica, or change it.",
            "`eviction_forbidden`: a webhook or a right; `several_pdbs`: let one budget match each pod.",
            "`watchdog`: the autoscaler kept an empty node; `kubectl describe node` has its events.",
            "`pod_blocks`: a pod that may not be moved came in the last moment; `ebb explain NODE` names it.",
            (
                "`replacement_pending`: others took the room. If nobody did, the plan met a rule that it does not "
                "know. Report it to the maintainers with the dump (`ebb dump --anonymize` removes your names)."
            ),
            (
                "`surge_pending`: the same of the new pod; the restart was undone and the old pod runs on. "
                "`surge_failed`: `kubectl rollout status` shows why the Deployment makes no progress. `surge_refused`: "
                "`ebb doctor` shows whether the right is there (infra/options/surge.yaml); else a webhook refused."
            ),
            "All other reasons: docs/reasons.md has what to do about each.",
        ),
    ),
    Alert(
        "breaker_open",
        "a breaker is open",
        "ERROR",
        (above("a breaker is open", "open_breakers", 900),),
        "In a pool a moved pod found no place, a node was added for one, or three drains failed within an hour. No new "
        "drain starts in that pool. The breaker closes by itself.",
        ("The `breaker` line names the pod.", "`kubectl describe pod`: why it found no place."),
        (
            "If it opens again and again: disable the pool in the policy (`enabled: false`) and keep a dump.",
        ),
    ),
    Alert(
        "overdue",
        "a node is held past the watchdog",
        "CRITICAL",
        (above("a claim is overdue", "overdue_claims", 900),),
        "A node is cordoned by Ebb for longer than drain deadline, watchdog and two passes: it costs money and takes "
        "no pods. That is a broken promise.",
        (
            "`ebb status` shows the claim; the node's lines show what was tried last.",
            "`healed` lines: is a release published at every pass and never carried out?",
        ),
        ("`ebb release NODE`.", "Look at the dead letters and at the drainer's errors: why does it not do its work?"),
    ),
    Alert(
        "errors",
        "unhandled errors",
        "ERROR",
        (
            Condition("a function answered 500",
                      series("run.googleapis.com/request_count", FUNCTION,
                             monitoring_term("resource.labels.service_name", "${planner}", "${drainer}"),
                             monitoring_term("metric.labels.response_code", "500")),
                      "ALIGN_SUM", "REDUCE_SUM", "600s"),
            above("a step cannot go on until somebody fixes something", "faults", 600,
                  where=(monitoring_term("metric.labels.reason", "terminal"),)),
        ),
        "A function failed in a way that it cannot handle itself, or that only a person can fix.",
        ("Lines of severity ERROR, and the traceback of the request that answered 500.",),
        ("Fix what the sentence names; report a traceback to the maintainers.",),
    ),
)  # fmt: skip
