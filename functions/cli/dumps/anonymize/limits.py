"""LimitRanges and ResourceQuotas under other names."""

from collections.abc import Mapping
from typing import Any

from functions.cli.dumps.anonymize.metadata import amounts, metadata
from functions.cli.dumps.anonymize.pseudonyms import Namer
from functions.cli.dumps.anonymize.selectors import Object, each_of, picked
from shared.adapters.kubernetes.namespace_limits import counted_name
from shared.core.cluster.names import CRITICAL_CLASSES

_AMOUNTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_PRIORITY_CLASS = "PriorityClass"


def limit_range(namer: Namer, given: Mapping[str, Any]) -> Object:
    rows = (given.get("spec") or {}).get("limits")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "limits"),
        "spec": {"limits": each_of(rows, lambda row: _item(namer, row))},
    }


def _item(namer: Namer, given: Mapping[str, Any]) -> Object:
    told = {field: amounts(namer, given[field]) for field in _AMOUNTS if given.get(field) is not None}
    return picked(given, "type") | told


def resource_quota(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return whom a quota is for, and what it counts of pods."""
    spec, status = given.get("spec") or {}, given.get("status") or {}
    rows = (spec.get("scopeSelector") or {}).get("matchExpressions")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "limits"),
        "spec": picked(spec, "scopes")
        | {"scopeSelector": {"matchExpressions": each_of(rows, lambda row: _scope(namer, row))}},
        "status": {each: _counted(namer, status.get(each) or {}) for each in ("hard", "used")},
    }


def _scope(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "scopeName", "operator")
    if given.get("values") and given.get("scopeName") == _PRIORITY_CLASS:
        values = given["values"]
        found["values"] = [each if each in CRITICAL_CLASSES else namer.name("priority", each) for each in values]
    return found


def _counted(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {}
    for name, value in given.items():
        prefix, bare = counted_name(name)
        if bare:
            (renamed,) = amounts(namer, {bare: value})
            found[prefix + renamed] = value
    return found
