"""What the API server says of the rights of whoever asks, and what stands of policies and roles. Changes nothing.

Source: https://kubernetes.io/docs/reference/access-authn-authz/authorization/ (SelfSubjectAccessReview).
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.adapters.kubernetes.discovery import path_of
from shared.errors import Gone, Retryable

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class ReviewStatus(wire.Partial, frozen=True):
    allowed: bool = False


class Review(wire.Partial, frozen=True):
    status: ReviewStatus = ReviewStatus()


_review: Final = msgspec.json.Decoder(Review)
_object: Final = msgspec.json.Decoder(dict[str, Any])


class AccessReviews:
    """Asked of one cluster, in the name of whoever's credentials the client has."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def may(self, verb: str, group: str, resource: str) -> bool:
        """Whether the one who asks may do so in every namespace.

        Raises:
            Terminal: the API server refuses to say. Gone: it reviews nothing. Retryable: it did not answer.
        """
        name, _, subresource = resource.partition("/")
        asked = {"verb": verb, "group": group, "resource": name, "subresource": subresource}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        call = Call("create", "selfsubjectaccessreviews", _REVIEWS, body=body)
        try:
            return _review.decode(self._client.ask(call)).status.allowed
        except msgspec.MsgspecError as fault:
            raise _unread(call, fault) from fault

    def serves(self, group: str, resource: str) -> bool:
        """Whether the cluster has that kind.

        Raises:
            Retryable, Terminal: the API server does not say.
        """
        return path_of(self._client, group, resource) is not None

    def standing(self, group: str, resource: str, name: str) -> Mapping[str, Any] | None:
        """Return what stands under that name of a kind that has no namespace, as version v1; None where nothing does.

        Raises:
            Forbidden: the one who asks may not see it. Retryable, Terminal: the API server does not say.
        """
        call = Call("get", resource, f"/apis/{group}/v1/{resource}/{name}")
        try:
            return _object.decode(self._client.ask(call))
        except Gone:
            return None
        except msgspec.MsgspecError as fault:
            raise _unread(call, fault) from fault


def _unread(call: Call, fault: msgspec.MsgspecError) -> Retryable:
    return Retryable(f"Kubernetes API, {call}", f"the answer cannot be read ({fault})")
