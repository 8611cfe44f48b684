"""A Deployment as its rollouts see it: how it replaces pods, how far it is, and for which drain it was last restarted.

Must not judge whether it may be restarted: `rules.surges` does.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.core.policy import Limit

A_QUARTER: Final = Limit(percent=25)
"""The API's default for maxSurge and maxUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One Deployment, with the status that its controller keeps."""

    name: str
    """`namespace/Deployment/name`, as `Workload.name` has it."""
    uid: str = ""
    resource_version: str = ""
    wanted: int = 1
    """Replicas asked for."""
    created: int = 0
    """Pods of all its ReplicaSets that are not on their way out."""
    updated: int = 0
    """Those of the newest template."""
    available: int = 0
    observed: bool = True
    """Whether the status is about the spec as it stands."""
    progressing: bool = True
    """False when its rollout has come to nothing (condition Progressing=False: its deadline has passed)."""
    rolling_update: bool = True
    """Whether it replaces pods one after another (RollingUpdate); otherwise it ends all before it makes new ones."""
    max_surge: Limit = A_QUARTER
    max_unavailable: Limit = A_QUARTER
    min_ready: timedelta = timedelta(0)
    """How long a new pod must be Ready before it counts as available, and an old one goes (minReadySeconds)."""
    paused: bool = False
    deleting: bool = False
    wish: str = ""
    """The value of its annotation `names.SURGE`; empty without one."""
    stamp: str = ""
    """The drain that its template says it was restarted for (`names.SURGE_STAMP`); empty where there was none."""
    earlier: str = ""
    """The stamp that it says stood before that one (`names.SURGED_BEFORE`); empty where there was none."""
    generation: int = 0
    """Grows with each change of its spec or of its own annotations, by one (Kubernetes, the Deployments' strategy)."""
    template: str = ""
    """A digest of its template but for the stamp; only where the Deployment was read by itself."""

    @property
    def surge(self) -> int:
        """How many pods beyond those wanted a rollout makes; percent rounds up (deployment controller, MaxSurge)."""
        return self.max_surge.of(self.wanted)

    @property
    def unavailable(self) -> int:
        """How many of those wanted a rollout may lack; percent rounds down, and one where both came to nothing.

        Source: kubernetes, controller/deployment/util (ResolveFenceposts).
        """
        limit = self.max_unavailable
        most = limit.of(self.wanted) if limit.percent is None else limit.percent * self.wanted // 100
        return most or int(self.surge == 0)

    @property
    def settled(self) -> bool:
        """Whether its newest template is rolled out: every pod is of it, and as many are available as are wanted."""
        return self.observed and self.created == self.updated == self.wanted and self.available >= self.wanted
