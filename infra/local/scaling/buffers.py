"""Capacity buffers as the autoscaler holds them: each chunk is a pod that only the autoscaler knows of.

A chunk that fits on a node is booked there, also for scale-down; one that fits nowhere is a reason to grow. How many
fit is written into the buffer's status. Source: cluster-autoscaler pkg/processors/capacitybuffer.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from infra.local.scaling.client import Client, RefusedCall
from infra.local.world.kinds import Json
from infra.local.world.pods import controller_of

KIND = "CapacityBuffer"
_ACTIVE = "buffer.x-k8s.io/active-capacity"
_NOT_FOUND = 404


def buffers(client: Client) -> Sequence[Json]:
    """The buffers; none where the cluster has no such kind."""
    try:
        return client.listed("capacitybuffers")
    except RefusedCall as refused:
        if refused.status != _NOT_FOUND:
            raise
        return ()


def chunks(client: Client, held: Sequence[Json]) -> list[Json]:
    """The pods that stand for the buffers' room."""
    templates = client.listed("podtemplates") if held else ()
    bodies = {(each["metadata"]["namespace"], each["metadata"]["name"]): each["template"] for each in templates}
    return [pod for buffer in held for pod in _chunks(buffer, bodies.get(_template(buffer)))]


def is_chunk(pod: Json) -> bool:
    return (controller_of(pod) or {}).get("kind") == KIND


def _template(buffer: Json) -> tuple[str, str]:
    reference = (buffer.get("status") or {}).get("podTemplateRef") or {}
    return buffer["metadata"]["namespace"], reference.get("name", "")


def _chunks(buffer: Json, body: Json | None) -> Iterator[Json]:
    meta, spec = buffer["metadata"], buffer.get("spec") or {}
    if body is None or spec.get("provisioningStrategy", _ACTIVE) != _ACTIVE:
        return
    owner = {"kind": KIND, "name": meta["name"], "uid": meta["uid"], "controller": True}
    for number in range(buffer["status"].get("replicas") or 0):
        yield {
            "metadata": {
                "name": f"capacity-buffer-{meta['name']}-{number + 1}",
                "namespace": meta["namespace"],
                "uid": f"{meta['uid']}-{number + 1}",
                "creationTimestamp": meta["creationTimestamp"],
                "labels": (body.get("metadata") or {}).get("labels") or {},
                "ownerReferences": [owner],
            },
            "spec": dict(body["spec"]),
            "status": {"phase": "Pending"},
        }


def report(client: Client, held: Sequence[Json], placed: Sequence[Json]) -> None:
    """Write into each buffer for how many of its chunks there is room on the nodes that are there."""
    ready = Counter(owner["uid"] for pod in placed if (owner := controller_of(pod)))
    for buffer in held:
        count = ready[buffer["metadata"]["uid"]]
        if buffer["status"].get("readyReplicas") != count:
            client.patch_buffer(buffer, {"readyReplicas": count})
