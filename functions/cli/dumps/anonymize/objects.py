"""A dump with other names: two passes over its files, one to collect names, one to write each object."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from functions.cli.dumps.anonymize import selectors, storage
from functions.cli.dumps.anonymize.metadata import amounts, condition, metadata, owner
from functions.cli.dumps.anonymize.pods import pod, pod_template, template
from functions.cli.dumps.anonymize.pseudonyms import Gathering, Namer, Pseudonyms
from functions.cli.dumps.anonymize.selectors import Object, each_of, picked
from functions.cli.dumps.files import Told, files_of
from functions.cli.dumps.reading import documents_of, place_of, typed
from shared.adapters.kubernetes.namespace_limits import counted_name
from shared.core.cluster.names import CRITICAL_CLASSES
from shared.core.cluster.returning import ANY_CONTAINER
from shared.errors import BadDump

_AMOUNTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_PRIORITY_CLASS = "PriorityClass"


def limit_range(namer: Namer, given: Mapping[str, Any]) -> Object:
    rows = (given.get("spec") or {}).get("limits")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "limits"),
        "spec": {"limits": each_of(rows, lambda row: _item(namer, row))},
    }


def _item(namer: Namer, given: Mapping[str, Any]) -> Object:
    told = {field: amounts(namer, given[field]) for field in _AMOUNTS if given.get(field) is not None}
    return picked(given, "type") | told


def resource_quota(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return whom a quota is for, and what it counts of pods."""
    spec, status = given.get("spec") or {}, given.get("status") or {}
    rows = (spec.get("scopeSelector") or {}).get("matchExpressions")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "limits"),
        "spec": picked(spec, "scopes")
        | {"scopeSelector": {"matchExpressions": each_of(rows, lambda row: _scope(namer, row))}},
        "status": {each: _counted(namer, status.get(each) or {}) for each in ("hard", "used")},
    }


def _scope(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "scopeName", "operator")
    if given.get("values") and given.get("scopeName") == _PRIORITY_CLASS:
        values = given["values"]
        found["values"] = [each if each in CRITICAL_CLASSES else namer.name("priority", each) for each in values]
    return found


def _counted(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {}
    for name, value in given.items():
        prefix, bare = counted_name(name)
        if bare:
            (renamed,) = amounts(namer, {bare: value})
            found[prefix + renamed] = value
    return found


_ON_GCE: Final = re.compile(r"gce://(?P<project>[^/]+)/(?P<zone>[^/]+)/(?P<node>.+)")
_COUNTS: Final = ("replicas", "updatedReplicas", "availableReplicas", "terminatingReplicas", "observedGeneration")
_REVISIONS: Final = ("currentRevision", "updateRevision")


def node(namer: Namer, given: Mapping[str, Any]) -> Object:
    spec, status = given.get("spec") or {}, given.get("status") or {}
    found: Object = picked(spec, "unschedulable")
    found["taints"] = each_of(spec.get("taints"), lambda row: selectors.taint(namer, row))
    found["providerID"] = _provider(namer, spec.get("providerID") or "")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "node"),
        "spec": found,
        "status": {
            "allocatable": amounts(namer, status.get("allocatable") or {}),
            "conditions": each_of(status.get("conditions"), condition),
            "nodeInfo": picked(status.get("nodeInfo") or {}, "kubeletVersion"),
            "declaredFeatures": status.get("declaredFeatures") or [],
        },
    }


def _provider(namer: Namer, given: str) -> str:
    """Return where a node is: cloud and zone stay, project and name do not."""
    on_gce = _ON_GCE.fullmatch(given)
    if on_gce is None:
        return given.partition(":")[0] and f"{given.partition(':')[0]}:///"
    project, name = namer.name("project", on_gce["project"]), namer.name("node", on_gce["node"])
    return f"gce://{project}/{on_gce['zone']}/{name}"


def namespace(namer: Namer, given: Mapping[str, Any]) -> Object:
    return {"metadata": metadata(namer, given.get("metadata") or {}, "namespace")}


def disruption_budget(namer: Namer, given: Mapping[str, Any]) -> Object:
    spec = given.get("spec") or {}
    found = picked(spec, "minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy")
    if spec.get("selector") is not None:
        found["selector"] = selectors.selector(namer, spec["selector"])
    counts = ("disruptionsAllowed", "expectedPods", "currentHealthy", "desiredHealthy", "observedGeneration")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "budget"),
        "spec": found,
        "status": picked(given.get("status") or {}, *counts),
    }


def controller(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a ReplicaSet, a Deployment or a StatefulSet."""
    spec, status = given.get("spec") or {}, given.get("status") or {}
    found = picked(spec, "replicas", "podReplacementPolicy", "minReadySeconds", "paused")
    if spec.get("template") is not None:
        found["template"] = template(namer, spec["template"])
    found |= {name: _strategy(spec[name]) for name in ("strategy", "updateStrategy") if spec.get(name) is not None}
    seen = picked(status, *_COUNTS) | {
        name: namer.name("revision", status[name]) for name in _REVISIONS if status.get(name)
    }
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "workload"),
        "spec": found,
        "status": {**seen, "conditions": each_of(status.get("conditions"), condition)},
    }


def _strategy(given: Mapping[str, Any]) -> Object:
    """Return how a controller replaces its pods."""
    found, update = picked(given, "type"), given.get("rollingUpdate")
    if update is not None:
        found["rollingUpdate"] = picked(update, "partition", "maxSurge", "maxUnavailable")
    return found


def vertical_autoscaler(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a VerticalPodAutoscaler: whom it is for, what it may do, and its targets."""
    spec = given.get("spec") or {}
    found, target = _boosted(spec), spec.get("targetRef") or {}
    found["targetRef"] = owner(namer, target)
    if spec.get("updatePolicy") is not None:
        found["updatePolicy"] = picked(spec["updatePolicy"], "updateMode")
    rows = (spec.get("resourcePolicy") or {}).get("containerPolicies")
    found["resourcePolicy"] = {"containerPolicies": each_of(rows, lambda row: _container_policy(namer, row))}
    told = ((given.get("status") or {}).get("recommendation") or {}).get("containerRecommendations")
    status = {"containerRecommendations": each_of(told, lambda row: _of_container(namer, row, "target"))}
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "autoscaler"),
        "spec": found,
        "status": {"recommendation": status},
    }


def _container_policy(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = _of_container(namer, given, "minAllowed", "maxAllowed") | picked(given, "mode", "controlledValues")
    if given.get("controlledResources") is not None:
        found["controlledResources"] = list(amounts(namer, dict.fromkeys(given["controlledResources"])))
    return found | _boosted(given)


def _of_container(namer: Namer, given: Mapping[str, Any], *fields: str) -> Object:
    name = given.get("containerName", "")
    told = {field: amounts(namer, given[field]) for field in fields if given.get(field) is not None}
    return {"containerName": name if name == ANY_CONTAINER else namer.name("container", name)} | told


def _boosted(given: Mapping[str, Any]) -> Object:
    boost = (given.get("startupBoost") or {}).get("cpu")
    return {"startupBoost": {"cpu": picked(boost, "type", "factor", "quantity")}} if boost is not None else {}


def capacity_buffer(namer: Namer, given: Mapping[str, Any]) -> Object:
    status = given.get("status") or {}
    found = picked(status, "replicas", "readyReplicas", "provisioningStrategy")
    if status.get("podTemplateRef") is not None:
        found["podTemplateRef"] = {"name": namer.name("template", status["podTemplateRef"].get("name", ""))}
    found["conditions"] = each_of(status.get("conditions"), condition)
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "buffer"),
        "spec": picked(given.get("spec") or {}, "provisioningStrategy"),
        "status": found,
    }


def compute_class(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a ComputeClass with its buffers and how its nodes are taken away, and nothing else."""
    spec = given.get("spec") or {}
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "workload"),
        "spec": {"buffers": each_of(spec.get("buffers"), lambda row: _class_buffer(namer, row))} | _autoscaling(spec),
    }


def _autoscaling(spec: Mapping[str, Any]) -> Object:
    """Return the numbers of its autoscaling policy; other words might be anybody's."""
    block = spec.get("autoscalingPolicy")
    if not isinstance(block, dict):
        return {}
    names = ("consolidationThreshold", "gpuConsolidationThreshold", "consolidationDelayMinutes")
    return {"autoscalingPolicy": {name: block[name] for name in names if isinstance(block.get(name), int)}}


def _class_buffer(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "provisioningStrategy")
    return found | ({"limits": amounts(namer, given["limits"])} if given.get("limits") is not None else {})


KINDS: Final[Mapping[str, Callable[[Namer, Mapping[str, Any]], Object]]] = {
    "Node": node,
    "Pod": pod,
    "PodDisruptionBudget": disruption_budget,
    "Namespace": namespace,
    "ReplicaSet": controller,
    "Deployment": controller,
    "StatefulSet": controller,
    "VerticalPodAutoscaler": vertical_autoscaler,
    "CapacityBuffer": capacity_buffer,
    "LimitRange": limit_range,
    "ResourceQuota": resource_quota,
    "PodTemplate": pod_template,
    "ComputeClass": compute_class,
    "PersistentVolumeClaim": storage.claim,
    "PersistentVolume": storage.volume,
    "StorageClass": storage.storage_class,
    "CSINode": storage.csi_node,
    "VolumeAttachment": storage.attachment,
    "CSIDriver": storage.csi_driver,
}


_ODD: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)
NameTable = dict[str, dict[str, str]]
"""By sort and name: what stands for it."""


@dataclass(frozen=True)
class AnonymousDump:
    """A dump under other names, a piece at a time, and which name stands for which."""

    pieces: Iterator[bytes]
    table: NameTable


def anonymized(paths: Sequence[Path], told: Told = lambda _: None) -> AnonymousDump:
    """Return a dump as one list of the kinds that are read.

    Raises:
        BadDump: a file cannot be read, or an object is not of the API's shape; while the pieces are taken, too.
    """
    files, gathered = tuple(files_of(paths)), Gathering()
    for _ in _renamed(files, gathered, told):
        pass
    pseudonyms = Pseudonyms(gathered)
    return AnonymousDump(_list(_renamed(files, pseudonyms, told)), pseudonyms.table)


def _list(objects: Iterable[bytes]) -> Iterator[bytes]:
    before = b'{"apiVersion":"v1","kind":"List","items":[\n'
    for each in objects:
        yield before + each
        before = b",\n"
    yield b"\n]}\n"


def _renamed(files: Iterable[Path], namer: Namer, told: Told) -> Iterator[bytes]:
    for file in files:
        for document, found in documents_of(file, told):
            for kind, each in typed(file, document, found):
                if kind not in KINDS:
                    continue
                try:
                    renamed = _object(kind, each.raw, namer)
                except _ODD as fault:
                    raise BadDump(f"{place_of(file, each)}: is not of the API's shape ({fault}).") from fault
                yield renamed


def _object(kind: str, raw: bytes, namer: Namer) -> bytes:
    given: Any = msgspec.json.decode(raw)
    return msgspec.json.encode({"kind": kind, **KINDS[kind](namer, given)})
