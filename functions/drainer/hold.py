"""Orders of a wave: write or remove its soft taint on some nodes, by the wave's document at this moment.

An order names nodes and a direction, and decides nothing: `hold` taints only what a living wave names, `let_go` frees
only what none names. So a message that is late, doubled or sent by hand does no harm, and one that breaks off is
repeated from its begin.
"""

from shared.core.records.orders import Order, OrderKind
from shared.errors import Retryable
from shared.ports import Ports
from shared.store.compare_and_set import read_wave, while_stale


def hold(ports: Ports, order: Order, step_seconds: float) -> None:
    """Bring the soft taint of each of the order's nodes in step with the wave's document.

    Raises:
        Retryable: the step's time is over, something did not answer, or others wrote a node again and again. What
            is done stays done.
    """
    if order.dry_run:
        ports.log.event(
            "soft_taints", "Dry run: no soft taint is written or removed.", nodes=0, reason=order.kind.value
        )
        return
    found = read_wave(ports.state)  # a document that does not decode counts as no wave
    wave = found.value if found.value and found.read_at < found.value.deadline else None
    wanted = {each.uid for each in wave.nodes} if wave else set()
    held, over = order.kind is OrderKind.HOLD, ports.clock.monotonic() + step_seconds
    changed = []
    for uid, name in order.nodes.items():
        if ports.clock.monotonic() > over:
            raise Retryable("wave", f"{len(order.nodes)} nodes take longer than a step; the message comes again")
        if (uid in wanted) is held and _change(ports, uid, name, held=held):
            changed.append(name)
    message = f"{len(changed)} of {len(order.nodes)} soft taints {'written' if held else 'removed'}."
    ports.log.event("soft_taints", message, nodes=len(changed), reason=order.kind.value)


def _change(ports: Ports, uid: str, name: str, *, held: bool) -> bool:
    """Write or remove the taint; return whether anything was written. A node that is gone needs nothing."""

    def change() -> bool:
        node = ports.cluster.node(name)
        if node.uid != uid or (node.softly_held or node.drain_taint is not None if held else not node.held):
            return False
        ports.cluster.set_soft_taint(node, held=held)
        return True

    return bool(while_stale(f"node {name}", change))
