"""Claims, volumes, classes and what CSI drivers say, under other names."""

import re
from collections.abc import Mapping
from typing import Any, Final

from functions.cli.dumps.anonymize import selectors
from functions.cli.dumps.anonymize.metadata import metadata
from functions.cli.dumps.anonymize.pseudonyms import Namer
from functions.cli.dumps.anonymize.selectors import Object, each_of, is_kept_driver, picked

_DISK: Final = re.compile(r"projects/(?P<project>[^/]+)/(?P<where>(zones|regions)/[^/]+)/disks/(?P<disk>.+)")
_UNSPECIFIED: Final = "UNSPECIFIED"
_PLAIN: Final = ("nodeAffinity", "accessModes", "claimRef")


def driver(namer: Namer, given: str) -> str:
    return given if is_kept_driver(given) or not given else namer.name("driver", given)


def source(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return what a volume is of: a claim, a disk, a driver's, or memory."""
    found = picked(given, "medium")
    for field, sort in (("claimName", "claim"), ("pdName", "disk")):
        if given.get(field):
            found[field] = namer.name(sort, given[field])
    if given.get("driver"):
        found["driver"] = driver(namer, given["driver"])
    if given.get("volumeHandle"):
        found["volumeHandle"] = _handle(namer, given["volumeHandle"])
    if given.get("volumeClaimTemplate") is not None:
        wanted = (given["volumeClaimTemplate"].get("spec") or {}).get("storageClassName")
        found["volumeClaimTemplate"] = {"spec": {} if wanted is None else _class(namer, wanted)}
    return found


def _class(namer: Namer, given: str) -> Object:
    return {"storageClassName": namer.name("class", given)}


def _handle(namer: Namer, given: str) -> str:
    """Return a driver's name of a volume; one of Google's says the zone, by which it is known again."""
    disk = _DISK.fullmatch(given)
    if disk is None:
        return namer.name("handle", given)
    project = disk["project"] if disk["project"] == _UNSPECIFIED else namer.name("project", disk["project"])
    return f"projects/{project}/{disk['where']}/disks/{namer.name('disk', disk['disk'])}"


def claim(namer: Namer, given: Mapping[str, Any]) -> Object:
    spec, found = given.get("spec") or {}, Object()
    if spec.get("volumeName"):
        found["volumeName"] = namer.name("disk-object", spec["volumeName"])
    if spec.get("storageClassName") is not None:
        found |= _class(namer, spec["storageClassName"])
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "claim"),
        "spec": found | picked(spec, "accessModes"),
        "status": picked(given.get("status") or {}, "phase"),
    }


def volume(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a volume. Its source is a field of the spec that bears the source's kind as its name."""
    spec = given.get("spec") or {}
    found: Object = {
        name: source(namer, each) for name, each in spec.items() if name not in _PLAIN and isinstance(each, dict)
    } | picked(spec, "accessModes")
    required = (spec.get("nodeAffinity") or {}).get("required")
    if required is not None:
        found["nodeAffinity"] = {"required": selectors.node_selector(namer, required)}
    if spec.get("claimRef"):
        reference = spec["claimRef"]
        found["claimRef"] = {
            "namespace": namer.name("namespace", reference.get("namespace") or ""),
            "name": namer.name("claim", reference.get("name") or ""),
        }
    return {"metadata": metadata(namer, given.get("metadata") or {}, "disk-object"), "spec": found}


def storage_class(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = {"metadata": metadata(namer, given.get("metadata") or {}, "class"), **picked(given, "volumeBindingMode")}
    found["provisioner"] = driver(namer, given.get("provisioner") or "")
    if given.get("allowedTopologies") is not None:
        found["allowedTopologies"] = each_of(given["allowedTopologies"], lambda row: _topology(namer, row))
    return found


def _topology(namer: Namer, given: Mapping[str, Any]) -> Object:
    rows = given.get("matchLabelExpressions")
    return {"matchLabelExpressions": each_of(rows, lambda row: selectors.expression(namer, row))}


def csi_node(namer: Namer, given: Mapping[str, Any]) -> Object:
    rows = (given.get("spec") or {}).get("drivers")
    return {
        "metadata": metadata(namer, given.get("metadata") or {}, "node"),
        "spec": {"drivers": each_of(rows, lambda row: _limits(namer, row))},
    }


def _limits(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {"name": driver(namer, given.get("name") or "")}
    if given.get("allocatable") is not None:
        found["allocatable"] = picked(given["allocatable"], "count")
    return found


def csi_driver(namer: Namer, given: Mapping[str, Any]) -> Object:
    meta = given.get("metadata") or {}
    found = metadata(namer, {**meta, "name": ""}, "driver")
    return {
        "metadata": {**found, "name": driver(namer, meta.get("name", ""))},
        "spec": picked(given.get("spec") or {}, "storageCapacity"),
    }


def attachment(namer: Namer, given: Mapping[str, Any]) -> Object:
    spec = given.get("spec") or {}
    found: Object = {
        "attacher": driver(namer, spec.get("attacher") or ""),
        "nodeName": namer.name("node", spec.get("nodeName") or ""),
    }
    held = (spec.get("source") or {}).get("persistentVolumeName")
    if held:
        found["source"] = {"persistentVolumeName": namer.name("disk-object", held)}
    return {"metadata": metadata(namer, given.get("metadata") or {}, "attachment"), "spec": found}
