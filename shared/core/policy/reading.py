"""From the bytes of a policy to plain values: JSON, or YAML in its 1.2 core schema. Nothing is trusted.

Decimals are kept as they were written, because 0.9 must be nine tenths. Refused are documents that are too large, too
deep or repeated too often by anchors, keys that stand twice, and tags. A null counts as an absent key (Terraform).
"""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import chain
from typing import Any, Final

import yaml

from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy

MOST_BYTES_OF_MANY: Final = 2 * 1024 * 1024  # Of a file of several documents, as `kubectl` prints them.
_REMEDIES: Final = {
    r"character '\t'": "indent with spaces, not with tabs",
    "expected ',' or '}'": "close the brace, or put a comma before the next field",
    "expected ',' or ']'": "close the bracket, or put a comma before the next item",
    "expected <block end>": "indent it like its neighbours: fields of one section stand in one column",
    "mapping values are not allowed here": "put a line break before the field, or quotes around a text with `: ` in it",
    "could not find expected ':'": "write `name: value`, with a blank after the colon",
    "found unexpected end of stream": "close the quotes",
    "found another document": "write one document; NodePools of Karpenter are for `ebb policy import karpenter`",
}
"""By words of PyYAML: what to do."""

_OF_KUBERNETES: Final = b"apiVersion"  # Where it stands near the beginning, kubectl has printed the file.
_BEGINNING: Final = 4096
_PACKED: Final = b"\x1f\x8b"  # How gzip begins.
FOR_A_DUMP: Final = "`ebb policy init FILE` prints a policy for it."


def read(data: bytes) -> dict[Any, Any]:
    """Return the document's mapping with plain values, decimals as `Decimal`."""
    # BadPolicy names the place and the remedy.
    document = _decode_yaml(data, MOST_POLICY_BYTES, _load)
    if not isinstance(document, dict):
        raise BadPolicy("policy: it is empty or no mapping; write at least `nodePools: {}`.")
    return document


def read_each(data: bytes) -> list[Any]:
    """Return the plain values of every document of a file, for what `kubectl` prints; as trusting as `read`."""
    rows: list[Any] = _decode_yaml(data, MOST_BYTES_OF_MANY, _load_each)
    return [row for row in rows if row is not None]


def _decode_yaml(data: bytes, most: int, load: Callable[[str], Any]) -> Any:
    if data.startswith(_PACKED):
        raise BadPolicy(f"policy: it is packed by gzip, as dumps are, and no policy; {FOR_A_DUMP}")
    if len(data) > most:
        hint = f" It looks like a dump of a cluster; {FOR_A_DUMP}" if _OF_KUBERNETES in data[:_BEGINNING] else ""
        raise BadPolicy(f"policy: {len(data)} bytes are too many; write at most {most}.{hint}")
    try:
        return without_nulls(load(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise BadPolicy(f"policy: byte {error.start} is not UTF-8; save the file as UTF-8.") from error
    except RecursionError as error:
        raise BadPolicy("policy: it is nested too deeply; write it flat, as in docs/policy.md.") from error


def _load(text: str) -> Any:
    document = _load_json(text)
    if document is not None:
        return document
    with _yaml_faults():
        loader = Loader(text)
        node = loader.get_single_node()
        refuse_bombs(node)
        return None if node is None else loader.construct_document(node)


def _load_json(text: str) -> Any:
    """Return a JSON object, or None for what may be a YAML flow mapping, or a fault that YAML names with its line."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=_unique_keys, parse_constant=_no_such_number)
    except (ValueError, ArithmeticError):
        return None


def _load_each(text: str) -> list[Any]:
    document = _load_json(text)
    if document is not None:
        return [document]
    documents: list[Any] = []
    with _yaml_faults():
        loader = Loader(text)
        while loader.check_node():
            node = loader.get_node()
            refuse_bombs(node)
            documents.append(loader.construct_document(node))
    return documents


@contextmanager
def _yaml_faults() -> Iterator[None]:
    try:
        yield
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        raise BadPolicy(f"policy: {_where(error)} cannot be read as YAML or JSON; {_remedy(error)}.") from error


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = shorten_text(getattr(error, "problem", None) or str(error).splitlines()[0])
    return f"line {mark.line + 1}, column {mark.column + 1} ({problem})" if mark else f"it ({problem})"


def _remedy(error: Exception) -> str:
    problem = str(getattr(error, "problem", ""))
    return next((remedy for words, remedy in _REMEDIES.items() if words in problem), "fix it there")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise BadPolicy(f"policy: the key {shorten_text(key)!r} stands twice in one mapping; keep one of them.")
        seen[key] = value
    return seen


def _no_such_number(text: str) -> Any:
    raise BadPolicy(f"policy: {text} is no number that JSON knows; write a finite one.")


def without_nulls(value: Any) -> Any:
    """Leave out every key whose value is null; a pool named with nothing behind it has all defaults."""
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    pools = value.get("nodePools")
    rows = {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(pools, dict):
        rows["nodePools"] = {key: {} if pool is None else without_nulls(pool) for key, pool in pools.items()}
    return rows


MOST_VALUES: Final = 100_000  # What the document may hold once its anchors are written out.
_MOST_REPEATED: Final = 100
_NUMBERS_AND_WORDS: Final = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", "<<", "<"),
)


def shorten_text(text: str) -> str:
    return text if len(text) <= _MOST_REPEATED else f"{text[:_MOST_REPEATED]}…"


class Loader(yaml.SafeLoader):
    """YAML 1.2 core: `yes` is text, `010` is ten, `2026-11-27` and `9:00` are text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own form


def _construct_mapping(loader: Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = (key_node.tag, str(key_node.value))
        if key in seen:
            line, repeated = key_node.start_mark.line + 1, shorten_text(key_node.value)
            raise BadPolicy(f"policy: line {line}: the key {repeated!r} stands twice; keep one of them.")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


def _construct_int(loader: Loader, node: yaml.ScalarNode) -> int:
    return int(str(loader.construct_scalar(node)))


def _construct_decimal(loader: Loader, node: yaml.ScalarNode) -> Decimal:
    return Decimal(str(loader.construct_scalar(node)))


for _word, _pattern, _first in _NUMBERS_AND_WORDS:
    _starts = ["" if letter == "\0" else letter for letter in _first]
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_word}", re.compile(f"(?:{_pattern})$"), _starts)
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
        children = chain.from_iterable(node.value)
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    sizes[id(node)] = size = 1 + sum(_written_out(child, sizes) for child in children)
    return size
