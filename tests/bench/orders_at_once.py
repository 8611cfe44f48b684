"""Memory and time of twenty orders at once in one drainer instance: the real adapter on pages on disk, on one CPU."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Final

from functions.drainer.main import receive
from shared.adapters.kubernetes.client import KubernetesClient, TrafficMeter
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.transport import ApiReply, Call
from shared.adapters.prices import load
from shared.adapters.process import SystemClock, system_time
from shared.core.cluster.node import NodePool
from shared.core.policy import Policy, PoolPolicy
from shared.core.reasons import DrainReason
from shared.core.records.orders import Order, encode
from shared.ports import Ports
from shared.settings import Settings
from tests.bench import pages
from tests.builders import CLUSTER
from tests.fakes import FakeCommitments, FakeLog, FakeOrderBus, FakePolicySource, FakePools, FakeState
from tests.measured_figures import say

ORDERS: Final = 20
MOST_ADDED: Final = 150
"""MiB over idle, for 500 nodes with 15,000 pods."""
MOST_SECONDS: Final = 55.0
"""Of CPU time: a request of the drainer is cut off then."""
_EMPTY: Final = b'{"metadata":{},"items":[]}'


class Pages(KubernetesClient):
    """Answers from pages on disk, one read for each call, as from a socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.meter = TrafficMeter()
        self.pictures = 0

    def send(self, call: Call) -> ApiReply:
        if call.verb == "create":
            return ApiReply(201, b"{}")
        kind, _, name = call.path.removeprefix("/api/v1/").partition("/")
        if name or kind not in {"nodes", "pods"}:
            return ApiReply(200, (self._folder / name).read_bytes() if kind == "nodes" and name else _EMPTY)
        if "fieldSelector" in call.query:
            return ApiReply(200, _EMPTY)
        page = call.query.get("continue", "0")
        self.pictures += kind == "pods" and page == "0"
        return ApiReply(200, (self._folder / f"{kind}-{page}").read_bytes())


def lay_out(folder: Path, nodes: int, pods: int) -> None:
    _write(folder, "pods", list(range(0, pods, pages.PAGE)), pages.pod_pages(nodes, pods))
    rows = pages.nodes(nodes)
    starts = list(range(0, nodes, pages.PAGE))
    _write(folder, "nodes", starts, (json.dumps({"items": rows[at : at + pages.PAGE]}).encode() for at in starts))
    for row in rows[:ORDERS]:
        (folder / row["metadata"]["name"]).write_text(json.dumps(row))


def _write(folder: Path, kind: str, starts: list[int], made: Any) -> None:
    for number, body in enumerate(made):
        document = json.loads(body)
        document["metadata"] = {"continue": str(number + 1)} if number + 1 < len(starts) else {}
        (folder / f"{kind}-{number}").write_text(json.dumps(document))


def child(folder: Path) -> dict[str, Any]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    client = Pages(folder)
    ports = ports_of(KubernetesCluster(client))
    idle, began, busy = _memory("VmRSS"), monotonic(), process_time()
    replies: list[int] = []

    def drain(number: int) -> None:
        reply = receive(ports, Settings(cluster=CLUSTER), push(number), f"step-{number}")
        replies.append(reply.value)

    threads = [threading.Thread(target=drain, args=(number,)) for number in range(ORDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = sorted({str(line.get("outcome")) for line in ports.log.of("drain_result")})  # type: ignore[attr-defined]
    return {
        "added": round(_memory("VmHWM") - idle),
        "seconds": round(monotonic() - began, 1),
        "cpu": round(process_time() - busy, 1),
        "pictures": client.pictures,
        "replies": sorted(set(replies)),
        "ends": ends,
    }


def ports_of(cluster: KubernetesCluster) -> Ports:
    pools = FakePools({f"pool-{number}": NodePool(f"pool-{number}") for number in range(10)})
    policy = FakePolicySource(Policy(dry_run=False, other_pools=PoolPolicy(enabled=True)))
    state = FakeState(now=system_time)
    return Ports(cluster, pools, state, policy, FakeOrderBus(), SystemClock(), FakeLog(), load(), FakeCommitments())


def push(number: int) -> bytes:
    """A person's question, which always takes a whole picture and writes nothing to the cluster."""
    now = system_time()
    order = Order(
        order_id=f"order-{number}", cluster=CLUSTER, node=pages.node_name(number), reason=DrainReason.MANUAL,
        issued_at=now, expires_at=now + timedelta(minutes=10), dry_run=True,
    )  # fmt: skip
    told = {"messageId": order.order_id, "publishTime": order.issued_at.isoformat()}
    message = {"data": b64encode(encode(order)).decode(), **told}
    return json.dumps({"message": message, "subscription": "s"}).encode()


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def measured(folder: Path) -> dict[str, Any]:
    asked = [sys.executable, "-m", "tests.bench.orders_at_once", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    return found


def run(*, quick: bool) -> None:
    for nodes, pods in ((500, 15_000),) if quick else ((500, 15_000), (5_000, 150_000)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            lay_out(folder, nodes, pods)
            ours = measured(folder)
            _say(f"{nodes}/{pods}: {ORDERS} orders at once", ours)
        assert ours["replies"] == [204], ours
        assert ours["cpu"] <= MOST_SECONDS, ours
        assert nodes > 500 or ours["added"] <= MOST_ADDED, ours


def _say(what: str, found: dict[str, Any]) -> None:
    figures = f"+{found['added']} MiB, {found['cpu']} s, {found['pictures']} read"
    say(what, figures, f"+{MOST_ADDED} MiB at 500 nodes, {MOST_SECONDS:.0f} s; {', '.join(found['ends'])}")


if __name__ == "__main__":
    print(json.dumps(child(Path(sys.argv[1]))))  # noqa: T201 - to its parent
