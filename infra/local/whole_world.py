"""The world put together: one store, its record, and every controller stepped in a fixed order.

The order within a step matters only for speed: what one controller leaves, the next step picks up.
"""

from dataclasses import dataclass, field
from typing import Protocol

from infra.local.clocks import TimeSource
from infra.local.scheduling.scheduler import Scheduler, Scoring
from infra.local.workloads.admission import LimitRanger, QuotaController
from infra.local.workloads.controllers import (
    DaemonSetController,
    JobController,
    ReplicaSetController,
    StatefulSetController,
    VolumeController,
)
from infra.local.workloads.deployments import DeploymentController
from infra.local.world.budgets import DisruptionController
from infra.local.world.kubelet import GarbageCollector, Kubelet, KubeletTimes, NodeController
from infra.local.world.record import Record
from infra.local.world.store import Store


@dataclass(frozen=True)
class WorldSettings:
    """How the world behaves; seconds are world time."""

    seed: int = 0
    kubelet: KubeletTimes = field(default_factory=KubeletTimes)
    node_boot: float = 20.0
    orphan_quarantine: float = 40.0
    scoring: Scoring = Scoring.LEAST_ALLOCATED


class SteppedController(Protocol):
    def step(self, now: float) -> None: ...


class World:
    """Everything inside the cluster. Not safe for threads: the shell holds a lock around it."""

    def __init__(self, clock: TimeSource, settings: WorldSettings | None = None) -> None:
        settings = settings or WorldSettings()
        self.clock = clock
        self.store = Store(clock, settings.seed)
        self.record = Record(clock)
        self.store.listen(self.record.on_change)
        self.kubelet = Kubelet(self.store, settings.kubelet)
        for name in ("default", "kube-system"):
            self.store.create("namespaces", {"metadata": {"name": name}}, "bootstrap")
        ranger, quotas = LimitRanger(self.store), QuotaController(self.store)
        self.store.webhooks.append(ranger.write_defaults)
        self.store.checks += [ranger.check, quotas.check]
        self._timed: tuple[SteppedController, ...] = (
            NodeController(self.store, self.kubelet, settings.node_boot),
            self.kubelet,
            GarbageCollector(self.store, settings.orphan_quarantine),
            DisruptionController(self.store),
            VolumeController(self.store),
            Scheduler(self.store, settings.scoring),
        )
        self._deployments = DeploymentController(self.store)
        self._reactive: tuple[SteppedController, ...] = (
            self._deployments,
            ReplicaSetController(self.store),
            StatefulSetController(self.store),
            DaemonSetController(self.store),
            JobController(self.store),
            quotas,
        )
        self._settled = -1

    def step(self, now: float | None = None) -> None:
        """Let every controller act once at the clock's time."""
        moment = self.clock.now() if now is None else now
        if self.store.revision != self._settled or self._deployments.is_due(moment):
            self._run(self._reactive, moment)
        self._settled = self.store.revision
        self._run(self._timed, moment)

    def _run(self, controllers: tuple[SteppedController, ...], now: float) -> None:
        for controller in controllers:
            controller.step(now)

    def settle(self, steps: int = 20) -> None:
        """Step at one moment until nothing changes; RuntimeError if the world does not come to rest."""
        for _ in range(steps):
            before = self.store.revision
            self.step()
            if self.store.revision == before:
                return
        raise RuntimeError(f"the world still changes after {steps} steps at one moment: controllers disagree")
