"""docs/policy.md and the policy's JSON schema, written from the declarations of the fields."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shared.core.policy.field import REQUIRED, Field
from shared.core.policy.parsing import DOCUMENT
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
from shared.core.policy.shapes import Block, ByName, Group, ListOf, SetOf, Single
from shared.core.rules.gates import CLAIM_GATES, GATES

_GATES_HEAD: Final = "| | word | reads | checked by |\n|---|---|---|---|\n"


def gates() -> str:
    """Return the table of the gates in their order, with what each reads of the policy."""
    return f"{_GATES_HEAD}{''.join(_gates())}"


def _gates() -> Iterator[str]:
    for number, gate in enumerate(GATES, start=1):
        who = "pass and claim" if gate in CLAIM_GATES else "pass"
        yield f"| {number} | `{gate.reason.value}` | {gate.reads} | {who} |\n"


Part = dict[str, Any]


@cache
def schema() -> Part:
    """Return the schema."""
    sections = {each.title: _section(each) for each in _sections(DOCUMENT.fields)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(sorted(sections.items()))}
    return {**head, **_section(DOCUMENT)}


def _sections(fields: Iterable[Field]) -> Iterator[Block[Any] | Group]:
    """Yield every mapping below these fields."""
    for field in fields:
        shape: object = field.shape
        while isinstance(shape, ListOf | SetOf | ByName):
            shape = shape.item
        if isinstance(shape, Block | Group):
            yield shape
            yield from _sections(shape.fields)


def _section(section: Block[Any] | Group) -> Part:
    required = [field.name for field in section.fields if field.default is REQUIRED]
    return _sorted(
        additionalProperties=False,
        description=section.text,
        properties={field.name: _property(field) for field in section.fields},
        title=section.title,
        type="object",
        **({"required": required} if required else {}),
    )


def _property(field: Field) -> Part:
    shape = _shape(field.shape)
    part = {"anyOf": [shape, {"type": "null"}]} if field.default is None else shape
    default = {} if field.default is REQUIRED else {"default": field.default}
    title = {} if "$ref" in shape else {"title": field.name.capitalize()}
    return _sorted(description=field.description, **part, **default, **title)


def _shape(shape: object) -> Part:
    match shape:
        case Block() | Group():
            return {"$ref": f"#/$defs/{shape.title}"}
        case ByName():
            return {"additionalProperties": _shape(shape.item), "type": "object"}
        case ListOf() | SetOf():
            most = {} if shape.most is None else {"maxItems": shape.most}
            return _sorted(items=_shape(shape.item), type="array", **most)
        case Single():
            return _sorted(**shape.schema)
        case _:
            raise TypeError(shape)


def _sorted(**rows: Any) -> Part:
    """Return them in the order of their names, so that the file changes where a field does and nowhere else."""
    return dict(sorted(rows.items()))


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
    """Return every field of the schema as one Markdown table."""
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
    choices = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
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
    patterns = [each.get("pattern") for each in (part, *part.get("anyOf", ()))]
    text = next((_TEXTS[pattern] for pattern in patterns if pattern in _TEXTS), "")
    return text or _number(part) or _KINDS[part["type"]]


def _number(part: SchemaPart) -> str:
    kind = {"integer": "whole number", "number": "decimal"}.get(part.get("type", ""), "")
    if not kind:
        return ""
    lowest = f" above {part['exclusiveMinimum']}" if "exclusiveMinimum" in part else f" from {part['minimum']}"
    return f"{kind}{lowest}" + (f" up to {part['maximum']}" if "maximum" in part else "")
