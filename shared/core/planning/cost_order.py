"""Which deletion cost the pods of each node carry: the sooner a node goes the less, and few pods written again.

Days of churn put nodes before, between and behind those that carry a cost. So costs leave room, the most nodes that are
in order keep theirs, and only the others are written; where no room is left, all are. Costs do not drift to an end of
their range, nor meet there. A node keeps its place before the next few of the plan: so much change is noise, and a
scale-in that goes on where it began empties more (docs/decisions/steer-scale-in.md). Must not know pods.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

LOWEST: Final = -1000
"""Above what people write who mean a pod to go before all others."""
HIGHEST: Final = -1
"""Below what a pod counts that bears no cost."""
NEAR: Final = 5
"""No node's place by cost is so many places or more from its place in the plan."""


def in_order(planned: Sequence[str], standing: Mapping[str, int]) -> list[str]:
    """Return the nodes as planned, but those that carry a cost before others that go at about the same time."""
    place = {node: index for index, node in enumerate(planned)}
    left, found = list(planned), list[str]()
    while left:
        is_late = len(found) - place[left[0]] >= NEAR - 1
        near = range(1 if is_late else min(NEAR, len(left)))
        found.append(left.pop(min(near, key=lambda index: standing.get(left[index], 0))))
    return found


def costs_of(ordered: Sequence[str], standing: Mapping[str, int]) -> dict[str, int]:
    """Return the cost of each node's pods, rising in that order; at most as many nodes as there are costs.

    `standing` says what nodes carry by now, within the range. Where they leave no room, all begin anew in the middle.
    """
    costs = [standing.get(node) for node in ordered]
    kept = _kept(costs, room=1)
    if not kept or len(kept) < len(_kept(costs, room=0)):
        step = _step(len(ordered))
        start = (LOWEST + HIGHEST - step * (len(ordered) - 1)) // 2
        return {node: start + step * place for place, node in enumerate(ordered)}
    return dict(zip(ordered, _filled(kept, len(ordered)), strict=True))


def _step(nodes: int) -> int:
    """Return how far costs lie apart: half of the range is left to those that come before and behind."""
    return max(1, (HIGHEST - LOWEST + 1) // (2 * nodes + 1))


def _filled(kept: Sequence[tuple[int, int]], nodes: int) -> list[int]:
    """Return all costs, given the places that keep theirs: evenly between two of these, else step by step."""
    (first, least), (last, most), step = kept[0], kept[-1], _step(nodes)
    low = (-1, max(LOWEST - 1, least - step * (first + 1)))
    high = (nodes, min(HIGHEST + 1, most + step * (nodes - last)))
    bounds = pairwise((low, *kept, high))
    found = [
        below + (above - below) * (place - before) // (after - before)
        for (before, below), (after, above) in bounds
        for place in range(before, after)
    ]
    return found[1:]


def _kept(costs: Sequence[int | None], *, room: int) -> list[tuple[int, int]]:
    """Return the most places whose costs may stay, with them: they rise, and leave so much room to each between them.

    A cost less the room up to its place must never fall: the longest such sequence is found in one walk.
    """
    levels: list[int] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place, cost in enumerate(costs):
        if cost is None or not LOWEST + room * place <= cost <= HIGHEST - room * (len(costs) - 1 - place):
            continue
        length = bisect_right(levels, cost - room * place)
        levels[length : length + 1] = [cost - room * place]
        ends[length : length + 1] = [place]
        before[place] = ends[length - 1] if length else None
    return _back_from(ends[-1] if ends else None, before, costs)


def _back_from(
    place: int | None, before: Mapping[int, int | None], costs: Sequence[int | None]
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while place is not None and (cost := costs[place]) is not None:
        found.append((place, cost))
        place = before[place]
    return found[::-1]
