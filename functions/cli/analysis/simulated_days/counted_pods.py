"""What a simulated cluster counts: pods by controller, and what each PodDisruptionBudget allows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.workloads import PodDisruptionBudget, Workload

_COUNTED: Final = ("ReplicaSet", "StatefulSet", "ReplicationController")


class ControlledPods:
    """By controller (`PodClass.workload`) its pods that are not on their way out, and how many it asks for."""

    def __init__(self, known: Mapping[str, Workload]) -> None:
        self._known = known
        self.living: dict[str, dict[str, Pod]] = {}
        self.wanted: dict[str, int] = {}

    def put(self, pod: Pod) -> None:
        """Keep a pod that is not on its way out, as it is now."""
        self.living.setdefault(pod.spec.workload, {})[pod.key] = pod

    def drop(self, pod: Pod) -> None:
        self.living.get(pod.spec.workload, {}).pop(pod.key, None)

    def of(self, controller: str) -> Mapping[str, Pod]:
        return self.living.get(controller, {})

    def want_what_is_there(self) -> None:
        """Let each controller want what it is known to want, else as many pods as it has."""
        self.wanted.update({key: len(pods) for key, pods in self.living.items()})
        self.wanted.update(_known_wishes(self._known, self.living))

    def lacks(self, controller: str) -> bool:
        """Whether a controller has fewer pods than it wants."""
        return bool(controller) and len(self.of(controller)) < self.wanted.get(controller, 0)

    def workload(self, controller: str) -> Workload | None:
        """Return what stands behind a controller now; None where nobody counts its pods."""
        known = self._known.get(controller)
        if known is None and controller.split("/")[1:2] not in [[kind] for kind in _COUNTED]:
            return None
        living = self.of(controller)
        ready = sum(pod.ready for pod in living.values())
        name = known.name if known is not None and known.name else controller
        wanted = self.wanted.get(controller, len(living))
        return Workload(name, wanted, ready, rolling=False, created=len(living))

    def workloads(self) -> dict[str, Workload]:
        """Return all that is known or has pods, and is counted."""
        found = ((key, self.workload(key)) for key in sorted({*self._known, *self.living}))
        return {key: each for key, each in found if each is not None}


def _known_wishes(known: Mapping[str, Workload], there: Iterable[str]) -> dict[str, int]:
    """Return how many replicas each controller asks for; of a Deployment with several ReplicaSets nobody knows it."""
    inside = set(there)
    names = Counter(each.name for key, each in known.items() if key in inside)
    return {key: each.wanted for key, each in known.items() if each.wanted is not None and names[each.name] == 1}


@dataclass
class PodCounts:
    """Of one class: how many pods there are that are not on their way out, and how many of them are Ready."""

    living: int = 0
    ready: int = 0


class BudgetCounts:
    """The budgets of one cluster, each known by its number, with the pods that it counts."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._budgets = budgets
        self._counts: dict[PodClass, PodCounts] = {}
        self._numbers: dict[PodClass, tuple[int, ...]] = {}
        self._classes: dict[int, list[PodCounts]] = {}

    def count(self, pod: Pod, number: int) -> None:
        """A pod has come (1), or is on its way out (-1)."""
        row = self._counts.get(pod.spec) or self._new(pod.spec)
        row.living += number
        row.ready += number if pod.ready else 0

    def became_ready(self, pod: Pod) -> None:
        self._counts[pod.spec].ready += 1

    def of(self, spec: PodClass) -> tuple[int, ...]:
        """Return the numbers of the budgets that match pods of the class."""
        if spec not in self._numbers:
            self._numbers[spec] = tuple(number for number, each in enumerate(self._budgets) if each.matches(spec))
        return self._numbers[spec]

    def allowed(self, number: int) -> int:
        """Return how many pods of a budget may go now."""
        return self._now(number, self._budgets[number]).disruptions_allowed

    def now(self) -> Iterator[PodDisruptionBudget]:
        """Yield every budget as its status says it now."""
        return (self._now(number, budget) for number, budget in enumerate(self._budgets))

    def _now(self, number: int, budget: PodDisruptionBudget) -> PodDisruptionBudget:
        rows = self._classes.get(number, ())
        living, ready = sum(row.living for row in rows), sum(row.ready for row in rows)
        must_stay = budget.must_stay(living)
        return replace(
            budget,
            expected_pods=living,
            current_healthy=ready,
            desired_healthy=must_stay,
            disruptions_allowed=max(ready - must_stay, 0) if living else 0,
            observed=True,
        )

    def _new(self, spec: PodClass) -> PodCounts:
        row = self._counts[spec] = PodCounts()
        for number in self.of(spec):
            self._classes.setdefault(number, []).append(row)
        return row
