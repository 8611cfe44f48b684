"""A generated cluster behind the production adapter, in pages; what this does not know is an empty list."""

import json
from collections.abc import Iterator
from itertools import islice
from time import process_time

from shared.adapters.kubernetes.client import PAGE, KubernetesClient, TrafficMeter
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.transport import ApiReply, Call
from shared.core.cluster.snapshot import Snapshot
from shared.ports import PoolsReading
from shared.store.snapshots import pools_by_label, snapshot_of
from tests.bench.clusters.generated import BenchCluster
from tests.bench.clusters.manifests import lists, pods
from tests.builders import CLUSTER, NOW


class ClusterApi(KubernetesClient):
    """Serves one cluster; a page of pods is made when it is asked for, and not kept."""

    def __init__(self, cluster: BenchCluster) -> None:
        self._lists = lists(cluster)
        self.meter = TrafficMeter()
        self._cluster = cluster
        self._pages: Iterator[bytes] = iter(())
        self.seconds = 0.0
        """Of CPU, for making the answers: no cost of who reads them."""

    def send(self, call: Call) -> ApiReply:
        began = process_time()
        body = self._pod_page(call) if call.path == "/api/v1/pods" else self._whole(call)
        self.seconds += process_time() - began
        return ApiReply(200, body)

    def _whole(self, call: Call) -> bytes:
        items = self._lists.get(call.path.rpartition("/")[2], [])
        return json.dumps({"metadata": {}, "items": items}).encode()

    def _pod_page(self, call: Call) -> bytes:
        if "continue" not in call.query:
            self._pages = _pages(self._cluster)
        return next(self._pages)


def _pages(cluster: BenchCluster) -> Iterator[bytes]:
    """Yield pages, with a token to go on as long as another one follows."""
    waiting = pods(cluster)
    group = list(islice(waiting, PAGE))
    while group:
        following = list(islice(waiting, PAGE))
        token = b'"continue":"next"' if following else b""
        yield b'{"metadata":{' + token + b'},"items":[' + b",".join(group) + b"]}"
        group = following


def snapshot(cluster: BenchCluster) -> Snapshot:
    return read(ClusterApi(cluster))


def read(api: ClusterApi) -> Snapshot:
    reading = KubernetesCluster(api).read()
    pools = PoolsReading(pools_by_label(reading.nodes), known=True)
    return snapshot_of(CLUSTER, reading, pools, NOW, NOW)
