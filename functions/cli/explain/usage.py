"""Usage from metrics.k8s.io next to requests: information for people, never part of a decision."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from functions.cli.errors import message_of
from functions.cli.input.options import Sources
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.transport import Call
from shared.core.cluster.resources import Resources, total
from shared.errors import EbbError


class _Name(wire.Partial, frozen=True):
    name: str = ""
    namespace: str = ""


class _Use(wire.Partial, frozen=True):
    """A node's, or a container's, which has no metadata."""

    metadata: _Name = _Name()
    usage: dict[str, str] | None = None


class _PodUse(wire.Partial, frozen=True):
    metadata: _Name = _Name()
    containers: tuple[_Use, ...] = ()


_nodes: Final = msgspec.json.Decoder(wire.Page[_Use])
_pods: Final = msgspec.json.Decoder(wire.Page[_PodUse])


@dataclass(frozen=True)
class ShownUsage:
    """By node, and by pod as `namespace/name`; empty of a dump, and if it is unknown: then the note gives the cause."""

    nodes: Mapping[str, Resources] = field(default_factory=dict)
    pods: Mapping[str, Resources] = field(default_factory=dict)
    note: str = ""


def read_usage(client: KubernetesClient) -> ShownUsage:
    """Return what is used.

    Raises:
        Gone: the cluster has no resource metrics. Forbidden: the account may not read them. Retryable: they do not
        answer now. Terminal: the answer is not of the API's shape.
    """
    nodes = client.read_list(_call("nodes"), _nodes, lambda rows: {row.metadata.name: _sum((row,)) for row in rows})
    pods = client.read_list(_call("pods"), _pods, lambda rows: {_key(row): _sum(row.containers) for row in rows})
    return ShownUsage(nodes, pods)


def _call(kind: str) -> Call:
    return Call("list", f"{kind}.metrics.k8s.io", f"/apis/metrics.k8s.io/v1beta1/{kind}")


def _key(pod: _PodUse) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _sum(used: Iterable[_Use]) -> Resources:
    return total(Resources.parse(row.usage or {}) for row in used)


_SECONDS: Final = 10.0
"""Longer nobody waits for what only informs."""
_UNKNOWN: Final = "Usage is unknown ({why}); requests decide anyway."


def usage_of(sources: Sources) -> ShownUsage:
    """Return the usage of the cluster that is explained; a dump has none."""
    if sources.dumps:
        return ShownUsage()
    from shared.adapters.kubernetes.kubeconfig import from_kubeconfig

    path = str(sources.kubeconfig or os.environ.get("EBB_KUBECONFIG", ""))
    try:
        return read_usage(KubernetesClient(from_kubeconfig(path, sources.context), read_seconds=_SECONDS))
    except EbbError as failure:
        return ShownUsage(note=_UNKNOWN.format(why=message_of(failure).rstrip(".")))


def usage_text(known: Resources | None, requested: Resources) -> str:
    """Return what is used of what is asked for, or offered: `250m of 1000m CPU, 512 of 1,024 MiB`."""
    if known is None:
        return ""
    return f"{known.cpu}m of {requested.cpu}m CPU, {known.memory >> 20:,} of {requested.memory >> 20:,} MiB"
