"""The simulated scheduler: pending pods by priority onto nodes, and events for those that fit nowhere."""

from collections import Counter

from infra.local.clocks import stamp
from infra.local.scheduling.filters import NodeInfo, NodeInfos, first_untolerated, node_infos_of, refusal
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    DISK_KINDS,
    condition_of,
    disks_of,
    event_about,
    is_terminating,
    node_of,
    pod_requests,
    set_condition,
    taints_of,
)
from infra.local.world.store import Store

ACTOR = "default-scheduler"
_SCORED = ("cpu", "memory")
_NAMES = {ACTOR, "gke.io/optimize-utilization-scheduler"}
_READS = ("pods", "nodes", *DISK_KINDS)


def used_share(pod: Json, node_info: NodeInfo) -> float:
    """The mean share of CPU and memory in use once the pod runs there (0 to 1)."""
    requests, most = pod_requests(pod), node_info.allocatable
    shares = [(node_info.booked[name] + requests.get(name, 0)) / most[name] for name in _SCORED if most.get(name)]
    return sum(shares) / len(shares) if shares else 0.0


class Scheduler:
    """Binds pods when something has changed; if it `packs`, fuller nodes score higher, as optimize-utilization does."""

    def __init__(self, store: Store, *, packs: bool = False) -> None:
        self._store = store
        self._packs = packs
        self._seen = -1

    def step(self, now: float) -> None:
        """Try every waiting pod, if anything has changed since it was last tried."""
        if self._store.version(*_READS) == self._seen:
            return
        waiting = [pod for pod in self._store.all("pods") if self._is_mine(pod)]
        if waiting:
            self._schedule(waiting, now)
        self._seen = self._store.version(*_READS)

    def _is_mine(self, pod: Json) -> bool:
        name = pod["spec"].get("schedulerName", ACTOR)
        return not node_of(pod) and not is_terminating(pod) and name in _NAMES

    def _schedule(self, waiting: list[Json], now: float) -> None:
        store = self._store
        node_infos = node_infos_of(store.all("nodes"), store.all("pods"), disks_of(store.all))
        for pod in sorted(waiting, key=_queue_order):
            self._place(pod, node_infos, now)

    def _place(self, pod: Json, node_infos: NodeInfos, now: float) -> None:
        verdicts = [(node_info, refusal(pod, node_info, node_infos)) for node_info in node_infos.by_name.values()]
        if fitting := [node_info for node_info, reason in verdicts if reason is None]:
            best = max(fitting, key=lambda node_info: (*self._score(pod, node_info), node_info.name))
            node_infos.place(pod, best.name)
            self._bind(pod, best.name, now)
            return
        refusals = Counter(reason for _, reason in verdicts if reason)
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(refusals.items()))
        self._refuse(pod, now, f"0/{len(verdicts)} nodes are available: {reasons}.")

    def _score(self, pod: Json, node_info: NodeInfo) -> tuple[bool, float]:
        taints = taints_of(node_info.node)
        welcome = first_untolerated(pod["spec"], taints, ("PreferNoSchedule",)) is None
        share = used_share(pod, node_info)
        return welcome, share if self._packs else -share

    def _bind(self, pod: Json, node: str, now: float) -> None:
        def bind(thing: Json) -> None:
            thing["spec"]["nodeName"] = node
            set_condition(thing, now, {"type": "PodScheduled", "status": "True"})

        self._store.update(pod, bind, ACTOR)

    def _refuse(self, pod: Json, now: float, message: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        old = condition_of(pod, "PodScheduled") or {}
        if all(old.get(key) == value for key, value in condition.items()):
            return
        self._store.update(pod, lambda thing: set_condition(thing, now, condition), ACTOR)
        event = event_about(pod, "Pod", "FailedScheduling", message, ACTOR, stamp(now))
        event["metadata"]["name"] = f"{pod['metadata']['name']}.{self._store.revision:x}"
        self._store.create("events", event, ACTOR)


def _queue_order(pod: Json) -> tuple[int, str, str]:
    meta = pod["metadata"]
    return (-int(pod["spec"].get("priority", 0)), meta["creationTimestamp"], meta["name"])
