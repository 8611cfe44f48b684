"""A PodDisruptionBudget: which pods it is about and how many may go now. Must not judge an eviction."""

from dataclasses import dataclass

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import LabelSelector


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """A PDB with the status that the disruption controller keeps."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int = 0
    always_evict_unhealthy: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def matches(self, spec: PodClass) -> bool:
        return self.namespace == spec.namespace and self.selector is not None and self.selector.matches(spec.labels)
