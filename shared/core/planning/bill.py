"""What a set of nodes costs where machines are under commitments: money is a function of the set that remains.

bill = fees + what exceeds a family's commitment at its rate + Spot, GPUs, disks and all else at its price. Without
commitments it is the sum of the nodes' prices, to the micro-dollar. What others of the region use of a commitment is
taken off it first; a flexible commitment then covers what is left, of any family, up to its worth at list
(docs/decisions/bill.md). Amounts are integers: thousandths of a vCPU and of a GiB, micro-dollars an hour, rates in
millionths of these. What exceeds commitments is convex in each amount: a node that saves nothing alone never does.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from operator import add, sub
from typing import Final

from shared.core.cluster.node import Node, region_of
from shared.core.placement.search import LITTLE, Lost
from shared.core.planning.prices import Prices
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments, end_order
from shared.core.records.state import MICRO

_MILLI: Final = 1_000
NO_AMOUNTS: Final[tuple[int, ...]] = ()


@dataclass(frozen=True, slots=True)
class CommitmentUse:
    """A commitment in force, and the part that the cluster uses; `fee` and `idle` are micro-dollars an hour."""

    commitment: Commitment
    used: Capacity
    fee: int
    idle: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """Rates by axis in micro-dollars an hour, and what is covered of amounts at these: never more than the bill has."""

    rates: tuple[float, ...]
    covered: float


@dataclass(frozen=True)
class Bill:
    """What sets of nodes of one cluster cost at one time. `commitments` are those in force then."""

    prices: Prices
    commitments: Commitments = NO_COMMITMENTS
    region: str = ""

    @classmethod
    def of(cls, prices: Prices, commitments: Commitments, nodes: Sequence[Node], now: datetime) -> "Bill":
        if not commitments:
            return cls(prices)
        in_force = commitments.in_force(now)
        known = tuple(family for family in in_force.families if family.family in prices.families)
        # What others of the region use is taken off first.
        net = (
            replace(row, size=_less(row.size, used)) for row, used in _use_commitments(known, in_force.elsewhere or {})
        )
        return cls(prices, replace(in_force, families=tuple(net), elsewhere={}), region_of(nodes))

    @property
    def is_list(self) -> bool:
        """Whether nothing is committed, so that each node has a price of its own."""
        return not self.commitments

    def cost_of(self, nodes: Iterable[Node]) -> int:
        rows = tuple(nodes)
        return self.prices.cost_of(rows) - self.covered(self.total(rows)) + self.fees

    def saving(self, nodes: Iterable[Node], gone: Iterable[Node]) -> int:
        return Savings(self, self.total(nodes)).saving_of(gone)

    def total(self, nodes: Iterable[Node]) -> tuple[int, ...]:
        """Return what commitments may cover of these nodes together; see `amounts`."""
        sums = (0,) * (len(self._axes) + 1)
        return NO_AMOUNTS if self.is_list else tuple(map(sum, zip(sums, *map(self.amounts, nodes), strict=True)))

    def amounts(self, node: Node) -> tuple[int, ...]:
        """Return what commitments may cover of a node."""
        # Its cost, then by family vCPUs and GiB, then what is flexible.
        # Micro-dollars an hour; thousandths of vCPUs and GiB of each committed family; last the same money of a
        # machine of any other family, for a flexible commitment.
        if self.is_list:
            return NO_AMOUNTS
        price = self.prices.of(node).per_hour
        kind = node.machine, price, node.spot or node.outside
        if kind not in self._known:
            self._known[kind] = self._amounts(*kind)
        return self._known[kind]

    def is_committed(self, node: Node) -> bool:
        """Whether capacity of the node's own family is committed."""
        return any(self.amounts(node)[1:-1])

    def covered(self, amounts: Sequence[int]) -> int:
        """Return what of these amounts costs nothing beyond the fees, in micro-dollars an hour."""
        if not amounts:
            return 0
        rows = zip(amounts[1:], self._axes, strict=True)
        beyond = sum((amount - committed) * rate for amount, (committed, rate) in rows if amount > committed)
        return amounts[0] - max(beyond - self._flexible, 0) // MICRO

    @cached_property
    def fees(self) -> int:
        """What is paid for the commitments, used or not, in micro-dollars an hour."""
        flexible = self.commitments.flexible
        own = round(flexible.per_hour * MICRO) if flexible else 0
        return own + sum(self._fee(family, family.size) for family in self.commitments.families)

    def weigh_axes(self, weights: Sequence[float]) -> "Weighed":
        """Return a linear bound of what exceeds the commitments: each axis in part."""
        weighed = zip(self._axes, weights, strict=True)
        rows = [(committed, rate * weight / MICRO) for (committed, rate), weight in weighed]
        beyond = sum(committed * rate for committed, rate in rows)
        return Weighed(tuple(rate for _, rate in rows), beyond + max(weights) * self._flexible / MICRO)

    def uses(self, nodes: Iterable[Node]) -> Iterator[CommitmentUse]:
        use = dict(zip(self._families, _pairs(self.total(nodes)[1:]), strict=False))
        for row, used in _use_commitments(self.commitments.families, use):
            yield CommitmentUse(row, used, self._fee(row, row.size), self._fee(row, _less(row.size, used)))

    def flexible_idle(self, nodes: Iterable[Node]) -> int:
        """Return what of the flexible commitment's fee is paid for nothing, in micro-dollars an hour."""
        # 0 where a machine on demand is not in the price table: then its use is not known.
        flexible, rows = self.commitments.flexible, tuple(nodes)
        if flexible is None or any(self.prices.of(node).estimated for node in rows if not node.spot):
            return 0
        families = Bill(self.prices, replace(self.commitments, flexible=None), self.region)
        covered = self.covered(self.total(rows)) - families.covered(families.total(rows))
        return max(self.fees - families.fees - round(covered * (1 - flexible.discount)), 0)

    def idle(self, nodes: Iterable[Node]) -> int:
        rows = tuple(nodes)
        return sum(use.idle for use in self.uses(rows)) + self.flexible_idle(rows)

    def _fee(self, commitment: Commitment, size: Capacity) -> int:
        listed = self.prices.rates(commitment.family, self.region).of(size.vcpu, size.gib)
        return round(listed * (1 - commitment.discount) * MICRO)

    @cached_property
    def _known(self) -> dict[tuple[str, int, bool], tuple[int, ...]]:
        return {}

    def _amounts(self, machine: str, price: int, uncovered: bool) -> tuple[int, ...]:
        size = None if uncovered else self.prices.size(machine)
        family, capacity = size or ("", Capacity())
        parts = round(capacity.vcpu * _MILLI), round(capacity.gib * _MILLI)
        own = [part if name == family else 0 for name in self._families for part in parts]
        if size is None or not (self._flexible or family in self._families):
            return (0,) * (len(self._axes) + 1)
        listed = sum(part * rate for part, rate in zip(parts, self._rates(family), strict=True)) // MICRO
        money = price if abs(price - listed) <= LITTLE else min(price, listed)
        other = [0 if family in self._families else money] if self._flexible else []
        return (money, *own, *other)

    @cached_property
    def _families(self) -> tuple[str, ...]:
        return tuple(sorted({family.family for family in self.commitments.families}))

    @cached_property
    def _axes(self) -> tuple[tuple[int, int], ...]:
        """By axis, as in `amounts`, how much is committed, and the rate of one."""
        rows: list[tuple[int, int]] = []
        for family in self._families:
            sizes = [row.size for row in self.commitments.families if row.family == family]
            committed = sum(size.vcpu for size in sizes), sum(size.gib for size in sizes)
            rows += zip((round(amount * _MILLI) for amount in committed), self._rates(family), strict=True)
        return (*rows, *([(0, MICRO)] if self._flexible else []))

    def _rates(self, family: str) -> tuple[int, int]:
        """Return what a thousandth of a vCPU and of a GiB cost, in millionths of a micro-dollar an hour."""
        rates, paid = self.prices.rates(family, self.region), 1 - self.prices.discount(family)
        vcpu, gib = (round(rate * paid * MICRO * MICRO / _MILLI) for rate in (rates.vcpu, rates.gib))
        return vcpu, gib

    @cached_property
    def _flexible(self) -> int:
        """What the flexible commitment covers, in millionths of a micro-dollar an hour."""
        flexible = self.commitments.flexible
        return round(flexible.per_hour / (1 - flexible.discount) * MICRO * MICRO) if flexible else 0


@dataclass(frozen=True)
class Savings:
    """What nodes save by leaving, given what remains by then."""

    bill: Bill
    left: tuple[int, ...] = NO_AMOUNTS  # The amounts of what remains.
    leaving: frozenset[str] = frozenset()  # Nodes that do not count as what remains, by name: they leave anyway.
    later: tuple[tuple[datetime, "Savings"], ...] = ()
    """The same once commitments have ended, with the time of each end."""

    @classmethod
    def among(
        cls, nodes: Sequence[Node], away: Collection[str], prices: Prices, commitments: Commitments, now: datetime
    ) -> "Savings":
        """Return what the nodes save of which some leave anyway."""
        bills = {at: Bill.of(prices, commitments, nodes, at) for at in (now, *ends(commitments, now))}
        if bills[now].is_list:
            return cls(bills[now])
        gone = frozenset(away)
        rows = [node for node in nodes if node.name not in gone]
        first, *later = ((at, cls(bill, bill.total(rows), gone)) for at, bill in bills.items())
        return replace(first[1], later=tuple(later))

    def of(self, node: Node) -> int:
        return self.saving_of([node])

    def saving_of(self, nodes: Iterable[Node]) -> int:
        """Return the same of several that leave together; what leaves anyway counts as if it remained until now."""
        rows = tuple(nodes)
        price = self.bill.prices.cost_of(rows)
        if self.bill.is_list:
            return price
        back = self.bill.total(node for node in rows if node.name in self.leaving)
        here = tuple(map(add, self.left, back))
        return price - self.bill.covered(here) + self.bill.covered(tuple(map(sub, here, self.bill.total(rows))))

    def saves_nothing(self, node: Node) -> bool:
        """Whether commitments cover all that the node costs; never true where nothing is committed."""
        return not self.bill.is_list and self.of(node) <= LITTLE < self.bill.prices.of(node).per_hour

    def saves_from(self, node: Node) -> datetime | None:
        """Return when one that saves nothing now would save money; None where no end is known by which it would."""
        return next((at for at, savings in self.later if not savings.saves_nothing(node)), None)

    def without(self, nodes: Iterable[Node]) -> "Savings":
        """Return what further nodes save once these are gone."""
        rows = [node for node in nodes if node.name not in self.leaving]
        if self.bill.is_list or not rows:
            return self
        left = tuple(map(sub, self.left, self.bill.total(rows)))
        gone = self.leaving.union(node.name for node in rows)
        return Savings(self.bill, left, gone, tuple((at, savings.without(rows)) for at, savings in self.later))

    @property
    def lost(self) -> Lost | None:
        """What the commitments lose as these amounts leave; None where they cover none of the nodes."""
        if not any(self.left):
            return None
        covered = self.bill.covered(self.left)
        return lambda gone: covered - self.bill.covered(tuple(map(sub, self.left, gone)))


def ends(commitments: Commitments, now: datetime) -> tuple[datetime, ...]:
    return tuple(sorted({until for _, until in commitments.ends if until > now}))


def unpriced_families(commitments: Commitments, prices: Prices) -> str:
    """Return the sentence on families that are committed, or used elsewhere, and have no price; empty if all have."""
    named = {*(family.family for family in commitments.families), *(commitments.elsewhere or ())}
    unknown = ", ".join(sorted(named - prices.families.keys()))
    known = ", ".join(sorted(prices.families))
    return f"Commitments of {unknown} count for nothing: the price table has only {known}." if unknown else ""


def _use_commitments(
    families: Iterable[Commitment], use: Mapping[str, Capacity]
) -> Iterator[tuple[Commitment, Capacity]]:
    left = dict(use)
    for family in sorted(families, key=lambda family: end_order(family.until), reverse=True):
        have = left.get(family.family, Capacity())
        used = Capacity(min(have.vcpu, family.size.vcpu), min(have.gib, family.size.gib))
        left[family.family] = _less(have, used)
        yield family, used


def _less(whole: Capacity, part: Capacity) -> Capacity:
    return Capacity(whole.vcpu - part.vcpu, whole.gib - part.gib)


def _pairs(amounts: Sequence[int]) -> Iterator[Capacity]:
    for vcpu, gib in zip(amounts[::2], amounts[1::2], strict=True):
        yield Capacity(Fraction(vcpu, _MILLI), Fraction(gib, _MILLI))
