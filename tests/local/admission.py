"""What admission writes into new pods and refuses: LimitRanges, ResourceQuotas, mutating webhooks.

Scopes of quotas are not modelled. Sources: kubernetes plugin/pkg/admission/limitranger and pkg/quota/v1/evaluator/core;
kubernetes/autoscaler, vertical-pod-autoscaler/pkg/admission-controller (recommendation_provider, capping, startup
boost).
"""

from collections.abc import Iterable, Iterator
from functools import partial

from kubernetes.utils.quantity import parse_quantity

from infra.local.simulated_gke import World
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    Resources,
    amounts,
    controller_of,
    is_finished,
    labels_of,
    pod_requests,
    sum_requests,
    units,
)
from infra.local.world.store import NotAdmittedError, Store

ACTOR = "resourcequota-controller"


def admit(world: World, requests: Iterable[tuple[str, dict[str, str]]] = ()) -> None:
    """Let a world admit new pods as a cluster does; `requests` are what webhooks of their owners write, by app."""
    ranger, quotas, store = LimitRanger(world.store), QuotaController(world.store), world.store
    store.webhooks += [ranger.write_defaults, VerticalAutoscalerWebhook(store)]
    store.webhooks += [OwnersWebhook(app, asked) for app, asked in requests]
    store.checks += [ranger.check, quotas.check]
    world.controllers.append(quotas)


def controller_of_pod(store: Store, pod: Json) -> tuple[str, str]:
    """Kind and name of the controller behind a pod: for a ReplicaSet of a Deployment, that Deployment."""
    reference = controller_of(pod) or {}
    replica_set = store.owner_of(pod) if reference.get("kind") == "ReplicaSet" else None
    reference = (controller_of(replica_set) if replica_set else None) or reference
    return reference.get("kind", ""), reference.get("name", "")


class LimitRanger:
    """Writes defaults into new pods, and refuses those that are out of bounds."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write_defaults(self, plural: str, thing: Json) -> None:
        for row in self._rows(plural, thing, "Container"):
            limits = {**(row.get("max") or {}), **(row.get("default") or {})}
            requests = {**(row.get("min") or {}), **limits, **(row.get("defaultRequest") or {})}
            for container in _containers(thing):
                given: Json = container.setdefault("resources", {})
                own = given.get("limits") or {}
                given["requests"] = {**requests, **own, **(given.get("requests") or {})}
                given["limits"] = {**limits, **own}

    def check(self, plural: str, thing: Json) -> None:
        for row in self._rows(plural, thing, "Container"):
            for container in _containers(thing):
                _check(row, amounts(container), amounts(container, "limits"))
        for row in self._rows(plural, thing, "Pod"):
            _check(row, _summed(thing, "requests"), _summed(thing, "limits"))

    def _rows(self, plural: str, thing: Json, sort: str) -> list[Json]:
        ranges = self._store.all("limitranges", thing["metadata"]["namespace"]) if plural == "pods" else ()
        return [row for limit_range in ranges for row in limit_range["spec"]["limits"] if row["type"] == sort]


class QuotaController:
    """Counts what pods use until they are gone, and refuses a pod that would be too much."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for quota in self._store.all("resourcequotas"):
            status = self._status(quota)
            if quota.get("status") != status:
                self._store.update(quota, partial(dict.update, status=status), ACTOR)

    def check(self, plural: str, thing: Json, instead_of: Json | None = None) -> None:
        """Refuse what is too much; `instead_of` is a pod that will be gone."""
        if plural != "pods":
            return
        for quota in self._store.all("resourcequotas", thing["metadata"]["namespace"]):
            asks, used, freed = _charged(thing), self._used(quota), _charged(instead_of) if instead_of else {}
            for name, hard in quota["spec"]["hard"].items():
                more = asks.get(name, 0) - freed.get(name, 0)
                if asks.get(name) and used.get(name, 0) + more > units(_bare(name), hard):
                    raise NotAdmittedError(f"exceeded quota: {quota['metadata']['name']}, {name}")

    def _status(self, quota: Json) -> Json:
        used, hard = self._used(quota), quota["spec"]["hard"]
        texts = {name: f"{used.get(name, 0)}{'m' if _bare(name) == 'cpu' else ''}" for name in hard}
        return {"hard": hard, "used": texts}

    def _used(self, quota: Json) -> Resources:
        pods = self._store.all("pods", quota["metadata"]["namespace"])
        return sum_requests(_charged(pod) for pod in pods if not is_finished(pod))


def _check(row: Json, requests: Resources, limits: Resources) -> None:
    for name, least in (row.get("min") or {}).items():
        if requests.get(name, 0) < units(name, least) or 0 < limits.get(name, 0) < units(name, least):
            raise NotAdmittedError(f"minimum {name} usage is {least}")
    for name, most in (row.get("max") or {}).items():
        if name not in limits or max(limits[name], requests.get(name, 0)) > units(name, most):
            raise NotAdmittedError(f"maximum {name} usage is {most}")
    for name, ratio in (row.get("maxLimitRequestRatio") or {}).items():
        if limits.get(name, 0) > requests.get(name, 0) * parse_quantity(str(ratio)):
            raise NotAdmittedError(f"{name} max limit to request ratio is {ratio}")


def _containers(pod: Json) -> list[Json]:
    return [*(pod["spec"].get("containers") or []), *(pod["spec"].get("initContainers") or [])]


def _summed(pod: Json, sort: str) -> Resources:
    return sum_requests(amounts(container, sort) for container in pod["spec"].get("containers") or ())


def _charged(pod: Json) -> Resources:
    """What a quota counts for the pod, by the names that `hard` may use."""
    requests = pod_requests(pod)
    limits = {f"limits.{name}": amount for name, amount in _summed(pod, "limits").items()}
    return {"pods": 1, **requests, **{f"requests.{name}": amount for name, amount in requests.items()}, **limits}


def _bare(name: str) -> str:
    return name.removeprefix("requests.").removeprefix("limits.")


class OwnersWebhook:
    """Writes the same requests into every new pod of an app; nothing in the API shows it."""

    def __init__(self, app: str, requests: dict[str, str]) -> None:
        self._app, self._requests = app, requests

    def __call__(self, plural: str, thing: Json) -> None:
        if plural == "pods" and labels_of(thing).get("app") == self._app:
            for container in thing["spec"]["containers"]:
                _write(container, self._requests)


class VerticalAutoscalerWebhook:
    """Writes what VerticalPodAutoscalers recommend into the new pods of their targets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, plural: str, thing: Json) -> None:
        if plural != "pods":
            return
        workload = controller_of_pod(self._store, thing)
        for autoscaler in self._store.all("verticalpodautoscalers", thing["metadata"]["namespace"]):
            target: Json = autoscaler["spec"]["targetRef"]
            if (target["kind"], target["name"]) == workload:
                for container in thing["spec"]["containers"]:
                    _write(container, dict(_recommended(autoscaler, container)))


def _recommended(autoscaler: Json, container: Json) -> Iterator[tuple[str, str]]:
    spec: Json = autoscaler["spec"]
    policies: list[Json] = (spec.get("resourcePolicy") or {}).get("containerPolicies") or []
    by_name = {policy.get("containerName", "*"): policy for policy in policies}
    policy: Json = by_name.get(container["name"]) or by_name.get("*") or {}
    if policy.get("mode") == "Off":
        return
    acts = (spec.get("updatePolicy") or {}).get("updateMode", "Recreate") != "Off"
    target = _target(autoscaler, container["name"]) if acts else {}
    for name, value in target.items():
        yield name, _between(name, value, policy)
    boost: Json = (policy.get("startupBoost") or spec.get("startupBoost") or {}).get("cpu") or {}
    if boost:
        cpu = units("cpu", target["cpu"]) if target.get("cpu") else amounts(container).get("cpu", 0)
        yield "cpu", f"{cpu * boost.get('factor', 1) + units('cpu', boost.get('quantity', 0))}m"


def _target(autoscaler: Json, name: str) -> Json:
    recommendation: Json = (autoscaler.get("status") or {}).get("recommendation") or {}
    rows: list[Json] = recommendation.get("containerRecommendations") or []
    return next((row["target"] for row in rows if row["containerName"] == name), {})


def _between(name: str, value: str, policy: Json) -> str:
    low, high = ((policy.get(bound) or {}).get(name) for bound in ("minAllowed", "maxAllowed"))
    if low is not None and units(name, value) < units(name, low):
        value = low
    return high if high is not None and units(name, value) > units(name, high) else value


def _write(container: Json, requests: Json) -> None:
    container.setdefault("resources", {}).setdefault("requests", {}).update(requests)
