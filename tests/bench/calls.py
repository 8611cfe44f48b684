"""Calls to the Kubernetes API and bytes of its answers: a pass of the planner, and an order at the drainer.

The real adapter on made-up lists of the sizes that clusters have, without TLS and without compression. State, policy
and messages are counted by `idle_cost`.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from functions.drainer.main import receive
from functions.planner.main import Tick, tick
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.transport import ApiReply, Call
from shared.adapters.process import system_time
from shared.core.reasons import DrainReason
from shared.core.records.orders import Order, Origin
from shared.ports import Ports
from shared.readings import SharedReadings
from shared.settings import Settings
from tests.bench import orders_at_once, pages
from tests.bench.reporting import say
from tests.builders import CLUSTER

MIB: Final = 2**20
_ONE_IN: Final = 20
"""Of so many pods one has a disk."""
_CLASS: Final = {"provisioner": "pd.csi.storage.gke.io", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
_VOLUME: Final = {"csi": {"driver": "pd.csi.storage.gke.io", "volumeHandle": "disk"}, "accessModes": ["ReadWriteOnce"]}


def _lists(nodes: int, pods: int) -> Mapping[str, tuple[int, int, dict[str, Any]]]:
    """Return of every other list how many items it has, of how many bytes each, and what they say."""
    disks = pods // _ONE_IN
    return {
        "namespaces": (50, 500, {}),
        "poddisruptionbudgets": (pods // 20, 1200, {"spec": {"selector": {"matchLabels": {"app": "none"}}}}),
        "replicasets": (pods // 4, 2600, {}),
        "deployments": (pods // 10, 2800, {}),
        "statefulsets": (pods // 100, 2800, {}),
        "persistentvolumeclaims": (disks, 1300, {}),
        "persistentvolumes": (disks, 1600, {"spec": _VOLUME}),
        "storageclasses": (8, 700, _CLASS),
        "csinodes": (nodes, 900, {"spec": {"drivers": []}}),
        "volumeattachments": (disks, 900, {"spec": {"nodeName": "none", "source": {}}}),
        "csidrivers": (3, 500, {"spec": {}}),
    }


class CountedPages(orders_at_once.Pages):
    """Counts calls and bytes by resource."""

    def __init__(self, folder: Path, nodes: int, pods: int) -> None:
        super().__init__(folder)
        self._lists = _lists(nodes, pods)
        self.calls: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def send(self, call: Call) -> ApiReply:
        known = self._lists.get(call.path.rpartition("/")[2])
        reply = (
            super().send(call) if known is None else ApiReply(200, _page(*known, int(call.query.get("continue", 0))))
        )
        self.calls[call.resource] += 1
        self.bytes[call.resource] += len(reply.body)
        return reply

    def told(self) -> str:
        total, size = sum(self.calls.values()), sum(self.bytes.values())
        most = ", ".join(f"{name} {self.calls[name]} ({self.bytes[name] / MIB:.1f})" for name in self._largest())
        return f"{total} calls, {size / MIB:.1f} MiB: {most}"

    def _largest(self) -> list[str]:
        return [name for name, size in self.bytes.most_common() if size >= 0.05 * sum(self.bytes.values())]


def _page(count: int, size: int, said: Mapping[str, Any], first: int) -> bytes:
    last = min(first + pages.PAGE, count)
    more = {"continue": str(last)} if last < count else {}
    return json.dumps({"metadata": more, "items": list(_items(size, said, first, last))}).encode()


def _items(size: int, said: Mapping[str, Any], first: int, last: int) -> Iterator[dict[str, Any]]:
    for number in range(first, last):
        meta = {"name": f"item-{number}", "namespace": "default", "annotations": {"applied": "x" * (size - 150)}}
        yield {"metadata": meta, **said}


def _with_a_disk(folder: Path) -> None:
    """Give one pod of the cluster a claim: the lists of storage are read only where there is one."""
    first = folder / "pods-0"
    document = json.loads(first.read_bytes())
    document["items"][0]["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "item-0"}}]
    first.write_text(json.dumps(document))


def _ports(client: CountedPages) -> Ports:
    return replace(orders_at_once.ports_of(KubernetesCluster(client)), shared=SharedReadings())


def a_pass(client: CountedPages) -> None:
    at = system_time().isoformat()
    tick(PlannerDeps(_ports(client), Settings(cluster=CLUSTER), PassLog(everything=False)), Tick(at, at))


def an_order(client: CountedPages, *, of_the_planner: bool) -> None:
    """Deliver an order: of the planner's, which is judged on reads of its node, or a person's, on a whole picture."""
    push = orders_at_once.push(0)
    if of_the_planner:
        now = system_time()
        push = orders_at_once.envelope(
            Order(
                order_id="order-0", cluster=CLUSTER, node=pages.node_name(0), reason=DrainReason.UNDERUTILIZED,
                issued_at=now, expires_at=now + timedelta(minutes=10), dry_run=True, origin=Origin.PLANNER,
                picture_at=now,
            )
        )  # fmt: skip
    receive(_ports(client), Settings(cluster=CLUSTER), push, "step")


def counted(nodes: int, pods: int) -> Iterator[tuple[str, CountedPages]]:
    """Give what each kind of work asked for."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        orders_at_once.lay_out(folder, nodes, pods)
        for disks in ("", ", disks in use"):
            if disks:
                _with_a_disk(folder)
            for what, work in (
                ("a pass", a_pass),
                ("a planner's order", lambda client: an_order(client, of_the_planner=True)),
                ("a person's order", lambda client: an_order(client, of_the_planner=False)),
            ):
                client = CountedPages(folder, nodes, pods)
                work(client)
                yield f"{what}{disks}", client


def run(*, quick: bool) -> None:
    sizes = ((200, 6_000),) if quick else ((200, 6_000), (5_000, 150_000))
    for nodes, pods in sizes:
        for what, client in counted(nodes, pods):
            say(f"{nodes:,} nodes, {pods:,} pods: {what}", client.told(), "-")
