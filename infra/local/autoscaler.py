"""A cluster autoscaler that behaves like GKE's where Ebb meets it, over any Kubernetes API that speaks plain HTTP.

Rules and their sources are in `infra.local.scaling`. It knows nothing of Ebb's taints or annotations.
"""

from collections.abc import Mapping

from infra.local.clocks import TimeSource
from infra.local.machine_types import MachinePool
from infra.local.scaling.client import ApiTransport, Client
from infra.local.scaling.custom_objects import buffers, chunks, class_rules
from infra.local.scaling.scale_down import ScaleDown
from infra.local.scaling.scale_up import ScaleUp
from infra.local.scaling.settings import BALANCED, AutoscalerSettings
from infra.local.scaling.view import View


class Autoscaler:
    """One loop each scan interval: read everything, grow if pods wait, then shrink.

    `cluster` is the short name that becomes part of new nodes' names.
    """

    def __init__(
        self,
        transport: ApiTransport,
        pools: Mapping[str, MachinePool],
        clock: TimeSource,
        settings: AutoscalerSettings = BALANCED,
        *,
        cluster: str = "local",
        seed: int = 0,
    ) -> None:
        self._client = Client(transport)
        self._pools = pools
        self._clock = clock
        self._settings = settings
        self._next = 0.0
        self._down = ScaleDown(self._client, settings)
        self._up = ScaleUp(self._client, settings, cluster, seed)

    def step(self) -> None:
        """Run a loop if one is due; ApiError (from `scaling.client`) if the API failed: the next loop starts afresh.

        Between two loops only the removals under way go on.
        """
        now = self._clock.now()
        if now < self.due_at():
            return
        held = buffers(self._client)
        nodes = self._client.nodes()
        view = View(
            nodes,
            self._client.pods(),
            self._pools,
            self._client.budgets,
            self._client.listed,
            held,
            chunks(self._client, held),
            class_rules(self._client, nodes),
        )
        if now < self._next:
            self._down.proceed(view, now)
            return
        self._next = now + self._settings.scan_interval
        self._up.step(view, now)
        self._down.step(view, now)

    @property
    def gate(self) -> float:
        """Share of CPU and memory asked for up to which a node may be unneeded."""
        return self._settings.threshold

    @property
    def looks_again_after(self) -> float:
        """Seconds within which every node is looked at again, also one that could not go."""
        return self._settings.recheck + 2 * self._settings.scan_interval

    def due_at(self) -> float:
        """When `step` has something to do."""
        return min(self._next, self._down.due_at())

    def is_idle(self) -> bool:
        """No node is unneeded or on its way out."""
        return self._down.is_idle()

    def fail_deletions(self, names: frozenset[str]) -> None:
        """From now on, deletions of these nodes fail at the cloud."""
        self._down.fail_deletions(names)
