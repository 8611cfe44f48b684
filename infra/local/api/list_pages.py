"""Lists in pages: a continue token goes on with the picture of the first page, until it is too old.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/ (retrieving large results in chunks).
"""

import re
from dataclasses import dataclass

from infra.local.http_messages import HttpRequest, bad_request, expired
from infra.local.world.kinds import ApiKind, Json
from infra.local.world.pods import labels_of
from infra.local.world.selectors import field_paths, fields_match, text_matches
from infra.local.world.store import Store


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
