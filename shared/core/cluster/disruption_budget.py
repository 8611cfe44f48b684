"""A PodDisruptionBudget: which pods it is about, what it asks for and how many may go now."""

from dataclasses import dataclass

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import LabelSelector
from shared.core.policy import Limit


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """A PDB with the status that the disruption controller keeps."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int = 0
    always_evict_unhealthy: bool = False
    """`unhealthyPodEvictionPolicy: AlwaysAllow`; otherwise IfHealthyBudget."""
    min_available: Limit | None = None
    max_unavailable: Limit | None = None
    """One of the two is given; with neither the disruption controller never allows anything."""
    expected_pods: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    observed: bool = True
    """Whether the status is about the spec as it stands."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def matches(self, spec: PodClass) -> bool:
        return self.namespace == spec.namespace and self.selector is not None and self.selector.matches(spec.labels)

    def must_stay(self, pods: int) -> int:
        """Return how many of so many pods must stay (disruption controller, getExpectedPodCount); percent rounds up."""
        if self.max_unavailable is not None:
            return pods - self.max_unavailable.of(pods)
        return self.min_available.of(pods) if self.min_available is not None else pods
