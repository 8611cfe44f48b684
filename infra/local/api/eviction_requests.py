"""What the API server accepts of an EvictionRequest.

Source: k8s.io/api lifecycle/v1alpha1 types.go of v0.37 (the +k8s: rules) and pkg/registry/lifecycle/evictionrequest.
"""

import re
from collections.abc import Iterator

from infra.local.api.statuses import RefusedError
from infra.local.world.kinds import Json

_KEY = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?")
_RESERVED = re.compile(r"(^|\.)(k8s|kubernetes)\.io/")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_INTENTS = {"Eviction", "Withdrawn"}
_IMMUTABLE = ("target", "requester")


def check_request(thing: Json, before: Json | None = None) -> None:
    """Refuse what the API server would refuse, with the path of each fault."""
    faults = [*_faults(thing.get("spec") or {}), *(_changes(before, thing) if before else ())]
    if faults:
        name = thing["metadata"].get("name", "")
        message = f'EvictionRequest.lifecycle.k8s.io "{name}" is invalid: {"; ".join(faults)}'
        raise RefusedError(422, "Invalid", message)


def _faults(spec: Json) -> Iterator[str]:
    target: Json = (spec.get("target") or {}).get("pod") or {}
    if _NAME.fullmatch(str(target.get("name", ""))) is None:
        yield "spec.target.pod.name: Required value"
    if _UUID.fullmatch(str(target.get("uid", ""))) is None:
        yield "spec.target.pod.uid: Invalid value: must be a lowercase UUID in 8-4-4-4-12 format"
    requester = str(spec.get("requester", ""))
    if _KEY.fullmatch(requester) is None or _RESERVED.search(requester):
        yield "spec.requester: Invalid value: must be a domain-prefixed key outside k8s.io and kubernetes.io"
    if spec.get("intent") not in _INTENTS:
        yield f"spec.intent: Unsupported value: supported values: {', '.join(sorted(_INTENTS))}"


def _changes(before: Json, after: Json) -> Iterator[str]:
    old, new = before["spec"], after.get("spec") or {}
    yield from (f"spec.{each}: Invalid value: field is immutable" for each in _IMMUTABLE if old[each] != new.get(each))
