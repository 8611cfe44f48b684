"""The patches by which Ebb writes a deletion cost on a pod and takes it back.

The mark beside the cost repeats it: where the two are equal the cost is ours, and where they differ somebody has
written since, whose cost it is. Each patch is conditional on the version read and touches these two keys alone.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.errors import Gone


class _AnyObject(wire.Partial, frozen=True):
    metadata: wire.Meta


_object: Final = msgspec.json.Decoder(_AnyObject)


def set_cost(client: KubernetesClient, pod: Pod, cost: int | None) -> bool:
    """Read the pod afresh and patch the version read: what stands there by then decides. See `ports.Cluster`."""
    path = f"/api/v1/namespaces/{segment(pod.spec.namespace)}/pods/{segment(pod.name)}"
    call = Call("get", "pods", path)
    body = client.ask(call)
    with readable(call):
        fresh = _object.decode(body).metadata
    if fresh.uid != pod.uid:
        raise Gone(f"pod {pod.key}: another pod bears its name now.")
    patch = cost_patch(fresh, cost)
    if patch is not None:
        client.ask(Call("patch", "pods", path, body=patch))
    return patch is not None


def cost_patch(meta: wire.Meta, cost: int | None) -> dict[str, Any] | None:
    """Return the patch; None where there is nothing to do, or nothing that we may.

    A pod that is being deleted is left as it is: nobody will choose it any more. Of a mark without a cost only the mark
    goes: somebody took the cost away, or never wrote one, and the next pass looks at the pod anew.
    """
    annotations = meta.annotations or {}
    standing, mark = annotations.get(names.DELETION_COST), annotations.get(names.STEERED)
    theirs = standing is not None and standing != mark
    if cost is None or theirs or (standing is None and mark is not None):
        ours = (names.STEERED,) if theirs else (names.STEERED, names.DELETION_COST)
        return None if mark is None else _patch(meta, dict.fromkeys(ours))
    wanted = str(cost)
    if meta.deletion_timestamp is not None or standing == wanted == mark:
        return None
    return _patch(meta, {names.STEERED: wanted, names.DELETION_COST: wanted})


def _patch(meta: wire.Meta, annotations: Mapping[str, str | None]) -> dict[str, Any]:
    return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": annotations}}
