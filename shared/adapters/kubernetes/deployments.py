"""One Deployment: read by its name, and restarted by a stamp on its pod template.

Of the template only that one annotation is written, and only on the version that was read. Beside it, on the Deployment
itself, stands which stamp it replaced: by that the fence knows a restart that is undone from a new one. Must not judge.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import controller_wire, wire, workloads
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.core.cluster.names import SURGE_STAMP, SURGED_BEFORE
from shared.core.cluster.workloads import Deployment


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
