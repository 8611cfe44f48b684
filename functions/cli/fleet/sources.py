"""What a fleet is read from: a cluster or an installation each, and how each cluster is planned.

Values that go to another process. Must not read what they name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from functions.cli.fleet.names import is_of
from functions.cli.input_readers import cluster_of
from functions.cli.plan.compute import PlanOptions
from functions.cli.pricing import LISTED, PriceOptions
from functions.cli.profiles import CLUSTER
from shared.core.policy import Policy

if TYPE_CHECKING:
    from functions.cli.dumps.homes import Home


@dataclass(frozen=True)
class InstallationSource:
    """One installation: what its profile is called, and the variables in it; without them, why there are none."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""

    @property
    def cluster(self) -> str:
        return self.environment.get(CLUSTER, "")


@dataclass(frozen=True)
class FleetPlanning:
    """How each cluster is planned: under the policy that was named, else under that of its installation."""

    prices: PriceOptions = LISTED
    options: PlanOptions = field(default_factory=PlanOptions)
    policy: Policy | None = None
    by_cluster: Mapping[str, Policy] = field(default_factory=dict)
    """The policies of installations, by the whole names of their clusters."""

    def policy_of(self, cluster: str, home: "Home | None") -> Policy | None:
        own = (policy for name, policy in self.by_cluster.items() if is_of(name, cluster, home))
        return self.policy or next(own, None)


@dataclass(frozen=True)
class ClusterSource:
    """One thing to read: dumps, a context, or an installation's cluster as the GKE API describes it."""

    name: str
    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What `EBB_…` variables hold while it is read, and no others."""

    @property
    def cluster(self) -> str:
        """Return what the cluster is called before it is read."""
        if self.dumps:
            return self.name
        return cluster_of(self.context) if self.context else self.environment.get(CLUSTER, self.name)

    @property
    def folder(self) -> Path | None:
        """Where a file lies that may be a part of a cluster."""
        return self.dumps[0].parent if len(self.dumps) == 1 and self.dumps[0].is_file() else None
