"""What people asked for: a release is carried out, and a node that a person took back is left alone (design §5, §6)."""

from collections.abc import Iterator

from tests.faults.provider import DEEDS
from tests.faults.replay import Entry, Scene, holder, is_deleting, is_ebb

_TAKES_BACK = {"uncordon", "untaint", "take back"}
_OTHER_REASONS = {"pause", "dry run", "pause flag", "release", "grow", "evict", "delete", "lose the state", *DEEDS}
"""Acts for which Ebb may have given the node back before it saw that a person wanted it, or has forgotten that."""


class Wishes:
    """Judges both over the whole record.

    A node taken back is excused from being left alone if the drain may have ended for another reason that a person
    gave, and if the autoscaler had begun to delete it: an uncordon then counts as the autoscaler's (design §5).
    """

    def __init__(self) -> None:
        self._taken_back: dict[str, float] = {}
        self._shaken: set[str] = set()
        self._released: dict[str, str] = {}
        self._excused = False

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
        self._excused = self._excused or entry["act"] in _OTHER_REASONS
        if entry["act"] in _TAKES_BACK and entry["order"]:
            self._taken_back[entry["uid"]] = scene.at
        if entry["act"] == "release" and entry["order"]:
            self._released[entry["order"]] = entry["node"]

    def _taken(self, entry: Entry) -> Iterator[str]:
        uid = entry["uid"]
        if uid in self._taken_back and uid not in self._shaken and not self._excused:
            yield f"{entry['actor']} took {entry['name']} though a person had taken it back"
