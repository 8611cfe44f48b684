"""Two Google APIs: GKE's clusters, and Cloud Storage as google-cloud-storage sees it through STORAGE_EMULATOR_HOST.

Sources: https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters and
https://cloud.google.com/storage/docs/json_api/v1/objects. Versions of an object are not kept: each upload is the next
generation.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import HTTP
from urllib.parse import unquote

from google_crc32c import value as crc32c

from infra.local.clocks import TimeSource, micro_stamp
from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json, google_error
from infra.local.scenario import Autoscaling, MachinePool
from infra.local.world.kinds import Json


@dataclass
class ServedCluster:
    """The cluster as the GKE API shows it; `name` is projects/P/locations/L/clusters/C."""

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


def _autoscaling(limits: Autoscaling) -> Json:
    per_zone, total = {"min_node_count", "max_node_count"}, {"total_min_node_count", "total_max_node_count"}
    unused = total if limits.total_max_node_count is None else per_zone
    return _without_defaults(limits.model_dump(by_alias=True, exclude=unused)) if limits.enabled else {}


def _without_defaults(thing: Json) -> Json:
    """proto3 JSON leaves out zeros, false and empty text."""
    return {key: value for key, value in thing.items() if value not in (None, 0, False, "")}


def pool_body(pool: MachinePool, overrides: Json) -> Json:
    """A node pool's REST form."""
    return {
        "name": pool.name,
        "config": _without_defaults({"machineType": pool.machine_type, "spot": pool.spot, "labels": pool.labels}),
        "initialNodeCount": max(pool.count // len(pool.zones), 1),
        "locations": pool.zones,
        "autoscaling": _autoscaling(pool.autoscaling),
        "status": "RUNNING",
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


Name = tuple[str, str]


@dataclass(frozen=True)
class _Blob:
    data: bytes
    content_type: str
    generation: int
    created: str

    @property
    def md5(self) -> str:
        return base64.b64encode(hashlib.md5(self.data, usedforsecurity=False).digest()).decode()

    @property
    def crc32c(self) -> str:
        return base64.b64encode(int(crc32c(self.data)).to_bytes(4, "big")).decode()


def _metadata(name: Name, blob: _Blob) -> Json:
    bucket, key = name
    return {
        "kind": "storage#object",
        "id": f"{bucket}/{key}/{blob.generation}",
        "name": key,
        "bucket": bucket,
        "generation": str(blob.generation),
        "metageneration": "1",
        "contentType": blob.content_type,
        "size": str(len(blob.data)),
        "md5Hash": blob.md5,
        "crc32c": blob.crc32c,
        "etag": f"e{blob.generation}",
        "timeCreated": blob.created,
        "updated": blob.created,
    }


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _parts(request: HttpRequest) -> tuple[Json, bytes, str]:
    """Metadata, data and content type of a multipart/related upload."""
    header = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    message = message_from_bytes(header + request.body, policy=HTTP)
    described, data = message.iter_parts()
    metadata: Json = json.loads(_payload(described) or b"{}")
    return metadata, _payload(data), data.get_content_type()


class Bucket:
    """All buckets of the simulated cloud; a bucket exists from its first object on."""

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._blobs: dict[Name, _Blob] = {}
        self._generation = 1_700_000_000_000_000

    def put(self, bucket: str, key: str, data: bytes, content_type: str = "application/octet-stream") -> int:
        """Store an object; returns its generation."""
        self._generation += 1
        created = micro_stamp(self._clock.now())
        self._blobs[(bucket, key)] = _Blob(data, content_type, self._generation, created)
        return self._generation

    def remove(self, bucket: str, key: str) -> None:
        """Take an object away; KeyError if it is not there."""
        del self._blobs[(bucket, key)]

    def handle(self, request: HttpRequest) -> HttpAnswer:
        match [unquote(part) for part in request.path.strip("/").split("/")]:
            case ["storage", "v1", "b", bucket] if request.method == "GET":
                return self._bucket(bucket)
            case ["storage", "v1", "b", bucket, "o"] if request.method == "GET":
                return self._list(bucket, request.query.get("prefix", ""))
            case ["upload", "storage", "v1", "b", bucket, "o"] if request.method == "POST":
                return self._upload(bucket, request)
            case [*start, "storage", "v1", "b", bucket, "o", key] if start in ([], ["download"]):
                return self._object((bucket, key), request, media=bool(start) or request.query.get("alt") == "media")
        return google_error(404, "notFound", f"Not Found: {request.method} {request.path}")

    def _bucket(self, bucket: str) -> HttpAnswer:
        if all(name[0] != bucket for name in self._blobs):
            return google_error(404, "notFound", "The specified bucket does not exist.")
        return answer_json(200, {"kind": "storage#bucket", "id": bucket, "name": bucket, "location": "LOCAL"})

    def _list(self, bucket: str, prefix: str) -> HttpAnswer:
        items = [
            _metadata(name, blob)
            for name, blob in sorted(self._blobs.items())
            if name[0] == bucket and name[1].startswith(prefix)
        ]
        return answer_json(200, {"kind": "storage#objects", "items": items})

    def _upload(self, bucket: str, request: HttpRequest) -> HttpAnswer:
        if request.query.get("uploadType") == "multipart":
            metadata, data, content_type = _parts(request)
        else:
            metadata, data = {}, request.body
            content_type = request.headers.get("content-type", "application/octet-stream")
        key = request.query.get("name") or metadata.get("name")
        if not key:
            return google_error(400, "required", "Required parameter: name")
        self.put(bucket, key, data, metadata.get("contentType") or content_type)
        return answer_json(200, _metadata((bucket, key), self._blobs[(bucket, key)]))

    def _object(self, name: Name, request: HttpRequest, *, media: bool) -> HttpAnswer:
        blob = self._blobs.get(name)
        generation = request.query.get("generation")
        if blob is None or generation not in {None, str(blob.generation)}:
            return google_error(404, "notFound", f"No such object: {'/'.join(name)}")
        if request.method == "DELETE":
            self.remove(*name)
            return HttpAnswer(204)
        if request.query.get("ifGenerationMatch", str(blob.generation)) != str(blob.generation):
            return google_error(
                412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold."
            )
        if request.query.get("ifGenerationNotMatch") == str(blob.generation):
            return HttpAnswer(304)
        return _download(blob) if media else answer_json(200, _metadata(name, blob))


def _download(blob: _Blob) -> HttpAnswer:
    headers = {
        "Content-Type": blob.content_type,
        "X-Goog-Generation": str(blob.generation),
        "X-Goog-Metageneration": "1",
        "X-Goog-Hash": f"crc32c={blob.crc32c},md5={blob.md5}",
        "ETag": f"e{blob.generation}",
    }
    return HttpAnswer(200, blob.data, headers)
