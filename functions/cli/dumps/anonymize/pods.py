"""A pod under another name, with everything that decides where it may run."""

import re
from collections.abc import Mapping
from typing import Any, Final

from functions.cli.dumps.anonymize import selectors, storage
from functions.cli.dumps.anonymize.metadata import amounts, condition, metadata
from functions.cli.dumps.anonymize.pseudonyms import Namer
from functions.cli.dumps.anonymize.selectors import Object, each_of, picked
from shared.core.cluster import names
from shared.core.cluster.pod import EPHEMERAL

_TOKEN: Final = re.compile(r"kube-api-access-[a-z0-9]{5}")
_SPEC: Final = ("hostNetwork", "priority", "terminationGracePeriodSeconds", "restartPolicy")
_ANYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - an address of a dump, to which nothing is bound


def pod(namer: Namer, given: Mapping[str, Any]) -> Object:
    meta, spec, status = given.get("metadata") or {}, given.get("spec") or {}, given.get("status") or {}
    return {
        "metadata": metadata(namer, meta, "pod"),
        "spec": _spec(namer, spec, meta.get("name", "")),
        "status": _status(namer, status),
    }


def _spec(namer: Namer, given: Mapping[str, Any], pod_name: str) -> Object:
    found = picked(given, *_SPEC)
    if given.get("nodeName"):
        found["nodeName"] = namer.name("node", given["nodeName"])
    scheduler = given.get("schedulerName") or ""
    found["schedulerName"] = scheduler if scheduler in names.SCHEDULERS else namer.name("scheduler", scheduler)
    priority = given.get("priorityClassName") or ""
    found["priorityClassName"] = priority if priority in names.CRITICAL_CLASSES else namer.name("priority", priority)
    for name in ("containers", "initContainers"):
        found[name] = each_of(given.get(name), lambda row: _container(namer, row))
    found |= _placing(namer, given)
    found["volumes"] = each_of(given.get("volumes"), lambda row: _volume(namer, row, pod_name))
    return found


def _placing(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {name: {} for name in ("workloadRef", "schedulingGroup") if given.get(name) is not None}
    found["nodeSelector"] = selectors.labels(namer, given.get("nodeSelector"))
    found["tolerations"] = each_of(given.get("tolerations"), lambda row: selectors.taint(namer, row))
    found["topologySpreadConstraints"] = each_of(
        given.get("topologySpreadConstraints"), lambda row: selectors.spread(namer, row)
    )
    for name in ("resourceClaims", "schedulingGates", "evictionResponders"):
        found[name] = each_of(given.get(name), lambda row: {"name": namer.name("gate", row.get("name", ""))})
    if given.get("affinity") is not None:
        found["affinity"] = selectors.affinity(namer, given["affinity"])
    if given.get("overhead") is not None:
        found["overhead"] = amounts(namer, given["overhead"])
    return found | _requests(namer, given)


def _container(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "restartPolicy") | _requests(namer, given)
    found["name"] = namer.name("container", given.get("name", ""))
    found["ports"] = each_of(given.get("ports"), lambda row: _port(namer, row))
    return found


def _port(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "containerPort", "hostPort", "protocol")
    address = given.get("hostIP") or ""
    if address:
        found["hostIP"] = address if address in _ANYWHERE else namer.name("address", address)
    return found


def _requests(namer: Namer, given: Mapping[str, Any]) -> Object:
    resources = given.get("resources")
    if resources is None:
        return {}
    asked = resources.get("requests")
    return {"resources": {"requests": amounts(namer, asked)} if asked is not None else {}}


def _volume(namer: Namer, given: Mapping[str, Any], pod_name: str) -> Object:
    """Return a volume: its name, and under its kind what tells it apart."""
    name = given.get("name", "")
    kind = next((each for each in given if each != "name"), "emptyDir")
    if kind == EPHEMERAL:
        namer.made_claim(pod_name, name)
    mounted = "kube-api-access" if kind == "projected" and _TOKEN.fullmatch(name) else namer.name("volume", name)
    return {"name": mounted, kind: storage.source(namer, given.get(kind) or {})}


def _status(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = picked(given, "phase", "startTime") | _requests(namer, given)
    if given.get("nominatedNodeName"):
        found["nominatedNodeName"] = namer.name("node", given["nominatedNodeName"])
    found["conditions"] = each_of(given.get("conditions"), condition)
    for name in ("containerStatuses", "initContainerStatuses"):
        found[name] = each_of(given.get(name), lambda row: _container_status(namer, row))
    if given.get("allocatedResources") is not None:
        found["allocatedResources"] = amounts(namer, given["allocatedResources"])
    if given.get("extendedResourceClaimStatus") is not None:
        found["extendedResourceClaimStatus"] = {}
    return found


def pod_template(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a PodTemplate: pods that nobody has made, with limits where requests may be silent."""
    body = given.get("template") or {}
    spec = body.get("spec") or {}
    found = _spec(namer, spec, "")
    for name in ("containers", "initContainers"):
        for row, own in zip(found[name], spec.get(name) or (), strict=True):
            row.update(_amounts(namer, own))
    meta = metadata(namer, body.get("metadata") or {}, "pod")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "template"),
        "template": {"metadata": meta, "spec": found},
    }


def template(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a controller's pod template with what its pods ask for, and nothing else."""
    spec = given.get("spec") or {}
    found = _amounts(namer, spec)
    if spec.get("overhead") is not None:
        found["overhead"] = amounts(namer, spec["overhead"])
    for name in ("containers", "initContainers"):
        found[name] = each_of(spec.get(name), lambda row: _of_template(namer, row))
    return {"spec": found}


def _of_template(namer: Namer, given: Mapping[str, Any]) -> Object:
    name = namer.name("container", given.get("name", ""))
    return picked(given, "restartPolicy") | {"name": name} | _amounts(namer, given)


def _amounts(namer: Namer, given: Mapping[str, Any]) -> Object:
    resources = given.get("resources") or {}
    told = {name: amounts(namer, resources[name]) for name in ("requests", "limits") if resources.get(name)}
    return {"resources": told} if told else {}


def _container_status(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {"name": namer.name("container", given.get("name", ""))} | _requests(namer, given)
    if given.get("allocatedResources") is not None:
        found["allocatedResources"] = amounts(namer, given["allocatedResources"])
    return found
