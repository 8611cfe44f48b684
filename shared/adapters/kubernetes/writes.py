"""Writes on pods and their workloads: evictions, restarts of Deployments, deletion costs.

Source of what each answer to an eviction means: kubernetes pkg/registry/core/pod/storage/eviction.go, and what a real
API server was seen to answer.
"""

import hashlib
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire, workloads
from shared.adapters.kubernetes.client import DENIED, KubernetesClient, segment
from shared.adapters.kubernetes.transport import ApiReply, Call
from shared.core.cluster import names
from shared.core.cluster.names import SURGE_STAMP, SURGED_BEFORE
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import Gone, Retryable
from shared.ports import Eviction

_NO_DRY_RUN: Final = "does not support dry run"
_OTHER_POD: Final = re.compile(r"Precondition failed: UID|UID in the precondition \(.*\) does not match")
"""Two wordings: the storage's (apiserver storage.Preconditions) and the deletion's (registry rest.BeforeDelete)."""
_BUDGET_NAME: Final = re.compile(r"[Tt]he disruption budget (?P<name>\S+)")
_CODES: Final = {
    HTTPStatus.OK: EvictionAnswer.GRANTED,
    HTTPStatus.CREATED: EvictionAnswer.GRANTED,
    HTTPStatus.ACCEPTED: EvictionAnswer.GRANTED,
    HTTPStatus.NOT_FOUND: EvictionAnswer.GONE,
    HTTPStatus.REQUEST_TIMEOUT: EvictionAnswer.LATER,
    HTTPStatus.CONFLICT: EvictionAnswer.CONFLICT,
    HTTPStatus.TOO_MANY_REQUESTS: EvictionAnswer.LATER,
}
"""The codes whose body need not be read; any other 4xx is FORBIDDEN, any 5xx LATER."""


def eviction_body(pod: Pod, grace_seconds: int, *, dry_run: bool) -> dict[str, Any]:
    """Return the Eviction of exactly this pod: another one under its name has another UID and is left alone."""
    options: dict[str, Any] = {"gracePeriodSeconds": grace_seconds, "preconditions": {"uid": pod.uid}}
    if dry_run:
        options["dryRun"] = ["All"]
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.spec.namespace},
        "deleteOptions": options,
    }


def _pod_path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{segment(pod.spec.namespace)}/pods/{segment(pod.name)}"


def answer(pod: Pod, reply: ApiReply) -> Eviction:
    """Return the answer, with a detail unless the eviction was granted."""
    meaning = _meaning(reply)
    if meaning is EvictionAnswer.GRANTED:
        return Eviction(meaning)
    if meaning is EvictionAnswer.BUDGET:
        return Eviction(meaning, _budget(pod, reply))
    refused = meaning is EvictionAnswer.LATER and reply.code == HTTPStatus.TOO_MANY_REQUESTS
    return Eviction(meaning, f"{reply.code} {reply.status.message}", refused)


def _meaning(reply: ApiReply) -> EvictionAnswer:
    code, message = reply.code, reply.status.message
    if HTTPStatus.BAD_REQUEST <= code < HTTPStatus.INTERNAL_SERVER_ERROR and _refused_by_webhook(message):
        return EvictionAnswer.FORBIDDEN
    if code == HTTPStatus.CONFLICT and _OTHER_POD.search(message):
        return EvictionAnswer.GONE
    if code == HTTPStatus.TOO_MANY_REQUESTS and _cause(reply, "DisruptionBudget"):
        return EvictionAnswer.BUDGET
    if code == HTTPStatus.FORBIDDEN and _cause(reply, "NamespaceTerminating"):
        return EvictionAnswer.TERMINATING
    if code == HTTPStatus.INTERNAL_SERVER_ERROR and "more than one PodDisruptionBudget" in message:
        return EvictionAnswer.SEVERAL_PDBS
    other = EvictionAnswer.LATER if code >= HTTPStatus.INTERNAL_SERVER_ERROR else EvictionAnswer.FORBIDDEN
    return next((meaning for known, meaning in _CODES.items() if known == code), other)


def _refused_by_webhook(message: str) -> bool:
    return DENIED.search(message) is not None or ("admission webhook" in message and _NO_DRY_RUN in message)


def _cause(reply: ApiReply, reason: str) -> str | None:
    """Return the message of the cause with that reason, or None without one."""
    return next((cause.message or reason for cause in reply.status.causes if cause.reason == reason), None)


def _budget(pod: Pod, reply: ApiReply) -> str:
    """Return `namespace/name` of the PodDisruptionBudget that refused, or the API's words where it names none."""
    message = _cause(reply, "DisruptionBudget") or reply.status.message
    named = _BUDGET_NAME.search(message)
    return f"{pod.spec.namespace}/{named['name']}" if named else message


class _RawSpec(wire.Partial, frozen=True):
    template: Mapping[str, Any] = msgspec.field(default_factory=dict)


class _RawDeployment(wire.Partial, frozen=True):
    spec: _RawSpec = _RawSpec()


def _patch(given: Deployment, stamp: str) -> Mapping[str, Any]:
    goes_back = stamp == given.earlier
    notes = {SURGED_BEFORE: None if goes_back else given.stamp or None}
    return {
        "metadata": {"uid": given.uid, "resourceVersion": given.resource_version, "annotations": notes},
        "spec": {"template": {"metadata": {"annotations": {SURGE_STAMP: stamp or None}}}},
    }


def _read(body: bytes) -> Deployment:
    raw = msgspec.json.decode(body, type=_RawDeployment)
    return workloads.deployment(workloads.ONE.decode(body), _digest(raw.spec.template))


def _digest(template: Mapping[str, Any]) -> str:
    """Return a digest of the template but for our stamp, by which it is known whether somebody else has changed it."""
    meta = template.get("metadata") or {}
    notes = {key: value for key, value in (meta.get("annotations") or {}).items() if key != SURGE_STAMP}
    rest = {**template, "metadata": {**meta, "annotations": notes}}
    return hashlib.sha256(msgspec.json.encode(rest, order="deterministic")).hexdigest()[:16]


def _path(name: str) -> str:
    namespace, _, called = name.split("/", 2)
    return f"/apis/apps/v1/namespaces/{segment(namespace)}/deployments/{segment(called)}"


_object: Final = msgspec.json.Decoder(wire.AnyObject)


def cost_patch(meta: wire.Meta, cost: int | None) -> dict[str, Any] | None:
    """Return the patch; None where there is nothing to do, or nothing that we may."""
    annotations = meta.annotations or {}
    standing, mark = annotations.get(names.DELETION_COST), annotations.get(names.STEERED)
    theirs = standing is not None and standing != mark
    if cost is None or theirs or (standing is None and mark is not None):  # somebody took our cost away
        ours = (names.STEERED,) if theirs else (names.STEERED, names.DELETION_COST)
        return None if mark is None else _cost_patch(meta, dict.fromkeys(ours))
    wanted = str(cost)
    # of a pod that is being deleted nobody will choose any more
    if meta.deletion_timestamp is not None or standing == wanted == mark:
        return None
    return _cost_patch(meta, {names.STEERED: wanted, names.DELETION_COST: wanted})


def _cost_patch(meta: wire.Meta, annotations: Mapping[str, str | None]) -> dict[str, Any]:
    return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": annotations}}


class PodWrites:
    """The writes of `shared.ports.Cluster` on pods and their Deployments."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool = False) -> Eviction:
        """Ask for the eviction; an API that gives no answer means LATER, as any outage does here."""
        query, body = {"dryRun": "All"} if dry_run else {}, eviction_body(pod, grace_seconds, dry_run=dry_run)
        call = Call("create", "pods/eviction", f"{_pod_path(pod)}/eviction", query, body)
        try:
            return answer(pod, self._client.send(call))
        except Retryable as outage:
            return Eviction(EvictionAnswer.LATER, str(outage))

    def deployment(self, name: str) -> Deployment:
        return self._client.fetch(Call("get", "deployments", _path(name)), _read)

    def restart(self, deployment: Deployment, stamp: str, *, dry_run: bool = False) -> Deployment:
        if deployment.stamp == stamp:
            return deployment
        query, patch = {"dryRun": "All"} if dry_run else {}, _patch(deployment, stamp)
        return self._client.fetch(
            Call("patch", "deployments", _path(deployment.name), query, patch, "infra/options/surge.yaml"), _read
        )

    def set_deletion_cost(self, pod: Pod, cost: int | None) -> bool:
        """Read the pod afresh and patch the version read: what stands there by then decides."""
        path = _pod_path(pod)
        fresh = self._client.fetch(Call("get", "pods", path), _object.decode).metadata
        if fresh.uid != pod.uid:
            raise Gone(f"pod {pod.key}: another pod has its name now.")
        patch = cost_patch(fresh, cost)
        if patch is not None:
            self._client.ask(Call("patch", "pods", path, body=patch))
        return patch is not None
