"""Which kinds of an API group a cluster serves, asked of the cluster itself: a kind that is not there is no error.

Source: kubernetes.io/docs/concepts/overview/kubernetes-api (discovery of one group and of its versions).
"""

from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable
from shared.errors import Gone


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
