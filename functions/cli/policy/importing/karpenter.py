"""Karpenter: NodePools of v1 and v1beta1, as files or as `kubectl get nodepools -o yaml` prints them.

The `disruption` block is a policy's own; what speaks of machines is the GKE node pool's.
Source: kubernetes-sigs/karpenter, pkg/apis/v1/nodepool.go and v1beta1/nodepool.go.
"""

from collections.abc import Mapping
from typing import Any, Final

from functions.cli.policy.importing.writing import Imported, Noted, objects, others, part, write_imported
from shared.core.policy.field import path_text
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.values import KARPENTERS_REASONS
from shared.errors import BadPolicy

V1, V1BETA1 = "karpenter.sh/v1", "karpenter.sh/v1beta1"
_CONSOLIDATE_AFTER: Final = {V1: "0s", V1BETA1: "15s"}
_EXPIRE_AFTER: Final = "720h"
_LIMIT: Final = POOL_FIELDS["cpu_limit"].default
_WITHOUT_EQUIVALENT: Final = {
    "limits": "limits have no equivalent: the GKE node pool's autoscaling maximum bounds its size",
    "weight": "weight has no equivalent: the cluster autoscaler's expander chooses between pools",
    "replicas": "replicas has no equivalent: the GKE node pool sets its size",
}
_ALWAYS: Final = (
    "nodePools: the names are those of the NodePools; Ebb's pools are GKE's, so rename what is called otherwise.",
    (
        "limits of utilization: Karpenter has none; Ebb's defaults hold (CPU and memory requests below "
        f"{_LIMIT} of a node)."
    ),
    f"reasons: Ebb removes no node for {' and '.join(KARPENTERS_REASONS)}; an empty list means every reason.",
    "expireAfter: Karpenter replaces expired nodes whatever the budgets allow; Ebb within budgets and windows.",
)


def from_karpenter(data: bytes) -> Imported:
    """Convert NodePools. BadPolicy: there is none, or one that cannot be converted; every fault at once."""
    found, notes, faults = objects(data), [*_ALWAYS], []
    rows: dict[str, Any] = {}
    for pool in (thing for thing in found if thing.get("kind") == "NodePool"):
        fault = _fault(pool, rows)
        if fault:
            faults.append(fault)
        else:
            rows[pool["metadata"]["name"]] = _pool(pool, notes)
    faults += [] if rows or faults else [_nothing(found)]
    if faults:
        raise BadPolicy(*faults)
    notes += others((thing for thing in found if thing.get("kind") != "NodePool"), "disruption")
    return write_imported("From Karpenter's NodePools.", {"nodePools": rows}, notes)


def _fault(pool: dict[str, Any], known: Mapping[str, Any]) -> str:
    name = part(pool, "metadata").get("name")
    if not isinstance(name, str) or not name:
        return "NodePool: metadata.name is missing; write the name of the pool."
    if name in known:
        return f"{_path(name)}: it stands twice in the file; keep one of them."
    if str(pool.get("apiVersion")) not in _CONSOLIDATE_AFTER:
        return f"{_path(name)}: its apiVersion is neither {V1} nor {V1BETA1}; convert it to one of them first."
    return ""


def _nothing(found: list[dict[str, Any]]) -> str:
    if any(thing.get("kind") == "Provisioner" for thing in found):
        return "file: a Provisioner is no NodePool; convert it with karpenter-convert first."
    return "file: it holds no NodePool; give what kubectl get nodepools -o yaml prints."


def _path(name: str) -> str:
    return path_text(("nodePools", name))


def _pool(pool: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    name, spec = pool["metadata"]["name"], part(pool, "spec")
    block, template = part(spec, "disruption"), part(spec, "template", "spec")
    notes += [f"{_path(name)}: {note}." for field, note in _WITHOUT_EQUIVALENT.items() if field in spec]
    if "terminationGracePeriod" in template:
        notes.append(
            f"{_path(name)}: terminationGracePeriod has no equivalent: Ebb never deletes a pod by force; a drain that "
            "does not end in time ends with its node uncordoned (drain.timeout)."
        )
    version = str(pool["apiVersion"])
    if block.get("consolidationPolicy") == "Balanced":
        notes.append(f"{_path(name)}: Balanced has no equivalent; WhenUnderutilized is the nearest.")
    after = _given_or_default(block, "consolidateAfter", _CONSOLIDATE_AFTER[version])
    holder, where = (template, "template.spec.") if version == V1 else (block, "")
    expiry = _given_or_default(holder, "expireAfter", _EXPIRE_AFTER, where)
    return {
        "enabled": _enabled_setting(name, spec, notes),
        "disruption": {
            "consolidationPolicy": _policy(block),
            "consolidateAfter": after,
            "expireAfter": expiry,
            "budgets": _budgets(block),
            **{key: block[key] for key in sorted(map(str, block.keys() - _KNOWN)) if key in block},
        },
    }


_DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
_STATIC: Final = "it is static (spec.replicas), and Karpenter consolidates no such pool"
_OPTED_OUT: Final = f"its template carries {_DO_NOT_DISRUPT}, and Karpenter disrupts no such node"


def _enabled_setting(name: str, spec: Mapping[str, Any], notes: list[str]) -> Noted:
    annotations = part(spec, "template", "metadata", "annotations")
    opted_out = str(annotations.get(_DO_NOT_DISRUPT)).lower() == "true"
    because = _STATIC if "replicas" in spec else _OPTED_OUT if opted_out else ""
    if not because:
        return Noted(value=True, because="Karpenter disrupted it")
    notes.append(f"{_path(name)}: {because}; it is not enabled.")
    return Noted(value=False, because=because)


_KNOWN: Final = {"consolidationPolicy", "consolidateAfter", "expireAfter", "budgets"}


def _given_or_default(block: Mapping[str, Any], field: str, default: str, where: str = "") -> Noted:
    if field in block:
        return Noted(block[field], f"{where}{field}" if where else "as written")
    return Noted(default, f"{where}{field} was not there: Karpenter's default")


def _policy(block: Mapping[str, Any]) -> Noted:
    found = _given_or_default(block, "consolidationPolicy", "WhenUnderutilized")
    return Noted("WhenUnderutilized", "it was Balanced") if found.value == "Balanced" else found


def _budgets(block: Mapping[str, Any]) -> Noted:
    found = _given_or_default(block, "budgets", "")
    if "budgets" not in block:
        return Noted([{"nodes": "10%"}], found.because)
    if isinstance(found.value, list):
        # Karpenter's API server fills in 10% where a budget names no nodes.
        budgets = [{"nodes": "10%", **own} if isinstance(own, Mapping) else own for own in found.value]
        return Noted(budgets, found.because)
    return found
