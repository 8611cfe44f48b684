"""What the containers of a pod request and report, and which ports of the host they take.

The arithmetic, of an in-place resize too, is `shared.core.cluster.requests`.
"""

from collections.abc import Mapping
from dataclasses import astuple
from functools import lru_cache
from itertools import chain
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.malformed_objects import RawPart
from shared.core.cluster.pod import ANY_ADDRESS, HostPort
from shared.core.cluster.requests import (
    UNREPORTED,
    Container,
    ContainerRequests,
    Report,
    RunningContainer,
    RunningPod,
    booked_where_it_runs,
)
from shared.core.cluster.resources import NOTHING, Resources

SIDECAR: Final = "Always"  # The restartPolicy that makes an init container a sidecar.


class ContainerPort(wire.Partial, frozen=True):
    container_port: int = 0
    host_port: int | None = 0
    host_ip: str | None = msgspec.field(default="", name="hostIP")
    protocol: str | None = ""


_quantities: Final = RawPart("resources", wire.Quantities)
_ports: Final = RawPart("ports", list[ContainerPort])


class TemplateContainer(wire.Partial, frozen=True):
    name: str = ""
    resources: wire.RequestsAndLimits | None = None
    restart_policy: str | None = ""


class TemplateRequests(wire.Partial, frozen=True):
    """What of a template's spec is read otherwise than of a pod's."""

    containers: list[TemplateContainer] | None = None
    init_containers: list[TemplateContainer] | None = None
    overhead: msgspec.Raw = wire.ABSENT
    resources: wire.RequestsAndLimits | None = None


def _request_words(resources: wire.Requests | None) -> bytes:
    return bytes(resources.requests) if resources else b""


def _limit_words(resources: wire.Requests | None) -> bytes:
    return bytes(resources.limits) if isinstance(resources, wire.RequestsAndLimits) else b""


@lru_cache(maxsize=4096)
def parse(raw: bytes) -> Resources:
    """Return a map of quantities as a vector; few repeat, and exact arithmetic is slow. Raises BadInput."""
    given = _quantities.read(raw)
    return Resources.parse(given) if given else NOTHING


def requests_of(spec: wire.PodSpec | TemplateRequests) -> ContainerRequests:
    """Return what a pod, or a template's, asks for; equal containers are one object. Raises BadInput."""
    rows = [_row(container, init=False) for container in spec.containers or ()]
    rows += [_row(container, init=True) for container in spec.init_containers or ()]
    whole = _fill_requests(_request_words(spec.resources), _limit_words(spec.resources))
    return ContainerRequests(tuple(rows), parse(bytes(spec.overhead)), whole)


def _row(given: wire.Container | TemplateContainer, *, init: bool) -> Container:
    requests, limits = _request_words(given.resources), _limit_words(given.resources)
    return _container(given.name, requests, limits, init=init, sidecar=init and _is_sidecar(given))


def _is_sidecar(container: wire.Container | TemplateContainer) -> bool:
    return container.restart_policy == SIDECAR


@lru_cache(maxsize=4096)
def _container(name: str, requests: bytes, limits: bytes, *, init: bool, sidecar: bool) -> Container:
    return Container(name, _fill_requests(requests, limits), init, sidecar, parse(limits))


def _fill_requests(requests: bytes, limits: bytes) -> Resources:
    """Return the requests; a limit without a request is one, as the API server writes it into pods."""
    if not limits:
        return parse(requests)
    return Resources.parse({**(_quantities.read(limits) or {}), **(_quantities.read(requests) or {})})


def amounts(given: wire.Quantities | None) -> Resources:
    return Resources.parse(given) if given else NOTHING


def host_ports(spec: wire.PodSpec) -> tuple[HostPort, ...]:
    """Return the ports taken on the host; on the host's network that is every port, as the API server writes it."""
    # other init containers are gone when the pod runs: they take none in the scheduler's eyes
    running = chain(spec.containers or (), filter(_is_sidecar, spec.init_containers or ()))
    ports = chain.from_iterable(_ports.read(container.ports) or () for container in running)
    taken = {_host_port(port, host_network=spec.host_network) for port in ports}
    return tuple(sorted((port for port in taken if port is not None), key=astuple))


def _host_port(port: ContainerPort, *, host_network: bool) -> HostPort | None:
    number = port.host_port or (port.container_port if host_network else 0)
    return HostPort(port.protocol or "TCP", number, port.host_ip or ANY_ADDRESS) if number else None


_NO_STATUS: Final = wire.ContainerStatus()


def occupied_resources(pod: wire.Pod, *, infeasible: bool) -> Resources | None:
    """Return what a running pod occupies, or None where its status reports nothing but the spec. Raises BadInput.

    `infeasible`: the node could never hold what the pod was resized to, by the kubelet.
    """
    status, spec = pod.status, pod.spec
    reported = chain(status.container_statuses or (), status.init_container_statuses or ())
    statuses = {container.name: container for container in reported}
    if not infeasible and not _reports_other_than_spec(pod, statuses):
        return None
    running = [_running(container, statuses, init=False) for container in spec.containers or ()]
    running += [_running(container, statuses, init=True) for container in spec.init_containers or ()]
    report = _report(status.allocated_resources, status.resources)
    desired = parse(_request_words(spec.resources))
    return booked_where_it_runs(RunningPod(tuple(running), parse(bytes(spec.overhead)), desired, report, infeasible))


def _running(given: wire.Container, statuses: Mapping[str, wire.ContainerStatus], *, init: bool) -> RunningContainer:
    status = statuses.get(given.name, _NO_STATUS)
    report = _report(status.allocated_resources, status.resources)
    return RunningContainer(parse(_request_words(given.resources)), report, init, _is_sidecar(given))


def _report(allocated: msgspec.Raw, actuated: wire.Requests | None) -> Report:
    words = _reported_words(allocated)
    if not words and actuated is None:
        return UNREPORTED
    return Report(parse(words), parse(_reported_words(actuated.requests) if actuated else b""), actuated is not None)


def _reported_words(raw: msgspec.Raw) -> bytes:
    return b"" if raw in wire.SILENT else bytes(raw)


def _reports_other_than_spec(pod: wire.Pod, statuses: Mapping[str, wire.ContainerStatus]) -> bool:
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
