"""Ports of the host: two pods that take the same port of the same address exclude each other on a node.

`0.0.0.0` means all addresses (plugin NodePorts). So does `::` here: the scheduler takes it for an address of its own,
and the later pod could then not bind where it was sent.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np

from shared.core.cluster.pod import ANY_ADDRESS, HostPort
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.domain_counts import Counts, TwinRows, add_count
from shared.core.placement.node_filters import NodeMask

_ALL: Final = frozenset({ANY_ADDRESS, "::"})


class HostPorts(Constraint):
    """All ports that pods of the cluster take: which a class takes, and which bar it from a node."""

    def __init__(self, given: ConstraintInput) -> None:
        self.nodes = len(given.snapshot.nodes)
        every = dict.fromkeys(port for spec in given.classes for port in spec.host_ports)
        ports = {port: place for place, port in enumerate(every)}
        self.takes = [tuple(dict.fromkeys(ports[port] for port in spec.host_ports)) for spec in given.classes]
        barring = {spec.host_ports: _barring(spec.host_ports, ports) for spec in given.classes}
        self.barred_by = [barring[spec.host_ports] for spec in given.classes]
        self.ports = len(ports)

    def concerns(self, kind: int) -> bool:
        return bool(self.takes[kind])

    def state(self) -> "HostPortsState":
        return HostPortsState(self)


class HostPortsState(ConstraintState):
    def __init__(self, ports: HostPorts) -> None:
        self._of = ports
        self._takers = TwinRows[Counts](({} for _ in range(ports.ports)), dict)

    def copy(self) -> "HostPortsState":
        twin = object.__new__(HostPortsState)
        twin._of, twin._takers = self._of, self._takers.copy()
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for port in self._of.takes[kind]:
            add_count(self._takers.mine(port), node, pods)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        barring = [counts for port in self._of.barred_by[kind] if (counts := self._takers[port])]
        if not barring:
            return None
        free = np.ones(self._of.nodes, np.bool_)
        free[list(chain.from_iterable(barring))] = False
        return free

    def allows(self, kind: int, node: int) -> bool:
        return not any(node in self._takers[port] for port in self._of.barred_by[kind])


def _barring(wanted: Sequence[HostPort], ports: dict[HostPort, int]) -> tuple[int, ...]:
    """Return the ports that may not be taken already where these are wanted."""
    found = (place for port, place in ports.items() if any(_clash(port, other) for other in wanted))
    return tuple(found) if wanted else ()


def _clash(one: HostPort, other: HostPort) -> bool:
    same = (one.protocol, one.number) == (other.protocol, other.number)
    return same and (one.address == other.address or not _ALL.isdisjoint({one.address, other.address}))
