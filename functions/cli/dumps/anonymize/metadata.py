"""What all objects have in common, under other names: metadata, owners, annotations, conditions, amounts."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from functions.cli.dumps.anonymize.pseudonyms import Namer
from functions.cli.dumps.anonymize.selectors import (
    Object,
    each_of,
    is_kept_condition,
    is_kept_kind,
    is_kept_reason,
    is_kept_resource,
    labels,
    picked,
    switch,
)
from shared.core.cluster import names

_TIMES: Final = ("creationTimestamp", "deletionTimestamp")
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_CONSTANT: Final = ("pv.kubernetes.io/bind-completed", names.MIRROR)
_IN_TREE: Final = "storage.alpha.kubernetes.io/migrated-plugins"
_SWITCHES: Final = frozenset({
    names.SAFE_TO_EVICT, names.DAEMON_SET_POD, names.DELETION_COST, names.STEERED, names.SURGE,
    *names.DISRUPTION_COSTS,
    names.OPT_OUT_UNTIL, *names.POD_OPT_OUTS, *names.NODE_OPT_OUTS, "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
})  # fmt: skip


def metadata(namer: Namer, given: Mapping[str, Any], sort: str) -> Object:
    """Return the metadata of an object whose name is of that sort."""
    found = picked(given, *_TIMES, "generation")
    found["name"] = namer.name(sort, given.get("name", ""))
    if given.get("namespace"):
        found["namespace"] = namer.name("namespace", given["namespace"])
    if given.get("uid"):
        found["uid"] = namer.name("uid", given["uid"])
    if given.get("labels"):
        found["labels"] = labels(namer, given["labels"])
    found |= _listed("annotations", _annotations(namer, given.get("annotations") or {}))
    found |= _listed("ownerReferences", each_of(given.get("ownerReferences"), lambda row: owner(namer, row)))
    return found | _listed("managedFields", [picked(each, "time") for each in given.get("managedFields") or ()])


def _listed(name: str, found: Any) -> Object:
    return {name: found} if found else {}


def owner(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a reference to a controller."""
    kind = given.get("kind", "")
    found = picked(given, "controller")
    found["kind"] = kind if is_kept_kind(kind) or not kind else namer.name("kind", kind)
    found["name"] = namer.name(
        "node" if kind == "Node" else "pod" if kind == "Pod" else "workload", given.get("name", "")
    )
    found["uid"] = namer.name("uid", given.get("uid", ""))
    return found


def _annotations(namer: Namer, given: Mapping[str, str]) -> dict[str, str]:
    """Return those that are read, and of their values only what means something."""
    renamed: dict[str, Callable[[str], str]] = {
        _CLASS: lambda value: namer.name("class", value),
        _SELECTED_NODE: lambda value: namer.name("node", value),
        _IN_TREE: lambda value: ",".join(each for each in value.split(",") if each.startswith("kubernetes.io/")),
        names.SAFE_LOCAL_VOLUMES: lambda value: ",".join(namer.name("volume", each) for each in value.split(",")),
        names.OUR_ANNOTATION: lambda value: _drain(namer, value),
        **dict.fromkeys(_CONSTANT, lambda _: "yes"),
        **dict.fromkeys(_SWITCHES, switch),
    }
    return {key: renamed[key](value) for key, value in given.items() if key in renamed}


def _drain(namer: Namer, value: str) -> str:
    """Return our own note with the order under the name that the taint has for it."""
    try:
        note: Any = msgspec.json.decode(value)
        found = {"order_id": namer.value(names.OUR_TAINT, note["order_id"]), **picked(note, "since")}
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return "other"
    return msgspec.json.encode(found).decode()


def condition(given: Mapping[str, Any]) -> Object:
    """Return a condition with the words that are read; its times are the dump's time."""
    found = picked(given, "status", "lastTransitionTime", "lastHeartbeatTime")
    kind, reason = given.get("type", ""), given.get("reason") or ""
    found["type"] = kind if is_kept_condition(kind) else "Other"
    if reason:
        found["reason"] = reason if is_kept_reason(reason) else "Other"
    return found


def amounts(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return quantities by resource; a resource of the owner's own is named alike on nodes and pods."""
    return {name if is_kept_resource(name) else namer.name("resource", name): each for name, each in given.items()}
