"""Two Google APIs: GKE's clusters, and the objects of Cloud Storage that STORAGE_EMULATOR_HOST names.

Sources: https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters and
https://cloud.google.com/storage/docs/json_api/v1/objects/get (alt=media).
"""

from dataclasses import dataclass
from urllib.parse import unquote

from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json
from infra.local.scenario import MachinePool
from infra.local.world.kinds import Json

_VERSION = "1.36.3-gke.1"


@dataclass
class ServedCluster:
    """The cluster as the GKE API shows it; `name` is projects/P/locations/L/clusters/C."""

    name: str
    pools: dict[str, MachinePool]
    endpoint: str = "127.0.0.1"
    profile: str = "BALANCED"

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer `GET /v1/projects/P/locations/L/clusters/C`."""
        if (request.method, request.path) == ("GET", f"/v1/{self.name}"):
            return answer_json(200, cluster_body(self))
        return _not_found(request)


def _without_defaults(thing: Json) -> Json:
    """proto3 JSON leaves out zeros, false and empty text."""
    return {key: value for key, value in thing.items() if value not in (None, 0, False, "")}


def pool_body(pool: MachinePool) -> Json:
    limits = pool.autoscaling
    return {
        "name": pool.name,
        "config": _without_defaults({"machineType": pool.machine_type, "labels": pool.labels}),
        "initialNodeCount": max(pool.count // len(pool.zones), 1),
        "locations": pool.zones,
        "autoscaling": _without_defaults(limits.model_dump(by_alias=True)) if limits.enabled else {},
        "status": "RUNNING",
        "version": _VERSION,
    }


def cluster_body(cluster: ServedCluster) -> Json:
    dns = {"endpoint": "", "allowExternalTraffic": False}
    ip = {"enabled": True, "enablePublicEndpoint": True, "publicEndpoint": cluster.endpoint}
    return {
        "name": cluster.short_name,
        "location": cluster.name.split("/")[3],
        "locations": sorted({zone for pool in cluster.pools.values() for zone in pool.zones}),
        "endpoint": cluster.endpoint,
        "masterAuth": {"clusterCaCertificate": ""},
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": dns, "ipEndpointsConfig": ip},
        "autoscaling": {"autoscalingProfile": cluster.profile},
        "autopilot": {},
        "nodePools": [pool_body(pool) for _, pool in sorted(cluster.pools.items())],
        "currentMasterVersion": _VERSION,
        "status": "RUNNING",
    }


def _not_found(request: HttpRequest) -> HttpAnswer:
    message = f"Not found: {request.method} {request.path}."
    return answer_json(404, {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}})


class Bucket:
    """All buckets of the simulated cloud, as readers of one object's media see them."""

    def __init__(self) -> None:
        self._blobs: dict[tuple[str, str], bytes] = {}

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self._blobs[(bucket, key)] = data

    def handle(self, request: HttpRequest) -> HttpAnswer:
        match [unquote(part) for part in request.path.strip("/").split("/")]:
            case ["storage", "v1", "b", bucket, "o", key] if request.method == "GET" and (bucket, key) in self._blobs:
                return HttpAnswer(200, self._blobs[(bucket, key)], {"Content-Type": "application/octet-stream"})
        return _not_found(request)
