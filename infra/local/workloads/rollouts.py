"""Rollouts of Deployments: ReplicaSets by template, and the status that follows."""

from dataclasses import dataclass
from math import ceil, floor, inf

from infra.local.clocks import seconds_of, stamp
from infra.local.world.kinds import Json
from infra.local.world.pods import condition_of, set_condition
from infra.local.world.store import copied

Sizes = dict[str, int]
"""The wanted number of pods by the name of a ReplicaSet."""
_SHARE = "25%"


@dataclass(frozen=True)
class Bounds:
    """How many pods a Deployment wants, and how many it may have too many and too few during a rollout."""

    wanted: int
    surge: int
    unavailable: int

    @property
    def at_least(self) -> int:
        """The available pods that a rollout leaves."""
        return self.wanted - self.unavailable


def bounds_of(deployment: Json) -> Bounds:
    """Shares of the wanted pods: the surge is rounded up, what may be missing down; if both are none, one may."""
    spec: Json = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    rolling: Json = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = _number(rolling.get("maxSurge", _SHARE), wanted, up=True)
    unavailable = _number(rolling.get("maxUnavailable", _SHARE), wanted, up=False)
    return Bounds(wanted, surge, min(unavailable if surge or unavailable else 1, wanted))


def _number(given: int | str, wanted: int, *, up: bool) -> int:
    if not isinstance(given, str):
        return given
    share = int(given.removesuffix("%")) * wanted / 100
    return ceil(share) if up else floor(share)


def rolled(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    """The next sizes of a rolling update; `sizes` are the present ones, oldest set first, `new` names the present set.

    The new set grows within the surge; of the old ones unavailable pods go first, then what the available ones allow.
    """
    before: Sizes = {}
    while before != sizes:
        before, sizes = sizes, _grown(bounds, new, sizes)
        sizes = _shrunk(bounds, new, sizes, available)
    return sizes


def _grown(bounds: Bounds, new: str, sizes: Sizes) -> Sizes:
    room = max(bounds.wanted + bounds.surge - sum(sizes.values()), 0)
    return {**sizes, new: min(bounds.wanted, sizes[new] + room)}


def _shrunk(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    ready = {name: min(available.get(name, 0), size) for name, size in sizes.items()}
    allowed = sum(sizes.values()) - bounds.at_least - (sizes[new] - ready[new])
    if allowed <= 0:
        return sizes
    old = {name: size for name, size in sizes.items() if name != new}
    old = _less(old, {name: size - ready[name] for name, size in old.items()}, allowed)
    return {**_less(old, old, sum(ready.values()) - bounds.at_least), new: sizes[new]}


def _less(sizes: Sizes, may_go: Sizes, limit: int) -> Sizes:
    """The sizes without `limit` pods of those that may go, taken from the first sets."""
    left: Sizes = {}
    for name, size in sizes.items():
        taken = min(may_go[name], max(limit, 0))
        left[name], limit = size - taken, limit - taken
    return left


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
