"""What a set of nodes costs where machines are under commitments: money is a function of the set that remains.

    bill = fees + what exceeds a family's commitment at its rate + Spot, GPUs, disks and all else at its price

A node has no price of its own then; it has a marginal one in a set. Without commitments the bill of a set is the sum
of its nodes' prices, to the micro-dollar. What others of the region use of a commitment is taken off it first. Of
machines on demand commitments cover vCPUs and GiB, at the rate of predefined ones; a flexible commitment then covers
what is left, of any family, up to its worth at list (docs/decisions/bill.md).

Amounts are integers: thousandths of a vCPU and of a GiB, micro-dollars an hour, rates in millionths of these.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Final

from shared.core.cluster.node import Node
from shared.core.planning.prices import MICRO, Prices
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments

_MILLI: Final = 1_000
LITTLE: Final = 10
"""Micro-dollars an hour, less than a cent a month: what rounding may leave of a node that saves nothing."""
NO_AMOUNTS: Final[tuple[int, ...]] = ()


@dataclass(frozen=True, slots=True)
class CommitmentUse:
    """A commitment in force, and the part that the cluster uses; `fee` and `idle` are micro-dollars an hour."""

    commitment: Commitment
    used: Capacity
    fee: int
    idle: int


@dataclass(frozen=True)
class Bill:
    """What sets of nodes of one cluster cost at one time. `commitments` are those in force then."""

    prices: Prices
    commitments: Commitments = NO_COMMITMENTS
    region: str = ""

    @classmethod
    def of(cls, prices: Prices, commitments: Commitments, nodes: Sequence[Node], now: datetime) -> "Bill":
        """Return the bill of a cluster of these nodes at a time: what has ended is not in it."""
        if not commitments:
            return cls(prices)
        return cls(prices, _net(_in_force(commitments, now, prices)), nodes[0].region if nodes else "")

    @property
    def is_list(self) -> bool:
        """Whether nothing is committed, so that each node has a price of its own."""
        return not self.commitments

    def of_all(self, nodes: Iterable[Node]) -> int:
        """Return what these nodes cost together, fees included, in micro-dollars an hour."""
        rows = tuple(nodes)
        return self.prices.of_all(rows) - self.covered(self.total(rows)) + self.fees

    def saving(self, nodes: Iterable[Node], gone: Iterable[Node]) -> int:
        """Return by how much the bill of `nodes` falls without `gone`, in micro-dollars an hour."""
        before, less = self.total(nodes), tuple(gone)
        after = tuple(have - off for have, off in zip(before, self.total(less), strict=True))
        return self.prices.of_all(less) - self.covered(before) + self.covered(after)

    def total(self, nodes: Iterable[Node]) -> tuple[int, ...]:
        """Return what commitments may cover of these nodes together, by axis."""
        sums = [0] * len(self._axes)
        for node in nodes:
            for axis, amount in enumerate(self.amounts(node)):
                sums[axis] += amount
        return tuple(sums)

    def amounts(self, node: Node) -> tuple[int, ...]:
        """Return what commitments may cover of a node: thousandths of vCPUs and GiB, by axis."""
        if self.is_list:
            return NO_AMOUNTS
        size = None if node.spot or node.outside else self.prices.size(node.machine)
        family, capacity = size or ("", Capacity())
        return tuple(
            round(part * _MILLI) if each == family else 0
            for each in self._families
            for part in (capacity.vcpu, capacity.gib)
        )

    def covered(self, amounts: Sequence[int]) -> int:
        """Return what of these amounts costs nothing beyond the fees, in micro-dollars an hour."""
        covered = left = 0
        for amount, (committed, rate) in zip(amounts, self._axes, strict=True):
            inside = min(amount, committed)
            covered += inside * rate
            left += (amount - inside) * rate
        return (covered + min(left, self._flexible)) // MICRO

    @cached_property
    def fees(self) -> int:
        """What is paid for the commitments, used or not, in micro-dollars an hour."""
        flexible = self.commitments.flexible
        own = round(flexible.per_hour * MICRO) if flexible else 0
        return own + sum(self._fee(each, each.size) for each in self.commitments.families)

    def uses(self, nodes: Iterable[Node]) -> Iterator[CommitmentUse]:
        """Yield how much of each family's commitment these nodes use; what ends last is used first."""
        left = dict(zip(self._families, _pairs(self.total(nodes)), strict=True))
        for each in sorted(self.commitments.families, key=_end, reverse=True):
            have = left[each.family]
            used = Capacity(min(have.vcpu, each.size.vcpu), min(have.gib, each.size.gib))
            left[each.family] = _less(have, used)
            yield CommitmentUse(each, used, self._fee(each, each.size), self._fee(each, _less(each.size, used)))

    def _fee(self, commitment: Commitment, size: Capacity) -> int:
        listed = self.prices.rates(commitment.family, self.region).of(size.vcpu, size.gib)
        return round(listed * (1 - commitment.discount) * MICRO)

    @cached_property
    def _families(self) -> tuple[str, ...]:
        """All families with axes: those committed, and with a flexible commitment all that are priced."""
        if self.commitments.flexible:
            return tuple(sorted(self.prices.families))
        return tuple(sorted({each.family for each in self.commitments.families}))

    @cached_property
    def _axes(self) -> tuple[tuple[int, int], ...]:
        """By axis (each family's vCPUs, then its GiB) how many thousandths are committed, and the rate of one."""
        rows = []
        for family in self._families:
            own = [each.size for each in self.commitments.families if each.family == family]
            rates, paid = self.prices.rates(family, self.region), 1 - self.prices.discount(family)
            for sizes, rate in (([each.vcpu for each in own], rates.vcpu), ([each.gib for each in own], rates.gib)):
                rows.append((round(sum(sizes) * _MILLI), round(rate * paid * MICRO * MICRO / _MILLI)))
        return tuple(rows)

    @cached_property
    def _flexible(self) -> int:
        """What the flexible commitment covers, in millionths of a micro-dollar an hour."""
        flexible = self.commitments.flexible
        return round(flexible.per_hour / (1 - flexible.discount) * MICRO * MICRO) if flexible else 0


def ends(commitments: Commitments, now: datetime) -> tuple[datetime, ...]:
    """Return when commitments end that are in force, the earliest first."""
    flexible = commitments.flexible
    found = {each.until for each in (*commitments.families, *([flexible] if flexible else ()))}
    return tuple(sorted(until for until in found if until is not None and until > now))


def _in_force(commitments: Commitments, now: datetime, prices: Prices) -> Commitments:
    """Leave out what has ended, and families whose rates are not known."""
    flexible = commitments.flexible
    return replace(
        commitments,
        families=tuple(
            each
            for each in commitments.families
            if each.family in prices.families and (each.until is None or each.until > now)
        ),
        flexible=None if flexible and flexible.until and flexible.until <= now else flexible,
    )


def _net(commitments: Commitments) -> Commitments:
    """Take what is used elsewhere off the commitments: off those first that end last, as `uses` fills them."""
    left: dict[str, Capacity] = dict(commitments.elsewhere or {})
    net = []
    for each in sorted(commitments.families, key=_end, reverse=True):
        have = left.get(each.family, Capacity())
        used = Capacity(min(have.vcpu, each.size.vcpu), min(have.gib, each.size.gib))
        left[each.family] = _less(have, used)
        net.append(replace(each, size=_less(each.size, used)))
    return replace(commitments, families=tuple(net), elsewhere={})


def _end(commitment: Commitment) -> tuple[bool, float]:
    until = commitment.until
    return until is None, until.timestamp() if until else 0.0


def _less(whole: Capacity, part: Capacity) -> Capacity:
    return Capacity(whole.vcpu - part.vcpu, whole.gib - part.gib)


def _pairs(amounts: Sequence[int]) -> Iterator[Capacity]:
    for vcpu, gib in zip(amounts[::2], amounts[1::2], strict=True):
        yield Capacity(Fraction(vcpu, _MILLI), Fraction(gib, _MILLI))
