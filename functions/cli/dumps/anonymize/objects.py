"""A dump with other names: the rule of each kind, and two passes over its files, one to collect names, one to write."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from functions.cli.dumps.anonymize.rules import (
    Namer,
    NameTable,
    Object,
    Rule,
    affinity,
    alias,
    amounts,
    conditions,
    driver,
    every,
    expression,
    fields,
    keep,
    labels,
    metadata,
    node_selector,
    owner,
    resource,
    selector,
    spread,
    taint,
    word,
)
from functions.cli.dumps.files import ReadBytes, documents_of, files_of
from shared.adapters.kubernetes.namespace_limits import counted_name
from shared.core.cluster import names
from shared.core.cluster.pod import EPHEMERAL
from shared.core.cluster.returning import ANY_CONTAINER
from shared.errors import BadDump

_ON_GCE: Final = re.compile(r"gce://(?P<project>[^/]+)/(?P<zone>[^/]+)/(?P<node>.+)")
_DISK: Final = re.compile(r"projects/(?P<project>[^/]+)/(?P<where>(zones|regions)/[^/]+)/disks/(?P<disk>.+)")
_TOKEN: Final = re.compile(r"kube-api-access-[a-z0-9]{5}")
_PRIORITY: Final = alias("priority", names.CRITICAL_CLASSES)


def kind(sort: str, **rules: Rule) -> Rule:
    return fields(metadata=metadata(sort), **rules)


def _provider(namer: Namer, given: str) -> str:
    """Return where a node is: cloud and zone stay, project and name do not."""
    on_gce = _ON_GCE.fullmatch(given)
    if on_gce is None:
        return given.partition(":")[0] and f"{given.partition(':')[0]}:///"
    project, name = namer.name("project", on_gce["project"]), namer.name("node", on_gce["node"])
    return f"gce://{project}/{on_gce['zone']}/{name}"


def _handle(namer: Namer, given: str) -> str:
    """Return a driver's name of a volume; one of Google's keeps its zone, by which it is known again."""
    disk = _DISK.fullmatch(given)
    if disk is None:
        return namer.name("handle", given)
    project = alias("project", ("UNSPECIFIED",))(namer, disk["project"])
    return f"projects/{project}/{disk['where']}/disks/{namer.name('disk', disk['disk'])}"


_CLASS: Final = fields(storageClassName=alias("class"))
_SOURCE: Final = fields(
    "medium", claimName=alias("claim"), pdName=alias("disk"), driver=driver, volumeHandle=_handle,
    volumeClaimTemplate=fields(spec=_CLASS),
)  # fmt: skip
"""What a volume is of: a claim, a disk, a driver's, or memory."""


def _volume(namer: Namer, given: Mapping[str, Any]) -> Object:
    name, sources = given.get("name", ""), {kind: body or {} for kind, body in given.items() if kind != "name"}
    is_token = "projected" in sources and _TOKEN.fullmatch(name)
    mounted = "kube-api-access" if is_token else namer.name("volume", name)
    return {"name": mounted, **{kind: _SOURCE(namer, body) for kind, body in (sources or {"emptyDir": {}}).items()}}


def _persistent_volume(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return the spec of a volume. Its source is a field that is named after the source's kind."""
    rule = fields(
        "accessModes", nodeAffinity=fields(required=node_selector),
        claimRef=fields(namespace=alias("namespace"), name=alias("claim")),
    )  # fmt: skip
    known = rule(namer, given)
    sources = {name: body for name, body in given.items() if name not in known and isinstance(body, dict)}
    return {**{name: _SOURCE(namer, body) for name, body in sources.items()}, **known}


_CONTAINER_NAME: Final = alias("container")
_REQUESTS: Final = fields(requests=amounts)
_AMOUNTS: Final = fields(requests=amounts, limits=amounts)
_STATUSES: Final = every(fields(name=_CONTAINER_NAME, resources=_REQUESTS, allocatedResources=amounts))
_NAMED_GATES: Final = every(fields(name=alias("gate")))
_EMPTY: Final[Rule] = lambda *_: {}  # noqa: E731 - that it is there is all that is read


def _pod_spec(resources: Rule) -> Rule:
    address = alias("address", ("0.0.0.0", "::"))  # noqa: S104 - of a dump, to which nothing is bound
    ports = every(fields("containerPort", "hostPort", "protocol", hostIP=address))
    containers = every(fields("restartPolicy", name=_CONTAINER_NAME, resources=resources, ports=ports))
    return fields(
        "hostNetwork", "priority", "terminationGracePeriodSeconds", "restartPolicy",
        nodeName=alias("node"), schedulerName=alias("scheduler", names.SCHEDULERS), priorityClassName=_PRIORITY,
        runtimeClassName=alias("runtime"),
        containers=containers, initContainers=containers, resources=resources, overhead=amounts,
        workloadRef=_EMPTY, schedulingGroup=_EMPTY, nodeSelector=labels, tolerations=every(taint), affinity=affinity,
        topologySpreadConstraints=every(spread), resourceClaims=_NAMED_GATES, schedulingGates=_NAMED_GATES,
        evictionResponders=_NAMED_GATES, volumes=every(_volume), os=fields(name=word(("linux", "windows"))),
    )  # fmt: skip


_POD: Final = kind(
    "pod",
    spec=_pod_spec(_REQUESTS),
    status=fields(
        "phase", "startTime", nominatedNodeName=alias("node"), conditions=conditions, containerStatuses=_STATUSES,
        initContainerStatuses=_STATUSES, resources=_REQUESTS, allocatedResources=amounts,
        extendedResourceClaimStatus=_EMPTY,
    ),
)  # fmt: skip


def _pod(namer: Namer, given: Mapping[str, Any]) -> Any:
    """Return a pod; a claim that it makes by itself is named after it and the volume."""
    for volume in (given.get("spec") or {}).get("volumes") or ():
        if EPHEMERAL in volume:
            namer.derive_claim((given.get("metadata") or {}).get("name", ""), volume.get("name", ""))
    return _POD(namer, given)


_TEMPLATE: Final = kind("pod", spec=_pod_spec(_AMOUNTS))
_UPDATE: Final = fields("type", rollingUpdate=fields("partition", "maxSurge", "maxUnavailable"))
_CONTROLLER: Final = kind(
    "workload",
    spec=fields(
        "replicas", "podReplacementPolicy", "minReadySeconds", "paused", strategy=_UPDATE, updateStrategy=_UPDATE,
        template=_TEMPLATE, volumeClaimTemplates=every(fields(metadata=fields(name=alias("volume")))),
        ordinals=fields("start"),
    ),
    status=fields(
        "replicas", "updatedReplicas", "availableReplicas", "terminatingReplicas", "observedGeneration",
        currentRevision=alias("revision"), updateRevision=alias("revision"), conditions=conditions,
    ),
)  # fmt: skip


def _scope(namer: Namer, given: Mapping[str, Any]) -> Any:
    of_classes = given.get("scopeName") == "PriorityClass"
    return fields("scopeName", "operator", **({"values": every(_PRIORITY)} if of_classes else {}))(namer, given)


def _quota_amounts(namer: Namer, given: Mapping[str, Any]) -> Object:
    parts = ((*counted_name(name), amount) for name, amount in given.items())
    return {prefix + resource(namer, bare): amount for prefix, bare, amount in parts if bare}


_BOOST: Final = fields(cpu=fields("type", "factor", "quantity"))
_OF_CONTAINER: Final = alias("container", (ANY_CONTAINER,))
_POLICY: Final = fields(
    "mode", "controlledValues", containerName=_OF_CONTAINER, minAllowed=amounts, maxAllowed=amounts,
    controlledResources=every(resource), startupBoost=_BOOST,
)  # fmt: skip


def _numbers(namer: Namer, given: Any) -> Object:
    """Return the numbers of an autoscaling policy; other words might be anybody's."""
    block = given if isinstance(given, dict) else {}
    rule = fields("consolidationThreshold", "gpuConsolidationThreshold", "consolidationDelayMinutes")
    return {name: number for name, number in rule(namer, block).items() if isinstance(number, int)}


_LIMIT_FIELDS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
KINDS: Final[Mapping[str, Rule]] = {
    "Node": kind(
        "node",
        spec=fields("unschedulable", taints=every(taint), providerID=_provider),
        status=fields(
            "declaredFeatures", allocatable=amounts, conditions=conditions, nodeInfo=fields("kubeletVersion")
        ),
    ),
    "Pod": _pod,
    "PodDisruptionBudget": kind(
        "budget",
        spec=fields("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy", selector=selector),
        status=fields(
            "disruptionsAllowed", "expectedPods", "currentHealthy", "desiredHealthy", "observedGeneration",
            conditions=conditions,
        ),
    ),
    "Namespace": kind("namespace"),
    **dict.fromkeys(("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "Job"), _CONTROLLER),
    "VerticalPodAutoscaler": kind(
        "autoscaler",
        spec=fields(
            targetRef=owner, updatePolicy=fields("updateMode"), startupBoost=_BOOST,
            resourcePolicy=fields(containerPolicies=every(_POLICY)),
        ),
        status=fields(
            recommendation=fields(
                containerRecommendations=every(fields(containerName=_OF_CONTAINER, target=amounts))
            )
        ),
    ),
    "CapacityBuffer": kind(
        "buffer",
        spec=fields("provisioningStrategy"),
        status=fields(
            "replicas", "readyReplicas", "provisioningStrategy", conditions=conditions,
            podTemplateRef=fields(name=alias("template")),
        ),
    ),
    "LimitRange": kind(
        "limits",
        spec=fields(limits=every(fields("type", **dict.fromkeys(_LIMIT_FIELDS, amounts)))),
    ),
    "ResourceQuota": kind(
        "limits",
        spec=fields("scopes", scopeSelector=fields(matchExpressions=every(_scope))),
        status=fields(hard=_quota_amounts, used=_quota_amounts),
    ),
    "PodTemplate": kind("template", template=_TEMPLATE),
    "ComputeClass": kind(
        "workload",
        spec=fields(buffers=every(fields("provisioningStrategy", limits=amounts)), autoscalingPolicy=_numbers),
    ),
    "PersistentVolumeClaim": kind(
        "claim",
        spec=fields("accessModes", volumeName=alias("disk-object"), storageClassName=alias("class")),
        status=fields("phase"),
    ),
    "PersistentVolume": kind("disk-object", spec=_persistent_volume),
    "StorageClass": kind(
        "class",
        volumeBindingMode=keep,
        provisioner=driver,
        allowedTopologies=every(fields(matchLabelExpressions=every(expression))),
    ),
    "CSINode": kind(
        "node", spec=fields(drivers=every(fields(name=driver, allocatable=fields("count"))))
    ),
    "VolumeAttachment": kind(
        "attachment",
        spec=fields(
            attacher=driver, nodeName=alias("node"),
            source=fields(persistentVolumeName=alias("disk-object")),
        ),
    ),
    "CSIDriver": fields(metadata=metadata("driver", driver), spec=fields("storageCapacity")),
}  # fmt: skip
_ODD: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)


@dataclass(frozen=True)
class AnonymousDump:
    """A dump under other names, a piece at a time, and which name stands for which."""

    pieces: Iterator[bytes]
    table: NameTable


def anonymize_dump(paths: Sequence[Path], progress: ReadBytes = lambda _: None) -> AnonymousDump:
    """Return a dump as one list of the kinds that are read. Raises BadDump, while the pieces are taken, too."""
    files, namer = tuple(files_of(paths)), Namer()
    for _ in _rename_objects(files, namer, progress):
        pass
    namer.rank_names()
    return AnonymousDump(_list(_rename_objects(files, namer, progress)), namer.table)


def _list(objects: Iterable[bytes]) -> Iterator[bytes]:
    before = b'{"apiVersion":"v1","kind":"List","items":[\n'
    for item in objects:
        yield before + item
        before = b",\n"
    yield b"\n]}\n"


def _rename_objects(files: Iterable[Path], namer: Namer, progress: ReadBytes) -> Iterator[bytes]:
    for file in files:
        for item in chain.from_iterable(items for _, items in documents_of(file, progress)):
            if item.kind not in KINDS:
                continue
            try:
                renamed = KINDS[item.kind](namer, msgspec.json.decode(item.raw))
            except _ODD as fault:
                raise BadDump(f"{item}: is not of the API's shape ({fault}).") from fault
            yield msgspec.json.encode({"kind": item.kind, **renamed})
