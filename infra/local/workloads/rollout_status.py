"""What a Deployment's status says of a rollout: the conditions Progressing and Available.

They are there from the first change of a template on: a Deployment whose template never changed says its counts alone.

Source: kubernetes pkg/controller/deployment (progress.go, sync.go) and its util (DeploymentComplete and its like).
"""

from math import inf

from infra.local.clocks import seconds_of, stamp
from infra.local.workloads.rollouts import Bounds, bounds_of
from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, set_condition
from infra.local.world.store import copied

_DEADLINE = 600
_NEVER_LATE = frozenset({"DeploymentPaused", "NewReplicaSetAvailable", "ProgressDeadlineExceeded"})


def with_conditions(deployment: Json, counts: Json, now: float, *, made: bool) -> Json:
    """The counts with the conditions that go with them; `made`: a ReplicaSet was made for a new template just now."""
    before: Json = copied(deployment.get("status") or {})
    bounds = bounds_of(deployment)
    lacking = max(bounds.wanted - counts["availableReplicas"], counts["replicas"] - counts["availableReplicas"])
    missing = {"unavailableReplicas": lacking} if lacking > 0 else {}
    thing: Json = {"status": {**counts, **missing, "conditions": before.get("conditions", [])}}
    enough = counts["availableReplicas"] >= bounds.at_least
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    _put(thing, now, {"type": "Available", "status": str(enough), "reason": reason})
    old: Json = condition_of(thing, "Progressing") or {}
    status, reason = ("True", "NewReplicaSetCreated") if made else _progress(deployment, bounds, before, counts, now)
    moved = reason == "ReplicaSetUpdated" and _has_moved(before, counts)
    if reason and (moved or reason != old.get("reason")):
        _put(thing, now, {"type": "Progressing", "status": status, "reason": reason})
    status_now: Json = thing["status"]
    return status_now


def _progress(deployment: Json, bounds: Bounds, before: Json, counts: Json, now: float) -> tuple[str, str]:
    """Status and reason of Progressing; empty where it stays as it is."""
    old: Json = condition_of({"status": before}, "Progressing") or {}
    if deployment["spec"].get("paused"):
        return "Unknown", "DeploymentPaused"
    if old.get("reason") == "DeploymentPaused":
        return "Unknown", "DeploymentResumed"
    complete = {counts[name] for name in ("replicas", "updatedReplicas", "availableReplicas")} == {bounds.wanted}
    if complete:
        return "True", "NewReplicaSetAvailable"
    if counts["replicas"] == counts["updatedReplicas"] and old.get("reason") == "NewReplicaSetAvailable":
        return "", ""
    if _has_moved(before, counts):
        return "True", "ReplicaSetUpdated"
    return ("False", "ProgressDeadlineExceeded") if _is_late(deployment, old, now) else ("", "")


def _has_moved(before: Json, counts: Json) -> bool:
    """Whether more pods are new, ready or available than before, or fewer old."""
    old = {**dict.fromkeys(counts, 0), **before}
    more = any(counts[name] > old[name] for name in ("updatedReplicas", "readyReplicas", "availableReplicas"))
    return more or counts["replicas"] - counts["updatedReplicas"] < old["replicas"] - old["updatedReplicas"]


def _is_late(deployment: Json, old: Json, now: float) -> bool:
    return late_after(deployment, old) < now


def late_after(deployment: Json, progressing: Json) -> float:
    """When nothing has moved for the deadline; a rollout that is over, or is late already, never becomes late."""
    if progressing.get("reason", "NewReplicaSetAvailable") in _NEVER_LATE:
        return inf
    deadline = float(deployment["spec"].get("progressDeadlineSeconds", _DEADLINE))
    return seconds_of(progressing["lastUpdateTime"]) + deadline


def _put(thing: Json, now: float, condition: Json) -> None:
    """Put a condition in place; the time of its update moves with its words."""
    old: Json = condition_of(thing, condition["type"]) or {}
    same = condition["type"] == "Available" and condition["reason"] == old.get("reason")
    set_condition(thing, now, {**condition, "lastUpdateTime": old["lastUpdateTime"] if same else stamp(now)})
