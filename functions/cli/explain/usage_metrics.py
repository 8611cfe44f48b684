"""What nodes and pods use right now, as metrics.k8s.io says it: for a person beside the requests, never for a decision.

The scheduler places by requests, and so does Ebb. Not every cluster answers, and not everybody may ask.
Source: https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/ (metrics.k8s.io/v1beta1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.core.cluster.resources import Resources, total

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
