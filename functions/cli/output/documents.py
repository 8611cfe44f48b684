"""Output for tools: JSON or YAML, GitHub-flavoured markdown, and OpenMetrics 1.0; names are escaped in each."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

import typer

from functions.cli.output.visible import visible, visible_lines

_YAML: Final = "yaml"
_WIDE: Final = 1000
"""Wider than any value: a line is broken nowhere, so that grep finds it."""


def print_document(document: dict[str, Any], output: StrEnum, notes: Sequence[str] = ()) -> None:
    """Print a document on stdout as the output asks, and what a person should know of it on stderr."""
    if notes:
        typer.echo("\n".join(map(visible_lines, notes)), err=True)
    typer.echo(written(document, output))


def written(document: dict[str, Any], output: StrEnum) -> str:
    """Return the document as text, without a line's end."""
    if output != _YAML:
        return json.dumps(document, indent=2, ensure_ascii=False)
    from yaml import safe_dump

    return str(safe_dump(document, sort_keys=False, allow_unicode=True, width=_WIDE)).rstrip()


RIGHT: Final = "--:"
LEFT: Final = "---"
_UNDERSCORE: Final = r"(?<![^\W_])_|_(?![^\W_])"
"""Within a word it marks nothing."""
_MARKUP: Final = re.compile(rf"[&<>|`*\[\]\\~!]|{_UNDERSCORE}")
_FOUND_LATER: Final = re.compile(r"[@#](?=\S)|:(?=//)|www(?=\.)", re.IGNORECASE)
"""What mentions, issues and addresses are known by, in what is rendered: an entity would be a sign again by then."""
_JOINER: Final = "\N{WORD JOINER}"
"""Nobody sees it."""
_NO_PLAIN_LETTER: Final = re.compile(rf"[^\w .,:;/%$+=()…→-]|{_UNDERSCORE}")
_BREAK: Final = re.compile(r"[\t-\r\x85\u2028\u2029]+")


def text(words: str) -> str:
    """Return words of which none is markup, and none calls anyone, names an issue or leads elsewhere."""
    return _MARKUP.sub(_entity, _FOUND_LATER.sub(_joined, _one_line(words)))


def code(name: str) -> str:
    """Return a name or a value as code, whatever letters it has; nothing of an empty one."""
    return f"<code>{_NO_PLAIN_LETTER.sub(_entity, _one_line(name))}</code>" if name.strip() else ""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], figures: Iterable[str] = ()) -> str:
    """Return a table; its cells are markdown already. `figures` are the titles whose cells stand to the right."""
    right = frozenset(figures)
    sides = [RIGHT if title in right else LEFT for title in titles]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, sides, *rows))


def details(summary: str, body: str) -> str:
    """Return what a reader may open; both are markdown already, which after a tag wants an empty line."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _one_line(words: str) -> str:
    return visible(_BREAK.sub(" ", words))


def _entity(found: "re.Match[str]") -> str:
    return f"&#{ord(found[0])};"


def _joined(found: "re.Match[str]") -> str:
    return f"{found[0]}{_JOINER}"


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
