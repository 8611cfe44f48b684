"""Labels, selectors, terms, taints and tolerations under other names.

What compares two of them finds the same as before: a key and a value are named alike wherever they stand.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from functions.cli.dumps.anonymize.pseudonyms import Namer
from functions.cli.dumps.anonymize.words import KEPT_VALUES, NAMED_VALUES, SWITCHES, is_kept_key, switch

Object = dict[str, Any]
_AS_NUMBERS: Final = frozenset({"Gt", "Lt"})
_HARD: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def picked(given: Mapping[str, Any] | None, *fields: str) -> Object:
    """Return these fields, as far as they are there."""
    return {name: given[name] for name in fields if given and given.get(name) is not None}


def each_of(rows: Iterable[Any] | None, rename: Callable[[Any], Any]) -> list[Any]:
    return [rename(row) for row in rows or ()]


def key(namer: Namer, given: str) -> str:
    return given if is_kept_key(given) or not given else namer.name("label", given)


def value(namer: Namer, of: str, given: str) -> str:
    """Return the value of the label or taint `of`."""
    if of in KEPT_VALUES or not given:
        return given
    if of in SWITCHES:
        return switch(given)
    return namer.name(NAMED_VALUES[of], given) if of in NAMED_VALUES else namer.value(of, given)


def labels(namer: Namer, given: Mapping[str, str] | None) -> dict[str, str]:
    return {key(namer, name): value(namer, name, each) for name, each in (given or {}).items()}


def selector(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a label selector; an empty one matches all and stays empty."""
    found: Object = {}
    if given.get("matchLabels") is not None:
        found["matchLabels"] = labels(namer, given["matchLabels"])
    if given.get("matchExpressions") is not None:
        found["matchExpressions"] = each_of(given["matchExpressions"], lambda row: expression(namer, row))
    return found


def expression(namer: Namer, given: Mapping[str, Any], *, field: bool = False) -> Object:
    """Return one requirement; a field is named by the API, and names a node."""
    of = given.get("key", "")
    if given.get("operator") in _AS_NUMBERS:
        namer.compares(of)
    found = picked(given, "operator")
    found["key"] = of if field else key(namer, of)
    if given.get("values") is not None:
        found["values"] = [namer.name("node", each) if field else value(namer, of, each) for each in given["values"]]
    return found


def node_selector(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a node selector: terms of expressions and of fields."""
    return {"nodeSelectorTerms": each_of(given.get("nodeSelectorTerms"), lambda row: _node_term(namer, row))}


def _node_term(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {}
    if given.get("matchExpressions") is not None:
        found["matchExpressions"] = each_of(given["matchExpressions"], lambda row: expression(namer, row))
    if given.get("matchFields") is not None:
        found["matchFields"] = each_of(given["matchFields"], lambda row: expression(namer, row, field=True))
    return found


def affinity(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return what an affinity requires; what it prefers binds nobody."""
    found: Object = {}
    node = (given.get("nodeAffinity") or {}).get(_HARD)
    if node is not None:
        found["nodeAffinity"] = {_HARD: node_selector(namer, node)}
    for name in ("podAffinity", "podAntiAffinity"):
        terms = (given.get(name) or {}).get(_HARD)
        if terms is not None:
            found[name] = {_HARD: each_of(terms, lambda row: _pod_term(namer, row))}
    return found


def _pod_term(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = _with_selectors(namer, given, "labelSelector", "namespaceSelector")
    found["topologyKey"] = key(namer, given.get("topologyKey", ""))
    if given.get("namespaces") is not None:
        found["namespaces"] = [namer.name("namespace", each) for each in given["namespaces"]]
    return _with_keys(namer, given, found, "matchLabelKeys", "mismatchLabelKeys")


def spread(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a topology spread constraint."""
    found = picked(
        given, "whenUnsatisfiable", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"
    ) | _with_selectors(namer, given, "labelSelector")
    found["topologyKey"] = key(namer, given.get("topologyKey", ""))
    return _with_keys(namer, given, found, "matchLabelKeys")


def _with_selectors(namer: Namer, given: Mapping[str, Any], *fields: str) -> Object:
    return {name: selector(namer, given[name]) for name in fields if given.get(name) is not None}


def _with_keys(namer: Namer, given: Mapping[str, Any], found: Object, *fields: str) -> Object:
    for name in fields:
        if given.get(name) is not None:
            found[name] = [key(namer, each) for each in given[name]]
    return found


def taint(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a taint or a toleration."""
    found = picked(given, "effect", "operator", "tolerationSeconds")
    of = given.get("key") or ""
    if given.get("key") is not None:
        found["key"] = key(namer, of)
    if given.get("value") is not None:
        found["value"] = value(namer, of, given["value"])
    return found
