"""What a namespace limits: the defaults and bounds of its LimitRanges, and its ResourceQuotas with their counting.

Scopes of quotas are not modelled. Source: kubernetes plugin/pkg/admission/limitranger; pkg/quota/v1/evaluator/core.
"""

from infra.local.quantities import pod_requests, quantity, units
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished
from infra.local.world.store import NotAdmittedError, Store

ACTOR = "resourcequota-controller"
Amounts = dict[str, int]


class LimitRanger:
    """Writes defaults into new pods, and refuses those that are out of bounds."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write_defaults(self, plural: str, thing: Json) -> None:
        if plural != "pods":
            return
        for row in self._rows(thing, "Container"):
            limits = {**(row.get("max") or {}), **(row.get("default") or {})}
            requests = {**(row.get("min") or {}), **limits, **(row.get("defaultRequest") or {})}
            for container in _containers(thing):
                given: Json = container.setdefault("resources", {})
                said = {**(given.get("limits") or {}), **(given.get("requests") or {})}
                given["requests"] = {**requests, **said}
                given["limits"] = {**limits, **(given.get("limits") or {})}

    def check(self, plural: str, thing: Json) -> None:
        if plural != "pods":
            return
        for row in self._rows(thing, "Container"):
            for container in _containers(thing):
                _check(row, _amounts(container, "requests"), _amounts(container, "limits"))
        for row in self._rows(thing, "Pod"):
            _check(row, _summed(thing, "requests"), _summed(thing, "limits"))

    def _rows(self, pod: Json, kind: str) -> list[Json]:
        ranges = self._store.all("limitranges", pod["metadata"]["namespace"])
        return [row for each in ranges for row in each["spec"]["limits"] if row["type"] == kind]


class QuotaController:
    """Counts what pods use until they are gone, and refuses a pod that would be too much."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for quota in self._store.all("resourcequotas"):
            meta, status = quota["metadata"], self._status(quota)
            if quota.get("status") != status:
                place = ("resourcequotas", meta["namespace"], meta["name"])
                self._store.update(*place, lambda thing, status=status: thing.update(status=status), ACTOR)  # type: ignore[misc]

    def check(self, plural: str, thing: Json, instead_of: Json | None = None) -> None:
        """Refuse what is too much; `instead_of` is a pod that will be gone."""
        if plural != "pods":
            return
        for quota in self._store.all("resourcequotas", thing["metadata"]["namespace"]):
            asks, used, freed = _counted(thing), self._used(quota), _counted(instead_of) if instead_of else {}
            for name, hard in quota["spec"]["hard"].items():
                more = asks.get(name, 0) - freed.get(name, 0)
                if asks.get(name) and used.get(name, 0) + more > units(_bare(name), hard):
                    raise NotAdmittedError(f"exceeded quota: {quota['metadata']['name']}, {name}")

    def _status(self, quota: Json) -> Json:
        used = self._used(quota)
        told = {name: f"{used.get(name, 0)}m" if _bare(name) == "cpu" else str(used.get(name, 0))
                for name in quota["spec"]["hard"]}  # fmt: skip
        return {"hard": quota["spec"]["hard"], "used": told}

    def _used(self, quota: Json) -> Amounts:
        used: Amounts = {}
        for pod in self._store.all("pods", quota["metadata"]["namespace"]):
            if not is_finished(pod):
                for name, amount in _counted(pod).items():
                    used[name] = used.get(name, 0) + amount
        return used


def _check(row: Json, requests: Amounts, limits: Amounts) -> None:
    for name, least in (row.get("min") or {}).items():
        if requests.get(name, 0) < units(name, least) or 0 < limits.get(name, 0) < units(name, least):
            raise NotAdmittedError(f"minimum {name} usage is {least}")
    for name, most in (row.get("max") or {}).items():
        if name not in limits or max(limits[name], requests.get(name, 0)) > units(name, most):
            raise NotAdmittedError(f"maximum {name} usage is {most}")
    for name, ratio in (row.get("maxLimitRequestRatio") or {}).items():
        if limits.get(name, 0) > requests.get(name, 0) * quantity(str(ratio)):
            raise NotAdmittedError(f"{name} max limit to request ratio is {ratio}")


def _containers(pod: Json) -> list[Json]:
    return [*(pod["spec"].get("containers") or []), *(pod["spec"].get("initContainers") or [])]


def _amounts(container: Json, what: str) -> Amounts:
    told: Json = (container.get("resources") or {}).get(what) or {}
    return {name: units(name, value) for name, value in told.items()}


def _summed(pod: Json, what: str) -> Amounts:
    found: Amounts = {}
    for container in pod["spec"].get("containers") or []:
        for name, amount in _amounts(container, what).items():
            found[name] = found.get(name, 0) + amount
    return found


def _counted(pod: Json) -> Amounts:
    asked = pod_requests(pod)
    of_limits = {f"limits.{name}": amount for name, amount in _summed(pod, "limits").items()}
    return {"pods": 1, **asked, **{f"requests.{name}": amount for name, amount in asked.items()}, **of_limits}


def _bare(name: str) -> str:
    return name.removeprefix("requests.").removeprefix("limits.")
