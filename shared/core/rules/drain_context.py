"""What the rules about pods know besides the pod. Must not judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import Labels
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.policy import DrainSettings, PodRules, PoolPolicy
from shared.core.reasons import Finding
from shared.core.rules.budget_index import BudgetIndex
from shared.core.rules.volumes import VolumeFacts


@dataclass(frozen=True)
class DrainContext:
    """The PDBs, the settings of the node's pool, the time and the workloads.

    Answers that only depend on a pod's class are remembered, so keep one context for a pool and a pass.
    """

    disruption_budgets: tuple[PodDisruptionBudget, ...]
    policy: PoolPolicy | PodRules
    now: datetime
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    drain: DrainSettings = field(default_factory=DrainSettings)
    """How long a drain lasts, and the grace that an eviction asks for at most."""
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    """The labels of each; a drain's own step reads none, for the planner and its admission have asked."""
    volumes: VolumeFacts | None = None
    """What stands behind the pods' volumes; None in a step of a drain, which was admitted on them."""
    class_findings: dict[PodClass, tuple[Finding, ...]] = field(default_factory=dict, repr=False, compare=False)
    """What `pods` has found to block all pods of a class."""
    shortages: dict[PodClass, Finding | None] = field(default_factory=dict, repr=False, compare=False)
    """What `workload_rules.shortage` has found."""
    surged: dict[PodClass, bool] = field(default_factory=dict, repr=False, compare=False)
    """What `surges.is_surged` has found."""
    _budgets: dict[PodClass, tuple[PodDisruptionBudget, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _index(self) -> BudgetIndex:
        return BudgetIndex(self.disruption_budgets)

    def budgets_of(self, spec: PodClass) -> tuple[PodDisruptionBudget, ...]:
        """Return the PDBs that match a pod."""
        if spec not in self._budgets:
            self._budgets[spec] = self._index.matching(spec)
        return self._budgets[spec]

    def is_protected(self, spec: PodClass) -> bool:
        """Whether a PodDisruptionBudget speaks for the pods."""
        return bool(self.budgets_of(spec))

    def workload_of(self, spec: PodClass) -> Workload:
        """Return what stands behind the pods; UNKNOWN where it was not read."""
        return self.workloads.get(spec.workload, UNKNOWN)
