"""What a running pod occupies while its containers may be resized in place.

Source: component-helpers/resource PodRequests with UseStatusResources, as the scheduler calls it for pods that run.
The arithmetic is `shared.core.requests`.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.containers import SIDECAR, parse, requested
from shared.core.requests import InitContainer, pod_requests, resized
from shared.core.resources import NOTHING, Resources

_Statuses = Mapping[str, wire.ContainerStatus]


def booked(pod: wire.Pod) -> Resources | None:
    """Return what a running pod occupies, or None where its status reports nothing but the spec.

    Raises:
        BadInput: a reported value is no quantity.
    """
    statuses = {each.name: each for each in _statuses(pod.status)}
    if not _reports_other_than_spec(pod, statuses):
        return None
    infeasible = _infeasible(pod.status)
    overhead = parse(bytes(pod.spec.overhead))
    return pod_requests(
        [_occupied(each, statuses.get(each.name), infeasible=infeasible) for each in pod.spec.containers or ()],
        [
            InitContainer(
                _occupied(each, statuses.get(each.name), infeasible=infeasible), each.restart_policy == SIDECAR
            )
            for each in pod.spec.init_containers or ()
        ],
        overhead=overhead,
        pod_level=_pod_level(pod, overhead, infeasible=infeasible),
    )


def _statuses(status: wire.PodStatus) -> Iterator[wire.ContainerStatus]:
    return chain(status.container_statuses or (), status.init_container_statuses or ())


def _reports_other_than_spec(pod: wire.Pod, statuses: _Statuses) -> bool:
    """Compare the raw words: nearly every pod reports its spec word for word, and is done with here."""
    for container in chain(pod.spec.containers or (), pod.spec.init_containers or ()):
        status = statuses.get(container.name)
        if status and _differs(container.resources, status.allocated_resources, status.resources):
            return True
    own = pod.spec.resources
    return own is not None and _differs(own, pod.status.allocated_resources, pod.status.resources)


def _differs(spec: wire.Requests | None, allocated: msgspec.Raw, actuated: wire.Requests | None) -> bool:
    desired = spec.requests if spec else wire.ABSENT
    reported = actuated.requests if actuated else wire.ABSENT
    return (allocated != desired and allocated not in wire.SILENT) or (
        reported != desired and reported not in wire.SILENT
    )


def _infeasible(status: wire.PodStatus) -> bool:
    """Return whether the kubelet said that the node could never hold what the pod was resized to."""
    return any(each.type == "PodResizePending" and each.reason == "Infeasible" for each in status.conditions or ())


def _occupied(container: wire.Container, status: wire.ContainerStatus | None, *, infeasible: bool) -> Resources:
    desired = parse(requested(container.resources))
    if status is None:
        return desired
    return resized(desired, _reported(status.allocated_resources), _actuated(status.resources), infeasible=infeasible)


def _pod_level(pod: wire.Pod, overhead: Resources, *, infeasible: bool) -> Resources:
    """Return what the pod as a whole occupies; its status counts the overhead in, which is added later."""
    desired = parse(requested(pod.spec.resources))
    if desired == NOTHING:
        return NOTHING
    allocated, actuated = _reported(pod.status.allocated_resources), _actuated(pod.status.resources)
    return resized(
        desired,
        allocated - overhead if allocated else None,
        actuated - overhead if actuated else None,
        infeasible=infeasible,
    )


def _actuated(resources: wire.Requests | None) -> Resources | None:
    return _reported(resources.requests) if resources else None


def _reported(raw: msgspec.Raw) -> Resources | None:
    return None if raw in wire.SILENT else parse(bytes(raw))
