"""Finding objects by controller or by label without looking at all of them; kept true by the store at each write."""

from collections import defaultdict

from infra.local.world.kinds import Json
from infra.local.world.pods import controller_of, labels_of

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
