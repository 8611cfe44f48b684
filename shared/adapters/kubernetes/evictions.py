"""What each answer of the eviction API means.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go, and what a real API server was seen to answer.
"""

import re
from http import HTTPStatus
from typing import Any, Final

from shared.adapters.kubernetes.client import DENIED, ApiReply
from shared.core.cluster.pod import Pod
from shared.core.records.drain_record import EvictionAnswer
from shared.port_types import Eviction

_NO_DRY_RUN: Final = "does not support dry run"
_OTHER_POD: Final = re.compile(r"Precondition failed: UID|UID in the precondition \(.*\) does not match")
"""Two wordings: the storage's (apiserver storage.Preconditions) and the deletion's (registry rest.BeforeDelete)."""
_SEVERAL: Final = "more than one PodDisruptionBudget"
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
    if code == HTTPStatus.INTERNAL_SERVER_ERROR and _SEVERAL in message:
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
