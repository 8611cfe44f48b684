"""The Kubernetes API server: a request in, an answer out, every request in the record.

It holds no state but continue tokens; it starts no thread and opens no socket. Source of lists in pages:
https://kubernetes.io/docs/reference/using-api/api-concepts/ (retrieving large results in chunks).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from infra.local.api.evictions import Evictor
from infra.local.api.patches import patched
from infra.local.api.requests import (
    ResourcePath,
    actor_of,
    as_created,
    as_written,
    body_of,
    discovered,
    is_dry,
    is_served,
    record_entry,
    target_of,
)
from infra.local.http_messages import (
    HttpAnswer,
    HttpRequest,
    InjectedFaults,
    RefusedError,
    answer_json,
    bad_request,
    exists,
    expired,
    forbidden,
    namespace_terminating,
    no_such_path,
    not_found,
    stale,
    success,
    unauthorized,
)
from infra.local.world.kinds import ApiKind, Json, field_paths, fields_match, text_matches
from infra.local.world.kubelet import delete_pod, end_namespace
from infra.local.world.pods import is_terminating, labels_of
from infra.local.world.record import Record
from infra.local.world.store import ExistsError, NotAdmittedError, Store


@dataclass(frozen=True)
class _ContinuedList:
    """What a continue token stands for."""

    path: str
    items: list[Json]
    revision: str
    taken_at: float


class Lister:
    """Answers lists. `token_life` is how many seconds a continue token is good for (etcd compacts every 5 minutes)."""

    def __init__(self, store: Store, token_life: float = 300.0) -> None:
        self._store = store
        self._token_life = token_life
        self._rests: dict[str, _ContinuedList] = {}

    def forget(self) -> None:
        """Expire every continue token, as a compaction does."""
        self._rests.clear()

    def page(self, request: HttpRequest, kind: ApiKind, namespace: str | None) -> Json:
        """The list body for a request; 410 for an expired token, 400 for a malformed query."""
        rest = self._rest(request, kind, namespace)
        limit = _limit(request)
        filtered = bool(request.query.get("labelSelector") or request.query.get("fieldSelector"))
        cached = request.query.get("resourceVersion") == "0" and not request.query.get("continue")
        count = len(rest.items) if limit == 0 or cached else limit
        meta: Json = {"resourceVersion": rest.revision}
        left = rest.items[count:]
        if left:
            meta["continue"] = self._token(_ContinuedList(rest.path, left, rest.revision, rest.taken_at))
            if not filtered:
                meta["remainingItemCount"] = len(left)
        body: Json = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": meta}
        return {**body, "items": [_without_type(item) for item in rest.items[:count]]}

    def _rest(self, request: HttpRequest, kind: ApiKind, namespace: str | None) -> _ContinuedList:
        now = self._store.clock.now()
        token = request.query.get("continue")
        if token is None or not token:
            items = self._selected(request, kind, namespace)
            return _ContinuedList(request.path, items, str(self._store.revision), now)
        if not re.fullmatch(r"c\d+-\w{12}", token):
            raise bad_request("continue key is not valid: it was not issued here")
        found = self._rests.get(token)
        if found is None or found.taken_at + self._token_life <= now:
            raise expired()
        if found.path != request.path:
            raise bad_request("continue key is not valid: it belongs to another list")
        return found

    def _selected(self, request: HttpRequest, kind: ApiKind, namespace: str | None) -> list[Json]:
        labels, fields = request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
        if not labels and not fields:
            return self._store.all(kind.plural, namespace)
        for path in field_paths(fields):
            if path not in kind.fields:
                raise bad_request(f"field label not supported: {path}")
        try:
            return [
                thing
                for thing in self._store.all(kind.plural, namespace)
                if text_matches(labels, labels_of(thing)) and fields_match(fields, thing)
            ]
        except ValueError as error:
            raise bad_request(str(error)) from error

    def _token(self, rest: _ContinuedList) -> str:
        token = f"c{rest.revision}-{self._store.suffix(12)}"
        self._rests[token] = rest
        return token


def _limit(request: HttpRequest) -> int:
    text = request.query.get("limit") or "0"
    if not text.isdigit():
        raise bad_request(f"limit={text!r} is not a number of items")
    return int(text)


def _without_type(thing: Json) -> Json:
    """Items of a list carry no kind of their own."""
    return {key: value for key, value in thing.items() if key not in {"kind", "apiVersion"}}


Verb = Callable[[ResourcePath, HttpRequest], HttpAnswer]
_LISTS = 1000
"""How many lists are remembered at most."""


def _no_verb(target: ResourcePath, request: HttpRequest) -> HttpAnswer:
    del target
    message = f"the server does not allow {request.method}: use GET, POST, PATCH or DELETE"
    raise RefusedError(405, "MethodNotAllowed", message)


class KubeApi:
    """Serves a world. `token`: the bearer token every request must carry (None: no check)."""

    def __init__(self, store: Store, record: Record, token: str | None = None, token_life: float = 300.0) -> None:
        self._store, self._record = store, record
        self._token = token
        self.lister = Lister(store, token_life)
        self.faults = InjectedFaults()
        self._lists: dict[tuple[object, ...], tuple[int, HttpAnswer]] = {}
        self._evictor = Evictor(store, record)
        self._verbs: dict[str, Verb] = {
            "GET": self._read,
            "POST": self._create,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }

    def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request and put it in the record."""
        answer = self.faults.answer_or_fail(request, self._answer)
        self._record.add("request", record_entry(request, answer))
        return answer

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            self._authenticate(request)
            if request.path in {"/healthz", "/livez", "/readyz"}:
                return HttpAnswer(200, b"ok", {"Content-Type": "text/plain"})
            if request.path == "/version":
                return answer_json(200, {"major": "1", "minor": "36", "gitVersion": "v1.36.3-ebb.local"})
            if request.method == "GET" and (found := discovered(request.path, self._store)) is not None:
                return answer_json(200, found)
            return self._verbs.get(request.method, _no_verb)(target_of(request.path), request)
        except RefusedError as refused:
            return refused.answer()

    def _authenticate(self, request: HttpRequest) -> None:
        if self._token is not None and request.headers.get("authorization") != f"Bearer {self._token}":
            raise unauthorized()

    def _get(self, target: ResourcePath) -> Json:
        name = target.name or ""
        found = self._store.find(target.kind.plural, target.space, name)
        if found is None:
            raise not_found(target.kind.plural, name)
        return found

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
        """A list in one page is remembered until an object of its kind changes: most callers ask for the same ones."""
        key = (request.path, *sorted(request.query.items()))
        version, known = self._lists.get(key, (0, None))
        if known is not None and version == self._store.version(target.kind.plural):
            return known
        page = self.lister.page(request, target.kind, target.namespace)
        answer = answer_json(200, page)
        if "continue" not in page["metadata"] and not request.query.get("continue"):
            self._lists[key] = (self._store.version(target.kind.plural), answer)
        if len(self._lists) > _LISTS:
            self._lists.clear()
        return answer

    def _create(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        body = body_of(request)
        if not isinstance(body, dict):
            raise bad_request("the body is not an object")
        self._refuse_in_terminating(target, body)
        if target.sub == "eviction" and target.kind.plural == "pods" and target.name:
            query_dry = request.query.get("dryRun")
            return answer_json(201, self._evictor.evict(target.space, target.name, body, query_dry, actor_of(request)))
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
        after = patched(before, body_of(request), request.headers.get("content-type", ""))
        old, new = before["metadata"], after.get("metadata") or {}
        if new.get("resourceVersion", old["resourceVersion"]) != old["resourceVersion"]:
            raise stale(target.kind.plural, target.name)
        after["metadata"] = {**new, **{key: old[key] for key in ("uid", "name", "resourceVersion")}}
        after = as_written(before, after, target.sub)
        if is_dry(request):
            return answer_json(200, after)
        return answer_json(200, self._store.replace(after, actor_of(request)))

    def _delete(self, target: ResourcePath, request: HttpRequest) -> HttpAnswer:
        if target.name is None or target.sub:
            raise RefusedError(405, "MethodNotAllowed", "collections are not deleted here: name one object")
        body, found = body_of(request), self._get(target)
        if not is_dry(request, body):
            self._remove(target, found, body, actor_of(request))
        return answer_json(200, {**success(), "code": 200})

    def _remove(self, target: ResourcePath, found: Json, options: Json, actor: str) -> None:
        if target.kind.plural == "pods":
            delete_pod(self._store, found, options.get("gracePeriodSeconds"), actor)
        elif target.kind.plural == "namespaces":
            end_namespace(self._store, found, actor)
        else:
            self._store.remove(found, actor)
