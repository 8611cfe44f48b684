"""What a cluster serves, and what it allows: asked of the API server itself, which changes nothing.

Sources: kubernetes.io/docs/concepts/overview/kubernetes-api (discovery of one group and of its versions) and
kubernetes.io/docs/reference/access-authn-authz/authorization (SelfSubjectAccessReview).
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable
from shared.errors import Gone, Retryable


class GroupVersion(wire.Partial, frozen=True):
    version: str = ""


class ApiGroup(wire.Partial, frozen=True):
    """What `/apis/GROUP` answers, the preferred version first."""

    versions: list[GroupVersion] | None = None


class ApiResource(wire.Partial, frozen=True):
    name: str = ""


class ApiResources(wire.Partial, frozen=True):
    """What `/apis/GROUP/VERSION` answers: a kind need not be served in each version of its group."""

    resources: list[ApiResource] | None = None


_group: Final = msgspec.json.Decoder(ApiGroup)
_resources: Final = msgspec.json.Decoder(ApiResources)


def path_of(client: KubernetesClient, group: str, resource: str) -> str | None:
    """Return where a kind is listed, or None where the cluster does not have it.

    Raises:
        Retryable, Terminal: the cluster does not say.
    """
    for each in _versions(client, group):
        if _is_served(client, group, each, resource):
            return f"/apis/{group}/{each}/{resource}"
    return None


def _is_served(client: KubernetesClient, group: str, version: str, resource: str) -> bool:
    """Whether the cluster has a kind in exactly that version. Raises as `path_of`."""
    call = Call("get", group, f"/apis/{group}/{version}")
    try:
        body = client.ask(call)
    except Gone:
        return False
    with readable(call):
        return any(each.name == resource for each in _resources.decode(body).resources or ())


def _versions(client: KubernetesClient, group: str) -> list[str]:
    call = Call("get", group, f"/apis/{group}")
    try:
        body = client.ask(call)
    except Gone:
        return []
    with readable(call):
        return [each.version for each in _group.decode(body).versions or ()]


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
