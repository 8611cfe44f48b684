"""Names for what was counted: which pod ends up where, told from the steps of an arrangement.

Pods of one class are alike, so the steps only count them; here each gets a name again, and a pod that was moved
on from a node taken later is told with its final place only. Must not decide anything.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.core.cluster.snapshot import Pod
from shared.core.placement.cluster_arrays import Terrain
from shared.core.placement.packing import Step


@dataclass(frozen=True, slots=True)
class Move:
    """A witness of the proof: this pod has a place there."""

    pod: str
    node: str


def final_places(
    terrain: Terrain, outside: Sequence[Pod], log: Iterable[Step], sources: Iterable[int]
) -> Mapping[str, int]:
    """Return the final node index by pod key, for all pods that moved.

    `sources` are the nodes whose own pods move; `outside` the pods that were not bound.
    """
    at: dict[tuple[int, int], deque[Pod]] = defaultdict(deque)
    for source, pods in (*((node, terrain.movable(node)) for node in sources), (-1, outside)):
        for pod in pods:
            at[source, terrain.kind_of[pod.spec]].append(pod)
    places: dict[str, int] = {}
    for kind, source, target in log:
        pod = at[source, kind].popleft()
        at[target, kind].append(pod)
        places[pod.key] = target
    return places
