"""The pods of a simulated cluster by what made them, and how many each controller wants.

Must not make or end a pod: the world does, and says so here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload

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
