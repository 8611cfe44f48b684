"""What a simulated cluster counts: pods by controller, and what each PodDisruptionBudget allows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.rules.drain_context import lets_go

_COUNTED: Final = ("ReplicaSet", "StatefulSet", "ReplicationController")


class ControlledPods:
    """By controller (`PodClass.workload`) its pods that are not on their way out, and how many it wants."""

    def __init__(self, known: Mapping[str, Workload]) -> None:
        self._known = known
        self._counted: dict[str, Workload | None] = {}  # What `workload` found, until something changes.
        self._stamps: dict[str, str] = {}
        """By Deployment (`namespace/Deployment/name`), the drain for which it was restarted last."""
        self.living: dict[str, dict[str, Pod]] = {}
        self._wanted: dict[str, int] = {}

    def put(self, pod: Pod) -> None:
        """Keep a pod that is not on its way out, as it is now."""
        self.living.setdefault(pod.spec.workload, {})[pod.key] = pod
        self._counted.pop(pod.spec.workload, None)

    def drop(self, pod: Pod) -> None:
        self.living.get(pod.spec.workload, {}).pop(pod.key, None)
        self._counted.pop(pod.spec.workload, None)

    def of(self, controller: str) -> Mapping[str, Pod]:
        return self.living.get(controller, {})

    def want(self, controller: str, replicas: int) -> None:
        self._wanted[controller] = replicas
        self._counted.pop(controller, None)

    def count_wanted(self, controller: str) -> int:
        """Return how many pods a controller wants; as many as it has where nobody knows it."""
        return self._wanted.get(controller, len(self.of(controller)))

    def want_what_is_there(self) -> None:
        """Let each controller want what it is known to want, else as many pods as it has."""
        self._wanted.update({key: len(pods) for key, pods in self.living.items()})
        # of a Deployment with several ReplicaSets nobody knows how many replicas each asks for
        named = Counter(workload.name for key, workload in self._known.items() if key in self.living)
        for key, workload in self._known.items():
            if workload.wanted is not None and named[workload.name] == 1:
                self._wanted[key] = workload.wanted
        self._counted.clear()

    def lacks(self, controller: str) -> bool:
        return bool(controller) and len(self.of(controller)) < self.count_wanted(controller)

    def restart(self, deployment: str, stamp: str) -> None:
        self._stamps[deployment] = stamp
        self._counted.clear()

    def workload(self, controller: str) -> Workload | None:
        """Return what stands behind a controller now; None where nobody counts its pods."""
        if controller not in self._counted:
            self._counted[controller] = self._count(controller)
        return self._counted[controller]

    def _count(self, controller: str) -> Workload | None:
        known = self._known.get(controller)
        if known is None and controller.split("/")[1:2] not in [[kind] for kind in _COUNTED]:
            return None
        living, before = self.of(controller), known or Workload()
        counts: dict[str, Any] = {
            "wanted": self.count_wanted(controller),
            "created": len(living),
            "available": sum(pod.ready for pod in living.values()),
        }
        deployment = before.deployment
        if deployment is not None:  # all its pods are of its newest template
            stamp = self._stamps.get(deployment.name, deployment.stamp)
            deployment = replace(deployment, **counts, updated=len(living), stamp=stamp)
        name = before.name or controller
        return replace(before, name=name, **counts, rolling=False, terminating=None, deployment=deployment)

    def workloads(self) -> dict[str, Workload]:
        """Return all that is known or has pods, and is counted."""
        found = ((key, self.workload(key)) for key in sorted({*self._known, *self.living}))
        return {key: workload for key, workload in found if workload is not None}


class BudgetCounts:
    """The budgets of one cluster, each known by its number, with the pods that it counts."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget], controlled: ControlledPods) -> None:
        self._budgets, self._controlled = budgets, controlled
        self._living: Counter[PodClass] = Counter()  # By class how many pods there are that are not on their way out.
        self._ready: Counter[PodClass] = Counter()
        self._numbers: dict[PodClass, tuple[int, ...]] = {}
        self._classes: dict[int, list[PodClass]] = {}

    def count(self, pod: Pod, number: int) -> None:
        if pod.spec not in self._living:
            for budget in self.of(pod.spec):
                self._classes.setdefault(budget, []).append(pod.spec)
        self._living[pod.spec] += number
        self._ready[pod.spec] += number if pod.ready else 0

    def became_ready(self, pod: Pod) -> None:
        self._ready[pod.spec] += 1

    def of(self, spec: PodClass) -> tuple[int, ...]:
        """Return the numbers of the budgets that match pods of the class."""
        if spec not in self._numbers:
            self._numbers[spec] = tuple(number for number, budget in enumerate(self._budgets) if budget.matches(spec))
        return self._numbers[spec]

    def refusing(self, pod: Pod) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets for which the API refuses to evict a pod now; of a pod with several, all of them.

        Source: kubernetes, registry/core/pod/storage/eviction (canIgnorePDB, unhealthyPodEvictionPolicy).
        """
        if pod.deleting is not None or pod.phase is Phase.PENDING:
            return ()
        found = tuple(self.now(self.of(pod.spec)))
        return found if len(found) > 1 else tuple(budget for budget in found if not lets_go(budget, pod))

    def now(self, numbers: Iterable[int] | None = None) -> Iterator[PodDisruptionBudget]:
        """Yield these budgets, or all, as their status shows them now."""
        return map(self._now, range(len(self._budgets)) if numbers is None else numbers)

    def _now(self, number: int) -> PodDisruptionBudget:
        budget, classes = self._budgets[number], self._classes.get(number, ())
        if budget.fault:
            return budget
        living, ready = (sum(counts[spec] for spec in classes) for counts in (self._living, self._ready))
        # the disruption controller counts the pods there are, and not those wanted, for a plain minAvailable alone
        by_count = budget.max_unavailable is None and (
            budget.min_available is None or budget.min_available.percent is None
        )
        controllers = {spec.workload for spec in classes} - {""}  # pods without one count in no share
        expected = living if by_count else sum(map(self._controlled.count_wanted, controllers))
        must_stay = budget.must_stay(expected)
        return replace(
            budget,
            expected_pods=expected,
            current_healthy=ready,
            desired_healthy=must_stay,
            disruptions_allowed=max(ready - must_stay, 0) if expected else 0,
            observed=True,
        )
