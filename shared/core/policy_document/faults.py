"""Every fault of a policy at once, each as one sentence with its path, the value found and the remedy.

Must not read documents: it words what the models found.
"""

import difflib
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from shared.core.policy_document.misplaced import belongs

Path = tuple[int | str, ...]
_REMEDIES: Final = {
    "bool_type": "write true or false",
    "tuple_type": "write a list",
    "dict_type": "write a mapping of names to settings",
    "mapping_type": "write a mapping of names to settings",
    "model_type": "write a mapping of settings",
    "string_type": "write the name as text",
    "invalid_key": "write the name as text",
}
_UNQUOTED: Final = {"boolean": "true|false", "integer": "[0-9]{1,9}", "number": r"[0-9]{1,9}(\.[0-9]{1,12})?"}
"""By type in the schema: text that is a value of it."""
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def sentences(error: ValidationError, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence a fault, in the document's order; `schema` tells which fields there are."""
    return tuple(_sentence(each, schema) for each in error.errors(include_url=False))


def _sentence(fault: ErrorDetails, schema: Mapping[str, Any]) -> str:
    path, kind = fault["loc"], fault["type"]
    where = path_text(path)
    if kind == "missing":
        return f"{where}: it is missing; write {_example(path, schema)}."
    if kind == "extra_forbidden":
        return f"{where}: there is no such field; {belongs(path, schema) or _nearest(path, schema)}."
    if fault["input"] is None:
        return f"{where}: it is missing; {_remedy(fault)}."
    quotes = ", without quotes" if _is_quoted(fault["input"], _section(path, schema)) else ""
    return f"{where}: value {_SHORT.repr(_plain(fault['input']))} is wrong; {_remedy(fault)}{quotes}."


def _is_quoted(value: Any, field: Mapping[str, Any]) -> bool:
    """Whether it is text that would be what the field asks for, had it no quotes."""
    pattern = _UNQUOTED.get(field.get("type", ""), "")
    return bool(pattern) and isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _remedy(fault: ErrorDetails) -> str:
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    if fault["type"] == "too_long":
        return f"write at most {fault['ctx']['max_length']}"
    return _REMEDIES.get(fault["type"], fault["msg"])


def _plain(value: Any) -> Any:
    """Show decimals and truth values as they were written, not as Python's."""
    if isinstance(value, bool):
        return _Text(str(value).lower())
    return value if isinstance(value, str | int | list | dict) else _Text(str(value))


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def path_text(path: Sequence[int | str]) -> str:
    """Return a path as a person would say it: `nodePools.a.disruption.budgets[0].nodes`."""
    text = "".join(_step(step) for step in path if step != "[key]")
    return text.removeprefix(".") or "policy"


def _step(step: int | str) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    plain = step.isprintable() and 0 < len(step) <= _SHORT.maxstring
    return f".{step if plain else _SHORT.repr(step)}"


def _nearest(path: Path, schema: Mapping[str, Any]) -> str:
    known = list(_section(path[:-1], schema).get("properties", {}))
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(path[-1]).lower(), lower, n=1, cutoff=0.6)
    return f"write {lower[near[0]]}, if that was meant" if near else f"write one of {', '.join(known)}"


def _example(path: Path, schema: Mapping[str, Any]) -> str:
    examples = _section(path, schema).get("examples", [])
    return f"for example {examples[0]}" if examples else "it"


def _section(path: Path, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of the schema that describes what stands at the path."""
    part = _resolved(schema, schema)
    for step in path:
        inner = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step)
        part = _resolved(inner or part.get("additionalProperties") or {}, schema)
    return part


def _resolved(part: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        return {}
    if "$ref" in part:
        name = str(part["$ref"]).rsplit("/", 1)[-1]
        return {**schema["$defs"][name], **{key: each for key, each in part.items() if key != "$ref"}}
    choices = [each for each in part.get("anyOf", []) if each.get("type") != "null"]
    return _resolved(choices[0], schema) if len(choices) == 1 else part
