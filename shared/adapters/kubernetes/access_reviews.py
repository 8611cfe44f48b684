"""What the API server says of the rights of whoever asks, and of the policies that fence others. Changes nothing.

Source: https://kubernetes.io/docs/reference/access-authn-authz/authorization/ (SelfSubjectAccessReview).
"""

from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.adapters.kubernetes.discovery import path_of
from shared.errors import Gone, Retryable

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_POLICIES: Final = "/apis/admissionregistration.k8s.io/v1"


class ReviewStatus(wire.Partial, frozen=True):
    allowed: bool = False


class Review(wire.Partial, frozen=True):
    status: ReviewStatus = ReviewStatus()


_review: Final = msgspec.json.Decoder(Review)


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
            raise Retryable(f"Kubernetes API, {call}", f"the answer cannot be read ({fault})") from fault

    def serves(self, group: str, resource: str) -> bool:
        """Whether the cluster has that kind.

        Raises:
            Retryable, Terminal: the API server does not say.
        """
        return path_of(self._client, group, resource) is not None

    def has_admission_policy(self, name: str) -> bool:
        """Whether a ValidatingAdmissionPolicy of that name is there and bound, by a binding of the same name.

        Raises:
            Terminal: the one who asks may not see it. Retryable: the API server did not answer.
        """
        kinds = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
        return all(self._is_there(kind, name) for kind in kinds)

    def _is_there(self, kind: str, name: str) -> bool:
        try:
            self._client.ask(Call("get", kind, f"{_POLICIES}/{kind}/{name}"))
        except Gone:
            return False
        return True
