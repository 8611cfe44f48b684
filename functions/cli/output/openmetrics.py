"""OpenMetrics 1.0: families of gauges, each with what its values are, written as one text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

END: Final = "# EOF"
_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n"}
_PLACES: Final = 9
"""Decimal places that a figure keeps."""
MONEY: Final = "{currency}_per_hour"
"""The unit of money; the name has the currency, for a sum over two of them would be none."""
DOLLARS: Final = "dollars"
_NO_UNIT: Final = re.compile(r"[^a-z0-9]+")
_OF_CLUSTER: Final = ("cluster",)

Samples = Iterable[tuple[tuple[str, ...], Fraction | float]]
"""Values of labels, without the cluster's name, each with a figure."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One family of gauges: its name without the unit, what it means, and its values for one cluster."""

    name: str
    help: str
    """One sentence, without quotes and backslashes: the two formats do not escape them alike."""
    values: Callable[[Any], Samples]
    more_labels: tuple[str, ...] = ()
    unit: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return (*_OF_CLUSTER, *self.more_labels)

    def name_in(self, currency: str) -> str:
        """Return the whole name: an OpenMetrics name ends with its unit."""
        return f"{self.name}_{self.unit.format(currency=currency)}" if self.unit else self.name


def one(value: Fraction | float | None) -> Samples:
    """Return one figure without labels; nothing if it is unknown."""
    return () if value is None else (((), value),)


def exposition(gauges: Sequence[Gauge], clusters: Sequence[tuple[str, Any]], currency: str = "USD") -> str:
    """Return the text of all gauges of clusters, each with its name; a gauge without values is left out.

    `currency` is the code of that in which all money is.
    """
    word = DOLLARS if currency == "USD" else _NO_UNIT.sub("_", currency.lower()).strip("_") or "money"
    names = distinct([name for name, _ in clusters])
    rows = list(zip(names, (cluster for _, cluster in clusters), strict=True))
    return "\n".join((*(line for gauge in gauges for line in _lines(gauge, rows, word)), END))


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, with a number behind each that occurs again: two series may not have the same labels."""
    found: list[str] = []
    for name in names:
        others = (f"{name} ({number})" for number in range(2, len(names) + 2))
        found.append(name if name not in found else next(each for each in others if each not in (*found, *names)))
    return tuple(found)


def _lines(gauge: Gauge, clusters: Iterable[tuple[str, Any]], currency: str) -> Iterator[str]:
    name = gauge.name_in(currency)
    samples = [((cluster, *labels), value) for cluster, of in clusters for labels, value in gauge.values(of)]
    if not samples:
        return
    yield f"# TYPE {name} gauge"
    if gauge.unit:
        yield f"# UNIT {name} {gauge.unit.format(currency=currency)}"
    yield f"# HELP {name} {gauge.help}"
    for labels, value in samples:
        pairs = zip(gauge.labels, labels, strict=True)
        shown = ",".join(f'{label}="{_escaped(each)}"' for label, each in pairs)
        yield f"{name}{{{shown}}} {_number(value)}"


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in value)


def _number(value: Fraction | float) -> str:
    rounded = round(float(value), _PLACES)
    return str(int(rounded)) if rounded.is_integer() else f"{rounded:.{_PLACES}f}".rstrip("0")
