"""The policy's JSON Schema, made from its fields, for editors and Terraform; `make schema` writes it."""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from shared.core.policy.field import REQUIRED, Field
from shared.core.policy.parsing import DOCUMENT
from shared.core.policy.shapes import Block, ByName, Group, ListOf, SetOf, Single

Part = dict[str, Any]


@cache
def schema() -> Part:
    sections = {section.title: _section(section) for section in _sections(DOCUMENT.fields)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(sorted(sections.items()))}
    return {**head, **_section(DOCUMENT)}


def _sections(fields: Iterable[Field]) -> Iterator[Block[Any] | Group]:
    for field in fields:
        shape: object = field.shape
        while isinstance(shape, ListOf | SetOf | ByName):
            shape = shape.item
        if isinstance(shape, Block | Group):
            yield shape
            yield from _sections(shape.fields)


def _section(section: Block[Any] | Group) -> Part:
    required = [field.name for field in section.fields if field.default is REQUIRED]
    return _sort_parts(
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
    return _sort_parts(description=field.description, **part, **default, **title)


def _shape(shape: object) -> Part:
    match shape:
        case Block() | Group():
            return {"$ref": f"#/$defs/{shape.title}"}
        case ByName():
            return {"additionalProperties": _shape(shape.item), "type": "object"}
        case ListOf() | SetOf():
            most = {} if shape.most is None else {"maxItems": shape.most}
            return _sort_parts(items=_shape(shape.item), type="array", **most)
        case Single():
            return _sort_parts(**shape.schema)
        case _:
            raise TypeError(shape)


def _sort_parts(**rows: Any) -> Part:
    """Return them in the order of their names, so that the file changes where a field does and nowhere else."""
    return dict(sorted(rows.items()))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
