"""Who manages a node's cordon, as the API server's managedFields say it; of no other field is that kept here.

A manager is a User-Agent up to its slash; it owns a field from when it changes it until somebody else does
(kubernetes.io/docs/reference/using-api/server-side-apply, managers and updates).
"""

from infra.local.world.kinds import Json

_CORDON: Json = {"f:spec": {"f:unschedulable": {}}}


def managed(before: Json, after: Json, actor: str) -> Json:
    """Return the node's next state with the manager of its cordon."""
    cordoned = bool(after["spec"].get("unschedulable"))
    if cordoned is bool(before["spec"].get("unschedulable")):
        return after
    owner: Json = {"manager": actor.partition("/")[0], "operation": "Update", "fieldsV1": _CORDON}
    kept = {key: value for key, value in after["metadata"].items() if key != "managedFields"}
    return {**after, "metadata": {**kept, **({"managedFields": [owner]} if cordoned else {})}}
