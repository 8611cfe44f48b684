"""Which pods forbid the drain of their node: the autoscaler's rules in its order; the first that speaks decides.

Source: cluster-autoscaler pkg/simulator/drainability/rules, with GKE's flag that local storage does not matter.
"""

from collections.abc import Callable, Iterable

from infra.local.clocks import seconds_of
from infra.local.scaling.view import View
from infra.local.world.kinds import Json
from infra.local.world.pods import annotations_of, labels_of, owner_kind
from infra.local.world.selectors import matches

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SYSTEM_POD_BLOCKS_FOR = 3600.0
_KNOWN_KINDS = {"ReplicationController", "Job", "ReplicaSet", "StatefulSet"}
ALLOWED = ""
"""A rule's word that the pod may go whatever the later rules say."""

Rule = Callable[[Json, View, float], str | None]


def budgets_of(pod: Json, view: View) -> list[Json]:
    meta, labels = pod["metadata"], labels_of(pod)
    return [
        budget
        for budget in view.budgets
        if budget["metadata"]["namespace"] == meta["namespace"] and matches(budget["spec"].get("selector"), labels)
    ]


def _said(pod: Json, view: View, now: float) -> str | None:
    del view, now
    said = annotations_of(pod).get(SAFE_TO_EVICT)
    return {"true": ALLOWED, "on-completion": "waits for its completion"}.get(said or "")


def _not_replicated(pod: Json, view: View, now: float) -> str | None:
    del view, now
    return None if owner_kind(pod) in _KNOWN_KINDS else "nothing would start it again"


def _system(pod: Json, view: View, now: float) -> str | None:
    if pod["metadata"]["namespace"] != "kube-system" or budgets_of(pod, view):
        return None
    age = now - seconds_of(pod["metadata"]["creationTimestamp"])
    return "a system pod without a budget" if age < SYSTEM_POD_BLOCKS_FOR else ALLOWED


def _not_safe(pod: Json, view: View, now: float) -> str | None:
    del view, now
    return "not safe to evict" if annotations_of(pod).get(SAFE_TO_EVICT) == "false" else None


def _budget(pod: Json, view: View, now: float) -> str | None:
    del now
    shut = (item["status"].get("disruptionsAllowed", 0) < 1 for item in budgets_of(pod, view) if "status" in item)
    return "its budget allows no disruption" if any(shut) else None


RULES: tuple[Rule, ...] = (_said, _not_replicated, _system, _not_safe, _budget)


def obstacle(pods: Iterable[Json], view: View, now: float) -> str | None:
    """Why these pods may not be drained: the first of them that a rule forbids, or None."""
    for pod in pods:
        said = next((word for rule in RULES if (word := rule(pod, view, now)) is not None), ALLOWED)
        if said:
            return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}: {said}"
    return None
