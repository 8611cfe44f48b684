"""A virtual cluster with the simulated autoscaler over one pool named `main`."""

from typing import Any

from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import AutoscalerSettings
from infra.local.scenario import Autoscaling, MachinePool
from infra.local.world.kinds import Json
from tests.local.virtual_cluster import VirtualCluster, node

QUICK = AutoscalerSettings(scan_interval=1, unneeded_time=10, deletion=3, delay_after_failure=20, delay_after_delete=0)


def pooled(name: str, zone: str = "z1", **more: Any) -> Json:
    labels = {"cloud.google.com/gke-nodepool": "main", "topology.kubernetes.io/zone": zone}
    return node(name, labels=labels, **more)


def main_pool(*zones: str, **limits: Any) -> MachinePool:
    """The pool `main` with these limits."""
    return MachinePool(name="main", zones=[*(zones or ("z1", "z2"))], autoscaling=Autoscaling(**limits))


class AutoscaledCluster(VirtualCluster):
    """A virtual cluster with an autoscaler over one pool named `main`."""

    def __init__(
        self, nodes: list[Json], pool: MachinePool | None = None, settings: AutoscalerSettings = QUICK
    ) -> None:
        super().__init__(nodes)
        pool = pool or main_pool()
        self.autoscaler = Autoscaler(self.api.handle, {pool.name: pool}, self.clock, settings)

    def live(self, seconds: int) -> None:
        for _ in range(seconds):
            self.run(1)
            self.autoscaler.step()

    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.store.all("nodes")]

    def events(self) -> list[str]:
        return [item["reason"] for item in self.store.all("events")]
