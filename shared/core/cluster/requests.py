"""What a pod asks of its node, summed exactly as the kube-scheduler sums it; of a running one see `occupied`.

Plain arithmetic over the containers' vectors; must not know the API's objects.
Source: component-helpers/resource PodRequests (kubernetes 1.37) and KEP-753 for sidecars.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources, total

_HUGE_PAGES: Final = "hugepages-"


@dataclass(frozen=True, slots=True)
class InitContainer:
    """An init container's requests; a sidecar (restartPolicy Always) keeps running beside the app containers."""

    requests: Resources = NOTHING
    sidecar: bool = False


def pod_requests(
    containers: Iterable[Resources],
    init: Sequence[InitContainer] = (),
    *,
    overhead: Resources = NOTHING,
    pod_level: Resources = NOTHING,
) -> Resources:
    """Return what the scheduler books for a pod.

    The larger of what runs together in the end (app containers and sidecars) and what each init container needs
    while it runs (itself and the sidecars started before it), element by element; requests of the pod itself replace
    that sum where they are given; the overhead is added last.
    """
    running = total((*containers, *(each.requests for each in init if each.sidecar)))
    needed = running.largest(_initialising(init))
    return Resources.of(dict(needed.amounts) | of_the_pod(pod_level)) + overhead


def _initialising(init: Sequence[InitContainer]) -> Resources:
    """Return the most that is needed at any moment of the initialisation."""
    most, sidecars = NOTHING, NOTHING
    for each in init:
        most = most.largest(sidecars + each.requests)
        if each.sidecar:
            sidecars += each.requests
    return most


def of_the_pod(pod_level: Resources) -> dict[str, int]:
    """Return what a pod asks for as a whole, of the resources that a pod may request so."""
    return {name: value for name, value in pod_level.amounts if name in {CPU, MEMORY} or name.startswith(_HUGE_PAGES)}
