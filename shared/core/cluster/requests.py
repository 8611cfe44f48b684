"""What a pod requests, container by container and in sum, and what a running pod occupies while it may be resized.

Kubernetes 1.37 sums a running pod in another way than 1.36, and Ebb does not know the scheduler's version: a pod that
stays is booked as the higher of both, by resource. A pod's explicit zero counts as not given, dynamic claims as none.
Source: component-helpers/resource PodRequests (1.36.3, 1.37.2), KEP-753 for sidecars.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources, total

_HUGE_PAGES: Final = "hugepages-"


@dataclass(frozen=True, slots=True)
class Container:
    """One container. An init container that is a sidecar (restartPolicy Always) keeps running with the others."""

    name: str
    requests: Resources = NOTHING
    init: bool = False
    sidecar: bool = False
    limits: Resources = NOTHING  # Read of templates alone: no rule reads those of running pods.

    def highest(self, other: "Container") -> "Container":
        return replace(self, requests=self.requests.largest(other.requests), limits=self.limits.largest(other.limits))


def pod_requests(
    containers: Iterable[Container], *, overhead: Resources = NOTHING, pod_level: Resources = NOTHING
) -> Resources:
    """Return what the scheduler books: the larger of what runs in the end and each init container, by resource."""
    # An init container runs with the sidecars started before it; requests of the pod itself replace the sum.
    rows = tuple(containers)
    running = total(row.requests for row in rows if row.sidecar or not row.init)
    most, sidecars = NOTHING, NOTHING
    for row in rows:
        if row.init:
            most = most.largest(sidecars + row.requests)
            sidecars += row.requests if row.sidecar else NOTHING
    return Resources.of(dict(running.largest(most).amounts) | pod_level_requests(pod_level)) + overhead


def pod_level_requests(pod_level: Resources) -> dict[str, int]:
    """Return what a pod requests as a whole, of the resources that a pod may request so."""
    return {name: value for name, value in pod_level.amounts if name in {CPU, MEMORY} or name.startswith(_HUGE_PAGES)}


@dataclass(frozen=True, slots=True)
class ContainerRequests:
    """All containers of a pod in their order, its overhead, and what it requests as a whole."""

    containers: tuple[Container, ...] = ()
    overhead: Resources = NOTHING
    pod_level: Resources = NOTHING

    @property
    def total(self) -> Resources:
        """What the scheduler books for an incoming pod."""
        return pod_requests(self.containers, overhead=self.overhead, pod_level=self.pod_level)

    def highest(self, other: "ContainerRequests") -> "ContainerRequests":
        if self == other:
            return self
        theirs = {(row.init, row.name): row for row in other.containers}
        both = tuple(row.highest(theirs.get((row.init, row.name), row)) for row in self.containers)
        overhead, pod_level = self.overhead.largest(other.overhead), self.pod_level.largest(other.pod_level)
        return ContainerRequests(both, overhead, pod_level).with_missing(other)

    def with_missing(self, other: "ContainerRequests") -> "ContainerRequests":
        mine = {(row.init, row.name) for row in self.containers}
        added = tuple(row for row in other.containers if (row.init, row.name) not in mine)
        return replace(self, containers=(*self.containers, *added)) if added else self

    def with_changed(self, change: Callable[[Container], Container]) -> "ContainerRequests":
        return replace(self, containers=tuple(map(change, self.containers)))


@dataclass(frozen=True, slots=True)
class Report:
    """What a container's status or the pod's reports: allocated by the kubelet, and actuated (`status.resources`)."""

    allocated: Resources = NOTHING
    actuated: Resources = NOTHING
    reports_actuated: bool = False  # Whether `status.resources` is there at all, be it empty.

    @property
    def most(self) -> Resources:
        return self.allocated.largest(self.actuated)


UNREPORTED: Final = Report()


@dataclass(frozen=True, slots=True)
class RunningContainer:
    desired: Resources
    report: Report = UNREPORTED
    init: bool = False
    sidecar: bool = False


@dataclass(frozen=True, slots=True)
class RunningPod:
    containers: tuple[RunningContainer, ...]
    overhead: Resources = NOTHING
    desired: Resources = NOTHING  # What the pod requests as a whole.
    report: Report = UNREPORTED
    infeasible: bool = False  # Whether the kubelet reports that the resize can never happen on the node.


@lru_cache(maxsize=4096)  # thousands of pods have the same words
def booked_where_it_runs(pod: RunningPod) -> Resources:
    return booked_by_1_36(pod).largest(booked_by_1_37(pod))


def booked_by_1_36(pod: RunningPod) -> Resources:
    """Take the largest of request and report by container; an ordinary init container counts by its request."""

    def amounts(container: RunningContainer) -> Resources:
        reported = container.report.reports_actuated and (container.sidecar or not container.init)
        return _request(container.desired, pod).largest(container.report.most) if reported else container.desired

    own = pod_level_requests(pod.desired)
    if own and pod.report.reports_actuated:
        most = _request(pod.desired, pod).largest(pod.report.most)
        own = {name: most.get(name) for name in own}
    return Resources.of(dict(_sum(pod, amounts).amounts) | own) + pod.overhead


def booked_by_1_37(pod: RunningPod) -> Resources:
    """Take the largest of three sums: of requests, of what is allocated, and of what is actuated."""
    needed = _request(_sum(pod, lambda row: row.desired), pod).largest(_reported_sums(pod))
    own = pod_level_requests(pod.desired)
    if own and pod.report.reports_actuated:
        own = pod_level_requests(_request(pod.desired, pod).largest(pod.report.most))
    return Resources.of(dict(needed.amounts) | own) + pod.overhead


def _reported_sums(pod: RunningPod) -> Resources:
    # A report of the pod as a whole replaces the sums of its containers' reports if it has both.
    if NOTHING not in {pod.report.allocated, pod.report.actuated}:
        return pod.report.most
    allocated = _sum(pod, lambda row: _first(row.report.allocated, _request(row.desired, pod)))
    actuated = _sum(pod, lambda row: _first(row.report.actuated, row.report.allocated, _request(row.desired, pod)))
    return allocated.largest(actuated)


def _sum(pod: RunningPod, amounts: Callable[[RunningContainer], Resources]) -> Resources:
    return pod_requests(Container("", amounts(row), row.init, row.sidecar) for row in pod.containers)


def _first(*rows: Resources) -> Resources:
    return next((row for row in rows if row != NOTHING), NOTHING)


def _request(desired: Resources, pod: RunningPod) -> Resources:
    return NOTHING if pod.infeasible else desired
