"""What a pod asks of its node, container by container and in sum.

The sum is the kube-scheduler's; what a running pod takes stands in `occupied`. Containers of a pod and of its template
are matched by name, because a webhook may add some.
Source: component-helpers/resource PodRequests (kubernetes 1.37) and KEP-753 for sidecars.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Container:
    """One container. An init container that is a sidecar keeps running beside the others."""

    name: str
    requests: Resources = NOTHING
    init: bool = False
    sidecar: bool = False
    limits: Resources = NOTHING
    """Read of templates alone: nothing asks for those of running pods."""

    def highest(self, other: "Container") -> "Container":
        """Return the container with the larger amount of each resource, and with the limits of whoever tells any."""
        return replace(self, requests=self.requests.largest(other.requests), limits=self.limits.largest(other.limits))


@dataclass(frozen=True, slots=True)
class ContainerRequests:
    """All containers of a pod in their order, its overhead, and what it asks for as a whole."""

    containers: tuple[Container, ...] = ()
    overhead: Resources = NOTHING
    pod_level: Resources = NOTHING

    @property
    def total(self) -> Resources:
        """What the scheduler books for an incoming pod."""
        return pod_requests(
            [each.requests for each in self.containers if not each.init],
            [InitContainer(each.requests, each.sidecar) for each in self.containers if each.init],
            overhead=self.overhead,
            pod_level=self.pod_level,
        )

    def highest(self, other: "ContainerRequests") -> "ContainerRequests":
        """Return the containers of both, each with the larger amount of each resource."""
        theirs = {(each.init, each.name): each for each in other.containers}
        mine = {(each.init, each.name) for each in self.containers}
        both = (each.highest(theirs.get((each.init, each.name), each)) for each in self.containers)
        added = (each for key, each in theirs.items() if key not in mine)
        return ContainerRequests(
            (*both, *added), self.overhead.largest(other.overhead), self.pod_level.largest(other.pod_level)
        )

    def beside(self, other: "ContainerRequests") -> "ContainerRequests":
        """Return these containers, and those that the other one has besides."""
        mine = {(each.init, each.name) for each in self.containers}
        added = (each for each in other.containers if (each.init, each.name) not in mine)
        return replace(self, containers=(*self.containers, *added))

    def changed(self, change: Callable[[Container], Container]) -> "ContainerRequests":
        """Return the same pod with every container changed."""
        return replace(self, containers=tuple(map(change, self.containers)))
