"""The GKE API over a set of pools: one cluster, read only, in the REST form of google.container.v1.

Source: https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json, google_error
from infra.local.machine_types import MachinePool
from infra.local.world.kinds import Json


@dataclass
class ServedCluster:
    """What the GKE API says about the cluster; `name` is projects/P/locations/L/clusters/C."""

    name: str
    pools: dict[str, MachinePool]
    endpoint: str = "127.0.0.1"
    profile: str = "BALANCED"
    ca_certificate: str = ""
    status: str = "RUNNING"
    autopilot: bool = False
    overrides: dict[str, Json] = field(default_factory=dict)
    """Per pool, fields laid over its REST form: how a test sets `updateInfo` or a status."""

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def location(self) -> str:
        return self.name.split("/")[3]


def _autoscaling(pool: MachinePool) -> Json:
    if not pool.autoscaled:
        return {}
    limits: Json = {"enabled": True, "locationPolicy": pool.location_policy}
    if pool.total_max_nodes is not None:
        totals = {"totalMinNodeCount": pool.total_min_nodes or 0, "totalMaxNodeCount": pool.total_max_nodes}
        return limits | totals
    return limits | {"minNodeCount": pool.min_nodes, "maxNodeCount": pool.max_nodes}


def _without_defaults(thing: Json) -> Json:
    """proto3 JSON leaves out zeros, false and empty text."""
    return {key: value for key, value in thing.items() if value not in (0, False, "")}


def pool_body(pool: MachinePool, overrides: Json) -> Json:
    """A node pool's REST form."""
    return {
        "name": pool.name,
        "config": _without_defaults({"machineType": pool.machine_type, "spot": pool.spot, "labels": pool.labels}),
        "initialNodeCount": max(pool.count // len(pool.zones), 1),
        "locations": list(pool.zones),
        "autoscaling": _without_defaults(_autoscaling(pool)),
        "status": pool.status,
        "version": "1.36.3-gke.1",
        **overrides,
    }


def cluster_body(cluster: ServedCluster) -> Json:
    """The cluster's REST form."""
    dns = {"endpoint": "", "allowExternalTraffic": False}
    ip = {"enabled": True, "enablePublicEndpoint": True, "publicEndpoint": cluster.endpoint}
    return {
        "name": cluster.short_name,
        "location": cluster.location,
        "locations": sorted({zone for pool in cluster.pools.values() for zone in pool.zones}),
        "endpoint": cluster.endpoint,
        "masterAuth": {"clusterCaCertificate": cluster.ca_certificate},
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": dns, "ipEndpointsConfig": ip},
        "autoscaling": {"autoscalingProfile": cluster.profile},
        "autopilot": {"enabled": True} if cluster.autopilot else {},
        "nodePools": [pool_body(pool, cluster.overrides.get(name, {})) for name, pool in sorted(cluster.pools.items())],
        "currentMasterVersion": "1.36.3-gke.1",
        "status": cluster.status,
    }


class GkeApi:
    """Answers `GET /v1/projects/P/locations/L/clusters/C`. `denied` names projects that answer 403."""

    def __init__(self, clusters: Mapping[str, ServedCluster], denied: frozenset[str] = frozenset()) -> None:
        self._clusters = clusters
        self._denied = denied

    def handle(self, request: HttpRequest) -> HttpAnswer:
        match request.path.strip("/").split("/"):
            case [("v1" | "v1beta1"), "projects", project, "locations", location, "clusters", name]:
                if request.method == "GET":
                    return self._cluster(project, location, name)
        return google_error(404, "NOT_FOUND", f"Not found: {request.method} {request.path}.")

    def _cluster(self, project: str, location: str, name: str) -> HttpAnswer:
        full = f"projects/{project}/locations/{location}/clusters/{name}"
        if project in self._denied:
            message = f'Required "container.clusters.get" permission(s) for "{full}".'
            return google_error(403, "PERMISSION_DENIED", message)
        cluster = self._clusters.get(full)
        if cluster is None:
            return google_error(404, "NOT_FOUND", f"Not found: {full}.")
        return answer_json(200, cluster_body(cluster))
