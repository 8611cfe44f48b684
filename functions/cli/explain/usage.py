"""Usage from metrics.k8s.io beside requests: information for people, never part of a decision."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from functions.cli.errors import told
from functions.cli.input.options import Sources
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.core.cluster.resources import Resources, total
from shared.errors import EbbError

_METRICS: Final = "/apis/metrics.k8s.io/v1beta1"


class _Name(wire.Partial, frozen=True):
    name: str = ""
    namespace: str = ""


class _NodeUse(wire.Partial, frozen=True):
    metadata: _Name = _Name()
    usage: dict[str, str] | None = None


class _ContainerUse(wire.Partial, frozen=True):
    usage: dict[str, str] | None = None


class _PodUse(wire.Partial, frozen=True):
    metadata: _Name = _Name()
    containers: tuple[_ContainerUse, ...] = ()


_nodes: Final = msgspec.json.Decoder(wire.Page[_NodeUse])
_pods: Final = msgspec.json.Decoder(wire.Page[_PodUse])


@dataclass(frozen=True)
class MeasuredUsage:
    """By node, and by pod as `namespace/name`."""

    nodes: Mapping[str, Resources]
    pods: Mapping[str, Resources]


class UsageMetrics:
    """One cluster's resource metrics."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def read(self) -> MeasuredUsage:
        """Return what is used.

        Raises:
            Gone: the cluster has no resource metrics. Forbidden: the account may not read them. Retryable: they do not
            answer now. Terminal: the answer is not of the API's shape.
        """
        nodes = self._client.read_list(
            _call("nodes"),
            _nodes,
            lambda rows: {each.metadata.name: Resources.parse(each.usage or {}) for each in rows},
        )
        pods = self._client.read_list(
            _call("pods"), _pods, lambda rows: {_key(each.metadata): _sum(each) for each in rows}
        )
        return MeasuredUsage(nodes, pods)


def _call(kind: str) -> Call:
    return Call("list", f"{kind}.metrics.k8s.io", f"{_METRICS}/{kind}")


def _key(named: _Name) -> str:
    return f"{named.namespace}/{named.name}"


def _sum(pod: _PodUse) -> Resources:
    return total(Resources.parse(each.usage or {}) for each in pod.containers)


_SECONDS: Final = 10.0
"""Longer nobody waits for what only informs."""
_UNKNOWN: Final = "Usage is not known ({why}); requests decide anyway."


@dataclass(frozen=True)
class ShownUsage:
    """By node and by pod; empty where it is not known, and then the note says why (nothing of a dump)."""

    nodes: "dict[str, Resources]" = field(default_factory=dict)
    pods: "dict[str, Resources]" = field(default_factory=dict)
    note: str = ""


def usage_of(sources: Sources) -> ShownUsage:
    """Ask the cluster that is explained; a dump has no usage."""
    if sources.dumps:
        return ShownUsage()
    try:
        found = _read(sources)
    except EbbError as failure:
        return ShownUsage(note=_UNKNOWN.format(why=told(failure).rstrip(".")))
    return ShownUsage(dict(found.nodes), dict(found.pods))


def _read(sources: Sources) -> "MeasuredUsage":
    from shared.adapters.kubernetes.access import from_kubeconfig
    from shared.adapters.kubernetes.client import KubernetesClient

    path = str(sources.kubeconfig or os.environ.get("EBB_KUBECONFIG", ""))
    client = KubernetesClient(from_kubeconfig(path, sources.context), read_seconds=_SECONDS)
    return UsageMetrics(client).read()


def used(known: Resources | None, asked: Resources) -> str:
    """Return what is used of what is asked for, or offered: `250m of 1000m CPU, 512 of 1,024 MiB`."""
    if known is None:
        return ""
    return f"{known.cpu}m of {asked.cpu}m CPU, {known.memory >> 20:,} of {asked.memory >> 20:,} MiB"
