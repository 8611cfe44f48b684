"""Empties the nodes that a proof has taken in an order of its own, pod by pod, as the scheduler would let it.

A pod waits until it may go to a place that the proof had for one of its kind, judged by the independent checker.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import TypeVar

from msgspec import structs

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.simulation import Simulation
from tests.placement_checker import faults

T = TypeVar("T")


def left_waiting(snapshot: Snapshot, *, robust: bool, order: Random) -> list[str]:
    """Take what can be taken, empty all of it pod by pod, both in a drawn order; return who has no place in the end."""
    simulation = Simulation.of(snapshot, robust=robust)
    for node in _shuffled(snapshot.nodes, order):
        simulation.try_remove(node.name)
    places = {move.pod: move.node for moves in simulation.assignments.moves().values() for move in moves}
    now = snapshot
    for one in _shuffled((pod for pod in snapshot.pods if pod.key in places), order):
        now = _placed(_at(now, one, ""), places, simulation.taken)
    return [one.key for one in now.pods if not one.node]


def _shuffled(rows: Iterable[T], order: Random) -> list[T]:
    found = list(rows)
    order.shuffle(found)
    return found


def _placed(now: Snapshot, places: Mapping[str, str], drained: tuple[str, ...]) -> Snapshot:
    """Put waiting pods where the proof had one of their kind, as long as the scheduler would put any there."""
    for waiting in (pod for pod in now.pods if not pod.node):
        for place in _free_places(now, waiting.spec, places, drained):
            if _takes(now, waiting, place, drained):
                return _placed(_at(now, waiting, place), places, drained)
    return now


def _free_places(now: Snapshot, kind: PodClass, places: Mapping[str, str], drained: tuple[str, ...]) -> list[str]:
    """Return the places that the proof had for pods of the kind and that none of them has yet."""
    alike = [pod for pod in now.pods if pod.key in places and pod.spec is kind]
    free = Counter(places[pod.key] for pod in alike)
    free.subtract(pod.node for pod in alike if pod.node and pod.node not in drained)
    return [place for place, count in free.items() if count > 0]


def _takes(now: Snapshot, waiting: Pod, place: str, drained: tuple[str, ...]) -> bool:
    found = faults(now, {waiting.key: place}, drained)
    return [fault for fault in found if " is left on " not in fault] == []


def _at(now: Snapshot, moved: Pod, place: str) -> Snapshot:
    moving = structs.replace(moved, node=place)
    return replace(now, pods=tuple(moving if pod.key == moved.key else pod for pod in now.pods))
