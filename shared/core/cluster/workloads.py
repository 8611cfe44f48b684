"""The controllers behind pods: how many replicas each wants, how many are there, and whether it is being rolled out.

A workload that could not be read is `UNKNOWN`: nothing is held against it, and nothing is promised of it.
Must not hold rules about moving pods; those are `rules.workload_rules` and `rules.workload_limits`.
"""

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.containers import ContainerRequests
from shared.core.cluster.deployment import Deployment
from shared.core.policy import Limit

_MARK_LENGTH: Final = 4
"""24 bits: two workloads that share a mark by chance are only taken for one, and wait for each other."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What stands behind a pod's controller: for the ReplicaSet of a Deployment, that Deployment."""

    name: str = ""
    """`namespace/kind/name`; the ReplicaSets of one Deployment share it."""
    wanted: int | None = None
    """Replicas asked for; None = not known."""
    available: int | None = None
    """Replicas available in the whole cluster, as its controller last wrote it; None = not known."""
    rolling: bool = False
    """Whether a rollout is under way, or a change that its controller has not seen yet."""
    created: int | None = None
    """Pods that its controller has created and that are not on their way out, as it last wrote it (a StatefulSet
    counts those on their way out too); None = not known."""
    owner: str = ""
    """What controls it itself (`namespace/kind/name`): a VerticalPodAutoscaler may name that."""
    template: ContainerRequests | None = None
    """What its next pods ask for; None = not known."""
    terminating: int | None = None
    """Pods on their way out that `created` does not count; None = not told (before Kubernetes 1.35)."""
    replaced_at_end: bool = False
    """Whether it makes another pod only once one has ended (a Deployment's podReplacementPolicy: TerminationComplete);
    StatefulSets always do."""
    template_mark: str = ""
    """Ebb's mark of a deletion cost (`names.STEERED`) where people wrote it into the template of its pods."""
    deployment: Deployment | None = None
    """How it is rolled out; None where it is no Deployment, or not known."""

    @property
    def single(self) -> bool:
        return self.wanted == 1

    @property
    def away(self) -> int | None:
        """Replicas wanted and not available anywhere in the cluster; None = not known."""
        if self.wanted is None or self.available is None:
            return None
        return max(self.wanted - self.available, 0)

    def may_be_away(self, limit: Limit) -> int:
        """Return how many replicas may be away at once where no PodDisruptionBudget says so.

        See docs/decisions/evictions.md.

        Percent rounds up, as a PodDisruptionBudget's maxUnavailable does; at least one, and never all at once
        unless there is only one.
        """
        if self.wanted is None or self.wanted <= 1:
            return 1
        return max(1, min(limit.of(self.wanted), self.wanted - 1))


UNKNOWN: Final = Workload()


def mark(workload: str) -> str:
    """Return the short mark under which a claim remembers a workload."""
    digest = hashlib.sha256(workload.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_MARK_LENGTH]
