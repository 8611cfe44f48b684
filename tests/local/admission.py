"""What admission writes into new pods and refuses, as far as worlds have it: LimitRanges, ResourceQuotas, webhooks.

Of LimitRanges the least and the default request of containers, of quotas pods and requests, of recommendations the
highest that is allowed and a factor at the start. Sources: kubernetes plugin/pkg/admission/limitranger and
pkg/quota/v1/evaluator/core; kubernetes/autoscaler, vertical-pod-autoscaler/pkg/admission-controller.
"""

from collections.abc import Iterable, Iterator
from functools import partial

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
    def __init__(self, store: Store) -> None:
        self._store = store

    def write_defaults(self, plural: str, thing: Json) -> None:
        for row in self._rows(plural, thing):
            defaults = {**(row.get("min") or {}), **(row.get("defaultRequest") or {})}
            for container in thing["spec"]["containers"]:
                given: Json = container.setdefault("resources", {})
                given["requests"] = {**defaults, **(given.get("requests") or {})}

    def check(self, plural: str, thing: Json) -> None:
        for row in self._rows(plural, thing):
            for container in thing["spec"]["containers"]:
                for name, least in (row.get("min") or {}).items():
                    if amounts(container).get(name, 0) < units(name, least):
                        raise NotAdmittedError(f"minimum {name} usage is {least}")

    def _rows(self, plural: str, thing: Json) -> list[Json]:
        ranges = self._store.all("limitranges", thing["metadata"]["namespace"]) if plural == "pods" else ()
        return [row for limit_range in ranges for row in limit_range["spec"]["limits"] if row["type"] == "Container"]


class QuotaController:
    """Counts what pods use until they are gone, and refuses a pod that would be too much."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for quota in self._store.all("resourcequotas"):
            used, hard = self._used(quota), quota["spec"]["hard"]
            texts = {name: f"{used.get(name, 0)}{'m' if name == 'requests.cpu' else ''}" for name in hard}
            status = {"hard": hard, "used": texts}
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
                if asks.get(name) and used.get(name, 0) + more > units(name.removeprefix("requests."), hard):
                    raise NotAdmittedError(f"exceeded quota: {quota['metadata']['name']}, {name}")

    def _used(self, quota: Json) -> Resources:
        pods = self._store.all("pods", quota["metadata"]["namespace"])
        return sum_requests(_charged(pod) for pod in pods if not is_finished(pod))


def _charged(pod: Json) -> Resources:
    """What a quota counts for the pod, by the names that `hard` may use here."""
    return {"pods": 1, **{f"requests.{name}": amount for name, amount in pod_requests(pod).items()}}


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
    policies: list[Json] = (spec.get("resourcePolicy") or {}).get("containerPolicies") or [{}]
    rows: list[Json] = autoscaler["status"]["recommendation"]["containerRecommendations"]
    acts = (spec.get("updatePolicy") or {}).get("updateMode", "Recreate") != "Off"
    target: Json = next((row["target"] for row in rows if acts and row["containerName"] == container["name"]), {})
    for name, value in target.items():
        most = (policies[0].get("maxAllowed") or {}).get(name)
        yield name, most if most is not None and units(name, value) > units(name, most) else value
    if boost := (spec.get("startupBoost") or {}).get("cpu"):
        cpu = units("cpu", target["cpu"]) if target else amounts(container).get("cpu", 0)
        yield "cpu", f"{cpu * boost['factor']}m"


def _write(container: Json, requests: Json) -> None:
    container.setdefault("resources", {}).setdefault("requests", {}).update(requests)
