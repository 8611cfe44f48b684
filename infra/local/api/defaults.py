"""What the API server makes of an object before it stores it: defaults, and who may write a status.

Source: the strategies under kubernetes pkg/registry (PrepareForCreate, PrepareForUpdate) and pkg/apis/core/v1/defaults.
"""

from infra.local.world.deletion import DEFAULT_GRACE
from infra.local.world.kinds import ApiKind, Json

_POD_DEFAULTS: Json = {
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": DEFAULT_GRACE,
}


def as_created(kind: ApiKind, thing: Json) -> Json:
    """A new object: its sender's status counts for nodes only, a pod begins as Pending with the usual defaults."""
    if kind.plural == "nodes":
        return {**thing, "spec": thing.get("spec") or {}}
    fresh = {key: value for key, value in thing.items() if key != "status"}
    if kind.plural == "pods":
        return {**fresh, "spec": {**_POD_DEFAULTS, **thing["spec"]}, "status": {"phase": "Pending"}}
    return {**fresh, "status": {"phase": "Active"}} if kind.plural == "namespaces" else fresh


def as_written(before: Json, after: Json, sub: str) -> Json:
    """A changed object: the status is written through its own path only, and that path writes nothing else."""
    if sub == "status":
        return {**before, "metadata": after["metadata"], "status": after.get("status", {})}
    kept = {key: value for key, value in after.items() if key != "status"}
    return {**kept, "status": before["status"]} if "status" in before else kept
