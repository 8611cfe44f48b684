"""The Kubernetes API server: a request in, an answer out, every request in the record.

It starts no thread and opens no socket. A list comes in one page whatever its limit, as a server may choose:
https://kubernetes.io/docs/reference/kubernetes-api/common-parameters/common-parameters (limit).

The eviction subresource is as the real one, answer for answer: kubernetes pkg/registry/core/pod/storage/eviction.go.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from infra.local.clocks import stamp
from infra.local.http_messages import (
    MERGE_PATCH,
    Handler,
    HttpAnswer,
    HttpRequest,
    RefusedError,
    answer_json,
    bad_request,
    conflict,
    no_such_path,
    not_found,
    refusal_about,
    status_body,
)
from infra.local.world.budgets import budgets_of, counts_now
from infra.local.world.kinds import KINDS, ApiKind, Json, field_of
from infra.local.world.kubelet import DEFAULT_GRACE, delete_pod
from infra.local.world.pods import is_ready, is_terminating, node_of, phase_of, set_condition
from infra.local.world.store import ExistsError, Key, NotAdmittedError, Record, Store, copy_thing

_LISTS: Final = 1000
"""How many lists are remembered at most."""
_TYPE: Final = {"kind", "apiVersion"}
"""What items of a list do not carry."""
_STALE: Final = "the object has been modified; please apply your changes to the latest version and try again"
_BRIEF: Final = 2000
_POD_DEFAULTS: Final[Json] = {
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": DEFAULT_GRACE,
}


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


@lru_cache(maxsize=4096)
def target_of(path: str) -> ResourcePath:
    """The resource a path names; a 404 Status for any path that is not served."""
    root, *parts = [unquote(part) for part in path.strip("/").split("/")]
    group, version, *rest = [*([""] if root == "api" else []), *parts, "", ""]
    rest = [part for part in rest if part]
    namespace: str | None = None
    if rest[:1] == ["namespaces"] and len(rest) > 2:  # noqa: PLR2004 - /namespaces/NAME alone is the namespace itself
        namespace, rest = rest[1], rest[2:]
    plural, name, sub, *beyond = [*rest, "", "", ""][: max(len(rest), 3)]
    kind = KINDS.get(plural)
    if kind is None or beyond or root not in {"api", "apis"} or (kind.group, kind.version) != (group, version):
        raise no_such_path(path)
    if (kind.namespaced and name and namespace is None) or (namespace is not None and not kind.namespaced):
        raise no_such_path(path)
    return ResourcePath(kind, namespace, name or None, sub)


def is_served(kind: ApiKind, store: Store) -> bool:
    return not kind.custom or bool(store.all(kind.plural))


def discovery_document(path: str, store: Store) -> Json | None:
    """The discovery document of a group or one of its versions; None for any other path and an unknown group."""
    root, *parts = path.strip("/").split("/")
    if root != "apis" or len(parts) not in {1, 2}:
        return None
    group, version = parts[0], parts[-1]
    kinds = [kind for kind in KINDS.values() if kind.group == group and is_served(kind, store)]
    if len(parts) == 1:
        served = sorted({kind.version for kind in kinds})
        versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in served]
        return {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": versions} if versions else None
    verbs = ["get", "list", "create"]
    rows = [
        {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced, "verbs": verbs}
        for kind in kinds
        if kind.version == version
    ]
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}"}
    return {**head, "resources": rows} if rows else None


class KubeApi:
    """Serves a world, without authentication."""

    def __init__(self, store: Store, record: Record) -> None:
        self._store, self._record = store, record
        self.answering: Handler = self._answer
        """How requests are answered: a test lays faults over it."""
        self._lists: dict[tuple[object, ...], tuple[int, HttpAnswer]] = {}
        self._verbs = {"GET": self._read, "POST": self._create, "PATCH": self._patch, "DELETE": self._delete}

    def handle(self, request: HttpRequest) -> HttpAnswer:
        answer = self.answering(request)
        entry = {"verb": request.method, "path": request.path, "query": dict(request.query), "code": answer.status}
        entry |= {"user_agent": request.agent, "dry_run": is_dry(request)}
        self._record.add("request", {**entry, "body": request.body[:_BRIEF].decode(errors="replace")})
        return answer

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            return self._route(request)
        except RefusedError as refused:
            return refused.answer()

    def _route(self, request: HttpRequest) -> HttpAnswer:
        if request.method == "GET" and (discovery := discovery_document(request.path, self._store)) is not None:
            return answer_json(200, discovery)
        target, verb = target_of(request.path), self._verbs.get(request.method)
        if verb is None:
            message = f"the server does not allow {request.method}: use GET, POST, PATCH or DELETE"
            raise RefusedError(405, "MethodNotAllowed", message)
        return verb(target, request)

    def _get(self, target: ResourcePath) -> Json:
        name = target.name or ""
        thing = self._store.find(target.kind.plural, target.space, name)
        if thing is None:
            raise not_found(target.kind.plural, name)
        return thing

    def _read(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if not is_served(target.kind, self._store) or target.sub not in {"", "status"}:
            raise no_such_path(request.path)
        return self._list(target, request) if target.name is None else answer_json(200, self._get(target))

    def _list(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        """A list is remembered until an object of its kind changes: most callers ask for the same ones."""
        kind, key = target.kind, (request.path, *sorted(request.query.items()))
        version, known = self._lists.get(key, (0, None))
        if known is not None and version == self._store.version(kind.plural):
            return known
        things = _select(self._store.all(kind.plural, target.namespace), kind, request)
        items = [{name: part for name, part in thing.items() if name not in _TYPE} for thing in things]
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        answer = answer_json(200, {**head, "metadata": {"resourceVersion": str(self._store.revision)}, "items": items})
        if len(self._lists) >= _LISTS:
            self._lists.clear()
        self._lists[key] = (self._store.version(kind.plural), answer)
        return answer

    def _create(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        body = body_of(request)
        if target.sub == "eviction" and target.kind.plural == "pods" and target.name:
            key = target.space, target.name
            return answer_json(201, evict(self._store, self._record, key, body, request.agent))
        if target.name is not None:
            raise no_such_path(request.path)
        if target.namespace is not None and self._store.find("namespaces", "", target.namespace) is None:
            raise not_found("namespaces", target.namespace)
        return self._store_new(target, request, body)

    def _store_new(self, target: ResourcePath, request: HttpRequest, body: Json) -> HttpAnswer:
        plural, meta = target.kind.plural, {**(body.get("metadata") or {})}
        if not meta.get("name") and not meta.get("generateName"):
            raise RefusedError(422, "Invalid", "metadata.name: Required value: name or generateName is required")
        if target.namespace is not None:
            meta["namespace"] = target.namespace
        fresh, name = _as_created(plural, {**body, "metadata": meta}), str(meta.get("name"))
        try:
            return answer_json(201, self._store.create(plural, fresh, request.agent))
        except ExistsError:
            raise refusal_about(409, "AlreadyExists", plural, name, "already exists") from None
        except NotAdmittedError as why:
            raise refusal_about(403, "Forbidden", plural, name, f"is forbidden: {why}") from None

    def _patch(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if target.name is None or target.sub not in {"", "status"}:
            raise no_such_path(request.path)
        before = self._get(target)
        after = _patch_object(before, request)
        old, new = before["metadata"], after.get("metadata") or {}
        if new.get("resourceVersion", old["resourceVersion"]) != old["resourceVersion"]:
            raise conflict(target.kind.plural, target.name, _STALE)
        after["metadata"] = {**new, **{key: old[key] for key in ("uid", "name", "resourceVersion")}}
        after = _as_written(before, after, target.sub)
        return answer_json(200, after if is_dry(request) else self._store.replace(after, request.agent))

    def _delete(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if target.name is None or target.sub:
            raise RefusedError(405, "MethodNotAllowed", "collections are not deleted here: name one object")
        body, thing, plural = body_of(request), self._get(target), target.kind.plural
        if plural == "pods":
            delete_pod(self._store, thing, body.get("gracePeriodSeconds"), request.agent)
        else:
            self._store.remove(thing, request.agent)
        return answer_json(200, status_body("Success", 200))


def is_dry(request: HttpRequest) -> bool:
    """Whether the request is to change nothing: a patch, or an eviction, which has it in its options, too."""
    return request.query.get("dryRun") == "All"


def body_of(request: HttpRequest) -> Json:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise bad_request(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise bad_request("the body is not an object")
    return body


def _select(things: list[Json], kind: ApiKind, request: HttpRequest) -> list[Json]:
    """The objects that the `fieldSelector` chooses: NAME=VALUE, joined by commas. No client here selects by labels."""
    selector = request.query.get("fieldSelector", "")
    fields = dict(part.split("=", 1) for part in selector.split(",") if part)
    if unknown := fields.keys() - {*kind.fields}:
        raise bad_request(f"field label not supported: {min(unknown)}")
    return [thing for thing in things if all(field_of(thing, path) == value for path, value in fields.items())]


def _as_created(plural: str, thing: Json) -> Json:
    """A new object: its sender's status counts for nodes only, a pod begins as Pending with the usual defaults."""
    if plural == "nodes":
        return {**thing, "spec": thing.get("spec") or {}}
    fresh = {key: value for key, value in thing.items() if key != "status"}
    if plural == "pods":
        return {**fresh, "spec": {**_POD_DEFAULTS, **thing["spec"]}, "status": {"phase": "Pending"}}
    return {**fresh, "status": {"phase": "Active"}} if plural == "namespaces" else fresh


def _as_written(before: Json, after: Json, sub: str) -> Json:
    """A changed object: the status is written through its own path only, and that path writes nothing else."""
    if sub == "status":
        return {**before, "metadata": after["metadata"], "status": after.get("status", {})}
    kept = {key: value for key, value in after.items() if key != "status"}
    return {**kept, "status": before["status"]} if "status" in before else kept


def _patch_object(target: Json, request: HttpRequest) -> Json:
    """The object after a merge patch; 415 for a patch of another type."""
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip() != MERGE_PATCH:
        message = f"the body of the request was in an unknown format ({content_type}); accepted: merge patch"
        raise RefusedError(415, "UnsupportedMediaType", message)
    after: Json = _merge(copy_thing(target), body_of(request))
    return after


def _merge(target: Any, patch: Any) -> Any:
    """RFC 7386: null deletes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return copy_thing(patch)
    merged: Json = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}


def _too_many(message: str, retry_after: int) -> RefusedError:
    causes = [{"reason": "DisruptionBudget", "message": message}]
    return RefusedError(429, "TooManyRequests", _VIOLATES, {"causes": causes}, retry_after)


def _unhealthy_may_go(pod: Json, budget: Json) -> bool:
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status: Json = budget.get("status", {})
    desired: int = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired


def _check(budget: Json) -> None:
    name, status = budget["metadata"]["name"], budget.get("status", {})
    if status.get("observedGeneration", 0) < budget["metadata"]["generation"]:
        raise _too_many(f"The disruption budget {name} is still being processed by the server.", 10)
    if status.get("disruptionsAllowed", 0) <= 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently", 0)


def _take(store: Store, budget: Json, pod: Json, actor: str) -> None:
    now = store.clock.now()

    def decrement(thing: Json) -> None:
        status: Json = thing["status"]
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[pod["metadata"]["name"]] = stamp(now)
        if status["disruptionsAllowed"] == 0:
            condition = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}
            set_condition(thing, now, {**condition, "message": ""})

    store.update(budget, decrement, actor)


def _pass_budget(store: Store, pod: Json, budgets: list[Json], actor: str, *, dry: bool) -> None:
    if len(budgets) > 1:
        raise RefusedError(500, "", _SEVERAL)
    if not budgets or _unhealthy_may_go(pod, budgets[0]):
        return
    _check(budgets[0])
    if not dry:
        _take(store, budgets[0], pod, actor)


def _check_preconditions(pod: Json, options: Json) -> None:
    wanted: Json = options.get("preconditions") or {}
    for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        has, expected = pod["metadata"][field], wanted.get(field)
        if expected is not None and expected != has:
            why = f"Precondition failed: {label} in precondition: {expected}, {label} in object meta: {has}"
            raise conflict("Pod", pod["metadata"]["name"], why)


def evict(store: Store, record: Record, key: Key, body: Json, actor: str) -> Json:
    """Return the Status of a granted eviction, which is recorded with its counts; RefusedError as the real server."""
    if (body.get("metadata") or {}).get("name") != key[1]:
        raise bad_request("name in URL does not match name in Eviction object")
    options: Json = body.get("deleteOptions") or {}
    dry = "All" in options.get("dryRun", ())
    pod = store.find("pods", *key)
    if pod is None:
        raise not_found("pods", key[1])
    budgets, reason = budgets_of(pod, store.all("poddisruptionbudgets")), None
    if not (is_terminating(pod) or phase_of(pod) in {"Pending", "Succeeded", "Failed"}):
        reason = {**_TARGET, "message": "Eviction API: evicting"}
        _pass_budget(store, pod, budgets, actor, dry=dry)
    _check_preconditions(pod, options)
    if not dry:
        record.add("eviction", _entry(store, pod, budgets, actor))
        delete_pod(store, pod, options.get("gracePeriodSeconds"), actor, reason)
    return status_body("Success", 201)


def _entry(store: Store, pod: Json, budgets: list[Json], actor: str) -> Json:
    meta = pod["metadata"]
    entry: Json = {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"], "actor": actor}
    entry |= {"node": node_of(pod), "ready": is_ready(pod), "terminating": is_terminating(pod)}
    return entry | {"budgets": [counts_now(store, budget, pod) for budget in budgets]}
