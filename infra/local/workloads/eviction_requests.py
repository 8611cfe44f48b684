"""EvictionRequests: the controller that lets responders answer in turn, and the responders.

Of the highest priority the first, then the next once it has said nothing for the heartbeat's time, and last of all the
Eviction API, again and again. A request that nobody wants any more is cancelled, whoever was at work on it.
Source: k8s.io/api lifecycle/v1alpha1 types.go of v0.37 (conditions, reasons, responder states), KEP-4563.
"""

from collections.abc import Mapping

from infra.local.api.evictions import Evictor
from infra.local.api.statuses import RefusedError
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_terminating, set_condition
from infra.local.world.record import Record
from infra.local.world.store import Store

GROUP = "lifecycle.k8s.io"
CONTROLLER = "evictionrequest-controller"
IMPERATIVE = "imperative-eviction.k8s.io/evictor"
HEARTBEAT = 20 * 60.0


class EvictionRequestController:
    """`responders`: how many seconds each takes until it lets go of a pod; one that is not there says nothing."""

    def __init__(self, store: Store, record: Record, responders: Mapping[str, float]) -> None:
        self._store = store
        self._responders = {**responders, IMPERATIVE: 0.0}
        self._evictor = Evictor(store, record)
        self._active: dict[str, tuple[int, float]] = {}
        """By pod UID, which responder is at work, and since when."""

    def step(self, now: float) -> None:
        for request in self._store.all("evictionrequests"):
            self._sync(request, now)

    def _sync(self, request: Json, now: float) -> None:
        target: Json = request["spec"]["target"]["pod"]
        pod = self._store.find("pods", request["metadata"]["namespace"], target["name"])
        if pod is None or pod["metadata"]["uid"] != target["uid"] or is_finished(pod):
            self._say(request, now, evicted="PodDeleted")
        elif request["spec"]["intent"] == "Withdrawn":
            self._active.pop(target["uid"], None)
            self._say(request, now, failed="CanceledDueToNoRequesters")
        else:
            self._say(request, now, message=f"{self._go_on(pod, now)} is Active")

    def _go_on(self, pod: Json, now: float) -> str:
        """Let whoever is at work act, and return who that is."""
        uid = pod["metadata"]["uid"]
        names = [*_named(pod), IMPERATIVE]
        turn, since = self._active.setdefault(uid, (0, now))
        takes = self._responders.get(names[turn])
        if takes is not None and now - since >= takes:
            self._let_go(pod, names[turn])
        elif takes is None and now - since >= HEARTBEAT:
            turn += 1
            self._active[uid] = (turn, now)
        return names[turn]

    def _let_go(self, pod: Json, actor: str) -> None:
        if is_terminating(pod):
            return
        meta = pod["metadata"]
        options = {"preconditions": {"uid": meta["uid"]}}
        body = {"kind": "Eviction", "metadata": {"name": meta["name"]}, "deleteOptions": options}
        try:
            self._evictor.evict(meta["namespace"], meta["name"], body, None, actor)
        except RefusedError:
            return  # a budget is shut: it asks again

    def _say(self, request: Json, now: float, *, evicted: str = "", failed: str = "", message: str = "") -> None:
        meta = request["metadata"]

        def write(thing: Json) -> None:
            thing.setdefault("status", {})["observedGeneration"] = meta["generation"]
            for type_, reason in (("TargetEvicted", evicted), ("Failed", failed)):
                said = {"status": str(bool(reason)), "reason": reason or "AwaitingEviction", "message": message}
                set_condition(thing, now, {"type": type_, **said})

        self._store.update("evictionrequests", meta["namespace"], meta["name"], write, CONTROLLER)


def _named(pod: Json) -> list[str]:
    """Whom the pod names, highest priority first."""
    rows: list[Json] = pod["spec"].get("evictionResponders") or []
    return [row["name"] for row in sorted(rows, key=lambda row: (-row["priority"], row["name"]))]
