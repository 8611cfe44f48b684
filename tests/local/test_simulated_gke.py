"""The whole simulated GKE in one process and virtual time: a drain by hand, and what the autoscaler makes of it."""

import json
from typing import Any

from infra.local.clocks import ManualClock
from infra.local.http_messages import HttpRequest
from infra.local.scenario import DEMO, load
from infra.local.simulated_gke import SimulatedGke
from infra.local.world.pods import is_unschedulable, node_of, stays_behind


class DemoCluster:
    """The demo's cluster, one second at a time."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.cloud = SimulatedGke(load(DEMO), self.clock)
        self.cloud.world.settle()
        self.autoscaler = self.cloud.autoscaler()

    def live(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.advance(1)
            self.cloud.world.step()
            self.autoscaler.step()

    def call(self, method: str, path: str, body: Any) -> int:
        headers = {"content-type": "application/merge-patch+json", "user-agent": "test"}
        return self.cloud.api.handle(HttpRequest(method, path, {}, headers, json.dumps(body).encode())).status

    def cordon(self, node: str) -> None:
        assert self.call("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}) == 200

    def evict_all(self, node: str) -> int:
        """Ask for every movable pod's eviction; how many are left to move."""
        left = [pod for pod in self.cloud.world.store.all("pods") if node_of(pod) == node and not stays_behind(pod)]
        for pod in left:
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
            self.call("POST", path, {"kind": "Eviction", "metadata": {"name": meta["name"]}})
        return len(left)

    def drain(self, node: str, seconds: int = 120) -> bool:
        self.cordon(node)
        for _ in range(seconds // 5):
            if self.evict_all(node) == 0:
                return True
            self.live(5)
        return False


def test_a_drained_node_is_deleted_and_no_pod_waits_and_no_budget_breaks() -> None:
    demo = DemoCluster()
    node = demo.cloud.node_names["web"][4]
    assert demo.drain(node)
    demo.live(40)
    store = demo.cloud.world.store
    assert store.find("nodes", "", node) is None
    assert not [pod for pod in store.all("pods") if is_unschedulable(pod)]
    evictions = demo.cloud.world.record.of("eviction")
    assert evictions
    assert not [entry for entry in evictions for item in entry["budgets"] if item["broken"]]


def test_the_demos_stuck_node_cannot_be_drained() -> None:
    demo = DemoCluster()
    assert not demo.drain(demo.cloud.node_names["web"][10])


def test_equal_seeds_make_equal_nights() -> None:
    def story() -> list[str]:
        demo = DemoCluster()
        demo.drain(demo.cloud.node_names["web"][6])
        return list(map(str, demo.cloud.world.record.entries))

    assert story() == story()
