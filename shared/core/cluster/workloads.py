"""The controllers behind pods: replicas, rollouts, PodDisruptionBudgets. One that could not be read blocks nothing."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.names import Namespaced
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import LabelSelector
from shared.core.policy import Limit

A_QUARTER: Final = Limit(percent=25)  # The API's default for maxSurge and maxUnavailable.


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    name: str  # `namespace/Deployment/name`, as `Workload.name` has it.
    uid: str = ""
    resource_version: str = ""
    wanted: int = 1  # Wanted replicas.
    created: int = 0  # Pods of all its ReplicaSets that are not on their way out.
    updated: int = 0  # Those of the newest template.
    available: int = 0
    observed: bool = True  # Whether the status is about the spec as it stands.
    progressing: bool = True  # False when its rollout has failed: its deadline has passed (condition Progressing).
    rolling_update: bool = True  # Whether it replaces pods in turn; otherwise it ends all before it makes new ones.
    max_surge: Limit = A_QUARTER
    max_unavailable: Limit = A_QUARTER
    min_ready: timedelta = timedelta(0)  # How long a pod must be Ready to be available (minReadySeconds).
    paused: bool = False
    deleting: bool = False
    wish: str = ""  # The value of its annotation `names.SURGE`; empty without one.
    stamp: str = ""  # The drain that it was restarted for, by its template (`names.SURGE_STAMP`); empty without one.
    earlier: str = ""  # The stamp before that one (`names.SURGED_BEFORE`); empty without one.
    generation: int = 0
    """Grows with each change of its spec or of its own annotations, by one (Kubernetes, the Deployments' strategy)."""
    template: str = ""  # A digest of its template but for the stamp; only where the Deployment was read by itself.

    @property
    def surge(self) -> int:
        """How many pods beyond those wanted a rollout makes; percent rounds up (deployment controller, MaxSurge)."""
        return self.max_surge.of(self.wanted)

    @property
    def unavailable(self) -> int:
        """How many of those wanted a rollout may lack."""
        # Percent rounds down, and it is one if both are zero (ResolveFenceposts).
        limit = self.max_unavailable
        most = limit.of(self.wanted) if limit.percent is None else limit.percent * self.wanted // 100
        return most or int(self.surge == 0)

    @property
    def settled(self) -> bool:
        """Whether its newest template is rolled out: all pods have it, and as many are available as are wanted."""
        return self.observed and self.created == self.updated == self.wanted and self.available >= self.wanted


_MARK_LENGTH: Final = 4  # 24 bits: two workloads that share a mark by chance count as one, and wait for each other.


@dataclass(frozen=True, slots=True)
class Revisions:
    """Of which revision a StatefulSet makes the pod of a missing ordinal (newVersionedStatefulSetPod)."""

    current: str = ""
    update: str = ""  # The one of the template as it stands.
    first_updated: int = 0  # The lowest ordinal of the newest revision; those below are of the current one.

    def of(self, spec: PodClass) -> str:
        name = spec.labels.get(names.POD_INDEX_LABEL) or spec.labels.get(names.POD_NAME_LABEL, "").rpartition("-")[2]
        return self.current if name.isdecimal() and int(name) < self.first_updated else self.update


@dataclass(frozen=True, slots=True)
class Workload:
    """What is behind a pod's controller: for the ReplicaSet of a Deployment, that Deployment."""

    name: str = ""  # `namespace/kind/name`; the ReplicaSets of one Deployment share it.
    wanted: int | None = None  # Wanted replicas; None = not known.
    available: int | None = None  # In the whole cluster, as its controller last wrote it; None = not known.
    rolling: bool = False  # Whether a rollout is under way, or a change that its controller has not seen yet.
    created: int | None = None
    """Pods that its controller has created and that are not on their way out, as it last wrote it (a StatefulSet
    counts those on their way out too); None = not known."""
    owner: str = ""  # Its own controller (`namespace/kind/name`): a VerticalPodAutoscaler may name that.
    templates: tuple[PodClass, ...] = ()
    """What its next pods are made of: a ReplicaSet's own, and its Deployment's where that is another by now."""
    fixed_template: bool = False
    """Whether all its pods were made of the first of them: that of a ReplicaSet that something controls stays."""
    revisions: Revisions | None = None
    """Of a StatefulSet: which of its pods will be made of its template; None of others: all of them."""
    terminating: int | None = None
    """Pods on their way out that `created` does not count; None = not reported (before Kubernetes 1.35)."""
    replaced_at_end: bool = False
    """Whether it replaces a pod only once that has ended (a Deployment's podReplacementPolicy: TerminationComplete);
    StatefulSets always do."""
    template_mark: str = ""
    """Ebb's mark of a deletion cost (`names.STEERED`) where people wrote it into the template of its pods."""
    deployment: Deployment | None = None  # How it is rolled out; None for other kinds, and if it is not known.

    @property
    def single(self) -> bool:
        return self.wanted == 1

    @property
    def replicas_away(self) -> int | None:
        """Replicas wanted and not available anywhere in the cluster; None = not known."""
        if self.wanted is None or self.available is None:
            return None
        return max(self.wanted - self.available, 0)

    def may_be_away(self, limit: Limit) -> int:
        """Return how many replicas may be away at once without a PodDisruptionBudget (docs/decisions/evictions.md)."""
        # Percent rounds up, as maxUnavailable does; at least one, and never all at once unless there is only one.
        if self.wanted is None or self.wanted <= 1:
            return 1
        return max(1, min(limit.of(self.wanted), self.wanted - 1))


UNKNOWN: Final = Workload()


def mark(workload: str) -> str:
    """Return the short mark under which a claim remembers a workload."""
    digest = hashlib.sha256(workload.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_MARK_LENGTH]


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget(Namespaced):
    selector: LabelSelector | None
    disruptions_allowed: int = 0
    always_evict_unhealthy: bool = False  # `unhealthyPodEvictionPolicy: AlwaysAllow`; otherwise IfHealthyBudget.
    min_available: Limit | None = None
    max_unavailable: Limit | None = None
    """One of the two is given; with neither the disruption controller never allows anything."""
    expected_pods: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    observed: bool = True  # Whether the status is about the spec as it stands.
    fault: str = ""
    """Why the disruption controller cannot count its pods, in that controller's words; empty where it can."""

    def matches(self, spec: PodClass) -> bool:
        return self.namespace == spec.namespace and self.selector is not None and self.selector.matches(spec.labels)

    def must_stay(self, pods: int) -> int:
        """Return how many of so many pods must stay (disruption controller, getExpectedPodCount); percent rounds up."""
        if self.max_unavailable is not None:
            return pods - self.max_unavailable.of(pods)
        return self.min_available.of(pods) if self.min_available is not None else pods
