"""Writes on workloads: restarts of Deployments, and deletion costs of pods."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import controller_wire, wire, workloads
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.core.cluster import names
from shared.core.cluster.names import SURGE_STAMP, SURGED_BEFORE
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment
from shared.errors import Gone


class _RawSpec(wire.Partial, frozen=True):
    template: Mapping[str, Any] = msgspec.field(default_factory=dict)


class _RawDeployment(wire.Partial, frozen=True):
    spec: _RawSpec = _RawSpec()


_GRANTED_BY: Final = "infra/options/surge.yaml"
_deployment: Final = msgspec.json.Decoder(controller_wire.Controller)
_raw: Final = msgspec.json.Decoder(_RawDeployment)


def read_deployment(client: KubernetesClient, name: str) -> Deployment:
    """Read one by `namespace/Deployment/name`. Raises Gone."""
    return _ask(client, Call("get", "deployments", _path(name)))


def restart(client: KubernetesClient, given: Deployment, stamp: str, *, dry_run: bool) -> Deployment:
    """Write or remove the stamp on the version read; what says so already is left as it is."""
    if given.stamp == stamp:
        return given
    query = {"dryRun": "All"} if dry_run else {}
    return _ask(client, Call("patch", "deployments", _path(given.name), query, _patch(given, stamp), _GRANTED_BY))


def _patch(given: Deployment, stamp: str) -> Mapping[str, Any]:
    goes_back = stamp == given.earlier
    notes = {SURGED_BEFORE: None if goes_back else given.stamp or None}
    return {
        "metadata": {"uid": given.uid, "resourceVersion": given.resource_version, "annotations": notes},
        "spec": {"template": {"metadata": {"annotations": {SURGE_STAMP: stamp or None}}}},
    }


def _ask(client: KubernetesClient, call: Call) -> Deployment:
    body = client.ask(call)
    with readable(call):
        return workloads.deployment(_deployment.decode(body), _digest(_raw.decode(body).spec.template))


def _digest(template: Mapping[str, Any]) -> str:
    """Return a digest of the template but for our stamp, by which it is known whether somebody else has changed it."""
    meta = template.get("metadata") or {}
    notes = {key: value for key, value in (meta.get("annotations") or {}).items() if key != SURGE_STAMP}
    rest = {**template, "metadata": {**meta, "annotations": notes}}
    return hashlib.sha256(msgspec.json.encode(rest, order="deterministic")).hexdigest()[:16]


def _path(name: str) -> str:
    namespace, _, called = name.split("/", 2)
    return f"/apis/apps/v1/namespaces/{segment(namespace)}/deployments/{segment(called)}"


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
        return None if mark is None else _cost_patch(meta, dict.fromkeys(ours))
    wanted = str(cost)
    if meta.deletion_timestamp is not None or standing == wanted == mark:
        return None
    return _cost_patch(meta, {names.STEERED: wanted, names.DELETION_COST: wanted})


def _cost_patch(meta: wire.Meta, annotations: Mapping[str, str | None]) -> dict[str, Any]:
    return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": annotations}}
