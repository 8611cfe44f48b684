"""Requests of the simulated API server: routes, discovery, decoding, merge patches, and defaults of new objects."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from infra.local.http_messages import HttpAnswer, HttpRequest, RefusedError, bad_request, no_such_path
from infra.local.world.kinds import KINDS, ApiKind, Json, find
from infra.local.world.kubelet import DEFAULT_GRACE
from infra.local.world.store import Store, copied


@dataclass(frozen=True)
class ResourcePath:
    """A parsed path: `namespace` is None for all namespaces, `name` None for a list; `sub` as in `eviction`."""

    kind: ApiKind
    namespace: str | None
    name: str | None
    sub: str

    @property
    def space(self) -> str:
        """The namespace as the store keys it: empty for cluster-scoped objects."""
        return self.namespace or ""


def _split(parts: list[str], path: str) -> tuple[str, str, list[str]]:
    match parts:
        case ["api", version, *rest]:
            return "", version, rest
        case ["apis", group, version, *rest]:
            return group, version, rest
    raise no_such_path(path)


@lru_cache(maxsize=4096)
def target_of(path: str) -> ResourcePath:
    """The resource a path names; a 404 Status for any path that is not served."""
    group, version, rest = _split([unquote(part) for part in path.strip("/").split("/")], path)
    namespace: str | None = None
    if rest[:1] == ["namespaces"] and len(rest) > 2:  # noqa: PLR2004 - /namespaces/NAME alone is the namespace itself
        namespace, rest = rest[1], rest[2:]
    plural, name, sub, *beyond = [*rest, "", "", ""][: max(len(rest), 3)] if rest else ["", "", ""]
    kind = find(group, version, plural)
    if kind is None or beyond or (namespace is not None and not kind.namespaced):
        raise no_such_path(path)
    if name and kind.namespaced and namespace is None:
        raise no_such_path(path)
    return ResourcePath(kind, namespace, name or None, sub)


def is_served(kind: ApiKind, store: Store) -> bool:
    """Whether the cluster has the kind at all."""
    return not kind.custom or bool(store.all(kind.plural))


def discovered(path: str, store: Store) -> Json | None:
    """The discovery document of a group or one of its versions; None for any other path and an unknown group."""
    match path.strip("/").split("/"):
        case ["apis", group]:
            served = {kind.version for kind in _kinds(group, store)}
            versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in sorted(served)]
            return {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": versions} if versions else None
        case ["apis", group, version]:
            rows = [_resource(kind) for kind in _kinds(group, store) if kind.version == version]
            head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}"}
            return {**head, "resources": rows} if rows else None
    return None


def _kinds(group: str, store: Store) -> list[ApiKind]:
    return [kind for kind in KINDS.values() if kind.group == group and is_served(kind, store)]


def _resource(kind: ApiKind) -> Json:
    return {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced, "verbs": ["get", "list", "create"]}


_BRIEF = 2000
_DRY_BODY = re.compile(rb'"dryRun"\s*:\s*\[\s*"All"')


def actor_of(request: HttpRequest) -> str:
    return request.headers.get("user-agent", "unknown")


def is_dry(request: HttpRequest, body: Any = None) -> bool:
    in_body = body.get("dryRun") if isinstance(body, dict) else None
    return request.query.get("dryRun") == "All" or in_body == ["All"]


def body_of(request: HttpRequest) -> Any:
    try:
        return request.json()
    except ValueError as error:
        raise bad_request(f"the body is not JSON: {error}") from error


def record_entry(request: HttpRequest, answer: HttpAnswer) -> Json:
    dry = request.query.get("dryRun") == "All" or _DRY_BODY.search(request.body) is not None
    return {
        "verb": request.method,
        "path": request.path,
        "query": dict(request.query),
        "code": answer.status,
        "lost": answer.lost,
        "user_agent": actor_of(request),
        "dry_run": dry,
        "body": request.body[:_BRIEF].decode(errors="replace"),
    }


_POD_DEFAULTS: Json = {
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": DEFAULT_GRACE,
}


def as_created(kind: ApiKind, thing: Json) -> Json:
    """A new object: its sender's status counts for nodes only, a pod begins as Pending with the usual defaults."""
    if kind.plural == "nodes":
        return {**thing, "spec": thing.get("spec") or {}}
    fresh = {key: value for key, value in thing.items() if key != "status"}
    if kind.plural == "pods":
        return {**fresh, "spec": {**_POD_DEFAULTS, **thing["spec"]}, "status": {"phase": "Pending"}}
    return {**fresh, "status": {"phase": "Active"}} if kind.plural == "namespaces" else fresh


def as_written(before: Json, after: Json, sub: str) -> Json:
    """A changed object: the status is written through its own path only, and that path writes nothing else."""
    if sub == "status":
        return {**before, "metadata": after["metadata"], "status": after.get("status", {})}
    kept = {key: value for key, value in after.items() if key != "status"}
    return {**kept, "status": before["status"]} if "status" in before else kept


_MERGE = "application/merge-patch+json"


def patched(target: Json, request: HttpRequest) -> Json:
    """The object after a merge patch; 415 for a patch of another type, 400 for a body that is no object."""
    content_type, patch = request.headers.get("content-type", ""), body_of(request)
    if content_type.partition(";")[0].strip() != _MERGE:
        message = f"the body of the request was in an unknown format ({content_type}); accepted: merge patch"
        raise RefusedError(415, "UnsupportedMediaType", message)
    if not isinstance(patch, dict):
        raise bad_request(f"the patch's shape does not belong to {content_type}")
    after: Json = merge(copied(target), patch)
    return after


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
