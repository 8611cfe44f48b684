"""Orders of a wave: bring the soft taint of some nodes in step with the wave's document at this moment.

An order names nodes and decides nothing: what a living wave names is tainted, what none names is freed. So a message
that is late, doubled or sent by hand does no harm, and one that breaks off is repeated from its begin.
"""

from collections.abc import Iterator, Mapping

from shared.core.cluster.node import Node
from shared.core.records.orders import Order
from shared.core.records.state import Wave
from shared.errors import Retryable
from shared.ports import WAVE_KEY, Ports
from shared.store.compare_and_set import read_lenient, while_stale


def hold(ports: Ports, order: Order, step_seconds: float) -> None:
    """Bring each of the order's nodes in step. Raises what kept the first from being written, once all others are.

    Raises Retryable when the step's time is over.
    """
    if order.dry_run:
        ports.log.event(
            "soft_taints", "Dry run: no soft taint is written or removed.", nodes=0, reason=order.kind.value
        )
        return
    over, changed, faults = ports.clock.monotonic() + step_seconds, 0, list[Exception]()
    for uid, name in _in_turn(order.nodes, round(over)):
        if ports.clock.monotonic() > over:
            faults.append(Retryable("wave", f"{len(order.nodes)} nodes take longer than a step"))
            break
        try:
            changed += _keep_in_step(ports, uid, name)
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with this one, the others are still written
            faults.append(fault)
    message = f"{changed} of {len(order.nodes)} soft taints changed."
    ports.log.event("soft_taints", message, nodes=changed, reason=order.kind.value)
    if faults:
        raise faults[0]


def _in_turn(nodes: Mapping[str, str], turn: int) -> Iterator[tuple[str, str]]:
    """Yield all nodes, each time from another one on: one that takes a whole step must not always be the first."""
    rows = list(nodes.items())
    return (rows[(turn + place) % len(rows)] for place in range(len(rows)))


def _keep_in_step(ports: Ports, uid: str, name: str) -> bool:
    """Write what the wave's document asks for, read again after each write; return whether anything was written."""

    def change() -> bool:
        node, written = ports.cluster.node(name), None
        while (wanted := _is_wanted(ports, uid)) is not written and node.uid == uid and not _is_in_step(node, wanted):
            node, written = ports.cluster.set_soft_taint(node, held=wanted), wanted
        return written is not None

    return bool(while_stale(f"node {name}", change))


def _is_in_step(node: Node, wanted: bool) -> bool:
    """Whether nothing is to be written. A node whose drain has begun gets no soft taint any more."""
    return (node.softly_held or node.drain_taint is not None) if wanted else not node.held


def _is_wanted(ports: Ports, uid: str) -> bool:
    wave = living_wave(ports)
    return wave is not None and any(node.uid == uid for node in wave.held)


def living_wave(ports: Ports) -> Wave | None:
    """Read the wave that lives now; a document that does not decode counts as no wave."""
    found = read_lenient(ports.state, WAVE_KEY)
    return found.value if found.value and found.read_at < found.value.deadline else None
