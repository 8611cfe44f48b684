"""A cluster autoscaler that behaves like GKE's where Ebb meets it, over any Kubernetes API that speaks plain HTTP.

It knows nothing of Ebb's taints or annotations. Source of scale-up: cluster-autoscaler pkg/core/scaleup: cordoned nodes
and nodes with the ToBeDeleted taint are no capacity; the group with the fewest nodes grows (locationPolicy BALANCED).
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from infra.local.clocks import TimeSource
from infra.local.machine_types import make_node
from infra.local.scaling.client import ApiTransport, Client
from infra.local.scaling.scale_down import ScaleDown
from infra.local.scaling.view import (
    BALANCED,
    AutoscalerSettings,
    Group,
    View,
    group_of,
    is_chunk,
)
from infra.local.scenario import MachinePool
from infra.local.scheduling.filters import first_fit, refusal
from infra.local.scheduling.node_infos import NodeInfo, NodeInfos, node_infos_of
from infra.local.world.kinds import Json
from infra.local.world.kubelet import NOT_READY
from infra.local.world.pods import controller_of, is_terminating, is_unschedulable, node_of, taints_of
from infra.local.world.store import copied

_SERIAL = "bcdfghjklmnpqrstvwxz0123456789"


def _as_ready(node: Json) -> Json:
    """An upcoming node as it will be once it has booted."""
    fresh: Json = copied(node)
    fresh["spec"]["taints"] = [taint for taint in taints_of(fresh) if taint["key"] != NOT_READY]
    return fresh


def _is_waiting(pod: Json) -> bool:
    return not node_of(pod) and is_unschedulable(pod) and not is_terminating(pod)


class ScaleUp:
    """Adds nodes; `seed` decides their names, `cluster` is part of them."""

    def __init__(self, client: Client, cluster: str, seed: int) -> None:
        self._client = client
        self._cluster = cluster
        self._random = random.Random(seed)  # noqa: S311 - names of a simulated cloud, not secrets

    def step(self, view: View, now: float) -> None:
        waiting = [*filter(_is_waiting, view.pods), *view.chunks]
        if not waiting:
            return
        node_infos = node_infos_of([_as_ready(node) for node in view.nodes], view.pods, disks=view.disks)
        sizes = view.sizes()
        placed: list[Json] = []
        for pod in waiting:
            node_info = first_fit(pod, node_infos)
            if node_info is None:
                self._grow(pod, view, node_infos, sizes, now)
            else:
                node_infos.place(pod, node_info.name)
                placed.append(pod)
        self._count_chunks(view.buffers, placed)

    def _count_chunks(self, buffers: Sequence[Json], placed: Sequence[Json]) -> None:
        """Write into each buffer for how many of its chunks there is room on the nodes that are there."""
        ready = Counter(owner["uid"] for pod in placed if (owner := controller_of(pod)))
        for buffer in buffers:
            count = ready[buffer["metadata"]["uid"]]
            if buffer["status"].get("readyReplicas") != count:
                self._client.patch_buffer(buffer, {"readyReplicas": count})

    def _grow(self, pod: Json, view: View, node_infos: NodeInfos, sizes: Counter[Group], now: float) -> None:
        for pool, zone in self._choices(view, sizes):
            node = make_node(pool, zone, self._cluster, "".join(self._random.choices(_SERIAL, k=4)))
            node_info = NodeInfo(node)
            trial = replace(node_infos, by_name={**node_infos.by_name, node_info.name: node_info})
            if refusal(pod, node_info, trial) is None:
                node_infos.by_name[node_info.name] = node_info
                node_infos.place(pod, node_info.name)
                self._add(pod, node, sizes, pool, now)
                return

    def _choices(self, view: View, sizes: Counter[Group]) -> Iterator[tuple[MachinePool, str]]:
        for name in sorted(view.pools):
            pool = view.pools[name]
            for zone in sorted(pool.zones, key=lambda zone: (sizes[(name, zone)], zone)):
                if pool.autoscaling.enabled and sizes[(name, zone)] < pool.autoscaling.max_node_count:
                    yield pool, zone

    def _add(self, pod: Json, node: Json, sizes: Counter[Group], pool: MachinePool, now: float) -> None:
        group, most = group_of(node), pool.autoscaling.max_node_count
        self._client.create_node(node)
        message = f"pod triggered scale-up: [{{{'/'.join(group)} {sizes[group]}->{sizes[group] + 1} (max: {most})}}]"
        sizes[group] += 1
        if not is_chunk(pod):
            self._client.report(pod, "Pod", "TriggeredScaleUp", message, now)


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
        self._up = ScaleUp(self._client, cluster, seed)

    def step(self) -> None:
        """Run a loop if one is due; RefusedCall (of `scaling.client`) if the API failed: the next loop starts afresh.

        Between two loops only the removals under way go on.
        """
        now = self._clock.now()
        if now < self.due_at():
            return
        listed = self._client.listed
        view = View(listed("nodes"), listed("pods"), self._pools, listed)
        if now < self._next:
            self._down.proceed(view, now)
            return
        self._next = now + self._settings.scan_interval
        self._up.step(view, now)
        self._down.step(view, now)

    @property
    def gate(self) -> float:
        """Share of CPU and memory requested up to which a node may be unneeded."""
        return self._settings.threshold

    @property
    def rechecks_within(self) -> float:
        """Seconds within which every node is checked again, also one that could not go."""
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
