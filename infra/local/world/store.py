"""The simulated API server's objects: versions, an index by owner and label, admission, listeners, and the record.

From the record a checker decides whether Ebb kept its promise: entries with `type` and `at` (s). `request`: every HTTP
request; `change`: of a pod or node, with who made it; `eviction`: every one that was granted, with the healthy counts
of the moment, from the pods and never from the budget's status.
"""

import random
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from infra.local.clocks import TimeSource, stamp
from infra.local.world.kinds import KINDS, PLURAL_OF_KIND, Json, matches
from infra.local.world.pods import (
    annotations_of,
    controller_of,
    is_ready,
    is_terminating,
    is_unschedulable,
    labels_of,
    node_of,
    phase_of,
    taints_of,
)

Key = tuple[str, str]
_Mark = tuple[str, str, str, str]
_CORDON: Json = {"f:spec": {"f:unschedulable": {}}}
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"


class ExistsError(ValueError):
    """An object of that kind and name is there already."""


class NotAdmittedError(ValueError):
    """An admission check would not let the object in."""


@dataclass(frozen=True)
class ObjectChange:
    """One write as it happened: `before` is None for a creation, `after` for a removal."""

    plural: str
    before: Json | None
    after: Json | None
    actor: str


def copy_thing(thing: Any) -> Any:
    """A deep copy of JSON. Through its text, which is several times faster than walking over it."""
    return msgspec.json.decode(msgspec.json.encode(thing))


def _key(thing: Json) -> Key:
    return thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


def _marks(plural: str, thing: Json) -> set[_Mark]:
    """What an object can be found by: its controller's uid, and each of its labels within its namespace."""
    namespace, owner = thing["metadata"].get("namespace", ""), controller_of(thing)
    marks = {(plural, namespace, key, value) for key, value in labels_of(thing).items()}
    return marks | {(plural, "", "controller", owner["uid"])} if owner else marks


def _with_manager(before: Json, after: Json, actor: str) -> Json:
    """The node's next state with the field manager of its cordon."""
    cordoned = bool(after["spec"].get("unschedulable"))
    if cordoned is bool(before["spec"].get("unschedulable")):
        return after
    owner: Json = {"manager": actor.partition("/")[0], "operation": "Update", "fieldsV1": _CORDON}
    kept = {key: value for key, value in after["metadata"].items() if key != "managedFields"}
    return {**after, "metadata": {**kept, **({"managedFields": [owner]} if cordoned else {})}}


def _is_next_generation(plural: str, before: Json, after: Json) -> bool:
    """Whether a write grows the object's generation."""
    if not KINDS[plural].counts_generations:
        return False
    # a Deployment's annotations count with its spec (pkg/registry/apps/deployment, PrepareForUpdate)
    noted = plural == "deployments" and annotations_of(before) != annotations_of(after)
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
        self._index: defaultdict[_Mark, set[Key]] = defaultdict(set)
        self._listeners: list[Callable[[ObjectChange], None]] = []
        self.webhooks: list[Callable[[str, Json], None]] = []
        """Called in turn with the plural and each new object, which they may change."""
        self.checks: list[Callable[[str, Json], None]] = []
        """Called after them; one raises NotAdmittedError for an object that it refuses."""

    def listen(self, listener: Callable[[ObjectChange], None]) -> None:
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
        """The object; KeyError if there is none."""
        return self._objects[plural][(namespace, name)]

    def all(self, plural: str, namespace: str | None = None) -> list[Json]:
        """The objects of a kind, of one namespace or of all, ordered by namespace and name."""
        objects = self._objects[plural]
        if plural not in self._order:
            self._order[plural] = sorted(objects)
        return [objects[key] for key in self._order[plural] if namespace is None or key[0] == namespace]

    def owner_of(self, thing: Json) -> Json | None:
        """The object that controls `thing`; None without a controller, or if it is of no kind here or gone."""
        owner = controller_of(thing)
        plural = PLURAL_OF_KIND.get(owner["kind"]) if owner else None
        return self.find(plural, thing["metadata"]["namespace"], owner["name"]) if owner and plural else None

    def controlled_by(self, plural: str, owner: Json) -> list[Json]:
        return self._index_of((plural, "", "controller", owner["metadata"]["uid"]))

    def select_objects(self, plural: str, namespace: str, selector: Json | None) -> list[Json]:
        """The objects of a kind and namespace whose labels a selector matches, in order."""
        first = next(iter(((selector or {}).get("matchLabels") or {}).items()), None)
        things = self._index_of((plural, namespace, *first)) if first else self.all(plural, namespace)
        return [thing for thing in things if matches(selector, labels_of(thing))]

    def _index_of(self, mark: _Mark) -> list[Json]:
        return [self._objects[mark[0]][key] for key in sorted(self._index.get(mark, ()))]

    def create(self, plural: str, thing: Json, actor: str) -> Json:
        """Store a new object with uid, time and version; ExistsError if the name is taken, and NotAdmittedError."""
        kind = KINDS[plural]
        fresh: Json = {**copy_thing(thing), "apiVersion": kind.api_version, "kind": kind.kind}
        meta: Json = fresh.setdefault("metadata", {})
        if not meta.get("name"):
            meta["name"] = f"{meta['generateName']}{self.suffix()}"
        meta["namespace"] = meta.get("namespace", "default") if kind.namespaced else ""
        for webhook in self.webhooks:
            webhook(plural, fresh)
        for check in self.checks:
            check(plural, fresh)
        if self.find(plural, meta["namespace"], meta["name"]) is not None:
            raise ExistsError(plural, meta["namespace"], meta["name"])
        if not kind.namespaced:
            del meta["namespace"]
        meta["uid"] = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        meta.setdefault("creationTimestamp", stamp(self.clock.now()))
        if kind.counts_generations:
            meta["generation"] = 1
        return self._write(plural, None, fresh, actor)

    def replace(self, thing: Json, actor: str) -> Json:
        """Store the object's next state; KeyError if it is gone."""
        plural = PLURAL_OF_KIND[thing["kind"]]
        before = self.get(plural, *_key(thing))
        if thing == before:
            return before
        if plural == "nodes":
            thing = _with_manager(before, thing, actor)
        if _is_next_generation(plural, before, thing):
            thing["metadata"]["generation"] = before["metadata"].get("generation", 0) + 1
        return self._write(plural, before, thing, actor)

    def update(self, thing: Json, change: Callable[[Json], object], actor: str) -> Json:
        """Apply `change` to a copy of the object as it is stored now; KeyError if it is gone."""
        fresh: Json = copy_thing(self.get(PLURAL_OF_KIND[thing["kind"]], *_key(thing)))
        change(fresh)
        return self.replace(fresh, actor)

    def remove(self, thing: Json, actor: str) -> None:
        """Take the object out of the store at once; KeyError if it is gone."""
        plural = PLURAL_OF_KIND[thing["kind"]]
        before = self.get(plural, *_key(thing))
        del self._objects[plural][_key(before)]
        self._order.pop(plural, None)
        self._notify(ObjectChange(plural, before, None, actor))

    def _write(self, plural: str, before: Json | None, after: Json, actor: str) -> Json:
        self._objects[plural][_key(after)] = after
        if before is None:
            self._order.pop(plural, None)
        self._notify(ObjectChange(plural, before, after, actor))
        return after

    def _notify(self, change: ObjectChange) -> None:
        self.revision += 1
        self._versions[change.plural] = self.revision
        if change.after is not None:
            change.after["metadata"]["resourceVersion"] = str(self.revision)
        old, new = (_marks(change.plural, thing) if thing else set() for thing in (change.before, change.after))
        for mark in old - new:
            self._index[mark].discard(_key(change.before or {}))
        for mark in new - old:
            self._index[mark].add(_key(change.after or {}))
        for listener in self._listeners:
            listener(change)


COST, MARK = "controller.kubernetes.io/pod-deletion-cost", "ebb.internal/steered"


def _pod_brief(pod: Json) -> Json:
    notes: Json = pod["metadata"].get("annotations") or {}
    costs = {"cost": notes.get(COST), "mark": notes.get(MARK)} if COST in notes or MARK in notes else {}
    return {
        "node": node_of(pod),
        "phase": phase_of(pod),
        "ready": is_ready(pod),
        "terminating": is_terminating(pod),
        "unschedulable": is_unschedulable(pod),
        "owner": (controller_of(pod) or {}).get("uid", ""),
        "labels": labels_of(pod),
        **costs,
    }


def _node_brief(node: Json) -> Json:
    taints = taints_of(node)
    return {
        "ready": is_ready(node),
        "unschedulable": bool(node["spec"].get("unschedulable")),
        "taints": [f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in taints],
        "pool": labels_of(node).get("cloud.google.com/gke-nodepool", ""),
        "zone": labels_of(node).get("topology.kubernetes.io/zone", ""),
    }


_BRIEFS = {"pods": _pod_brief, "nodes": _node_brief}


class Record:
    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self.entries: list[Json] = []

    def add(self, sort: str, entry: Json) -> None:
        self.entries.append({"type": sort, "at": self._clock.now(), **entry})

    def of(self, sort: str) -> list[Json]:
        return [entry for entry in self.entries if entry["type"] == sort]

    def on_change(self, change: ObjectChange) -> None:
        """Note a write of a pod or a node, unless nothing that a checker reads has changed."""
        brief = _BRIEFS.get(change.plural)
        thing = change.after or change.before
        if brief is None or thing is None:
            return
        if change.before and change.after and brief(change.before) == brief(change.after):
            return
        verb = "create" if change.before is None else "delete" if change.after is None else "update"
        meta = thing["metadata"]
        self.add(
            "change",
            {
                "verb": verb,
                "kind": change.plural,
                "namespace": meta.get("namespace", ""),
                "name": meta["name"],
                "uid": meta["uid"],
                "actor": change.actor,
                **brief(thing),
            },
        )
