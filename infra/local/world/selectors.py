"""Label selectors, node selector terms and field selectors, read the way the API server reads them.

Pure matching; nothing here knows where the objects come from.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from infra.local.world.kinds import Json

Labels = Mapping[str, str]
_SET = re.compile(r"^\s*(\S+)\s+(in|notin)\s*\(([^)]*)\)\s*$")
_SPLIT = re.compile(r",(?![^(]*\))")


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def _greater(value: str | None, limit: str, sign: int) -> bool:
    left, right = _number(value), _number(limit)
    return left is not None and right is not None and sign * left > sign * right


def requirement_holds(value: str | None, operator: str, values: Sequence[str]) -> bool:
    """Does one requirement hold for a label's value (None: absent)? ValueError names an unknown operator."""
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _greater(value, values[0], 1)
        case "Lt":
            return _greater(value, values[0], -1)
    raise ValueError(f"{operator!r} is not a selector operator: use In, NotIn, Exists, DoesNotExist, Gt or Lt")


def matches(selector: Json | None, labels: Labels) -> bool:
    """A metav1.LabelSelector against labels: an absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: dict[str, str] = selector.get("matchLabels") or {}
    expressions: list[Json] = selector.get("matchExpressions") or []
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        requirement_holds(labels.get(item["key"]), item["operator"], item.get("values") or []) for item in expressions
    )


def _holds_in_text(part: str, labels: Labels) -> bool:
    found = _SET.match(part)
    if found:
        key, operator, listed = found.groups()
        values = [item.strip() for item in listed.split(",")]
        return requirement_holds(labels.get(key), "In" if operator == "in" else "NotIn", values)
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        if sign in part:
            key, _, value = part.partition(sign)
            return (labels.get(key.strip()) == value.strip()) is equal
    text = part.strip()
    return labels.get(text[1:].strip()) is None if text.startswith("!") else text in labels


def text_matches(text: str, labels: Labels) -> bool:
    """A `labelSelector` query (equality and set based, joined by commas) against labels."""
    return all(_holds_in_text(part, labels) for part in _parts(text))


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in _SPLIT.split(text) if part.strip())


def _field(thing: Any, path: str) -> str:
    for step in path.split("."):
        thing = thing.get(step) if isinstance(thing, dict) else None
    return "" if thing is None else str(thing)


@lru_cache(maxsize=1024)
def _field_parts(text: str) -> tuple[tuple[str, bool, str], ...]:
    parts = []
    for part in filter(None, text.split(",")):
        sign = "!=" if "!=" in part else "="
        path, _, value = part.replace("==", "=").partition(sign)
        parts.append((path.strip(), sign == "=", value.strip()))
    return tuple(parts)


def field_paths(text: str) -> list[str]:
    """The paths that a `fieldSelector` query asks for."""
    return [path for path, _, _ in _field_parts(text)]


def fields_match(text: str, thing: Json) -> bool:
    """A `fieldSelector` query (`path=value`, `path!=value`) against an object."""
    return all((_field(thing, path) == value) is equal for path, equal, value in _field_parts(text))


def _term_holds(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return all(
        requirement_holds(labels.get(item["key"]), item["operator"], item.get("values") or []) for item in expressions
    ) and all(
        requirement_holds(_field(node, item["key"]), item["operator"], item.get("values") or []) for item in fields
    )


def node_selector_holds(selector: Json | None, node: Json) -> bool:
    """A v1.NodeSelector against a node: terms are alternatives; an absent selector admits every node."""
    return selector is None or any(_term_holds(term, node) for term in selector.get("nodeSelectorTerms") or [])
