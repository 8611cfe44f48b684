"""From the bytes of a policy to plain values: JSON, or YAML as `yaml_core` reads it. Nothing is trusted.

Decimals are kept as they were written, because 0.9 must be nine tenths. Refused with one sentence each: documents
that are too large, too deep or too much repeated by anchors, keys that stand twice, tags. A key whose value is null
counts as absent (Terraform writes optional values so). Must not know the policy's fields.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import yaml

from shared.core.policy.values import MOST_POLICY_BYTES
from shared.core.policy.yaml_core import Loader, refuse_bombs, shortened
from shared.errors import BadPolicy

MOST_BYTES_OF_MANY: Final = 2 * 1024 * 1024
"""Of a file of several documents, as `kubectl` prints them, with all that the API server adds."""
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

_OF_KUBERNETES: Final = b"apiVersion"
"""Where it stands near the beginning, kubectl has printed the file."""
_BEGINNING: Final = 4096


def read(data: bytes) -> dict[Any, Any]:
    """Return the document's mapping with plain values; decimals as `Decimal`.

    Raises:
        BadPolicy: the bytes are no such document; the sentence says where and what to do.
    """
    document = _decoded(data, MOST_POLICY_BYTES, _load)
    if not isinstance(document, dict):
        raise BadPolicy("policy: it is empty or no mapping; write at least `nodePools: {}`.")
    return document


def read_each(data: bytes) -> list[Any]:
    """Return the plain values of every document of a file, for what `kubectl` prints; as trusting as `read`.

    Raises:
        BadPolicy: the bytes are no such documents; the sentence says where and what to do.
    """
    rows: list[Any] = _decoded(data, MOST_BYTES_OF_MANY, _load_each)
    return [each for each in rows if each is not None]


def _decoded(data: bytes, most: int, load: Callable[[str], Any]) -> Any:
    if len(data) > most:
        hint = " It looks like a dump of a cluster: name it with --dump." if _OF_KUBERNETES in data[:_BEGINNING] else ""
        raise BadPolicy(f"policy: {len(data)} bytes are too many; write at most {most}.{hint}")
    try:
        return without_nulls(load(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise BadPolicy(f"policy: byte {error.start} is not UTF-8; save the file as UTF-8.") from error
    except RecursionError as error:
        raise BadPolicy("policy: it is nested too deeply; write it flat, as in docs/policy.md.") from error


def _load(text: str) -> Any:
    found = _load_json(text)
    return _load_yaml(text) if found is None else found


def _load_json(text: str) -> Any:
    """Return a JSON object, or None for what may be a YAML flow mapping, or a fault that YAML names with its line."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=_unique_keys, parse_constant=_no_such_number)
    except (ValueError, ArithmeticError):
        return None


def _load_yaml(text: str) -> Any:
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        refuse_bombs(node)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        raise BadPolicy(f"policy: {_where(error)} cannot be read as YAML or JSON; {_remedy(error)}.") from error


def _load_each(text: str) -> list[Any]:
    found = _load_json(text)
    if found is not None:
        return [found]
    try:
        loader, documents = Loader(text), []
        while loader.check_node():
            node = loader.get_node()
            refuse_bombs(node)
            documents.append(loader.construct_document(node))
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        raise BadPolicy(f"policy: {_where(error)} cannot be read as YAML or JSON; {_remedy(error)}.") from error
    return documents


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = shortened(getattr(error, "problem", None) or str(error).splitlines()[0])
    return f"line {mark.line + 1}, column {mark.column + 1} ({problem})" if mark else f"it ({problem})"


def _remedy(error: Exception) -> str:
    """Return what helps against the mistakes that are made most."""
    problem = str(getattr(error, "problem", ""))
    return next((remedy for words, remedy in _REMEDIES.items() if words in problem), "fix it there")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise BadPolicy(f"policy: the key {shortened(key)!r} stands twice in one mapping; keep one of them.")
        seen[key] = value
    return seen


def _no_such_number(text: str) -> Any:
    raise BadPolicy(f"policy: {text} is no number that JSON knows; write a finite one.")


def without_nulls(value: Any) -> Any:
    """Leave out every key whose value is null; a pool named with nothing behind it has all defaults."""
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    if not isinstance(value, dict):
        return value
    pools = value.get("nodePools")
    rows = {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(pools, dict):
        rows["nodePools"] = {key: without_nulls(each) if each is not None else {} for key, each in pools.items()}
    return rows
