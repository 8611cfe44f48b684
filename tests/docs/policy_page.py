"""The tables of docs/policy.md, written from the policy's schema and from the gates: `make pages` puts them there."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.core.policy.scalars import (
    CLUSTER_NAME_PATTERN,
    DISCOUNT_PATTERN,
    DURATION_PATTERN,
    LIMIT_PATTERN,
    NEVER,
    PERCENT_PATTERN,
    TAINT_KEY_PATTERN,
    WINDOW_PATTERN,
)
from shared.core.rules.gates import CLAIM_GATES, GATES

_GATES_HEAD: Final = "| | word | reads | checked by |\n|---|---|---|---|\n"


def gates() -> str:
    return f"{_GATES_HEAD}{''.join(_gates())}"


def _gates() -> Iterator[str]:
    for number, gate in enumerate(GATES, start=1):
        who = "pass and claim" if gate in CLAIM_GATES else "pass"
        yield f"| {number} | `{gate.reason.value}` | {gate.reads} | {who} |\n"


SchemaPart = Mapping[str, Any]
_TEXTS: Final = {
    f"^({DURATION_PATTERN}|0)$": "duration",
    f"^({DURATION_PATTERN})$": "duration above zero",
    f"^({DURATION_PATTERN}|0|{NEVER})$": f"duration or `{NEVER}`",
    f"^({WINDOW_PATTERN})$": "duration in minutes or more",
    f"^({PERCENT_PATTERN})$": "percentage",
    f"^({LIMIT_PATTERN})$": "number, or percentage rounded up",
    f"^({TAINT_KEY_PATTERN})$": "key of a taint",
    f"^({CLUSTER_NAME_PATTERN})$": "name of a cluster",
    f"^({DISCOUNT_PATTERN})$": "percentage below 100",
}
"""What each pattern of the schema asks for."""
_KINDS: Final = {"boolean": "`true` or `false`", "string": "text", "object": "mapping"}
_HEAD: Final = "| field | value | meaning | default, and why |\n|---|---|---|---|\n"
_DEFAULT: Final = " Default "


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field: its path, what may be written with its unit, its meaning, its default with the reason for it."""

    path: str
    value: str
    meaning: str
    default: str

    def __str__(self) -> str:
        return f"| `{self.path}` | {self.value} | {self.meaning} | {self.default} |"


def table(schema: SchemaPart) -> str:
    return _HEAD + "\n".join(map(str, rows(schema))) + "\n"


def rows(schema: SchemaPart) -> Iterator[FieldRow]:
    """Yield a row for every field, in the order of the models; `defaults` holds the fields of a pool once."""
    yield from _fields(schema, "", schema["$defs"])


def _fields(section: SchemaPart, path: str, sections: SchemaPart) -> Iterator[FieldRow]:
    for name, field in section["properties"].items():
        part, list_of = _inner(field, sections)
        own = f"{path}{name}"
        yield _row(own, field, part, required=name in section.get("required", ()))
        if name != "defaults" and "properties" in part:
            yield from _fields(part, f"{own}{list_of}.", sections)


def _inner(field: SchemaPart, sections: SchemaPart) -> tuple[SchemaPart, str]:
    """Return what a field holds in the end, and how a path shows that it holds many of them."""
    part = _all_of_it(field, sections)
    if part.get("type") == "array":
        return {"type": "array", **_all_of_it(part["items"], sections), "list": True}, "[]"
    if isinstance(part.get("additionalProperties"), Mapping):
        return _all_of_it(part["additionalProperties"], sections), ".NAME"
    return part, ""


def _all_of_it(field: SchemaPart, sections: SchemaPart) -> SchemaPart:
    """Return a field without the choice of leaving it out, and what it refers to."""
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    part = choices[0] if len(choices) == 1 else field
    return sections[part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part


def _row(path: str, field: SchemaPart, part: SchemaPart, *, required: bool) -> FieldRow:
    meaning, _, why = field["description"].partition(_DEFAULT)
    value = f"list of: {_value(part)}" if part.get("list") else _value(part)
    default = "required" if required else why.removesuffix(".") or _default(field)
    return FieldRow(path, value, meaning, default)


def _default(field: SchemaPart) -> str:
    value = field.get("default")
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value)
    return "empty" if value in ([], {}) else f"`{text}`"


def _value(part: SchemaPart) -> str:
    if "properties" in part:
        return "mapping"
    if "enum" in part:
        return ", ".join(f"`{word}`" for word in part["enum"])
    patterns = [choice.get("pattern") for choice in (part, *part.get("anyOf", ()))]
    text = next((_TEXTS[pattern] for pattern in patterns if pattern in _TEXTS), "")
    return text or _number(part) or _KINDS[part["type"]]


def _number(part: SchemaPart) -> str:
    kind = {"integer": "whole number", "number": "decimal"}.get(part.get("type", ""), "")
    if not kind:
        return ""
    lowest = f" above {part['exclusiveMinimum']}" if "exclusiveMinimum" in part else f" from {part['minimum']}"
    return f"{kind}{lowest}" + (f" up to {part['maximum']}" if "maximum" in part else "")
