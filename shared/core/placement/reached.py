"""A set of nodes that is known to go together, from elsewhere: the search proves it, and makes no less of it.

Must not know how it was reached.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.placement.cluster_arrays import ClusterArrays


@dataclass(frozen=True, slots=True)
class Reached:
    """The nodes in the order in which they went, and by pod where it lay in the end."""

    nodes: tuple[str, ...] = ()
    places: Mapping[str, str] | None = None

    def places_in(self, arrays: ClusterArrays) -> Mapping[int, list[int]]:
        """Return where the pods of these nodes lay, by class, as far as those nodes are still there."""
        places, found = self.places or {}, dict[int, list[int]]()
        for name in self.nodes:
            for pod in arrays.movable(arrays.index[name]):
                target = arrays.index.get(places.get(pod.key, ""))
                if target is not None:
                    found.setdefault(arrays.kind_of[pod.spec], []).append(target)
        return found


NOTHING_REACHED: Final = Reached()
