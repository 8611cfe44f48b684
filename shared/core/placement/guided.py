"""A packing that follows a plan: each pod goes where the plan has one of its class, as long as every rule allows it.

It is how what the search found is proved: all of it is placed once more from the start, pod by pod. A pod that the
plan has no allowed place for goes where the strategy would put it, and so do those of a node of which the plan's places
would cost others theirs. Must not change the plan's set of nodes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from shared.core.placement.packing import Packing


class GuidedPacking(Packing):
    """Begins where another packing stands; `places` are the nodes meant for the pods of a class."""

    def __init__(self, start: Packing, places: Mapping[int, Sequence[int]]) -> None:
        super().__init__(start.arrays, start.strategy)
        self.begin_at(start)
        self._places = {kind: Counter(nodes) for kind, nodes in places.items()}

    def _best(self, kind: int) -> int:
        taking, meant = self.taking(kind), Counter() if self._careful else self._places.get(kind, Counter())
        target = next((node for node in meant if taking[node]), None)
        if target is None:
            return super()._best(kind)
        meant[target] -= 1
        if not meant[target]:
            del meant[target]
        return target
