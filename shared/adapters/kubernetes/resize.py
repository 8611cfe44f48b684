"""What a running pod reports of an in-place resize, read for `cluster.occupied`, which holds the arithmetic."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.containers import SIDECAR, parse, requested
from shared.core.cluster.occupied import UNREPORTED, Report, RunningContainer, RunningPod, occupied
from shared.core.cluster.resources import Resources

_Statuses = Mapping[str, wire.ContainerStatus]


class _RawRequests(msgspec.Struct, frozen=True, gc=False):
    """What one container, or the pod as a whole, requests and reports, in raw JSON."""

    desired: bytes
    allocated: bytes = b""
    actuated: bytes | None = None
    """None without `status.resources`."""
    sidecar: bool = False


def booked(pod: wire.Pod) -> Resources | None:
    """Return what a running pod occupies, or None where its status reports nothing but the spec.

    Raises:
        BadInput: a reported value is no quantity.
    """
    statuses = {each.name: each for each in _statuses(pod.status)}
    infeasible = _infeasible(pod.status)
    if not infeasible and not _reports_other_than_spec(pod, statuses):
        return None
    status, spec = pod.status, pod.spec
    return _occupied(
        _rows(spec.containers, statuses),
        _rows(spec.init_containers, statuses),
        bytes(spec.overhead),
        _RawRequests(requested(spec.resources), _reported(status.allocated_resources), _actuated(status.resources)),
        infeasible=infeasible,
    )


@lru_cache(maxsize=4096)
def _occupied(
    containers: tuple[_RawRequests, ...],
    init: tuple[_RawRequests, ...],
    overhead: bytes,
    whole: _RawRequests,
    *,
    infeasible: bool,
) -> Resources:
    return occupied(
        RunningPod(
            tuple(map(_container, containers)),
            tuple(map(_container, init)),
            parse(overhead),
            parse(whole.desired),
            _report(whole),
            infeasible,
        )
    )


def _container(raw: _RawRequests) -> RunningContainer:
    return RunningContainer(parse(raw.desired), _report(raw), raw.sidecar)


def _report(raw: _RawRequests) -> Report:
    if not raw.allocated and raw.actuated is None:
        return UNREPORTED
    return Report(parse(raw.allocated), parse(raw.actuated or b""), raw.actuated is not None)


def _rows(containers: Iterable[wire.Container] | None, statuses: _Statuses) -> tuple[_RawRequests, ...]:
    return tuple(_raw_requests(each, statuses.get(each.name)) for each in containers or ())


def _raw_requests(container: wire.Container, status: wire.ContainerStatus | None) -> _RawRequests:
    desired, sidecar = requested(container.resources), container.restart_policy == SIDECAR
    if status is None:
        return _RawRequests(desired, sidecar=sidecar)
    return _RawRequests(desired, _reported(status.allocated_resources), _actuated(status.resources), sidecar)


def _reported(raw: msgspec.Raw) -> bytes:
    return b"" if raw in wire.SILENT else bytes(raw)


def _actuated(resources: wire.Requests | None) -> bytes | None:
    return _reported(resources.requests) if resources else None


def _statuses(status: wire.PodStatus) -> Iterator[wire.ContainerStatus]:
    return chain(status.container_statuses or (), status.init_container_statuses or ())


def _reports_other_than_spec(pod: wire.Pod, statuses: _Statuses) -> bool:
    """Compare the raw words: nearly every pod reports its spec word for word, and is done with here."""
    for container in chain(pod.spec.containers or (), pod.spec.init_containers or ()):
        status = statuses.get(container.name)
        if status and _differs(container.resources, status.allocated_resources, status.resources):
            return True
    return _differs(pod.spec.resources, pod.status.allocated_resources, pod.status.resources)


def _differs(spec: wire.Requests | None, allocated: msgspec.Raw, actuated: wire.Requests | None) -> bool:
    desired = spec.requests if spec else wire.ABSENT
    reported = actuated.requests if actuated else wire.ABSENT
    return (allocated != desired and allocated not in wire.SILENT) or (
        reported != desired and reported not in wire.SILENT
    )


def _infeasible(status: wire.PodStatus) -> bool:
    """Return whether the kubelet said that the node could never hold what the pod was resized to."""
    pending = next((each for each in status.conditions or () if each.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"
