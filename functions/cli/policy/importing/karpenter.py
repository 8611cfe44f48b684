"""Karpenter: NodePools of v1 and v1beta1, one or many, as files or as `kubectl get nodepools -o yaml` prints them.

The `disruption` block is a policy's own; only its defaults differ by version, and `expireAfter` stands elsewhere in v1
(docs/decisions/predecessors.md). Must not take over what speaks of machines: that is the GKE node pool's.
Source: kubernetes-sigs/karpenter, pkg/apis/v1/nodepool.go and v1beta1/nodepool.go (validation).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from functions.cli.policy.importing.writing import SAFE_DEFAULT, Imported, Noted, imported, objects, others, part
from shared.core.policy.field import path_text
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.values import KARPENTERS_REASONS
from shared.errors import BadPolicy

V1, V1BETA1 = "karpenter.sh/v1", "karpenter.sh/v1beta1"
_CONSOLIDATE_AFTER: Final = {V1: "0s", V1BETA1: "15s"}
_EXPIRE_AFTER: Final = "720h"
_DEFAULT: Final = " was not there: Karpenter's default"
_LIMIT: Final = POOL_FIELDS["cpu_limit"].default
_OURS: Final = {
    "consolidateAfter": f"{POOL_FIELDS['consolidate_after'].default}, so that a node is seen under-used in two passes",
    "expireAfter": f"{POOL_FIELDS['expire_after'].default}, for nothing replaces a full node of GKE before it goes",
}
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
    "expireAfter: Karpenter replaces expired nodes whatever the budgets allow; Ebb within budgets and windows.",
)


def from_karpenter(data: bytes) -> Imported:
    """Convert NodePools.

    Raises:
        BadPolicy: the file holds no NodePool, or one that cannot be converted; every fault at once.
    """
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
    policy = {
        "dryRun": Noted(value=True, because=SAFE_DEFAULT),
        "nodePools": rows,
    }
    left_out = others((thing for thing in found if thing.get("kind") != "NodePool"), "disruption")
    return imported("From Karpenter's NodePools.", policy, [*notes, *left_out])


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


def _path(name: str, *steps: str) -> str:
    return path_text(("nodePools", name, *steps))


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
    notes += _of_block(name, version, block)
    after = _given(block, "consolidateAfter", _CONSOLIDATE_AFTER[version])
    expiry = _expiry(version, block, template)
    notes += _written_out(name, {"consolidateAfter": after, "expireAfter": expiry})
    return {
        "enabled": _enabled(name, spec, notes),
        "disruption": {
            "consolidationPolicy": _policy(block),
            "consolidateAfter": after,
            "expireAfter": expiry,
            "budgets": _budgets(block),
            **{key: block[key] for key in sorted(map(str, block.keys() - _KNOWN)) if key in block},
        },
    }


_DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
_UNDISTURBED: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...]] = (
    (lambda spec: "replicas" in spec, "it is static (spec.replicas), and Karpenter consolidates no such pool"),
    (
        lambda spec: str(part(spec, "template", "metadata", "annotations").get(_DO_NOT_DISRUPT)).lower() == "true",
        f"its template carries {_DO_NOT_DISRUPT}, and Karpenter disrupts no such node",
    ),
)


def _enabled(name: str, spec: Mapping[str, Any], notes: list[str]) -> Noted:
    """Leave alone what Karpenter left alone."""
    because = next((why for holds, why in _UNDISTURBED if holds(spec)), "")
    if not because:
        return Noted(value=True, because="Karpenter disrupted it")
    notes.append(f"{_path(name)}: {because}; it is not enabled.")
    return Noted(value=False, because=because)


_SUNDAY_AS_7: Final = re.compile(r"(?:\S+\s+){4}(?:\S*[,-])?0*7(?:[-,/]\S*)?", re.ASCII)
_KNOWN: Final = {"consolidationPolicy", "consolidateAfter", "expireAfter", "budgets"}


def _of_block(name: str, version: str, block: Mapping[str, Any]) -> Iterator[str]:
    path = _path(name, "disruption")
    if block.get("consolidationPolicy") == "Balanced":
        yield f"{path}.consolidationPolicy: Balanced has no equivalent; WhenUnderutilized is the nearest."
    if version == V1 and "expireAfter" in block:
        yield f"{path}.expireAfter: v1 reads it in template.spec alone; what stands in disruption is left out."
    budgets = block.get("budgets")
    for number, budget in enumerate(budgets if isinstance(budgets, list) else ()):
        if isinstance(budget, Mapping):
            yield from _of_budget(f"{path}.budgets[{number}]", budget)


def _of_budget(where: str, budget: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of a budget Ebb reads otherwise, or removes no node for."""
    if _SUNDAY_AS_7.fullmatch(str(budget.get("schedule"))):
        yield (
            f"{where}.schedule: Karpenter cannot read weekday 7, and with such a budget it disrupts no node; "
            "in Ebb it is Sunday."
        )
    reasons = budget.get("reasons")
    known = [str(reason) for reason in reasons] if isinstance(reasons, list) else []
    idle = [reason for reason in known if reason.lower() in KARPENTERS_REASONS]
    if reasons == []:
        yield f"{where}.reasons: the list is empty, which in Ebb means every reason."
    elif idle and len(idle) == len(known):
        yield f"{where}: it binds {' and '.join(idle)} alone, for which Ebb removes no node; it has no effect here."
    elif idle:
        yield f"{where}.reasons: Ebb removes no node for {' and '.join(idle)}; the others bind."


def _given(block: Mapping[str, Any], field: str, default: Any, where: str = "") -> Noted:
    if field in block:
        return Noted(block[field], f"{where}{field}" if where else "as written")
    return Noted(default, f"{where}{field}{_DEFAULT}")


def _written_out(name: str, timers: Mapping[str, Noted]) -> Iterator[str]:
    """Yield which of Karpenter's defaults the policy holds now, because Ebb's differ."""
    for field, found in timers.items():
        if found.because.endswith(_DEFAULT):
            path = _path(name, "disruption", field)
            yield f"{path}: {found.value}, Karpenter's default, is written out; Ebb's is {_OURS[field]}."


def _policy(block: Mapping[str, Any]) -> Noted:
    found = _given(block, "consolidationPolicy", "WhenUnderutilized")
    return Noted("WhenUnderutilized", "it was Balanced") if found.value == "Balanced" else found


def _expiry(version: str, block: Mapping[str, Any], template: Mapping[str, Any]) -> Noted:
    if version == V1:
        return _given(template, "expireAfter", _EXPIRE_AFTER, "template.spec.")
    return _given(block, "expireAfter", _EXPIRE_AFTER)


def _budgets(block: Mapping[str, Any]) -> Noted:
    """A budget that names no nodes has 10%, as Karpenter's API server fills in."""
    found = _given(block, "budgets", [{}])
    if not isinstance(found.value, list):
        return found
    rows = [{"nodes": "10%", **budget} if isinstance(budget, Mapping) else budget for budget in found.value]
    return Noted(rows, found.because)
