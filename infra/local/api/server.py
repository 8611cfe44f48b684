"""The Kubernetes API server: a request in, an answer out, every request in the record.

It starts no thread and opens no socket. A list comes in one page whatever its limit, as a server may choose:
https://kubernetes.io/docs/reference/kubernetes-api/common-parameters/common-parameters (limit).
"""

from infra.local.api.evictions import evict
from infra.local.api.requests import (
    ResourcePath,
    actor_of,
    as_created,
    as_written,
    body_of,
    discovered,
    is_dry,
    is_served,
    patched,
    record_entry,
    target_of,
)
from infra.local.http_messages import (
    Handler,
    HttpAnswer,
    HttpRequest,
    RefusedError,
    answer_json,
    bad_request,
    conflict,
    exists,
    forbidden,
    namespace_terminating,
    no_such_path,
    not_found,
    status_body,
)
from infra.local.world.kinds import Json, field_paths, fields_match, text_matches
from infra.local.world.kubelet import delete_pod, end_namespace
from infra.local.world.pods import is_terminating, labels_of
from infra.local.world.record import Record
from infra.local.world.store import ExistsError, NotAdmittedError, Store

_LISTS = 1000
"""How many lists are remembered at most."""
_TYPE = {"kind", "apiVersion"}
"""What items of a list do not carry."""
_STALE = "the object has been modified; please apply your changes to the latest version and try again"


class KubeApi:
    """Serves a world. `token`: the bearer token every request must carry (None: no check)."""

    def __init__(self, store: Store, record: Record, token: str | None = None) -> None:
        self._store, self._record = store, record
        self._token = token
        self.answering: Handler = self._answer
        """How requests are answered: a test lays faults over it."""
        self._lists: dict[tuple[object, ...], tuple[int, HttpAnswer]] = {}
        self._verbs = {"GET": self._read, "POST": self._create, "PATCH": self._patch, "DELETE": self._delete}

    def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request and put it in the record."""
        answer = self.answering(request)
        self._record.add("request", record_entry(request, answer))
        return answer

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            return self._route(request)
        except RefusedError as refused:
            return refused.answer()

    def _route(self, request: HttpRequest) -> HttpAnswer:
        if self._token is not None and request.headers.get("authorization") != f"Bearer {self._token}":
            raise RefusedError(401, "Unauthorized", "Unauthorized")
        if request.path in {"/healthz", "/livez", "/readyz"}:
            return HttpAnswer(200, b"ok", {"Content-Type": "text/plain"})
        if request.path == "/version":
            return answer_json(200, {"major": "1", "minor": "36", "gitVersion": "v1.36.3-ebb.local"})
        if request.method == "GET" and (discovery := discovered(request.path, self._store)) is not None:
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
        if request.query.get("watch") in {"1", "true"}:
            raise RefusedError(405, "MethodNotAllowed", "watches are not served: list again instead")
        if not is_served(target.kind, self._store):
            raise no_such_path(request.path)
        if target.name is None:
            return self._list(target, request)
        if target.sub not in {"", "status"}:
            raise no_such_path(request.path)
        return answer_json(200, self._get(target))

    def _list(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        """A list is remembered until an object of its kind changes: most callers ask for the same ones."""
        kind, key = target.kind, (request.path, *sorted(request.query.items()))
        version, known = self._lists.get(key, (0, None))
        if known is not None and version == self._store.version(kind.plural):
            return known
        items = [
            {name: part for name, part in each.items() if name not in _TYPE} for each in self._selected(target, request)
        ]
        meta = {"resourceVersion": str(self._store.revision)}
        answer = answer_json(
            200, {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": meta, "items": items}
        )
        if len(self._lists) >= _LISTS:
            self._lists.clear()
        self._lists[key] = (self._store.version(kind.plural), answer)
        return answer

    def _selected(self, target: ResourcePath, request: HttpRequest) -> list[Json]:
        labels, fields = request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
        things = self._store.all(target.kind.plural, target.namespace)
        if not labels and not fields:
            return things
        for path in field_paths(fields):
            if path not in target.kind.fields:
                raise bad_request(f"field label not supported: {path}")
        try:
            return [thing for thing in things if text_matches(labels, labels_of(thing)) and fields_match(fields, thing)]
        except ValueError as error:
            raise bad_request(str(error)) from error

    def _create(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        body = body_of(request)
        if not isinstance(body, dict):
            raise bad_request("the body is not an object")
        self._refuse_in_terminating(target, body)
        if target.sub == "eviction" and target.kind.plural == "pods" and target.name:
            key, dry = (target.space, target.name), request.query.get("dryRun")
            return answer_json(201, evict(self._store, self._record, key, body, dry, actor_of(request)))
        if target.name is not None:
            raise no_such_path(request.path)
        return self._store_new(target, request, body)

    def _refuse_in_terminating(self, target: ResourcePath, body: Json) -> None:
        if target.namespace is None:
            return
        space = self._store.find("namespaces", "", target.namespace)
        if space is None and target.sub == "":
            raise not_found("namespaces", target.namespace)
        if space is not None and is_terminating(space):
            name = target.name or str((body.get("metadata") or {}).get("name", ""))
            raise namespace_terminating(target.kind.plural, name, target.namespace)

    def _store_new(self, target: ResourcePath, request: HttpRequest, body: Json) -> HttpAnswer:
        meta: Json = {**(body.get("metadata") or {})}
        if not meta.get("name") and not meta.get("generateName"):
            raise RefusedError(422, "Invalid", "metadata.name: Required value: name or generateName is required")
        if target.namespace is not None:
            meta["namespace"] = target.namespace
        fresh = as_created(target.kind, {**body, "metadata": meta})
        if is_dry(request, body):
            return answer_json(201, fresh)
        try:
            return answer_json(201, self._store.create(target.kind.plural, fresh, actor_of(request)))
        except ExistsError:
            raise exists(target.kind.plural, str(meta.get("name"))) from None
        except NotAdmittedError as why:
            raise forbidden(target.kind.plural, str(meta.get("name")), str(why)) from None

    def _patch(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if target.name is None or target.sub not in {"", "status"}:
            raise no_such_path(request.path)
        before = self._get(target)
        after = patched(before, request)
        old, new = before["metadata"], after.get("metadata") or {}
        if new.get("resourceVersion", old["resourceVersion"]) != old["resourceVersion"]:
            raise conflict(target.kind.plural, target.name, _STALE)
        after["metadata"] = {**new, **{key: old[key] for key in ("uid", "name", "resourceVersion")}}
        after = as_written(before, after, target.sub)
        if is_dry(request):
            return answer_json(200, after)
        return answer_json(200, self._store.replace(after, actor_of(request)))

    def _delete(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if target.name is None or target.sub:
            raise RefusedError(405, "MethodNotAllowed", "collections are not deleted here: name one object")
        body, thing = body_of(request), self._get(target)
        if not is_dry(request, body):
            self._remove(target.kind.plural, thing, body, actor_of(request))
        return answer_json(200, status_body("Success", 200))

    def _remove(self, plural: str, thing: Json, options: Json, actor: str) -> None:
        if plural == "pods":
            delete_pod(self._store, thing, options.get("gracePeriodSeconds"), actor)
        elif plural == "namespaces":
            end_namespace(self._store, thing, actor)
        else:
            self._store.remove(thing, actor)
