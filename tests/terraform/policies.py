"""Policies made from the schema, for laws: one that writes every field, and many that are right or wrong by chance."""

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.docs.policy_schema import schema

Document = dict[str, Any]
Pick = Callable[[str, Mapping[str, Any]], Any]
ABSENT: Final = object()
TEXTS: Final = {
    "schedule": "0 9 * * mon-fri",
    "timeZone": "Europe/Amsterdam",
    "from": "2026-11-27",
    "to": "2026-12-01",
    "until": "2027-05-01",
}
WRONG: Final = (-1, "x", "5x", "0", "110%", 1.5, 7, True, "Never")
_DEFS: Final = schema()["$defs"]


def every_field() -> Document:
    return _section(schema(), lambda name, rule: _right(name, rule, random.Random(1)))  # noqa: S311 - a test's choice


def drawn(seed: int, count: int) -> list[Document]:
    """Return policies of few fields, about every other one with a wrong value."""
    dice = random.Random(seed)  # noqa: S311 - a test's choice

    def pick(name: str, rule: Mapping[str, Any]) -> Any:
        chance = dice.random()
        if chance < 0.6:
            return ABSENT
        return dice.choice(WRONG) if chance > 0.996 else _right(name, rule, dice)

    return [_section(schema(), pick) for _ in range(count)]


def _section(part: Mapping[str, Any], pick: Pick) -> Document:
    required = part.get("required", [])
    rows = {name: _value(name, rule, pick) for name, rule in part["properties"].items()}
    missing = {name: _right(name, part["properties"][name], random.Random(1)) for name in required}  # noqa: S311
    found = {name: value for name, value in rows.items() if value is not ABSENT}
    return _both_or_neither({**missing, **found})


def _both_or_neither(rows: Document) -> Document:
    if ("schedule" in rows) != ("duration" in rows):
        return {name: value for name, value in rows.items() if name not in ("schedule", "duration")}
    return rows


def _value(name: str, rule: Mapping[str, Any], pick: Pick) -> Any:
    rule = _one(rule)
    if "$ref" in rule:
        return _section(_DEFS[rule["$ref"].rsplit("/", 1)[-1]], pick)
    if "additionalProperties" in rule:
        pool = _DEFS[rule["additionalProperties"]["$ref"].rsplit("/", 1)[-1]]
        return {"default-pool": _section(pool, pick), "b": _section(pool, pick)}
    if "$ref" in rule.get("items", {}):
        return [_section(_DEFS[rule["items"]["$ref"].rsplit("/", 1)[-1]], pick)]
    return pick(name, rule)


def _one(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(name for name in rule.get("anyOf", [rule]) if name.get("type") != "null")
    return found


def _right(name: str, rule: Mapping[str, Any], dice: random.Random) -> Any:
    rule = _one(rule)
    if "items" in rule:
        return [_right(name, rule["items"], dice)]
    if "enum" in rule:
        return dice.choice(rule["enum"])
    if rule.get("type") in ("integer", "number"):
        return dice.randint(1, 5) if "maximum" not in rule else 0.9
    if rule.get("type") == "boolean":
        return True
    return TEXTS.get(name) or dice.choice(_texts(str(rule.get("pattern", ""))))


def _texts(pattern: str) -> tuple[str, ...]:
    """Return texts that a pattern takes; the schema has a handful of them."""
    if "%" in pattern:
        return ("10%", "0%") if "[0-9]{1,9}" not in pattern else ("10%", "3")
    if "[dhm" in pattern:
        return ("8h", "480m")
    return ("example.com/dedicated",)
