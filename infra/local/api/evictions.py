"""The eviction subresource, answer for answer.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go. The budget is taken from before the delete is tried, so a
refused precondition still costs a disruption, there as here.
"""

from infra.local.clocks import stamp
from infra.local.http_messages import RefusedError, bad_request, conflict, not_found, status_body
from infra.local.world.budgets import budgets_of, counts_now
from infra.local.world.kinds import Json
from infra.local.world.kubelet import delete_pod
from infra.local.world.pods import is_ready, is_terminating, node_of, phase_of, set_condition
from infra.local.world.record import Record
from infra.local.world.store import Key, Store

_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}


def _too_many(message: str, retry_after: int) -> RefusedError:
    causes = [{"reason": "DisruptionBudget", "message": message}]
    return RefusedError(429, "TooManyRequests", _VIOLATES, {"causes": causes}, retry_after)


def _unhealthy_may_go(pod: Json, budget: Json) -> bool:
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status: Json = budget.get("status", {})
    desired: int = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired


def _check(budget: Json) -> None:
    name, status = budget["metadata"]["name"], budget.get("status", {})
    if status.get("observedGeneration", 0) < budget["metadata"]["generation"]:
        raise _too_many(f"The disruption budget {name} is still being processed by the server.", 10)
    if status.get("disruptionsAllowed", 0) <= 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently", 0)


def _take(store: Store, budget: Json, pod: Json, actor: str) -> None:
    now = store.clock.now()

    def decrement(thing: Json) -> None:
        status: Json = thing["status"]
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[pod["metadata"]["name"]] = stamp(now)
        if status["disruptionsAllowed"] == 0:
            condition = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}
            set_condition(thing, now, {**condition, "message": ""})

    store.update(budget, decrement, actor)


def _pass_budget(store: Store, pod: Json, budgets: list[Json], actor: str, *, dry: bool) -> None:
    if len(budgets) > 1:
        raise RefusedError(500, "", _SEVERAL)
    if not budgets or _unhealthy_may_go(pod, budgets[0]):
        return
    _check(budgets[0])
    if not dry:
        _take(store, budgets[0], pod, actor)


def _check_preconditions(pod: Json, options: Json) -> None:
    wanted: Json = options.get("preconditions") or {}
    for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        has, expected = pod["metadata"][field], wanted.get(field)
        if expected is not None and expected != has:
            why = f"Precondition failed: {label} in precondition: {expected}, {label} in object meta: {has}"
            raise conflict("Pod", pod["metadata"]["name"], why)


def evict(store: Store, record: Record, key: Key, body: Json, actor: str) -> Json:
    """Return the Status of a granted eviction, which is recorded with its counts; RefusedError as the real server."""
    if (body.get("metadata") or {}).get("name") != key[1]:
        raise bad_request("name in URL does not match name in Eviction object")
    options: Json = body.get("deleteOptions") or {}
    dry = "All" in options.get("dryRun", ())
    pod = store.find("pods", *key)
    if pod is None:
        raise not_found("pods", key[1])
    budgets, reason = budgets_of(pod, store.all("poddisruptionbudgets")), None
    if not (is_terminating(pod) or phase_of(pod) in {"Pending", "Succeeded", "Failed"}):
        reason = {**_TARGET, "message": "Eviction API: evicting"}
        _pass_budget(store, pod, budgets, actor, dry=dry)
    _check_preconditions(pod, options)
    if not dry:
        record.add("eviction", _entry(store, pod, budgets, actor))
        delete_pod(store, pod, options.get("gracePeriodSeconds"), actor, reason)
    return status_body("Success", 201)


def _entry(store: Store, pod: Json, budgets: list[Json], actor: str) -> Json:
    meta = pod["metadata"]
    entry: Json = {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"], "actor": actor}
    entry |= {"node": node_of(pod), "ready": is_ready(pod), "terminating": is_terminating(pod)}
    return entry | {"budgets": [counts_now(store, budget, pod) for budget in budgets]}
