"""What a pod asks for, container by container: of a running pod, or of the template that the next one is made from.

Two of them side by side are compared by the containers' names, for what comes back has the containers of both: those
of the template, and those that a webhook adds. Must not know where they were read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from shared.core.cluster.requests import InitContainer, pod_requests
from shared.core.cluster.resources import NOTHING, Resources


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
