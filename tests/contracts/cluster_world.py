"""A cluster that the laws of the port furnish, for every implementation, and how they look at it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import Taint
from shared.core.cluster.workloads import Workload
from shared.ports import Cluster

FOREIGN = Taint("dedicated", "NoSchedule", "db")
SHOP = "default/Deployment/shop"


class World(Protocol):
    """A cluster that a test may furnish."""

    @property
    def cluster(self) -> Cluster: ...

    def add_node(self, name: str, *taints: Taint) -> None:
        """Add a Ready node."""

    def add_pod(self, name: str, *, on: str, app: str = "web") -> None:
        """Add a Running and Ready pod in namespace default."""

    def add_budget(self, name: str, *, app: str = "web", allowed: int) -> None:
        """Add a PodDisruptionBudget over the pods of an app, after them, with so many disruptions allowed."""

    def add_replicas(self, number: int, *, on: str) -> None:
        """Add Deployment `shop` in namespace default with so many replicas, and let its pods run on that node."""

    def add_disk(self, name: str, *, zone: str) -> None:
        """Add a PersistentVolume `pv-NAME` in a zone, bound to a claim of that name in namespace default."""

    def annotate(self, pod: str, **annotations: str) -> None:
        """Let somebody else write annotations on a pod in namespace default; other ones stay."""

    def touch(self, node: str) -> None:
        """Let somebody else write to the node."""

    def change_template(self) -> None:
        """Let somebody else write to the pod template of Deployment `shop`."""

    def delete_replicas(self) -> None:
        """Let Deployment `shop` vanish."""

    def untaint(self, node: str) -> None:
        """Let somebody else remove all taints of the node."""

    def cordon(self, node: str, *, yes: bool) -> None:
        """Let somebody else cordon or uncordon the node."""

    def replace(self, node: str) -> None:
        """Let the node vanish and another one bear its name."""


def counts(found: Mapping[str, Workload]) -> Mapping[str, Workload]:
    """Return the workloads without what their next pods are like, and without their rollouts."""
    plain: dict[str, Any] = {"templates": (), "fixed_template": False, "revisions": None}
    return {key: replace(workload, terminating=None, deployment=None, **plain) for key, workload in found.items()}


def still_there(world: World, pod: Pod) -> bool:
    return [(found.uid, found.deleting) for found in world.cluster.pods_on(pod.node)] == [(pod.uid, None)]


def costs(world: World) -> list[tuple[str, str | None]]:
    """Return of each pod on the node n1 our mark, and the deletion cost that is not ours."""
    return [(pod.steered, pod.spec.annotations.get(names.DELETION_COST)) for pod in world.cluster.pods_on("n1")]
