"""The disruption controller: what each PodDisruptionBudget allows right now.

Source: kubernetes pkg/controller/disruption/disruption.go (trySync, getExpectedPodCount, countHealthyPods).
It writes statuses only; the eviction API takes from them.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil

from infra.local.clocks import seconds_of
from infra.local.world.kinds import Json, matches
from infra.local.world.pods import is_healthy, is_ready, is_terminating, labels_of, set_condition
from infra.local.world.store import Store

ACTOR = "disruption-controller"
DISRUPTION_TIMEOUT = 120.0
"""Seconds after which a granted eviction that no deletion followed is forgotten (DeletionTimeout)."""
_READS = ("pods", "poddisruptionbudgets", "deployments", "replicasets", "statefulsets", "replicationcontrollers")


class UnscalableError(ValueError):
    """A budget in percent or by maxUnavailable covers a pod whose controller has no scale, as a DaemonSet."""


def budgets_of(pod: Json, budgets: Iterable[Json]) -> list[Json]:
    """The budgets of the pod's namespace whose selector matches it; an empty selector matches every pod."""
    return [
        budget
        for budget in budgets
        if budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and matches(budget["spec"].get("selector"), labels_of(pod))
    ]


def _protected_pods(store: Store, budget: Json) -> list[Json]:
    return store.select_objects("pods", budget["metadata"]["namespace"], budget["spec"].get("selector"))


def _scales(store: Store, pods: list[Json]) -> dict[str, int]:
    """Replica counts by uid of the pods' topmost controllers; pods without one are left out of the count."""
    scales: dict[str, int] = {}
    for pod in pods:
        owner = store.owner_of(pod)
        while owner is not None and (above := store.owner_of(owner)) is not None:
            owner = above
        if owner is None:
            continue
        if "replicas" not in owner["spec"]:
            raise UnscalableError(f"{owner['kind']} {owner['metadata']['name']} has no scale")
        scales[owner["metadata"]["uid"]] = int(owner["spec"]["replicas"])
    return scales


def _share(value: int | str, total: int) -> int:
    if isinstance(value, int):
        return value
    return ceil(Fraction(value.removesuffix("%")) * total / 100)


def expected_and_desired(store: Store, budget: Json, pods: list[Json]) -> tuple[int, int]:
    """Return how many pods a budget expects (0 without a limit) and how many must stay healthy; UnscalableError."""
    spec = budget["spec"]
    least = spec.get("minAvailable")
    if isinstance(least, int):
        return len(pods), least
    expected = sum(_scales(store, pods).values())
    if least is not None:
        return expected, _share(least, expected)
    if spec.get("maxUnavailable") is not None:
        return expected, max(expected - _share(spec["maxUnavailable"], expected), 0)
    return 0, 0


def _still_disrupted(budget: Json, pods: list[Json], now: float) -> dict[str, str]:
    granted: dict[str, str] = budget.get("status", {}).get("disruptedPods") or {}
    waiting = {pod["metadata"]["name"] for pod in pods if not is_terminating(pod)}
    return {name: at for name, at in granted.items() if name in waiting and seconds_of(at) + DISRUPTION_TIMEOUT > now}


def _status(store: Store, budget: Json, pods: list[Json], now: float) -> Json:
    disrupted = _still_disrupted(budget, pods, now)
    healthy = sum(is_healthy(pod) and pod["metadata"]["name"] not in disrupted for pod in pods)
    expected, desired = expected_and_desired(store, budget, pods)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    counts: Json = {"currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected}
    counts["disruptionsAllowed"] = allowed
    return {**counts, "disruptedPods": disrupted} if disrupted else counts


def _sync(store: Store, budget: Json, now: float) -> None:
    """Write the budget's status; of one whose pods cannot be counted only that it allows nothing (failSafe)."""
    try:
        status = _status(store, budget, _protected_pods(store, budget), now)
        status["observedGeneration"] = budget["metadata"]["generation"]
        allowed = status["disruptionsAllowed"] > 0
        reason, message = ("SufficientPods" if allowed else "InsufficientPods"), ""
    except UnscalableError as error:
        status = {**budget.get("status", {}), "disruptionsAllowed": 0}
        allowed, reason, message = False, "SyncFailed", str(error)

    def write(thing: Json) -> None:
        thing["status"] = {**status, "conditions": thing.get("status", {}).get("conditions", [])}
        condition = {"type": "DisruptionAllowed", "status": str(allowed), "reason": reason, "message": message}
        set_condition(thing, now, condition)

    store.update(budget, write, ACTOR)


class DisruptionController:
    """Writes every budget's status, if anything that decides it has changed or a granted eviction may time out."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = -1

    def step(self, now: float) -> None:
        budgets = self._store.all("poddisruptionbudgets")
        waiting = any(budget.get("status", {}).get("disruptedPods") for budget in budgets)
        if self._store.version(*_READS) == self._seen and not waiting:
            return
        for budget in budgets:
            _sync(self._store, budget, now)
        self._seen = self._store.version(*_READS)


def counts_now(store: Store, budget: Json, pod: Json) -> Json:
    """What evicting `pod` leaves of a budget, counted from pods alone, for the record."""
    pods = _protected_pods(store, budget)
    healthy = sum(is_healthy(item) for item in pods)
    try:
        _, desired = expected_and_desired(store, budget, pods)
    except UnscalableError:
        desired = len(pods)
    left = healthy - is_healthy(pod)
    return {
        "name": budget["metadata"]["name"],
        "desired": desired,
        "healthy_before": healthy,
        "healthy_after": left,
        "broken": is_ready(pod) and left < desired,
    }
