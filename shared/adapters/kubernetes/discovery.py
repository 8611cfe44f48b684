"""What a cluster serves, and what it allows: asked of the API server itself, which changes nothing.

Sources: kubernetes.io/docs/concepts/overview/kubernetes-api (discovery of one group and of its versions) and
kubernetes.io/docs/reference/access-authn-authz/authorization (SelfSubjectAccessReview).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.malformed_objects import RAW_PAGES, MalformedObjects
from shared.adapters.kubernetes.transport import Call
from shared.errors import EbbError, Gone

T = TypeVar("T")


class GroupVersion(wire.Partial, frozen=True):
    version: str = ""


class ApiGroup(wire.Partial, frozen=True):
    """What `/apis/GROUP` answers, the preferred version first."""

    versions: list[GroupVersion] | None = None


class ApiResources(wire.Partial, frozen=True):
    """What `/apis/GROUP/VERSION` answers: a kind need not be served in each version of its group."""

    resources: list[wire.Named] | None = None


def path_of(client: KubernetesClient, group: str, resource: str) -> str | None:
    """Return where a kind is listed, None where the cluster does not have it. Raises Retryable, Terminal."""
    found = _fetch_served(client, group, "", ApiGroup)
    for served in (found.versions if found else None) or ():
        kinds = _fetch_served(client, group, f"/{served.version}", ApiResources)
        if any(kind.name == resource for kind in (kinds.resources if kinds else None) or ()):
            return f"/apis/{group}/{served.version}/{resource}"
    return None


def _fetch_served(client: KubernetesClient, group: str, version: str, kind: type[T]) -> T | None:
    try:
        return client.fetch(Call("get", group, f"/apis/{group}{version}"), msgspec.json.Decoder(kind).decode)
    except Gone:
        return None


@dataclass
class AdvisoryLists:
    """Reads lists of one cluster that only advise; one that cannot be read is named, and ends no reading.

    With `odd`, so is an object that is not of the known shape; without it, such an object makes its list unread.
    """

    client: KubernetesClient
    odd: MalformedObjects | None = None
    unread: list[str] = field(default_factory=list)

    def read(self, resource: str, item: Callable[[bytes | msgspec.Raw], T], group: str = "") -> tuple[T, ...]:
        """Return what `item` makes of each object of a list, of the core API or found by discovery in its `group`."""

        def gather(raws: Iterator[msgspec.Raw]) -> tuple[T, ...]:
            return tuple(self.odd.skip_malformed(resource, raws, item) if self.odd is not None else map(item, raws))

        try:
            path = path_of(self.client, group, resource) if group else f"/api/v1/{resource}"
            return self.client.read_list(Call("list", resource, path), RAW_PAGES, gather) if path else ()
        except EbbError:
            self.unread.append(resource)
            return ()


_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class ReviewStatus(wire.Partial, frozen=True):
    allowed: bool = False


class Review(wire.Partial, frozen=True):
    status: ReviewStatus = ReviewStatus()


_review: Final = msgspec.json.Decoder(Review)
_object: Final = msgspec.json.Decoder(dict[str, Any])


class AccessReviews:
    """Reviews of one cluster, for the identity of the client's credentials."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def may(self, verb: str, group: str, resource: str) -> bool:
        """Whether the asker may do so in every namespace. Raises Terminal, Retryable, Gone if nothing is reviewed."""
        name, _, subresource = resource.partition("/")
        asked = {"verb": verb, "group": group, "resource": name, "subresource": subresource}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        call = Call("create", "selfsubjectaccessreviews", _REVIEWS, body=body)
        return self._client.fetch(call, _review.decode).status.allowed

    def serves(self, group: str, resource: str) -> bool:
        """Whether the cluster has that kind. Raises Retryable, Terminal."""
        return path_of(self._client, group, resource) is not None

    def standing(self, group: str, resource: str, name: str) -> Mapping[str, Any] | None:
        """Return the object of a cluster-wide v1 kind, or None. Raises Forbidden, Retryable, Terminal."""
        try:
            return self._client.fetch(Call("get", resource, f"/apis/{group}/v1/{resource}/{name}"), _object.decode)
        except Gone:
            return None
