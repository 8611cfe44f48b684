"""What a running pod occupies while its containers, or the pod as a whole, may be resized in place.

Which Kubernetes the scheduler is, Ebb does not know, and the helper that sums a running pod was written anew in 1.37:
a pod that stays is booked as the higher of what 1.36's and 1.37's give, resource by resource, so that no room is
promised which either has booked. Exact: which request and report counts, by container and for the pod. Rounded up:
each container's amount to whole millicores and units before the sum, a resource that the two helpers see highest
in different ways, and an explicit zero of the pod as a whole, which counts as not given. Not counted: what
dynamic resource claims add (alpha).
Source: component-helpers/resource PodRequests of 1.36.3 and 1.37.2 with UseStatusResources and in-place resize of pods.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from shared.core.cluster.requests import InitContainer, of_the_pod, pod_requests
from shared.core.cluster.resources import NOTHING, Resources


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
