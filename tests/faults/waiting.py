"""How long cordons of Ebb's stood, and how long replacements of pods that it moved found no place.

Both are measured over the whole record; what excuses them is said at the rule.
"""

from collections.abc import Iterator, Sequence

from shared.core.state import Claim
from tests.faults.replay import Entry, Scene, holder, is_deleting, is_ebb

MOST_UNSCHEDULABLE = 30.0
READS_STAND_FOR = 60.0
"""How old a drainer's own picture may be at the grant, where the order brings no planner's picture."""


class Cordons:
    """A cordon of Ebb's, with its taint or without, may stand for deadline, watchdog and two passes (design §2).

    Excused is the time until the last disturbance: killed calls, lost messages and acts of people may hold up
    whatever would have ended the cordon, and it is then measured from when the disturbance ended.
    """

    def __init__(self, longest: float, disturbances: Sequence[float]) -> None:
        self._longest, self._disturbances = longest, disturbances
        self._since: dict[str, float] = {}

    def of(self, entry: Entry, scene: Scene) -> Iterator[str]:
        """Judge one entry of the record."""
        if entry["type"] != "change" or entry["kind"] != "nodes":
            return
        name = entry["name"]
        held = entry["verb"] != "delete" and (bool(holder(entry)) or scene.is_ours(entry))
        if held and name not in self._since:
            self._since[name] = scene.at
        if not held and name in self._since:
            yield from self._too_long(name, self._since.pop(name), scene.at)

    def at_the_end(self, at: float) -> Iterator[str]:
        for name, since in self._since.items():
            yield from self._too_long(name, since, at)

    def _too_long(self, name: str, since: float, until: float) -> Iterator[str]:
        excused = max((at for at in self._disturbances if at <= until), default=since)
        age = until - max(since, excused)
        if age > self._longest:
            yield f"{name} stood cordoned by Ebb for {age:.0f} s, allowed are {self._longest:.0f} s"


def _offers_room(node: Entry) -> bool:
    return bool(node["ready"]) and not node["unschedulable"] and not is_deleting(node) and not holder(node)


def _own(grant: Entry) -> float:
    return float(grant["began"]) - READS_STAND_FOR


class Places:
    """A replacement of a pod that Ebb evicted may be unschedulable for 30 s (design §2).

    Excused is a wait before whose end somebody else took room that the proof had counted on, not earlier than the
    proof: a node not ours that was cordoned, deleted, being deleted or lost, or pods that people added or moved.
    """

    def __init__(self) -> None:
        self._moved: dict[str, float] = {}
        self._proved: dict[str, float] = {}
        self._since: dict[str, tuple[float, str]] = {}
        self._taken: list[float] = []
        self._told: set[str] = set()

    def of(self, entry: Entry, scene: Scene) -> Iterator[str]:
        """Judge one entry of the record."""
        for uid in [uid for uid, (since, _) in self._since.items() if scene.at - since > MOST_UNSCHEDULABLE]:
            yield from self._too_long(uid)
        if entry["type"] == "state":
            for uid in entry["after"].claims.keys() - entry["before"].claims.keys():
                claim: Claim = entry["after"].claims[uid]
                self._proved[claim.node] = claim.picture_at.timestamp() if claim.picture_at else _own(entry)
        elif entry["type"] == "eviction" and is_ebb(entry["actor"]) and entry["uid"] in scene.pods:
            owner = scene.pods[entry["uid"]]["owner"]
            self._moved.setdefault(owner, self._proved.get(entry["node"], scene.at))
        elif entry["type"] == "act" and entry["moves_pods"]:
            self._taken.append(scene.at)
        elif entry["type"] == "change":
            self._pod(entry, scene) if entry["kind"] == "pods" else self._node(entry, scene)

    def _pod(self, entry: Entry, scene: Scene) -> None:
        if entry["verb"] != "delete" and entry["unschedulable"] and not entry["terminating"]:
            self._since.setdefault(entry["uid"], (scene.at, entry["owner"]))
        else:
            self._since.pop(entry["uid"], None)

    def _node(self, entry: Entry, scene: Scene) -> None:
        before = scene.standing(entry)
        if is_ebb(entry["actor"]) or before is None or not _offers_room(before):
            return
        if entry["verb"] == "delete" or not _offers_room(entry):
            self._taken.append(scene.at)

    def _too_long(self, uid: str) -> Iterator[str]:
        since, owner = self._since[uid]
        proved = self._moved.get(owner)
        if uid in self._told or proved is None:
            return
        self._told.add(uid)
        if not any(proved <= at <= since + MOST_UNSCHEDULABLE for at in self._taken):
            yield f"pod {uid[:8]} of owner {owner[:8]}, which Ebb moved, found no place for {MOST_UNSCHEDULABLE:.0f} s"
