"""The shapes of policy values: blocks, lists and maps of fields, and the kinds of single values."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Final, Generic, TypeVar

from shared.core.policy import scalars
from shared.core.policy.field import Fault, Field, Path, Shape, Wrong, unknown_field, wrong_value
from shared.core.policy.values import (
    DEFAULT_ZONE,
    KARPENTERS_REASONS,
    Budget,
    Freeze,
    Limit,
    NamespaceRate,
    Rate,
    Schedule,
    WaveLimits,
)

T = TypeVar("T")
_UNQUOTED: Final = {"boolean": "true|false", "integer": "[0-9]{1,9}", "number": r"[0-9]{1,9}(\.[0-9]{1,12})?"}
"""By type in the schema: text that has a value of that type."""


@dataclass(frozen=True, slots=True)
class Single(Generic[T]):
    """One value, by a reader of `scalars`, with the JSON Schema of the same rule for an editor."""

    reader: Callable[[Any], T]
    schema: Mapping[str, Any]

    def read(self, written: Any, path: Path) -> T:
        try:
            return self.reader(written)
        except ValueError as error:
            # Text may be a value of the field without its quotes.
            pattern = _UNQUOTED.get(self.schema.get("type", ""))
            quoted = pattern and isinstance(written, str) and re.fullmatch(pattern, written, re.ASCII)
            quotes = ", without quotes" if quoted else ""
            raise Wrong([wrong_value(path, written, f"{error}{quotes}")]) from error


@dataclass(frozen=True, slots=True)
class ListOf(Generic[T]):
    item: Shape[T]
    most: int | None = None

    def read(self, written: Any, path: Path) -> tuple[T, ...]:
        if not isinstance(written, list):
            raise Wrong([wrong_value(path, written, "write a list")])
        if self.most is not None and len(written) > self.most:
            raise Wrong([wrong_value(path, written, f"write at most {self.most}")])
        return tuple(_read_all(partial(self.item.read, item, (*path, place)) for place, item in enumerate(written)))


@dataclass(frozen=True, slots=True)
class SetOf(Generic[T]):
    item: Shape[T]
    most: int | None = None

    def read(self, written: Any, path: Path) -> frozenset[T]:
        return frozenset(ListOf(self.item, self.most).read(written, path))


@dataclass(frozen=True, slots=True)
class ByName(Generic[T]):
    item: Shape[T]

    def read(self, written: Any, path: Path) -> dict[str, T]:
        if not isinstance(written, dict):
            raise Wrong([wrong_value(path, written, "write a mapping of names to settings")])
        return dict(_read_all(partial(self._entry, name, item, path) for name, item in written.items()))

    def _entry(self, name: Any, written: Any, path: Path) -> tuple[str, T]:
        first, second = _read_all((partial(_read_name, name, path), partial(self.item.read, written, (*path, name))))
        return first, second


@dataclass(frozen=True, slots=True)
class Block(Generic[T]):
    """A mapping that is one value: complete in itself, written as a whole or not at all."""

    title: str
    text: str
    fields: tuple[Field, ...]
    make: Callable[[Mapping[str, Any]], T]

    def read(self, written: Any, path: Path) -> T:
        return self.make(_known_values(self.fields, written, path))


@dataclass(frozen=True, slots=True)
class Group:
    """A mapping of settings: what was not written stays open, so that another group can be laid under it."""

    title: str
    text: str
    fields: tuple[Field, ...]

    def read(self, written: Any, path: Path) -> dict[str, Any]:
        known = _known_values(self.fields, written, path)
        return {name: known[name] for name in written}


def _known_values(fields: tuple[Field, ...], written: Any, path: Path) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise Wrong([wrong_value(path, written, "write a mapping of settings")])
    known: dict[str, Any] = {}
    faults: list[Fault] = []
    for field in fields:
        try:
            known[field.name] = field.read(written, path, known)
        except Wrong as wrong:
            faults += wrong.faults
    names = [field.name for field in fields]
    others = [name for name in written if name not in names]
    faults += (
        unknown_field((*path, name), names) if isinstance(name, str) else _no_name(name, path) for name in others
    )
    if faults:
        raise Wrong(faults)
    return known


def _read_all(readers: Iterable[Callable[[], Any]]) -> list[Any]:
    values: list[Any] = []
    faults: list[Fault] = []
    for read in readers:
        try:
            values.append(read())
        except Wrong as wrong:
            faults += wrong.faults
    if faults:
        raise Wrong(faults)
    return values


def _read_name(name: Any, path: Path) -> str:
    if not isinstance(name, str):
        raise Wrong([_no_name(name, path)])
    return name


def _no_name(name: Any, path: Path) -> Fault:
    return wrong_value((*path, name), name, "write the name as text")


W = TypeVar("W", bound=StrEnum)


def _text(reader: Callable[[Any], T], pattern: str, *examples: str) -> Single[T]:
    return Single(reader, {"type": "string", "pattern": f"^({pattern})$", "examples": list(examples)})


def _choice(words: dict[str, T]) -> Single[T]:
    return Single(scalars.word_of(words), {"enum": list(words)})


def one_of(kind: type[W], **also: W) -> Single[W]:
    """Return the shape of an enum's values; `also` are further words for some of them."""
    return _choice({**{member.value: member for member in kind}, **also})


_REASONS: Final = ("underutilized", "empty", "expired", *KARPENTERS_REASONS)

FLAG: Final = Single(scalars.flag, {"type": "boolean"})
DURATION: Final = _text(scalars.duration, f"{scalars.DURATION_PATTERN}|0", "20m", "1h30m", "30d")
POSITIVE_DURATION: Final = _text(scalars.positive_duration, scalars.DURATION_PATTERN, "8m30s", "25m")
DURATION_OR_NEVER: Final = _text(
    scalars.duration_or_never, f"{scalars.DURATION_PATTERN}|0|{scalars.NEVER}", "5m", scalars.NEVER
)
WINDOW_DURATION: Final = _text(scalars.window_duration, scalars.WINDOW_PATTERN, "8h", "1h30m")
RATE_PERIOD: Final = _text(scalars.rate_period, scalars.WINDOW_PATTERN, "1h")
NODE_LIMIT: Final = Single(
    scalars.limit,
    {
        "anyOf": [{"minimum": 0, "type": "integer"}, {"pattern": f"^({scalars.LIMIT_PATTERN})$", "type": "string"}],
        "examples": ["10%", 5],
    },
)
PERCENT: Final = _text(scalars.percent, scalars.PERCENT_PATTERN, "10%")
COUNT: Final = Single(scalars.whole(0), {"type": "integer", "minimum": 0})
SEVERAL: Final = Single(scalars.whole(1), {"type": "integer", "minimum": 1})
RATIO: Final = Single(scalars.ratio, {"type": "number", "exclusiveMinimum": 0, "maximum": 1})
THRESHOLD: Final = Single(scalars.decimal_of("a number of nodes such as 2 or 1.5"), {"type": "number", "minimum": 0})
DOLLARS: Final = Single(scalars.decimal_of("dollars such as 1 or 0.5"), {"type": "number", "minimum": 0})
CRON: Final = Single(scalars.schedule, {"type": "string", "examples": ["0 9 * * mon-fri"]})
ZONE: Final = Single(scalars.time_zone, {"type": "string", "examples": ["UTC", "Europe/Amsterdam"]})
MOMENT: Final = Single(scalars.moment, {"type": "string", "examples": ["2026-11-27", "2026-11-27T18:00"]})
TAINT_KEY: Final = _text(scalars.taint_key, scalars.TAINT_KEY_PATTERN, "example.com/dedicated")
REASON: Final = _choice({spelling(word): word for spelling in (str, str.capitalize) for word in _REASONS})
IGNORABLE: Final = _choice({word: word for word in ("windows", "budgets", "gates")})


Known = Mapping[str, Any]
_SHORTEST_WAVE: Final = timedelta(minutes=6)
"""Passes are five minutes apart. A wave that the next one does not find alive leaves timeGap without effect."""
MOST_BUDGETS: Final = 50  # As in Karpenter's v1 API.
_PERIOD: Final = Field("per", RATE_PERIOD, "The period; minutes or more, at most 7d.")
_ZONE: Final = Field(
    "timeZone", ZONE, "IANA time zone of the schedule. Default {default}, as in Karpenter.", DEFAULT_ZONE
)


def _both_or_neither(duration: object, known: Known) -> None:
    if "schedule" in known and (known["schedule"] is None) != (duration is None):
        raise ValueError("schedule and duration belong together; write both or neither")


def _after_start(end: datetime, known: Known) -> None:
    if {"from", "timeZone"} <= known.keys() and scalars.at(end, known["timeZone"]) <= scalars.at(
        known["from"], known["timeZone"]
    ):
        raise ValueError("it does not lie after from; write a later date or time")


def _some_nodes(nodes: Limit, _: Known) -> None:
    if not nodes.of(1):
        raise ValueError("write at least one node, or leave cluster.wave out")


def _several_passes(deadline: timedelta, _: Known) -> None:
    if deadline < _SHORTEST_WAVE:
        raise ValueError("write at least 6m, so that a second pass finds the wave, such as 90m")


def _schedule(known: Known) -> Schedule:
    return Schedule(known["schedule"], known["duration"], known["timeZone"])


def _budget(known: Known) -> Budget:
    return Budget(known["nodes"], _schedule(known) if known["schedule"] else None, known["reasons"])


def _freeze(known: Known) -> Freeze:
    zone = known["timeZone"]
    return Freeze(scalars.at(known["from"], zone), scalars.at(known["to"], zone))


SCHEDULE: Final = Block(
    "ScheduleSection",
    "When something is active: a duration of elapsed time after each hit of a cron schedule.",
    (
        Field("schedule", CRON, "Cron schedule of five fields (minute, hour, day of month, month, weekday)."),
        Field("duration", WINDOW_DURATION, "How long it is active after each hit; minutes or more."),
        _ZONE,
    ),
    _schedule,
)
BUDGET: Final = Block(
    "BudgetSection",
    "How many nodes may be in disruption at once. The most restrictive active budget wins.",
    (
        Field("nodes", NODE_LIMIT, "Nodes, or a percentage of the pool (in cluster: of the cluster), rounded up."),
        Field(
            "reasons",
            SetOf(REASON, MOST_BUDGETS),
            "Reasons it binds; default all. `drifted` and `unhealthy` are accepted for Karpenter's sake and never "
            "match.",
            [],
        ),
        Field("schedule", CRON, "Cron schedule of five fields, with duration. Without both: always active.", None),
        Field(
            "duration", WINDOW_DURATION, "For how long after each hit; minutes or more.", None, written=_both_or_neither
        ),
        _ZONE,
    ),
    _budget,
)
RATE: Final = Block(
    "RateSection",
    "How many drains may start within any period of that length: a speed, where budgets limit concurrency.",
    (Field("nodes", NODE_LIMIT, "Whole number of nodes, or a percentage, rounded up."), _PERIOD),
    lambda known: Rate(known["nodes"], known["per"]),
)
NAMESPACE_RATE: Final = Block(
    "NamespaceRateSection",
    "How many pods of one namespace drains may move within any period of that length, so that no team carries all.",
    (Field("pods", SEVERAL, "Whole number of pods; a node with more of one namespace never goes."), _PERIOD),
    lambda known: NamespaceRate(known["pods"], known["per"]),
)
WAVE: Final = Block(
    "WaveSection",
    "One fixed set of nodes that is proved as a whole, drained in turn, and marked so that pods prefer other nodes.",
    (
        Field("nodes", NODE_LIMIT, "Nodes of a wave, or a percentage of all, rounded up.", "30%", check=_some_nodes),
        Field(
            "deadline",
            WINDOW_DURATION,
            "A wave ends after this time at the latest; 6m or more. Default {default}.",
            "90m",
            check=_several_passes,
        ),
    ),
    lambda known: WaveLimits(known["nodes"], known["deadline"]),
)
FREEZE: Final = Block(
    "FreezeSection",
    "No drain starts in this time. It ends before `to`: to freeze 27 November alone, write to: 2026-11-28.",
    (
        Field("timeZone", ZONE, "IANA time zone of from and to. Default {default}.", DEFAULT_ZONE),
        Field("from", MOMENT, "Date (its first instant) or time."),
        Field("to", MOMENT, "Date (its first instant) or time; no longer frozen from then on.", check=_after_start),
    ),
    _freeze,
)
BUDGETS: Final = ListOf(BUDGET, MOST_BUDGETS)
WINDOWS: Final = ListOf(SCHEDULE, MOST_BUDGETS)
