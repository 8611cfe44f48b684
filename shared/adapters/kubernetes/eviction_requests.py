"""EvictionRequests: how pods are evicted that name who answers for it, and what each state of a request means.

A request is ours alone: one object for each pod, named after its UID, with us as its requester. Those whom the pod
names answer one after another, and the last of all evicts it by the Eviction API; whoever no longer wants it withdraws.
Only `v1alpha1` is known: of another version nobody can say what its fields mean, so it counts as not served.
Source: k8s.io/api lifecycle/v1alpha1 types.go and kubernetes pkg/registry/lifecycle/evictionrequest of v1.37.2
(KEP-4563). The controller that acts on requests was not in that release: docs/decisions/eviction-requests.md.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import evictions
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.adapters.kubernetes.discovery import is_served
from shared.adapters.kubernetes.eviction_request_wire import Condition, EvictionRequest
from shared.adapters.kubernetes.replies import ApiReply
from shared.answers import Eviction
from shared.core.cluster.pod import Pod
from shared.core.records.evictions import EvictionAnswer
from shared.errors import Gone

GROUP: Final = "lifecycle.k8s.io"
VERSION: Final = "v1alpha1"
RESOURCE: Final = "evictionrequests"
REQUESTER: Final = "ebb.internal/drainer"
"""Who asks: a domain and a name, as the API wants it; `k8s.io` and `kubernetes.io` are reserved."""
EVICTION: Final = "Eviction"
WITHDRAWN: Final = "Withdrawn"
ASKED_AT: Final = "ebb.internal/asked-at"
OBSERVED_WITHIN: Final = timedelta(minutes=2)
"""In which a controller that is there has seen a request."""
_OPTION: Final = "infra/options/eviction-requests.yaml"
_CANCELED: Final = "CanceledDueToNoRequesters"
_NOBODY: Final = "no controller has seen the EvictionRequest: the cluster serves them, but nothing acts on them"


_request: Final = msgspec.json.Decoder(EvictionRequest)


class EvictionRequests:
    """Ours, in one cluster."""

    def __init__(self, client: KubernetesClient, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now

    def are_served(self) -> bool:
        """Raises Retryable, Terminal: the cluster does not say."""
        return is_served(self._client, GROUP, VERSION, RESOURCE)

    def ask(self, pod: Pod, *, dry_run: bool) -> Eviction:
        """Make our request for exactly this pod, or say how the one goes that stands. Raises Retryable, Terminal."""
        standing = self._client.send(_call("get", _path(pod.spec.namespace, pod.uid)))
        if standing.code == HTTPStatus.NOT_FOUND:
            return self._make(pod, dry_run=dry_run)
        if standing.code != HTTPStatus.OK:
            return evictions.answer(pod, standing)
        request = _read(standing)
        if request.spec.intent != EVICTION:
            return _accepted(pod, self._write(pod.spec.namespace, pod.uid, request, EVICTION, dry_run=dry_run))
        return how_it_goes(request, self._now())

    def withdraw(self, namespace: str, uid: str) -> bool:
        """Whether there was one to withdraw.

        Raises:
            Stale: it was written meanwhile. Retryable: no answer. Terminal: we may not.
        """
        try:
            request = _read(ApiReply(HTTPStatus.OK, self._client.ask(_call("get", _path(namespace, uid)))))
            if request.spec.intent == WITHDRAWN or request.condition("TargetEvicted"):
                return False
            self._client.ask(_change(namespace, uid, request, WITHDRAWN, self._now()))
        except Gone:
            return False
        return True

    def _make(self, pod: Pod, *, dry_run: bool) -> Eviction:
        body = request_body(pod, self._now())
        reply = self._client.send(_call("create", _path(pod.spec.namespace), _query(dry_run=dry_run), body))
        if reply.code == HTTPStatus.NOT_FOUND:
            return Eviction(EvictionAnswer.FORBIDDEN, f"the cluster serves no EvictionRequests ({GROUP}/{VERSION})")
        return _accepted(pod, reply)

    def _write(self, namespace: str, uid: str, request: EvictionRequest, intent: str, *, dry_run: bool) -> ApiReply:
        return self._client.send(_change(namespace, uid, request, intent, self._now(), _query(dry_run=dry_run)))


def request_body(pod: Pod, now: datetime) -> dict[str, Any]:
    """Return the request for exactly this pod; it goes with the pod, whoever forgets it."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "EvictionRequest",
        "metadata": {
            "name": name_of(pod.uid),
            "namespace": pod.spec.namespace,
            "labels": {"app.kubernetes.io/managed-by": "ebb"},
            "annotations": {ASKED_AT: now.isoformat()},
            "ownerReferences": [owner],
        },
        "spec": {"target": {"pod": {"name": pod.name, "uid": pod.uid}}, "requester": REQUESTER, "intent": EVICTION},
    }


def name_of(uid: str) -> str:
    """Return the name of our request for the pod of that UID: other requesters have requests of their own."""
    return f"ebb-{uid}"


def how_it_goes(request: EvictionRequest, now: datetime) -> Eviction:
    """Return what the state of a request that stands means.

    An earlier failure does not count once the eviction is asked for anew: the controller resets it as it sees that.
    """
    evicted, failed = request.condition("TargetEvicted"), request.condition("Failed")
    if evicted is not None:
        return Eviction(EvictionAnswer.GONE, _said(evicted))
    if not request.is_observed:
        waited = now - _asked_at(request, now)
        return Eviction(EvictionAnswer.FORBIDDEN, _NOBODY) if waited > OBSERVED_WITHIN else _stands(request)
    if failed is None:
        return _stands(request)
    for_good = failed.reason != _CANCELED  # a cancellation cannot be meant while we ask
    return Eviction(EvictionAnswer.FORBIDDEN if for_good else EvictionAnswer.LATER, _said(failed))


def _stands(request: EvictionRequest) -> Eviction:
    rows = [each.message for each in request.status.conditions or () if each.message]
    return Eviction(EvictionAnswer.GRANTED, f"EvictionRequest {request.metadata.name}: {rows[0] if rows else 'stands'}")


def _said(condition: Condition) -> str:
    return f"EvictionRequest: {condition.reason} {condition.message}".rstrip()


def _accepted(pod: Pod, reply: ApiReply) -> Eviction:
    """What the API server says to a request is what it says to an eviction; granted means that it stands."""
    said = evictions.answer(pod, reply)
    granted = said.answer is EvictionAnswer.GRANTED
    return Eviction(said.answer, f"EvictionRequest {name_of(pod.uid)}: made") if granted else said


def _asked_at(request: EvictionRequest, now: datetime) -> datetime:
    text = (request.metadata.annotations or {}).get(ASKED_AT, "")
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return now
    return at if at.tzinfo else now


def _change(
    namespace: str, uid: str, request: EvictionRequest, intent: str, now: datetime, query: dict[str, str] | None = None
) -> Call:
    """Return the write of an intent on the version read."""
    meta = {"resourceVersion": request.metadata.resource_version, "annotations": {ASKED_AT: now.isoformat()}}
    body = {"metadata": meta, "spec": {"intent": intent}}
    return _call("patch", _path(namespace, uid), query, body)


def _call(verb: str, path: str, query: dict[str, str] | None = None, body: dict[str, Any] | None = None) -> Call:
    return Call(verb, RESOURCE, path, query or {}, body, granted_by=_OPTION)


def _query(*, dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _path(namespace: str, uid: str = "") -> str:
    place = f"/apis/{GROUP}/{VERSION}/namespaces/{segment(namespace)}/{RESOURCE}"
    return f"{place}/{segment(name_of(uid))}" if uid else place


def _read(reply: ApiReply) -> EvictionRequest:
    with readable(_call("get", "")):
        return _request.decode(reply.body)
