"""The world put together: one store, its record, and every controller stepped in a fixed order.

The order within a step matters only for speed: what one controller leaves, the next step picks up.
"""

from typing import Protocol

from infra.local.clocks import TimeSource
from infra.local.scheduling.scheduler import Scheduler
from infra.local.workloads.controllers import sync_workloads
from infra.local.workloads.deployments import DeploymentController
from infra.local.world.budgets import DisruptionController
from infra.local.world.kubelet import GarbageCollector, Kubelet, KubeletTimes, NodeController
from infra.local.world.record import Record
from infra.local.world.store import Store


class Controller(Protocol):
    def step(self, now: float) -> None: ...


class World:
    """All inside the cluster, not safe for threads. `orphan_quarantine`: seconds that a pod outlives its node."""

    def __init__(
        self,
        clock: TimeSource,
        times: KubeletTimes | None = None,
        *,
        seed: int = 0,
        orphan_quarantine: float = 40.0,
        packs: bool = False,
    ) -> None:
        self.clock = clock
        self.store = Store(clock, seed)
        self.record = Record(clock)
        self.store.listen(self.record.on_change)
        self.kubelet = Kubelet(self.store, times or KubeletTimes())
        for name in ("default", "kube-system"):
            self.store.create("namespaces", {"metadata": {"name": name}}, "bootstrap")
        self._deployments = DeploymentController(self.store)
        self.controllers: list[Controller] = [
            NodeController(self.store, self.kubelet),
            self.kubelet,
            GarbageCollector(self.store, orphan_quarantine),
            DisruptionController(self.store),
            Scheduler(self.store, packs=packs),
        ]
        """Those that act in every step."""
        self._settled = -1

    def step(self, now: float | None = None) -> None:
        """Let every controller act once at the clock's time; those of workloads only if anything has changed."""
        moment = self.clock.now() if now is None else now
        if self.store.revision != self._settled:
            self._deployments.step(moment)
            sync_workloads(self.store)
        self._settled = self.store.revision
        for controller in self.controllers:
            controller.step(moment)

    def settle(self, steps: int = 20) -> None:
        """Step at one moment until nothing changes; RuntimeError if something still does after so many steps."""
        for _ in range(steps):
            before = self.store.revision
            self.step()
            if self.store.revision == before:
                return
        raise RuntimeError(f"the world still changes after {steps} steps at one moment: controllers disagree")
