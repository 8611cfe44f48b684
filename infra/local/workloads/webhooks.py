"""Mutating webhooks: what is asked of every pod that is created, and may write into its requests.

Source: kubernetes/autoscaler, vertical-pod-autoscaler/pkg/admission-controller (recommendation_provider, capping,
startup boost).
"""

from collections.abc import Iterator

from infra.local.quantities import units
from infra.local.workloads.owned_objects import controller_of_pod
from infra.local.world.kinds import Json
from infra.local.world.store import Store


class OwnersWebhook:
    """Writes the same requests into every new pod of an app; nothing in the API tells of it."""

    def __init__(self, app: str, requests: dict[str, str]) -> None:
        self._app, self._requests = app, requests

    def __call__(self, plural: str, thing: Json) -> None:
        if plural == "pods" and (thing["metadata"].get("labels") or {}).get("app") == self._app:
            for container in thing["spec"]["containers"]:
                _write(container, self._requests)


class VerticalAutoscalerWebhook:
    """Writes what VerticalPodAutoscalers recommend into the new pods of their targets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, plural: str, thing: Json) -> None:
        if plural != "pods":
            return
        kind, name = controller_of_pod(self._store, thing)
        for autoscaler in self._store.all("verticalpodautoscalers", thing["metadata"]["namespace"]):
            target: Json = autoscaler["spec"]["targetRef"]
            if (target["kind"], target["name"]) == (kind, name):
                for container in thing["spec"]["containers"]:
                    _write(container, dict(_recommended(autoscaler, container)))


def _recommended(autoscaler: Json, container: Json) -> Iterator[tuple[str, str]]:
    spec: Json = autoscaler["spec"]
    policy = _policy(spec, container["name"])
    if policy.get("mode") == "Off":
        return
    acts = (spec.get("updatePolicy") or {}).get("updateMode", "Recreate") != "Off"
    target = _target(autoscaler, container["name"]) if acts else {}
    for name, value in target.items():
        yield name, _between(name, value, policy)
    boost: Json = (policy.get("startupBoost") or spec.get("startupBoost") or {}).get("cpu") or {}
    if boost:
        asked: Json = (container.get("resources") or {}).get("requests") or {}
        cpu = units("cpu", target.get("cpu") or asked.get("cpu", 0))
        yield "cpu", f"{cpu * boost.get('factor', 1) + units('cpu', boost.get('quantity', 0))}m"


def _policy(spec: Json, name: str) -> Json:
    rows: list[Json] = (spec.get("resourcePolicy") or {}).get("containerPolicies") or []
    named = {row.get("containerName", "*"): row for row in rows}
    return named.get(name) or named.get("*") or {}


def _target(autoscaler: Json, name: str) -> Json:
    told: Json = (autoscaler.get("status") or {}).get("recommendation") or {}
    rows: list[Json] = told.get("containerRecommendations") or []
    return next((row["target"] for row in rows if row["containerName"] == name), {})


def _between(name: str, value: str, policy: Json) -> str:
    low, high = ((policy.get(bound) or {}).get(name) for bound in ("minAllowed", "maxAllowed"))
    if low is not None and units(name, value) < units(name, low):
        value = low
    return high if high is not None and units(name, value) > units(name, high) else value


def _write(container: Json, requests: Json) -> None:
    container.setdefault("resources", {}).setdefault("requests", {}).update(requests)
