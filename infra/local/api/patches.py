"""Patches: RFC 7386 merge, RFC 6902 JSON patch, and Kubernetes' strategic merge.

Which lists merge, and by which key, is what k8s.io/api has in its `patchStrategy` tags. `spec.taints` of a node
carries none (listType=atomic): a strategic merge replaces it whole, as a merge patch does.
"""

from collections.abc import Callable
from typing import Any

from infra.local.http_messages import RefusedError, bad_request
from infra.local.world.kinds import Json
from infra.local.world.store import copied

_MERGE_KEYS = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "topologySpreadConstraints": "topologyKey",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_MERGED_VALUES = frozenset({"finalizers", "podCIDRs"})


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386: null deletes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return copied(patch)
    result: Json = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def _merge_list(field: str, target: list[Any], patch: list[Any]) -> list[Any]:
    key = _MERGE_KEYS[field]
    result = list(target)
    for item in patch:
        directive = item.get("$patch")
        if directive == "replace":
            return [other for other in patch if "$patch" not in other]
        place = next((place for place, old in enumerate(result) if old.get(key) == item.get(key)), None)
        if directive == "delete":
            result = [old for old in result if old.get(key) != item.get(key)]
        elif place is None:
            result.append(strategic({}, item))
        else:
            result[place] = strategic(result[place], item)
    return result


def _strategic_value(field: str, target: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return strategic(target if isinstance(target, dict) else {}, value)
    if isinstance(value, list) and field in _MERGE_KEYS:
        return _merge_list(field, target or [], value)
    if isinstance(value, list) and field in _MERGED_VALUES:
        return [*(target or []), *(item for item in value if item not in (target or []))]
    return [item for item in copied(value) if item != {"$patch": "replace"}] if isinstance(value, list) else value


def strategic(target: Json, patch: Json) -> Json:
    """A strategic merge patch on one object; `$patch: replace|delete` and `$deleteFromPrimitiveList` are heeded."""
    if patch.get("$patch") == "replace":
        return {key: copied(value) for key, value in patch.items() if key != "$patch"}
    if patch.get("$patch") == "delete":
        return {}
    result = dict(target)
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            result[field] = [item for item in result.get(field, []) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _strategic_value(key, result.get(key), value)
    return result


def _walk(document: Any, steps: list[str]) -> Any:
    for step in steps:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def _put(parent: Any, step: str, value: Any, *, insert: bool) -> None:
    if not isinstance(parent, list):
        if not insert and step not in parent:
            raise KeyError(step)
        parent[step] = value
    elif insert:
        parent.insert(len(parent) if step == "-" else int(step), value)
    else:
        parent[int(step)] = value


def _apply(document: Any, operation: Json) -> None:
    steps = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    parent, step = _walk(document, steps[:-1]), steps[-1]
    match operation["op"]:
        case "test":
            if _walk(parent, [step]) != operation["value"]:
                raise ValueError(f"testing value {operation['path']} failed")
        case "add" | "replace" as name:
            _put(parent, step, copied(operation["value"]), insert=name == "add")
        case "remove":
            parent.pop(int(step) if isinstance(parent, list) else step)
        case other:
            raise ValueError(f"operation {other!r} is not supported: use add, replace, remove or test")


def json_patch(target: Json, operations: list[Json]) -> Json:
    """RFC 6902 with add, replace, remove and test; a failing operation refuses the whole patch (422)."""
    document: Json = copied(target)
    for operation in operations:
        try:
            _apply(document, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            message = f"the server rejected our request due to an error in our request: {error}"
            raise RefusedError(422, "Invalid", message) from error
    return document


_TYPES: dict[str, Callable[[Any, Any], Json]] = {
    "application/merge-patch+json": merge,
    "application/strategic-merge-patch+json": strategic,
    "application/json-patch+json": json_patch,
}


def patched(target: Json, patch: Any, content_type: str) -> Json:
    """The object after a patch of that content type; 415 for another type, 400 for a body of the wrong shape."""
    apply = _TYPES.get(content_type.partition(";")[0].strip())
    if apply is None:
        accepted = "merge, strategic merge, json patch"
        message = f"the body of the request was in an unknown format ({content_type}); accepted: {accepted}"
        raise RefusedError(415, "UnsupportedMediaType", message)
    if isinstance(patch, list) is not (apply is json_patch):
        raise bad_request(f"the patch's shape does not belong to {content_type}")
    return apply(copied(target), patch)
