"""Names for what was counted: which pod ends up where, told from the placements of a packing.

Pods of one class are alike, so the placements only count them; here each gets a name again, and a pod that was moved
on from a node taken later is told with its final place only. Must not decide anything.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shared.core.cluster.pod import Pod
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Placement


@dataclass(frozen=True, slots=True)
class Move:
    """What the proof found: this pod has a place there."""

    pod: str
    node: str


def named(
    arrays: ClusterArrays, outside: Sequence[Pod], log: Iterable[Placement], sources: Iterable[int]
) -> Iterator[tuple[str, int]]:
    """Yield pod key and node index of every placement in order; of one pod the last is where it ends up.

    `sources` are the nodes whose own pods move; `outside` the pods that were not bound.
    """
    at: dict[tuple[int, int], deque[Pod]] = defaultdict(deque)
    for source, pods in (*((node, arrays.movable(node)) for node in sources), (-1, outside)):
        for pod in pods:
            at[source, arrays.kind_of[pod.spec]].append(pod)
    for kind, source, target in log:
        pod = at[source, kind].popleft()
        at[target, kind].append(pod)
        yield pod.key, target
