"""Capacity buffers and ComputeClasses as the simulated autoscaler reads them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from infra.local.scaling.client import Client, RefusedCall
from infra.local.world.kinds import Json
from infra.local.world.pods import controller_of, labels_of

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


CLASS_LABEL = "cloud.google.com/compute-class"


@dataclass(frozen=True)
class ClassRule:
    """What one class says; None where the profile holds."""

    threshold: float | None = None
    gpu_threshold: float | None = None
    unneeded_time: float | None = None


def class_rules(client: Client, nodes: Sequence[Json]) -> Mapping[str, ClassRule]:
    """The rules by the class's name; none where the cluster has no such kind."""
    if not any(CLASS_LABEL in labels_of(node) for node in nodes):
        return {}
    try:
        found = client.listed("computeclasses")
    except RefusedCall as refused:
        if refused.status != _NOT_FOUND:
            raise
        return {}
    return {each["metadata"]["name"]: _rule(each) for each in found}


def _rule(given: Json) -> ClassRule:
    said = (given.get("spec") or {}).get("autoscalingPolicy") or {}
    minutes = said.get("consolidationDelayMinutes")
    return ClassRule(
        _share(said.get("consolidationThreshold")),
        _share(said.get("gpuConsolidationThreshold")),
        None if minutes is None else minutes * 60.0,
    )


def _share(percent: int | None) -> float | None:
    return None if percent is None else percent / 100
