"""OpenMetrics 1.0 as text: families of gauges, escaped and in one form, for whatever scrapes or collects files.

Only gauges are written: what a command says holds for the moment it was asked, and nothing here counts on. Such a text
is also one of the older Prometheus format (its comments aside), which is what the textfile collector of node_exporter
reads. Must not know what is measured.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

END: Final = "# EOF"
_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n"}
_PLACES: Final = 9
"""Decimal places that a figure keeps."""
MONEY: Final = "{currency}_per_hour"
"""The unit of money; the name tells the currency, for a sum over two of them would be none."""
DOLLARS: Final = "dollars"
_NO_UNIT: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """One family of gauges: its name without the unit, what it says, its unit and the labels of each sample."""

    name: str
    help: str
    """One sentence, without quotes and backslashes: the two formats do not escape them alike."""
    labels: tuple[str, ...]
    unit: str = ""

    def unit_in(self, currency: str) -> str:
        return self.unit.format(currency=currency)

    def name_in(self, currency: str) -> str:
        """Return the whole name: an OpenMetrics name ends with its unit."""
        return f"{self.name}_{self.unit_in(currency)}" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure; its labels have values in the family's order."""

    family: MetricFamily
    labels: tuple[str, ...]
    value: Fraction | float


def exposition(samples: Iterable[Sample], families: Sequence[MetricFamily], currency: str = "USD") -> str:
    """Return the text of all samples, by family in the order given; a family without samples is left out.

    `currency` is the code of that in which all money is.
    """
    word = DOLLARS if currency == "USD" else _NO_UNIT.sub("_", currency.lower()).strip("_") or "money"
    by_family: Mapping[MetricFamily, list[Sample]] = {family: [] for family in families}
    for sample in samples:
        by_family[sample.family].append(sample)
    lines = [line for family, own in by_family.items() if own for line in _lines(family, own, word)]
    return "\n".join((*lines, END))


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with a number behind each that stands there again: two series may not have the same labels."""
    found: list[str] = []
    for name in names:
        others = (f"{name} ({number})" for number in range(2, len(names) + 2))
        found.append(name if name not in found else next(each for each in others if each not in (*found, *names)))
    return tuple(found)


def _lines(family: MetricFamily, samples: Iterable[Sample], currency: str) -> Iterator[str]:
    name = family.name_in(currency)
    yield f"# TYPE {name} gauge"
    if family.unit:
        yield f"# UNIT {name} {family.unit_in(currency)}"
    yield f"# HELP {name} {family.help}"
    for sample in samples:
        pairs = zip(family.labels, sample.labels, strict=True)
        labels = ",".join(f'{label}="{_escaped(value)}"' for label, value in pairs)
        yield f"{name}{{{labels}}} {_number(sample.value)}"


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in value)


def _number(value: Fraction | float) -> str:
    rounded = round(float(value), _PLACES)
    return str(int(rounded)) if rounded.is_integer() else f"{rounded:.{_PLACES}f}".rstrip("0")
