"""How long cordons of Ebb's stood, and how long replacements of what it moved found no place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.faults.excuses import Excuse, Excuses
from tests.faults.installation import Installation
from tests.faults.outages import Outage
from tests.faults.replay import Entry, ReplayedCluster, holder, is_ebb, moments

MOST_UNSCHEDULABLE = 30.0
REDELIVERED_AFTER = 10.0
"""Seconds after which a message whose step failed is delivered again, the first time."""
CALLS_OF_TWO_LOOKS = 4
"""So many calls of one kind has a look that sees a pod wait, with the look before its node is given back."""


@dataclass
class Bound:
    """How long a cordon, a claim and a message of Ebb's may stand; `extra` where it was kept from its work.

    `of_nodes` is what more single nodes may, by name, where calls about them alone failed.
    """

    excuses: Excuses
    promised: float
    extra: float
    of_nodes: Mapping[str, float] = field(default_factory=dict)

    def longest(self, node: str = "") -> float:
        return self.promised + self.extra + self.of_nodes.get(node, 0.0)

    def is_broken(self, seconds: float, node: str = "") -> bool:
        if seconds <= self.promised:
            return False
        return not self.excuses.covers(Excuse.DISTURBED, seconds <= self.longest(node))


class CordonTimes:
    """A cordon of Ebb's may stand for deadline, watchdog and two passes (docs/decisions/promise.md)."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._since: dict[str, float] = {}

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] != "change" or entry["kind"] != "nodes":
            return
        name = entry["name"]
        held = entry["verb"] != "delete" and (bool(holder(entry)) or cluster.is_ours(entry))
        if held and name not in self._since:
            self._since[name] = cluster.at
        if not held and name in self._since:
            yield from self._too_long(name, self._since.pop(name), cluster.at)

    def at_the_end(self, at: float) -> Iterator[str]:
        for name, since in self._since.items():
            yield from self._too_long(name, since, at)

    def _too_long(self, name: str, since: float, until: float) -> Iterator[str]:
        if self._bound.is_broken(until - since, name):
            allowed = self._bound.longest(name)
            yield f"{name} stood cordoned by Ebb for {until - since:.0f} s, allowed are {allowed:.0f} s"


@dataclass
class Episode:
    """A workload from Ebb's first eviction until it stands again as it did."""

    since: float
    size: int
    """Its pods when that eviction was granted."""
    moved: dict[str, str]
    """The pods that Ebb moved, and from which node."""


class WaitingTimes:
    """A replacement of a pod that Ebb moved is unschedulable for at most 30 s, or the pod's node is given back.

    Replacements are told from a workload's other pods by number: of those that came after Ebb's first eviction as many
    count as Ebb has moved, whoever else has moved some; only what the workload asks for more than before does not.
    """

    def __init__(
        self,
        excuses: Excuses,
        hindrances: Sequence[float],
        recovery: float,
        turned_away: Sequence[float] = (),
        outages: Sequence[Outage] = (),
        struck: Sequence[float] = (),
    ) -> None:
        self._excuses, self._recovery, self._outages = excuses, recovery, outages
        self._struck = tuple(struck)
        self._turned_away = tuple(zip(turned_away[::2], turned_away[1::2], strict=True))
        self._hindrances = sorted(hindrances)
        self._episodes: dict[str, Episode] = {}
        """By owner."""
        self._since: dict[str, tuple[float, str]] = {}
        """By pod: since when it is unschedulable, and its owner."""
        self._told: set[str] = set()
        self.longest = 0.0
        """How long any replacement waited while its pod's node was still held, and nothing hindered Ebb."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        yield from self.at(cluster)
        if entry["type"] == "eviction" and is_ebb(entry["actor"]) and entry["uid"] in cluster.pods:
            self._moved(entry, cluster)
        elif entry["type"] == "change" and entry["kind"] == "pods":
            self._pod(entry, cluster)

    def at(self, cluster: ReplayedCluster) -> Iterator[str]:
        for owner in {owner for _, owner in self._since.values()} & self._episodes.keys() - self._told:
            episode = self._episodes[owner]
            waits = self._replacements(owner, episode, cluster)
            held = {name for name in episode.moved.values() if _is_held(name, cluster)}
            waited, hindered = cluster.at - min(waits, default=cluster.at), self._is_hindered(cluster.at)
            if held and not hindered and not self._is_turned_away(cluster.at):
                self.longest = max(self.longest, waited)
            if waited <= MOST_UNSCHEDULABLE:
                continue
            there = cluster.nodes.keys() & {*episode.moved.values()}
            rows = (
                (Excuse.NODE_GONE, not there),
                (Excuse.GIVEN_BACK, not held),
                (Excuse.HINDERED, hindered),
                (Excuse.TURNED_AWAY, self._is_turned_away(cluster.at)),
                (
                    Excuse.REPEATED,
                    waited <= MOST_UNSCHEDULABLE + REDELIVERED_AFTER and self._has_failed(cluster.at, waited),
                ),
                (Excuse.SLOW, waited <= MOST_UNSCHEDULABLE + CALLS_OF_TWO_LOOKS * self._slowness(cluster.at)),
            )
            if not any(self._excuses.covers(*row) for row in rows):
                self._told.add(owner)
                names = ", ".join(sorted(held))
                yield f"a pod of {owner[:8]}, which Ebb moved, found no place for {waited:.0f} s, and Ebb holds {names}"

    def _replacements(self, owner: str, episode: Episode, cluster: ReplayedCluster) -> list[float]:
        """Since when the pods wait that count as moved by Ebb, the longest first."""
        waits = sorted(at for at, whose in self._since.values() if whose == owner and at >= episode.since)
        grown = max(0, len(_living(owner, cluster)) - episode.size)
        self._excuses.note(Excuse.GROWN, grown > 0 and bool(waits))
        return waits[: min(len(waits) - grown, len(episode.moved))] if grown < len(waits) else []

    def _is_hindered(self, now: float) -> bool:
        last = max((at for at in self._hindrances if at <= now), default=float("-inf"))
        return now <= last + self._recovery

    def _has_failed(self, now: float, waited: float) -> bool:
        return any(now - waited <= at <= now for at in self._struck)

    def _is_turned_away(self, now: float) -> bool:
        """Whether the API server answers nobody, or has begun to answer again less than half a minute ago."""
        return any(begin <= now <= end + MOST_UNSCHEDULABLE for begin, end in self._turned_away)

    def _slowness(self, now: float) -> float:
        return sum(outage.slow for outage in self._outages if outage.strikes_at(now))

    def _moved(self, entry: Entry, cluster: ReplayedCluster) -> None:
        owner = cluster.pods[entry["uid"]]["owner"]
        self._end_if_whole(owner, cluster)
        begun = Episode(cluster.at, len(_living(owner, cluster)), {})
        self._episodes.setdefault(owner, begun).moved[entry["uid"]] = entry["node"]

    def _end_if_whole(self, owner: str, cluster: ReplayedCluster) -> None:
        """What is taken from a workload that stands again as before has nothing to do with what was moved earlier."""
        episode, living = self._episodes.get(owner), _living(owner, cluster)
        if episode is not None and len(living) >= episode.size and all(pod["node"] for pod in living):
            del self._episodes[owner]
            self._told.discard(owner)

    def _pod(self, entry: Entry, cluster: ReplayedCluster) -> None:
        before = cluster.before_change(entry)
        if before is not None and not before["terminating"] and (entry["terminating"] or entry["verb"] == "delete"):
            episode = self._episodes.get(before["owner"])
            if episode is not None and entry["uid"] not in episode.moved:
                self._end_if_whole(before["owner"], cluster)
        if entry["verb"] != "delete" and entry["unschedulable"] and not entry["terminating"]:
            self._since.setdefault(entry["uid"], (cluster.at, entry["owner"]))
        else:
            self._since.pop(entry["uid"], None)


def _is_held(name: str, cluster: ReplayedCluster) -> bool:
    return bool(holder(cluster.nodes.get(name))) or name in cluster.cordons


def _living(owner: str, cluster: ReplayedCluster) -> list[Entry]:
    return [pod for pod in cluster.pods.values() if pod["owner"] == owner and not pod["terminating"]]


def measured_waits(end: Installation) -> list[float]:
    """Return how long each pod of a workload that Ebb has evicted from was unschedulable, in seconds, longest first."""
    return sorted(_waits(end), reverse=True)


def _waits(end: Installation) -> Iterator[float]:
    moved: set[str] = set()
    since: dict[str, float] = {}
    for entry, cluster in moments(end.cloud.world.record.entries):
        if entry["type"] == "eviction" and is_ebb(entry["actor"]) and entry["uid"] in cluster.pods:
            moved.add(cluster.pods[entry["uid"]]["owner"])
        if entry["type"] != "change" or entry["kind"] != "pods" or entry["owner"] not in moved:
            continue
        if _finds_no_place(entry):
            since.setdefault(entry["uid"], cluster.at)
        elif entry["uid"] in since:
            yield cluster.at - since.pop(entry["uid"])
    yield from (end.clock.now() - at for at in since.values())


def _finds_no_place(pod: Entry) -> bool:
    return pod["verb"] != "delete" and pod["unschedulable"] and not pod["terminating"]
