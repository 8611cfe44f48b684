"""What the containers of a pod request and which ports of the host they take.

`ContainerKey` is all that placement depends on in a container; the arithmetic is `shared.core.cluster.requests`.
"""

from collections.abc import Iterable
from dataclasses import astuple
from functools import lru_cache
from itertools import chain
from typing import Final

import msgspec

from shared.adapters.kubernetes import controller_wire, wire
from shared.adapters.kubernetes.odd_objects import RawPart
from shared.core.cluster.pod import ANY_ADDRESS, HostPort
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources

SIDECAR: Final = "Always"
"""The restartPolicy that makes an init container a sidecar."""


class ContainerPort(wire.Partial, frozen=True):
    container_port: int = 0
    host_port: int | None = 0
    host_ip: str | None = msgspec.field(default="", name="hostIP")
    protocol: str | None = ""


class ContainerKey(msgspec.Struct, frozen=True, gc=False):
    """A container as raw words: equal keys, equal meaning."""

    name: str
    requests: bytes
    ports: bytes
    sidecar: bool


_quantities: Final = RawPart("resources", wire.Quantities)
_ports: Final = RawPart("ports", list[ContainerPort])


def container_key(container: wire.Container) -> ContainerKey:
    requests, ports = requested(container.resources), bytes(container.ports)
    return ContainerKey(container.name, requests, ports, container.restart_policy == SIDECAR)


def requested(resources: wire.Requests | None) -> bytes:
    return bytes(resources.requests) if resources else b""


@lru_cache(maxsize=4096)
def parse(raw: bytes) -> Resources:
    """Return a map of quantities as a vector; a cluster repeats few of them, and exact arithmetic is slow.

    Raises:
        BadInput: a value is no quantity.
    """
    given = _quantities.read(raw)
    return Resources.parse(given) if given else NOTHING


def requests_of(
    containers: Iterable[ContainerKey], init: Iterable[ContainerKey], overhead: bytes, pod_level: bytes
) -> ContainerRequests:
    """Return what a pod of these containers asks for; one object for all that ask for the same."""
    rows = [_container(each.name, each.requests, init=False, sidecar=False) for each in containers]
    rows += [_container(each.name, each.requests, init=True, sidecar=each.sidecar) for each in init]
    return ContainerRequests(tuple(rows), parse(overhead), parse(pod_level))


@lru_cache(maxsize=4096)
def _container(name: str, requests: bytes, *, init: bool, sidecar: bool) -> Container:
    return Container(name, parse(requests), init=init, sidecar=sidecar)


def template_requests(template: controller_wire.Template | None) -> ContainerRequests | None:
    """Return what the pods of a controller's template ask for, or None where it tells no containers.

    Raises:
        BadInput: a value is no quantity.
    """
    spec = template.spec if template else None
    if spec is None or not spec.containers:
        return None
    rows = [_of_template(each, init=False) for each in spec.containers]
    rows += [_of_template(each, init=True) for each in spec.init_containers or ()]
    return ContainerRequests(tuple(rows), _quantified(spec.overhead), _asked(spec.resources))


def _of_template(given: controller_wire.TemplateContainer, *, init: bool) -> Container:
    limits = _quantified(given.resources.limits) if given.resources else NOTHING
    sidecar = init and given.restart_policy == SIDECAR
    return Container(given.name, _asked(given.resources), init=init, sidecar=sidecar, limits=limits)


def _asked(given: controller_wire.TemplateResources | None) -> Resources:
    """Return the requests; a limit without a request is one: the API server writes that into pods, not templates."""
    return _quantified({**(given.limits or {}), **(given.requests or {})}) if given else NOTHING


def _quantified(given: wire.Quantities | None) -> Resources:
    return Resources.parse(given) if given else NOTHING


def host_ports(
    containers: Iterable[ContainerKey], init: Iterable[ContainerKey], *, host_network: bool
) -> tuple[HostPort, ...]:
    """Return the ports taken on the host; on the host's network that is every port (as the API server writes it).

    Init containers other than sidecars take none in the scheduler's eyes: they are gone when the pod runs.
    """
    running = chain(containers, (each for each in init if each.sidecar))
    ports = chain.from_iterable(_ports.read(each.ports) or () for each in running)
    taken = {_host_port(port, host_network=host_network) for port in ports}
    return tuple(sorted((port for port in taken if port is not None), key=astuple))


def _host_port(port: ContainerPort, *, host_network: bool) -> HostPort | None:
    number = port.host_port or (port.container_port if host_network else 0)
    return HostPort(port.protocol or "TCP", number, port.host_ip or ANY_ADDRESS) if number else None
