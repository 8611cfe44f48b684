"""Commitments: what a cluster uses now and in steady state, and what Ebb adds once some have ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from functions.cli.analysis.forecast.steady_state import PolicyAtRest, Rest
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Bill, ends
from shared.core.planning.prices import Prices
from shared.core.policy.values import FLEXIBLE, Capacity
from shared.core.records.state import MICRO
from shared.core.rules.situation import Situation

MOST_ENDS: Final = 3  # So many ends of commitments are followed, the earliest; each takes as long as a relaxation.


@dataclass(frozen=True, slots=True)
class UsedPart:
    """The used part of a commitment, and what the rest costs in micro-dollars an hour."""

    used: Capacity | None
    idle: int


@dataclass(frozen=True, slots=True)
class CommittedRow:
    """A commitment in force, without what other machines use; `fee` is in micro-dollars an hour."""

    family: str
    size: Capacity | None  # None of a flexible commitment: it is for money.
    until: datetime | None
    fee: int
    now: UsedPart
    at_rest: UsedPart | None = None  # None where no steady state is known.


@dataclass(frozen=True, slots=True)
class LaterAddition:
    """What Ebb adds from a time on at which commitments have ended, in micro-dollars an hour, and the nodes left."""

    at: datetime
    families: tuple[str, ...]
    nodes: int
    added: int
    is_rest: bool  # Whether it was followed until no more nodes go.


@dataclass(frozen=True, slots=True)
class Committed:
    """All commitments in force of a cluster in a region, and what Ebb adds once some have ended."""

    rows: tuple[CommittedRow, ...]
    region: str
    later: tuple[LaterAddition, ...] = ()
    use_elsewhere_is_known: bool = True


def committed_of(
    situation: Situation, prices: Prices, left: Snapshot | None = None, later: tuple[LaterAddition, ...] = ()
) -> Committed | None:
    """Return the commitments of a cluster, None without any; `left` is its steady state, None if that is not known."""
    commitments, nodes = situation.policy.commitments, situation.snapshot.nodes
    bill = Bill.of(prices, commitments, nodes, situation.snapshot.taken_at)
    if bill.is_list:
        return None
    rows = tuple(rows_of(bill, nodes))
    if left:
        pairs = zip(rows, rows_of(bill, left.nodes), strict=True)
        rows = tuple(replace(row, at_rest=after.now) for row, after in pairs)
    return Committed(rows, bill.region, later, use_elsewhere_is_known=commitments.elsewhere is not None)


def rows_of(bill: Bill, nodes: Sequence[Node]) -> Iterator[CommittedRow]:
    for use in bill.uses(nodes):
        own = use.commitment
        yield CommittedRow(own.family, own.size, own.until, use.fee, UsedPart(use.used, use.idle))
    flexible = bill.commitments.flexible
    if flexible:
        fee, part = round(flexible.per_hour * MICRO), UsedPart(None, bill.flexible_idle(nodes))
        yield CommittedRow(FLEXIBLE, None, flexible.until, fee, part)


def later_additions(base: PolicyAtRest, alone: Rest) -> tuple[LaterAddition, ...]:
    """Return what Ebb adds once commitments have ended, by the ends; `alone` is what the autoscaler leaves."""
    if base.bill.is_list:
        return ()
    commitments, now = base.situation.policy.commitments, base.situation.snapshot.taken_at
    return tuple(_addition(base, alone, at) for at in ends(commitments, now)[:MOST_ENDS])


def _addition(base: PolicyAtRest, alone: Rest, at: datetime) -> LaterAddition:
    policy = base.situation.policy
    left = policy.commitments.in_force(at)
    rest = base.onward(replace(policy, commitments=left), base.start.snapshot)
    bill = Bill.of(base.prices, left, base.situation.snapshot.nodes, at)
    added = bill.cost_of(alone.snapshot.nodes) - bill.cost_of(rest.snapshot.nodes)
    ending = {family for family, until in policy.commitments.ends if until == at}
    families = tuple(sorted(ending, key=lambda family: (family == FLEXIBLE, family)))  # the flexible one last
    return LaterAddition(at, families, len(rest.snapshot.nodes), added, rest.is_rest)
