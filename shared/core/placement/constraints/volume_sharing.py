"""Claims that one pod at a time may use (ReadWriteOncePod): while a pod on any node does, no other gets a node.

A pod that moves has let its claim go before its replacement looks for a place, so each is told of when it is evicted.
(Disks that one *node* at a time can hold, ReadWriteOnce, no filter looks at: `rules.volumes` keeps pods that share
one where they are.) Source: kube-scheduler, plugin VolumeRestrictions.
Must not know resources, or why a pod moves.
"""

import numpy as np

from shared.core.cluster.pod import PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import READ_WRITE_ONCE_POD
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.node_filters import NodeMask
from shared.core.rules.volumes import claim_of


class OnePodClaims(Constraint):
    """By class, its claims that one pod at a time may use, each by a number."""

    def __init__(self, given: ConstraintInput) -> None:
        self.nowhere: NodeMask = np.zeros(len(given.snapshot.nodes), np.bool_)
        numbers: dict[str, int] = {}
        named = (_claims(spec, given.snapshot) for spec in given.classes)
        self.uses = [tuple(numbers.setdefault(claim, len(numbers)) for claim in claims) for claims in named]

    def concerns(self, kind: int) -> bool:
        """Whether pods of the class use any such claim."""
        return bool(self.uses[kind])

    def state(self) -> "OnePodClaimsState":
        return OnePodClaimsState(self)


class OnePodClaimsState(ConstraintState):
    """How many pods on nodes use each claim."""

    def __init__(self, claims: OnePodClaims) -> None:
        self._of = claims
        self._users: dict[int, int] = {}

    def copy(self) -> "OnePodClaimsState":
        twin = OnePodClaimsState(self._of)
        twin._users = dict(self._users)
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        del node
        for claim in self._of.uses[kind]:
            self._users[claim] = self._users.get(claim, 0) + pods

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """They use it until they are evicted."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, -pods)

    def allowed(self, kind: int) -> NodeMask | None:
        used = any(self._users.get(claim, 0) > 0 for claim in self._of.uses[kind])
        return self._of.nowhere if used else None


def _claims(spec: PodClass, snapshot: Snapshot) -> tuple[str, ...]:
    found = (claim_of(spec, volume, snapshot.storage) for volume in spec.volumes)
    return tuple(
        dict.fromkeys(each.key for each in found if each is not None and READ_WRITE_ONCE_POD in each.access_modes)
    )
