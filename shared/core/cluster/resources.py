"""Exact resource arithmetic: quantities as the Kubernetes API writes them, amounts as the scheduler counts them.

CPU in millicores, everything else in whole units, both rounded up as Quantity.MilliValue and Value do, without floats.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

from shared.errors import BadInput

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"
GPU: Final = "nvidia.com/gpu"
TPU: Final = "google.com/tpu"
ACCELERATORS: Final = (GPU, TPU)
"""What GKE's device plugins offer; a node that has one of them is measured by it too."""

_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL: Final = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?\d{1,3}))?"
)
_MOST: Final = 2**63 - 1  # The API server caps what is larger (apimachinery, api/resource, ParseQuantity).
_MOST_DIGITS: Final = 1000


def parse_quantity(text: str | float) -> Fraction:
    """Return the exact value of a quantity (`100m`, `1.5Gi`, `1e3`, `12E`, `0`) or raise BadInput."""
    # docs/acceptance.md row 15; kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity.
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None:
        raise BadInput(f"{text!r} is not a quantity; write for example 500m, 2, 1.5Gi or 1e3.")
    if len(match["number"]) > _MOST_DIGITS:
        raise BadInput(f"{str(text)[:40]!r}… is not a quantity; it has more than {_MOST_DIGITS} digits.")
    return Fraction(match["number"]) * _scale(match["suffix"] or "", match["exponent"])


def _scale(suffix: str, exponent: str | None) -> Fraction:
    if suffix in _BINARY:
        return Fraction(1024 ** _BINARY[suffix])
    power = int(exponent) if exponent else 3 * _DECIMAL[suffix]
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)


@lru_cache(maxsize=8192)  # a cluster writes few different quantities, each of them many times
def amount(name: str, quantity: str | float) -> int:
    """Return a quantity in the scheduler's unit: millicores for CPU, else whole units."""
    # BadInput below 0, as the API server (ValidateNonnegativeQuantity).
    value = parse_quantity(quantity)
    if value < 0:
        raise BadInput(f"{name}: {quantity} is below 0; write 0 or more.")
    exact = min(value, Fraction(_MOST)) * (1000 if name == CPU else 1)
    return -((-exact.numerator) // exact.denominator)


@dataclass(frozen=True, slots=True)
class Resources:
    """An immutable vector of amounts by resource name; names that are absent count as zero."""

    amounts: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, amounts: Mapping[str, int]) -> Self:
        return cls(tuple(sorted((name, value) for name, value in amounts.items() if value)))

    @classmethod
    def parse(cls, quantities: Mapping[str, str | float]) -> Self:
        """Read an API object's `requests` or `allocatable`; BadInput names the resource whose value is no quantity."""
        return cls.of({name: amount(name, text) for name, text in quantities.items()})

    def get(self, name: str) -> int:
        return dict(self.amounts).get(name, 0)

    @property
    def cpu(self) -> int:
        """Millicores."""
        return self.get(CPU)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.get(MEMORY)

    def __add__(self, other: "Resources") -> "Resources":
        mine, theirs = dict(self.amounts), dict(other.amounts)
        return Resources.of({name: mine.get(name, 0) + theirs.get(name, 0) for name in mine | theirs})

    def __sub__(self, other: "Resources") -> "Resources":
        mine, theirs = dict(self.amounts), dict(other.amounts)
        return Resources.of({name: mine.get(name, 0) - theirs.get(name, 0) for name in mine | theirs})

    def largest(self, other: "Resources") -> "Resources":
        if self.amounts == other.amounts or not other.amounts:
            return self
        mine, theirs = dict(self.amounts), dict(other.amounts)
        return Resources.of({name: max(mine.get(name, 0), theirs.get(name, 0)) for name in mine | theirs})

    def fits(self, free: "Resources") -> bool:
        room = dict(free.amounts)
        return all(value <= room.get(name, 0) for name, value in self.amounts)


NOTHING: Final = Resources()


def total(parts: Iterable[Resources]) -> Resources:
    sums: dict[str, int] = {}
    for part in parts:
        for name, value in part.amounts:
            sums[name] = sums.get(name, 0) + value
    return Resources.of(sums)
