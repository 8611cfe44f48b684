"""What the bill falls by if one node alone goes, which commitment covers the rest, and when that one ends."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.core.cluster.node import Node
from shared.core.placement.search import LITTLE
from shared.core.planning.bill import Bill, ends
from shared.core.planning.prices import Prices
from shared.core.rules.situation import Situation

FLEXIBLE: Final = "flexible"
"""The family of a commitment that is for machines of any."""


@dataclass(frozen=True, slots=True)
class NodeWorth:
    """A node's marginal worth where capacity is committed, in micro-dollars an hour."""

    saves: int
    covered_by: tuple[str, ...] = ()
    """The families whose commitments cover what it saves less than it costs; empty if it saves its price."""
    saves_from: datetime | None = None
    """When it saves more than now, because commitments have ended; None if no known end changes that."""
    saves_then: int = 0


def worth_of(situation: Situation, prices: Prices, node: Node) -> NodeWorth | None:
    """Return what the bill falls by without the node alone; None where nothing is committed."""
    commitments, nodes, now = situation.policy.commitments, situation.snapshot.nodes, situation.now
    bill = Bill.of(prices, commitments, nodes, now)
    if bill.is_list:
        return None
    saves = bill.saving(nodes, [node])
    if prices.of(node).per_hour - saves <= LITTLE:
        return NodeWorth(saves)
    covered = _covering(bill, node)
    for at in ends(commitments, now):
        then = Bill.of(prices, commitments, nodes, at).saving(nodes, [node])
        if then - saves > LITTLE:
            return NodeWorth(saves, covered, at, then)
    return NodeWorth(saves, covered)


def _covering(bill: Bill, node: Node) -> tuple[str, ...]:
    """Return the commitment of the node's own family, and the flexible one."""
    size = bill.prices.size(node.machine)
    own = {each.family for each in bill.commitments.families if size and each.family == size[0]}
    return (*sorted(own), *((FLEXIBLE,) if bill.commitments.flexible else ()))
