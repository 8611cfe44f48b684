"""What people asked for: a release is carried out, and a node that a person took back is left alone (design §5, §6)."""

from collections.abc import Iterator

from tests.faults.excuses import Excuse, Excuses
from tests.faults.provider import DEEDS
from tests.faults.replay import Entry, Scene, holder, is_deleting, is_ebb

_TAKES_BACK = {"uncordon", "untaint", "take back"}
_OTHER_REASONS = {
    "pause",
    "dry run",
    "pause flag",
    "release",
    "grow",
    "rival",
    "evict",
    "delete",
    "lose the state",
    *DEEDS,
}
"""Acts for which Ebb may have given the node back before it saw that a person wanted it, or has forgotten that."""


class Wishes:
    """Judges both over the whole record."""

    def __init__(self, excuses: Excuses) -> None:
        self._excuses = excuses
        self._taken_back: dict[str, float] = {}
        self._shaken: set[str] = set()
        self._released: dict[str, str] = {}
        self._has_other_word = False

    def of(self, entry: Entry, scene: Scene) -> Iterator[str]:
        """Judge one entry of the record."""
        if entry["type"] == "act":
            self._act(entry, scene)
        elif entry["type"] == "change" and entry["kind"] == "nodes" and entry["verb"] != "delete":
            if is_deleting(entry):
                self._shaken.add(entry["uid"])
            if is_ebb(entry["actor"]) and holder(entry) and not holder(scene.standing(entry)):
                yield from self._taken(entry)

    def not_granted(self, held: set[str]) -> Iterator[str]:
        """Judge the end: `held` are the orders that still hold a claim."""
        for order_id, name in self._released.items():
            if order_id in held:
                yield f"{name} was to be released, and order {order_id} holds it still"

    def _act(self, entry: Entry, scene: Scene) -> None:
        self._has_other_word = self._has_other_word or entry["act"] in _OTHER_REASONS
        if entry["act"] in _TAKES_BACK and entry["order"]:
            self._taken_back[entry["uid"]] = scene.at
        if entry["act"] == "release" and entry["order"]:
            self._released[entry["order"]] = entry["node"]

    def _taken(self, entry: Entry) -> Iterator[str]:
        uid, covers = entry["uid"], self._excuses.covers
        if uid not in self._taken_back or covers(Excuse.SHAKEN, uid in self._shaken):
            return
        if not covers(Excuse.OTHER_WORD, self._has_other_word):
            yield f"{entry['actor']} took {entry['name']} though a person had taken it back"
