"""What a node costs: machine, GPUs, local SSDs, region, spot and discounts, in micro-dollars per hour.

Figures, sources and dates stand in `data/prices.yaml`; what the table does not know is estimated and marked so. Disks,
network and the cluster fee do not change which node is cheapest to keep. All amounts are integers or exact fractions.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.resources import GPU
from shared.core.policy.values import Capacity
from shared.core.records.state import MICRO

HOURS_PER_MONTH: Final = 730
GIB: Final = 1024**3
FALLBACK: Final = "e2"  # Whose rates an unknown machine is estimated at.
DOLLARS: Final = "USD"
OTHER: Final = "other"  # Under which name the table has GPUs that it does not list.
_PREDEFINED: Final = re.compile(r"(?P<family>[a-z]\d[a-z]?)-(?P<shape>standard|highmem|highcpu)-(?P<vcpus>\d+)")
_CUSTOM: Final = re.compile(r"(?:(?P<family>[a-z]\d[a-z]?)-)?custom-(?P<vcpus>\d+)-(?P<mib>\d+)(?:-ext)?")
_SHARED_CORE: Final = {
    "e2-micro": Capacity(Fraction(1, 4), Fraction(1)),
    "e2-small": Capacity(Fraction(1, 2), Fraction(2)),
    "e2-medium": Capacity(Fraction(1), Fraction(4)),
}
"""As they are billed (compute docs, shared-core machine types)."""
_FREE: Final = Fraction(0)
_GB_OF_A_DISK: Final = 375


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars per hour for one vCPU and one GiB."""

    vcpu: Fraction
    gib: Fraction

    def of(self, vcpus: Fraction, gib: Fraction) -> Fraction:
        return self.vcpu * vcpus + self.gib * gib


@dataclass(frozen=True)
class Family:
    """A machine family: its rates, the share of them a spot machine costs, and GiB per vCPU by shape."""

    predefined: Rates
    custom: Rates
    spot: Fraction
    gib_per_vcpu: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Attached:
    """What one GPU costs an hour, or one GB of local SSD a month."""

    on_demand: Fraction = _FREE
    spot: Fraction = _FREE


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """What the figures of a table are: whose, when, of which region, in which currency; that may be empty."""

    source: str = ""
    as_of: str = ""
    region: str = ""
    currency: str = DOLLARS
    converted: str = ""
    """At which rate figures are shown in the currency, if the table is in another: `0.92 for 1 USD`."""


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per hour; `estimated` when something of the node is not in the table."""

    per_hour: int
    estimated: bool = False


_NOTHING: Final = Price(0)


@dataclass(frozen=True)
class Prices:
    """A price table. `machines` are those priced whole, in dollars per hour. `families` holds at least `e2`."""

    families: Mapping[str, Family]
    machines: Mapping[str, Fraction]
    regions: Mapping[str, Fraction] = field(default_factory=dict)
    """What a region costs as a share of the table's own; of one that is missing nothing is known."""
    gpus: Mapping[str, Attached] = field(default_factory=dict)
    local_ssd: Attached = field(default_factory=Attached)
    discounts: Mapping[str, Fraction] = field(default_factory=dict)
    """Shares off the machines' price by family, the empty name for all; not of spot machines."""
    basis: PriceBasis = field(default_factory=PriceBasis)

    def of(self, node: Node) -> Price:
        """Return what the node costs, or an estimate; nothing where no drain would ever save it."""
        if node.outside:
            return _NOTHING
        extras = extras_of(node)
        kind = (node.machine, node.spot, node.region, extras)
        if kind not in self._known:
            listed = self._listed_price(node.machine)
            self._known[kind] = None if listed is None else self._price(listed, node)
        known = self._known[kind]
        if known:
            return known
        rates, size = self.families[FALLBACK].predefined, node.allocatable
        dollars = rates.of(Fraction(size.cpu, 1000), Fraction(size.memory, GIB))
        return self._price(dollars, node, estimated=True)

    def cost_of(self, nodes: Iterable[Node]) -> int:
        return sum(self.of(node).per_hour for node in nodes)

    @cached_property
    def _known(self) -> dict[object, Price | None]:
        """What machines cost, worked out once for each kind of node; None = not in the table."""
        return {}

    def _price(self, dollars: Fraction, node: Node, *, estimated: bool = False) -> Price:
        extras = extras_of(node)
        family = self.families.get(_family_of(node.machine), self.families[FALLBACK])
        share = family.spot if node.spot else 1 - self.discount(node.machine)
        gpu = self.gpus.get(extras.gpu, self.gpus.get(OTHER, Attached()))
        of_gpu, of_disk = (row.spot if node.spot else row.on_demand for row in (gpu, self.local_ssd))
        more = extras.gpus * of_gpu + Fraction(extras.disks * _GB_OF_A_DISK, HOURS_PER_MONTH) * of_disk
        whole = (dollars * share + more) * self.regions.get(node.region, Fraction(1))
        unknown = bool(extras.gpus and extras.gpu not in self.gpus) or extras.guessed
        return Price(round(whole * MICRO), estimated or unknown)

    def discount(self, machine: str) -> Fraction:
        family = (_family_of(machine), "")
        return next((self.discounts[name] for name in family if name in self.discounts), _FREE)

    def size(self, machine: str) -> tuple[str, Capacity] | None:
        """Return family, vCPUs and GiB of a machine that is billed by these; None where its name does not show them."""
        if machine in _SHARED_CORE:
            return _family_of(machine), _SHARED_CORE[machine]
        return None if machine in self.machines else self._named_size(machine)

    def rates(self, family: str, region: str) -> Rates:
        """Return what one vCPU and one GiB of a family's predefined machines cost on demand in a region."""
        listed, share = self.families[family].predefined, self.regions.get(region, Fraction(1))
        return Rates(listed.vcpu * share, listed.gib * share)

    def _listed_price(self, machine: str) -> Fraction | None:
        if machine in self.machines:
            return self.machines[machine]
        if (named := self._named_size(machine)) is None:
            return None
        name, size = named
        family = self.families[name]
        return (family.custom if _CUSTOM.fullmatch(machine) else family.predefined).of(size.vcpu, size.gib)

    def _named_size(self, machine: str) -> tuple[str, Capacity] | None:
        """Return what `n2-standard-4` or `n2-custom-4-8192` is; without a family the latter is N1 (compute docs)."""
        custom, name = _CUSTOM.fullmatch(machine), _family_of(machine)
        match, family = custom or _PREDEFINED.fullmatch(machine), self.families.get(name)
        if match is None or family is None:
            return None
        vcpus = Fraction(match["vcpus"])
        if custom:
            return name, Capacity(vcpus, Fraction(int(custom["mib"]), 1024))
        ratio = family.gib_per_vcpu.get(match["shape"])
        return None if ratio is None else (name, Capacity(vcpus, vcpus * ratio))


def _family_of(machine: str) -> str:
    family = machine.partition("-")[0]
    return "n1" if family == "custom" else family


def per_month(per_hour: int) -> int:
    """Return micro-dollars per month of 730 hours, as the price lists count it."""
    return per_hour * HOURS_PER_MONTH


EPHEMERAL: Final = "ephemeral-storage"
_DISK: Final = 375 * 10**9


@dataclass(frozen=True, slots=True)
class Extras:
    gpu: str
    gpus: int
    disks: int
    guessed: bool = False


def extras_of(node: Node) -> Extras:
    gpu, labels = node.labels.get(names.GPU_LABEL, ""), node.labels
    gpus = _gpus(node) if gpu else 0
    if labels.get(names.EPHEMERAL_SSD_LABEL) == "true":
        return Extras(gpu, gpus, max(-(-node.allocatable.get(EPHEMERAL) // _DISK), 1))
    raw = labels.get(names.RAW_SSD_LABEL) == "true"
    return Extras(gpu, gpus, int(raw), guessed=raw)


def _gpus(node: Node) -> int:
    """Return how many there are; one that several pods share is offered several times."""
    written, shared = node.labels.get(names.GPU_COUNT_LABEL, ""), node.labels.get(names.GPU_CLIENTS_LABEL, "")
    if written.isdecimal():
        return int(written)
    offered = node.allocatable.get(GPU)
    return -(-offered // max(int(shared), 1)) if shared.isdecimal() else offered
