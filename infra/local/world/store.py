"""The simulated API server's objects: versions, an index by owner and node, field managers, watches."""

import random
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from infra.local.clocks import TimeSource, stamp
from infra.local.world.kinds import KINDS, ApiKind, Json, matches
from infra.local.world.pods import annotations_of, controller_of, labels_of

_CORDON: Json = {"f:spec": {"f:unschedulable": {}}}


def managed(before: Json, after: Json, actor: str) -> Json:
    """Return the node's next state with the manager of its cordon."""
    cordoned = bool(after["spec"].get("unschedulable"))
    if cordoned is bool(before["spec"].get("unschedulable")):
        return after
    owner: Json = {"manager": actor.partition("/")[0], "operation": "Update", "fieldsV1": _CORDON}
    kept = {key: value for key, value in after["metadata"].items() if key != "managedFields"}
    return {**after, "metadata": {**kept, **({"managedFields": [owner]} if cordoned else {})}}


Key = tuple[str, str]
_Mark = tuple[str, str, str]


def _marks(thing: Json) -> set[_Mark]:
    """What an object can be found by: its controller's uid, and each of its labels within its namespace."""
    namespace = thing["metadata"].get("namespace", "")
    owner = controller_of(thing)
    labels = {(namespace, key, value) for key, value in labels_of(thing).items()}
    return labels | {("", "controller", owner["uid"])} if owner else labels


class Index:
    """The keys of one kind's objects by controller and by label."""

    def __init__(self) -> None:
        self._keys: defaultdict[_Mark, set[Key]] = defaultdict(set)

    def note(self, key: Key, before: Json | None, after: Json | None) -> None:
        """Follow a write."""
        old, new = (_marks(thing) if thing else set() for thing in (before, after))
        for mark in old - new:
            self._keys[mark].discard(key)
        for mark in new - old:
            self._keys[mark].add(key)

    def controlled(self, uid: str) -> list[Key]:
        return sorted(self._keys.get(("", "controller", uid), ()))

    def labelled(self, namespace: str, key: str, value: str) -> list[Key]:
        return sorted(self._keys.get((namespace, key, value), ()))


_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"


class MissingError(KeyError):
    """No object of that kind and name."""


class ExistsError(ValueError):
    """An object of that kind and name is there already."""


class NotAdmittedError(ValueError):
    """An admission check would not let the object in."""


class StaleError(ValueError):
    """The writer named a resourceVersion that is no longer the object's."""


@dataclass(frozen=True)
class ObjectChange:
    """One write as it happened: `before` is None for a creation, `after` for a removal."""

    plural: str
    before: Json | None
    after: Json | None
    actor: str


def copied(thing: Any) -> Any:
    """A deep copy of JSON. Through its text, which is several times faster than walking over it."""
    return msgspec.json.decode(msgspec.json.encode(thing))


def _is_next_generation(kind: ApiKind, before: Json, after: Json) -> bool:
    """Whether a write grows the object's generation. No status writer here touches annotations: those would not."""
    if not kind.counts_generations:
        return False
    noted = kind.counts_annotations and annotations_of(before) != annotations_of(after)
    return noted or before.get("spec") != after.get("spec")


class Store:
    """All objects of the world. `seed` decides every uid and every random suffix."""

    def __init__(self, clock: TimeSource, seed: int = 0) -> None:
        self.clock = clock
        self.revision = 1000
        self.random = random.Random(seed)  # noqa: S311 - a seeded world, not a secret
        self._objects: dict[str, dict[Key, Json]] = {plural: {} for plural in KINDS}
        self._versions: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._order: dict[str, list[Key]] = {}
        self._indexes = {plural: Index() for plural in KINDS}
        self._listeners: list[Callable[[ObjectChange], None]] = []
        """API groups that are served only where a feature gate is on."""
        self.webhooks: list[Callable[[str, Json], None]] = []
        """Asked in turn of everything that is created, which they may change."""
        self.checks: list[Callable[[str, Json], None]] = []
        """Asked after them; one raises NotAdmittedError of what it does not let in."""

    def listen(self, listener: Callable[[ObjectChange], None]) -> None:
        """Notify `listener` of every write, in order."""
        self._listeners.append(listener)

    def suffix(self, length: int = 5) -> str:
        """Random letters as generateName appends them."""
        return "".join(self.random.choices(_SUFFIX, k=length))

    def version(self, *plurals: str) -> int:
        """The revision of the newest write to any of these kinds: equal means that nothing changed."""
        return max(self._versions[plural] for plural in plurals)

    def find(self, plural: str, namespace: str, name: str) -> Json | None:
        return self._objects[plural].get((namespace, name))

    def get(self, plural: str, namespace: str, name: str) -> Json:
        """The object; MissingError if there is none."""
        found = self.find(plural, namespace, name)
        if found is None:
            raise MissingError(plural, namespace, name)
        return found

    def all(self, plural: str, namespace: str | None = None) -> list[Json]:
        """The objects of a kind, of one namespace or of all, ordered by namespace and name."""
        objects = self._objects[plural]
        if plural not in self._order:
            self._order[plural] = sorted(objects)
        return [objects[key] for key in self._order[plural] if namespace is None or key[0] == namespace]

    def controlled(self, plural: str, owner: Json) -> list[Json]:
        """The objects of a kind that `owner` controls, in order."""
        keys = self._indexes[plural].controlled(owner["metadata"]["uid"])
        return [self._objects[plural][key] for key in keys]

    def selected(self, plural: str, namespace: str, selector: Json | None) -> list[Json]:
        """The objects of a kind and namespace whose labels a selector matches, in order."""
        for key, value in ((selector or {}).get("matchLabels") or {}).items():
            keys = self._indexes[plural].labelled(namespace, key, value)
            return [thing for place in keys if matches(selector, labels_of(thing := self._objects[plural][place]))]
        return [thing for thing in self.all(plural, namespace) if matches(selector, labels_of(thing))]

    def create(self, plural: str, thing: Json, actor: str) -> Json:
        """Store a new object with uid, creation time and version.

        Raises ExistsError if the name is taken, and NotAdmittedError.
        """
        kind = KINDS[plural]
        fresh: Json = {**copied(thing), "apiVersion": kind.api_version, "kind": kind.kind}
        meta: Json = fresh.setdefault("metadata", {})
        if not meta.get("name"):
            meta["name"] = f"{meta['generateName']}{self.suffix()}"
        meta["namespace"] = meta.get("namespace", "default") if kind.namespaced else ""
        for webhook in self.webhooks:
            webhook(plural, fresh)
        for check in self.checks:
            check(plural, fresh)
        key = (meta["namespace"], meta["name"])
        if key in self._objects[plural]:
            raise ExistsError(plural, *key)
        if not kind.namespaced:
            del meta["namespace"]
        meta["uid"] = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        meta.setdefault("creationTimestamp", stamp(self.clock.now()))
        if kind.counts_generations:
            meta["generation"] = 1
        return self._write(plural, key, None, fresh, actor)

    def replace(self, plural: str, thing: Json, actor: str, expected: str | None = None) -> Json:
        """Store the object's next state; StaleError if `expected` is not the stored resourceVersion."""
        meta = thing["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        before = self.get(plural, *key)
        if expected is not None and expected != before["metadata"]["resourceVersion"]:
            raise StaleError(plural, *key)
        if thing == before:
            return before
        if plural == "nodes":
            thing = managed(before, thing, actor)
            meta = thing["metadata"]
        if _is_next_generation(KINDS[plural], before, thing):
            meta["generation"] = before["metadata"].get("generation", 0) + 1
        return self._write(plural, key, before, thing, actor)

    def update(self, plural: str, namespace: str, name: str, change: Callable[[Json], None], actor: str) -> Json:
        """Apply `change` to a copy of the object and store it; MissingError if it is gone."""
        thing: Json = copied(self.get(plural, namespace, name))
        change(thing)
        return self.replace(plural, thing, actor)

    def remove(self, plural: str, namespace: str, name: str, actor: str) -> Json:
        """Take the object out of the store at once; MissingError if it is gone."""
        before = self.get(plural, namespace, name)
        del self._objects[plural][(namespace, name)]
        self._order.pop(plural, None)
        self._indexes[plural].note((namespace, name), before, None)
        self._notify(ObjectChange(plural, before, None, actor))
        return before

    def _write(self, plural: str, key: Key, before: Json | None, after: Json, actor: str) -> Json:
        self._objects[plural][key] = after
        self._indexes[plural].note(key, before, after)
        if before is None:
            self._order.pop(plural, None)
        self._notify(ObjectChange(plural, before, after, actor))
        return after

    def _notify(self, change: ObjectChange) -> None:
        self.revision += 1
        self._versions[change.plural] = self.revision
        if change.after is not None:
            change.after["metadata"]["resourceVersion"] = str(self.revision)
        for listener in self._listeners:
            listener(change)
