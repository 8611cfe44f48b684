"""What a node costs: machine type and spot, by a price table, in micro-dollars per hour.

The table is a value given in; figures, sources and dates stand in `data/prices.yaml`. A machine that the table
does not know is estimated from its allocatable and says so. Discounts, disks, GPUs attached to N1 and the cluster
fee are not in it: they do not change which node is cheapest to keep. Must not use floats, nor read files.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.resources import Resources

HOURS_PER_MONTH: Final = 730
HOURS_PER_YEAR: Final = 8_760
GIB: Final = 1024**3
MICRO: Final = 10**6
FALLBACK: Final = "e2"
"""Whose rates an unknown machine is estimated at."""
_PREDEFINED: Final = re.compile(r"(?P<family>[a-z]\d[a-z]?)-(?P<shape>standard|highmem|highcpu)-(?P<vcpus>\d+)")
_CUSTOM: Final = re.compile(r"(?:(?P<family>[a-z]\d[a-z]?)-)?custom-(?P<vcpus>\d+)-(?P<mib>\d+)(?:-ext)?")


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
class Price:
    """Micro-dollars per hour; `estimated` when the machine type is not in the table."""

    per_hour: int
    estimated: bool = False


@dataclass(frozen=True)
class Prices:
    """A price table. `machines` are those priced whole, in dollars per hour. `families` holds at least `e2`."""

    families: Mapping[str, Family]
    machines: Mapping[str, Fraction]

    def of(self, node: Node) -> Price:
        """Return what the node costs by its machine type, or an estimate by its allocatable."""
        kind = (node.machine, node.spot)
        if kind not in self._known:
            listed = self._listed(node.machine)
            self._known[kind] = None if listed is None else self._price(listed, node)
        known = self._known[kind]
        return known or replace(self._price(self._by_allocatable(node.allocatable), node), estimated=True)

    @cached_property
    def _known(self) -> dict[tuple[str, bool], Price | None]:
        """What machines cost, worked out once for each type and spot or not; None = not in the table."""
        return {}

    def _price(self, dollars: Fraction, node: Node) -> Price:
        share = self._family(node.machine).spot if node.spot else Fraction(1)
        return Price(round(dollars * share * MICRO))

    def _listed(self, machine: str) -> Fraction | None:
        if machine in self.machines:
            return self.machines[machine]
        return self._predefined(machine) if _CUSTOM.fullmatch(machine) is None else self._custom(machine)

    def _predefined(self, machine: str) -> Fraction | None:
        match = _PREDEFINED.fullmatch(machine)
        family = self.families.get(match["family"]) if match else None
        if match is None or family is None or match["shape"] not in family.gib_per_vcpu:
            return None
        vcpus = Fraction(match["vcpus"])
        return family.predefined.of(vcpus, vcpus * family.gib_per_vcpu[match["shape"]])

    def _custom(self, machine: str) -> Fraction | None:
        """Price `n2-custom-4-8192`; without a family the name means N1 (compute docs, custom machine types)."""
        match = _CUSTOM.fullmatch(machine)
        family = self.families.get(match["family"] or "n1") if match else None
        if match is None or family is None:
            return None
        return family.custom.of(Fraction(match["vcpus"]), Fraction(int(match["mib"]), 1024))

    def _family(self, machine: str) -> Family:
        return self.families.get(machine.partition("-")[0], self.families[FALLBACK])

    def _by_allocatable(self, allocatable: Resources) -> Fraction:
        rates = self.families[FALLBACK].predefined
        return rates.of(Fraction(allocatable.cpu, 1000), Fraction(allocatable.memory, GIB))


def per_month(per_hour: int) -> int:
    """Return micro-dollars per month of 730 hours, as the price lists count it."""
    return per_hour * HOURS_PER_MONTH


def yearly(per_hour: int) -> int:
    """Return micro-dollars per year of 365 days."""
    return per_hour * HOURS_PER_YEAR
