"""The machine types that GKE offers, and what it leaves allocatable of one.

Sources: cloud.google.com/compute/docs (general-purpose-machines, compute-optimized-machines),
cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes (reservations).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

from shared.core.cluster.resources import CPU, MEMORY, Resources
from shared.core.planning.prices import GIB, Prices
from shared.core.policy.values import Capacity

_MIB: Final = 1024**2
SHAPES: Final = ("standard", "highmem", "highcpu")
_N1: Final = (1, 2, 4, 8, 16, 32, 64, 96)
_N2: Final = (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)
_N4: Final = (2, 4, 8, 16, 32, 48, 64, 80)
_C2D: Final = (2, 4, 8, 16, 32, 56, 112)
_C3: Final = (4, 8, 22, 44, 88, 176)
_C3D: Final = (4, 8, 16, 30, 60, 90, 180, 360)
_SIZES: Final[Mapping[str, Sequence[Sequence[int]]]] = {
    "e2": ((2, 4, 8, 16, 32), (2, 4, 8, 16), (2, 4, 8, 16, 32)),
    "n1": (_N1, _N1[1:], _N1[1:]),
    "n2": (_N2, _N2, _N2[:-1]),
    "n2d": ((*_N2, 224), _N2[:-1], (*_N2, 224)),
    "n4": (_N4, _N4, _N4),
    "c2": ((4, 8, 16, 30, 60), (), ()),
    "c2d": (_C2D, _C2D, _C2D),
    "c3": (_C3, _C3, _C3),
    "c3d": (_C3D, _C3D, _C3D),
    "t2a": ((1, 2, 4, 8, 16, 32, 48), (), ()),
    "t2d": ((1, 2, 4, 8, 16, 32, 48, 60), (), ()),
}
"""By family the vCPUs of its machines, one row for each of `SHAPES`."""
FAMILIES: Final = tuple(_SIZES)
ARM: Final = frozenset({"t2a"})  # Families on which images for other processors do not run.
SHARED_CORE: Final = ("e2-micro", "e2-small", "e2-medium")


@dataclass(frozen=True, slots=True)
class MachineType:
    name: str
    family: str
    size: Capacity


def types_of(family: str, prices: Prices) -> Iterator[MachineType]:
    """Yield the predefined machine types of a family that the price table knows; shared cores are not among them."""
    for shape, sizes in zip(SHAPES, _SIZES.get(family, ((),) * len(SHAPES)), strict=True):
        for vcpus in sizes:
            found = machine_type(f"{family}-{shape}-{vcpus}", prices)
            if found is not None:
                yield found


def machine_type(name: str, prices: Prices) -> MachineType | None:
    """Return a machine type by its name; None where the name or the price table does not show its size."""
    found = prices.size(name)
    return None if found is None else MachineType(name, *found)


_CPU_TIERS: Final = ((1_000, 60), (1_000, 10), (2_000, 5), (None, Fraction(5, 2)))
"""Millicores, and how many of a thousand of them GKE reserves: 6 %, 1 %, 0.5 %, 0.25 %."""
_MEMORY_TIERS: Final = ((4 * GIB, 250), (4 * GIB, 200), (8 * GIB, 100), (112 * GIB, 60), (None, 20))
"""Bytes, and how many of a thousand of them GKE reserves: 25 %, 20 %, 10 %, 6 %, 2 %."""
_OF_A_SHARED_CORE: Final = 940  # Of two vCPUs that burst, 1,060 millicores are reserved.
_OF_LESS_THAN_A_GIB: Final = 255 * _MIB
_EVICTION: Final = 100 * _MIB  # What the kubelet keeps so that it can evict in time.


@cache
def allocatable(machine: MachineType) -> Resources:
    """Return what GKE documents as allocatable; real nodes offer a little less memory (`offers` takes it off)."""
    cpu = round(machine.size.vcpu * 1000)
    memory = round(machine.size.gib * GIB)
    own = _OF_A_SHARED_CORE if machine.name in SHARED_CORE else cpu - _reserved_amount(cpu, _CPU_TIERS)
    kept = _OF_LESS_THAN_A_GIB if memory < GIB else _reserved_amount(memory, _MEMORY_TIERS)
    return Resources.of({CPU: own, MEMORY: max(memory - kept - _EVICTION, 0)})


def _reserved_amount(amount: int, tiers: Sequence[tuple[int | None, int | Fraction]]) -> int:
    reserved = Fraction(0)
    for size, share in tiers:
        part = amount if size is None else min(amount, size)
        reserved += Fraction(part) * share / 1000
        amount -= part
    return -(-reserved.numerator // reserved.denominator)
