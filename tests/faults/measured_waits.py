"""How long the pods of workloads that Ebb evicted from found no place, read off a history's record."""

from collections.abc import Iterator

from tests.faults.installation import Installation
from tests.faults.replay import Entry, is_ebb, moments


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
