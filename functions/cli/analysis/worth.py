"""What the bill falls by if one node alone goes, which commitment covers the rest, and when that one ends."""

from dataclasses import dataclass
from datetime import datetime

from shared.core.cluster.node import Node
from shared.core.placement.tally import LITTLE
from shared.core.planning.bill import Bill, Savings
from shared.core.policy.values import FLEXIBLE


@dataclass(frozen=True, slots=True)
class NodeWorth:
    """A node's marginal worth where capacity is committed, in micro-dollars an hour."""

    saves: int
    covered_by: tuple[str, ...] = ()
    """The families whose commitments cover what it saves less than it costs; empty if it saves its price."""
    saves_from: datetime | None = None
    """When it saves more than now, because commitments have ended; None if no known end changes that."""
    saves_then: int = 0


def worth_of(savings: Savings | None, node: Node) -> NodeWorth | None:
    """Return what the bill falls by without the node alone; None where nothing is committed."""
    if savings is None or savings.bill.is_list:
        return None
    saves = savings.of(node)
    if savings.bill.prices.of(node).per_hour - saves <= LITTLE:
        return NodeWorth(saves)
    covered = _covering(savings.bill, node)
    then = ((at, each.of(node)) for at, each in savings.later)
    more = next(((at, saved) for at, saved in then if saved - saves > LITTLE), None)
    return NodeWorth(saves, covered, *more) if more else NodeWorth(saves, covered)


def _covering(bill: Bill, node: Node) -> tuple[str, ...]:
    """Return the commitment of the node's own family, and the flexible one."""
    size = bill.prices.size(node.machine)
    own = {each.family for each in bill.commitments.families if size and each.family == size[0]}
    return (*sorted(own), *((FLEXIBLE,) if bill.commitments.flexible else ()))
