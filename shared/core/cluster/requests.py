"""What a pod requests, container by container and in sum, and what a running pod occupies while it may be resized.

The sum is the kube-scheduler's. Containers of a pod and of its template are matched by name, because a webhook may add
some. Source: component-helpers/resource PodRequests (kubernetes 1.37) and KEP-753 for sidecars.

Ebb does not know the scheduler's version, and Kubernetes 1.37 sums a running pod in another way than 1.36. So a pod
that stays is booked as the higher of both results, resource by resource. Exact: which request and report counts, by
container and for the pod. Rounded up: each container's amount to whole millicores and units before the sum, a resource
that the two versions see highest in different ways, and an explicit zero of the pod as a whole, which counts as not
given. Not counted: what dynamic resource claims add (alpha).
Source: PodRequests of 1.36.3 and 1.37.2 with UseStatusResources and in-place resize of pods.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class Report:
    """What a status says: allocated by the kubelet, and actuated (`status.resources`)."""

    allocated: Resources = NOTHING
    actuated: Resources = NOTHING
    reports_actuated: bool = False
    """Whether `status.resources` is there at all, be it empty."""

    @property
    def most(self) -> Resources:
        return self.allocated.largest(self.actuated)


UNREPORTED = Report()


@dataclass(frozen=True, slots=True)
class RunningContainer:
    """One container: what is desired (spec) and what is reported."""

    desired: Resources
    report: Report = UNREPORTED
    sidecar: bool = False


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod on a node."""

    containers: tuple[RunningContainer, ...]
    init: tuple[RunningContainer, ...] = ()
    overhead: Resources = NOTHING
    desired: Resources = NOTHING
    """What the pod asks for as a whole."""
    report: Report = field(default=UNREPORTED)
    infeasible: bool = False
    """Whether the kubelet said that the node could never hold what the pod was resized to: it never happens."""


def occupied(pod: RunningPod) -> Resources:
    """Return what the pod is booked as where it runs."""
    return booked_by_1_36(pod).largest(booked_by_1_37(pod))


def booked_by_1_36(pod: RunningPod) -> Resources:
    """Take the largest of request and report by container; an ordinary init container counts by its request."""
    needed = pod_requests(
        [_container_in_1_36(each, pod) for each in pod.containers],
        [
            InitContainer(_container_in_1_36(each, pod) if each.sidecar else each.desired, each.sidecar)
            for each in pod.init
        ],
    )
    own = of_the_pod(pod.desired)
    if own and pod.report.reports_actuated:
        most = _request(pod.desired, pod).largest(pod.report.most)
        own = {name: most.get(name) for name in own}
    return Resources.of(dict(needed.amounts) | own) + pod.overhead


def _container_in_1_36(container: RunningContainer, pod: RunningPod) -> Resources:
    if not container.report.reports_actuated:
        return container.desired
    return _request(container.desired, pod).largest(container.report.most)


def booked_by_1_37(pod: RunningPod) -> Resources:
    """Take the largest of three sums: of requests, of what is allocated, and of what is actuated.

    A report of the pod as a whole stands for the sums of its containers' reports where it tells both.
    """
    needed = _request(_sum(pod, lambda each: each.desired), pod).largest(_reported_sums(pod))
    own = of_the_pod(pod.desired)
    if own and pod.report.reports_actuated:
        own = of_the_pod(_request(pod.desired, pod).largest(pod.report.most))
    return Resources.of(dict(needed.amounts) | own) + pod.overhead


def _reported_sums(pod: RunningPod) -> Resources:
    if NOTHING not in {pod.report.allocated, pod.report.actuated}:
        return pod.report.most
    allocated = _sum(pod, lambda each: _first(each.report.allocated, _request(each.desired, pod)))
    actuated = _sum(pod, lambda each: _first(each.report.actuated, each.report.allocated, _request(each.desired, pod)))
    return allocated.largest(actuated)


def _sum(pod: RunningPod, amounts: Callable[[RunningContainer], Resources]) -> Resources:
    return pod_requests(
        [amounts(each) for each in pod.containers],
        [InitContainer(amounts(each), each.sidecar) for each in pod.init],
    )


def _first(*given: Resources) -> Resources:
    return next((each for each in given if each != NOTHING), NOTHING)


def _request(desired: Resources, pod: RunningPod) -> Resources:
    return NOTHING if pod.infeasible else desired
