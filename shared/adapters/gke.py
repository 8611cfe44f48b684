"""The GKE API: one reading of the cluster serves its node pools, its address and its CA.

Source: google.cloud.container_v1 Cluster and NodePool; GKE's network isolation page for the endpoints.
"""

import base64
import binascii
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from shared.adapters.google_failures import Service, shared_credentials
from shared.core.cluster.node import NodePool
from shared.core.cluster.resources import CPU, MEMORY, Resources
from shared.errors import BadSettings, Retryable, Terminal
from shared.ports import PoolsReading

READ_SECONDS: Final = 20.0
_GKE: Final = Service(
    "GKE API", "Check that EBB_CLUSTER exists, and grant container.clusters.get to the service account that reads it."
)
_UNITS: Final = {CPU: 1000, MEMORY: 2**30}  # What a unit of the autoscaler's limits is in ours: millicores and bytes.
_AT_WORK: Final = frozenset({"RECONCILING", "STOPPING"})
"""States of a pool whose nodes GKE changes or deletes (google.container.v1 NodePool.Status)."""


@dataclass(frozen=True)
class Endpoint:
    """Where the control plane answers; `ca_pem` is None where the system's CAs vouch for it (DNS endpoint)."""

    host: str
    ca_pem: str | None


def endpoint_of(cluster: Any, mode: str) -> Endpoint:
    """Return the address of a container_v1 Cluster to use; `auto` takes the first of dns, public and private.

    Whether this process has a way into the cluster's network it cannot see: where only the private one of both IP
    endpoints is reachable, EBB_ENDPOINT is `private` (Terraform writes it with VPC egress). Raises BadSettings without
    an address, Terminal when the CA certificate cannot be read.
    """
    endpoints, older = cluster.control_plane_endpoints_config, cluster.private_cluster_config
    dns, addresses = endpoints.dns_endpoint_config, endpoints.ip_endpoints_config
    private = addresses.private_endpoint or older.private_endpoint
    public = addresses.public_endpoint or older.public_endpoint or cluster.endpoint
    hosts = {
        "dns": dns.endpoint if dns.allow_external_traffic else "",  # else open to the cluster's own network alone
        "public": "" if public == private else public,
        "private": private,
    }
    ca_pem = _pem(cluster.master_auth.cluster_ca_certificate)
    for kind in hosts if mode == "auto" else (mode,):
        if hosts[kind]:
            return Endpoint(hosts[kind], None if kind == "dns" else ca_pem)
    raise BadSettings(_no_endpoint(mode))


def _no_endpoint(mode: str) -> str:
    remedy = {
        "dns": "open it with `gcloud container clusters update --enable-dns-access`",
        "private": "the cluster has no private endpoint; use public or dns",
        "public": "the cluster has no public endpoint; use dns, or private with VPC egress",
    }.get(mode, "enable DNS access to its control plane")
    return f"EBB_ENDPOINT: the cluster cannot be reached at its {mode} endpoint; {remedy}."


class GkeCluster:
    """One cluster in the GKE API. Implements `shared.ports.Pools`."""

    def __init__(self, name: str, *, api: str = "") -> None:
        """Take the cluster's full name; `api` is an http:// address in the API's place."""
        self._name = name
        self._api = api

    def read(self) -> PoolsReading:
        return reading_of(self._read())

    def endpoint(self, mode: str = "auto") -> Endpoint:
        """Return where its control plane answers. Raises as `endpoint_of`."""
        return endpoint_of(self._read(), mode)

    def _read(self) -> Any:
        """Read the cluster. Raises Terminal if it is not there, refused or Autopilot, Retryable without an answer."""
        from google.protobuf import json_format  # type: ignore[import-untyped]  # no types

        try:
            with _GKE.naming_failures():
                cluster = self._client.get_cluster(name=self._name, timeout=READ_SECONDS, retry=None)
        except json_format.ParseError as fault:
            raise Retryable(_GKE.what, f"the answer cannot be read ({fault})") from fault
        if cluster.autopilot.enabled:
            why = "its nodes are Google's, which consolidates them itself; Ebb serves Standard clusters"
            raise Terminal(f"{self._name} is an Autopilot cluster", why)
        return cluster

    @cached_property
    def _client(self) -> Any:
        from google.cloud.container_v1 import ClusterManagerClient
        from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerRestTransport

        credentials = shared_credentials(anonymous=bool(self._api))
        if not self._api:
            return ClusterManagerClient(credentials=credentials)
        transport = ClusterManagerRestTransport(host=self._api.rstrip("/"), credentials=credentials)
        return ClusterManagerClient(transport=transport)


def reading_of(cluster: Any) -> PoolsReading:
    """Return the pools of a container_v1 Cluster, or of anything with its attributes."""
    pools = {pool.name: _pool(pool) for pool in cluster.node_pools}
    return PoolsReading(pools, known=True, profile=_profile(cluster), minimum=_minimum(cluster))


def _pem(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as fault:
        raise Terminal("GKE API", f"the cluster's CA certificate cannot be read: {fault}") from fault


def _profile(cluster: Any) -> str:
    name = getattr(cluster.autoscaling.autoscaling_profile, "name", "")
    return name if name == "OPTIMIZE_UTILIZATION" else "BALANCED"


def _minimum(cluster: Any) -> Resources:
    """Return the minimums of node auto-provisioning, cores and gigabytes; those of GPUs, by type, are left out."""
    limits = ((limit.resource_type, limit.minimum) for limit in cluster.autoscaling.resource_limits)
    return Resources.of({name: _UNITS[name] * minimum for name, minimum in limits if name in _UNITS})


def _pool(pool: Any) -> NodePool:
    """Return one pool; whatever GKE does to its nodes counts as an upgrade (surge, blue-green, resize, deletion)."""
    scaling = pool.autoscaling
    return NodePool(
        name=pool.name,
        autoscaled=scaling.enabled,
        min_per_zone=scaling.min_node_count,
        min_total=scaling.total_min_node_count,
        upgrading=_word(pool.status) in _AT_WORK or bool(pool.update_info.blue_green_info),
        version=pool.version,
        tpu_topology=pool.placement_policy.tpu_topology,
        queued=pool.queued_provisioning.enabled,
        compact=_placed_together(pool.placement_policy),
        consolidation_delay=pool.config.consolidation_delay or None,
    )


def _word(value: Any) -> str:
    """Return the word of an enum; empty for one that the client does not know: that is a number."""
    return getattr(value, "name", "")


def _placed_together(policy: Any) -> bool:
    """Whether the nodes form one group: compact placement, or a placement policy of the user's own."""
    return _word(policy.type_) == "COMPACT" or bool(policy.policy_name and not policy.tpu_topology)


class LabelPools:
    """Implements `shared.ports.Pools` without a GKE API: `snapshot_of` fills in the pools that node labels name."""

    def read(self) -> PoolsReading:
        return PoolsReading({}, known=False)
