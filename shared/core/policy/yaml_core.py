"""YAML in its 1.2 core schema, within bounds: no key twice in a mapping, no anchors that write out to a flood.

Decimals are kept as they were written. Must not know the policy's fields, nor what a document is for.
"""

import re
from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import Any, Final

import yaml

from shared.errors import BadPolicy

MOST_VALUES: Final = 100_000
"""What the document may hold once its anchors are written out."""
_MOST_REPEATED: Final = 100
_NUMBERS_AND_WORDS: Final = (
    ("null", re.compile(r"~|null|Null|NULL|"), "~nN\0"),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("int", re.compile(r"[-+]?[0-9]+"), "-+0123456789"),
    ("float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), "-+.0123456789"),
)


def shortened(text: str) -> str:
    """Return so much of the document's own words as a sentence may repeat."""
    return text if len(text) <= _MOST_REPEATED else f"{text[:_MOST_REPEATED]}…"


class Loader(yaml.SafeLoader):
    """YAML 1.2 core: `yes` is text, `010` is ten, `2026-11-27` and `9:00` are text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own form


def _resolvers() -> Iterable[tuple[str, re.Pattern[str], list[str]]]:
    for word, pattern, first in _NUMBERS_AND_WORDS:
        starts = ["" if letter == "\0" else letter for letter in first]
        yield f"tag:yaml.org,2002:{word}", re.compile(f"(?:{pattern.pattern})$"), starts
    yield "tag:yaml.org,2002:merge", re.compile(r"<<$"), ["<"]


def _construct_mapping(loader: Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = (key_node.tag, str(key_node.value))
        if key in seen:
            line, repeated = key_node.start_mark.line + 1, shortened(key_node.value)
            raise BadPolicy(f"policy: line {line}: the key {repeated!r} stands twice; keep one of them.")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


def _construct_int(loader: Loader, node: yaml.ScalarNode) -> int:
    return int(str(loader.construct_scalar(node)))


def _construct_decimal(loader: Loader, node: yaml.ScalarNode) -> Decimal:
    return Decimal(str(loader.construct_scalar(node)))


for _tag, _pattern, _starts in _resolvers():
    Loader.add_implicit_resolver(_tag, _pattern, _starts)
Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
Loader.add_constructor("tag:yaml.org,2002:float", _construct_decimal)


def refuse_bombs(node: yaml.Node | None) -> None:
    if node is not None and _written_out(node, {}) > MOST_VALUES:
        raise BadPolicy(f"policy: its anchors write out to over {MOST_VALUES} values; use `defaults` instead.")


def _written_out(node: yaml.Node, sizes: dict[int, int | None]) -> int:
    """Return how many values the node stands for, each anchor counted wherever it is used."""
    if id(node) in sizes:
        size = sizes[id(node)]
        if size is None:
            raise BadPolicy("policy: an anchor contains itself; write the values out.")
        return size
    sizes[id(node)] = None
    children: Iterable[yaml.Node] = ()
    if isinstance(node, yaml.MappingNode):
        children = (each for pair in node.value for each in pair)
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    sizes[id(node)] = size = 1 + sum(_written_out(child, sizes) for child in children)
    return size
