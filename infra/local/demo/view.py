"""The cluster as the simulated API shows it at one moment, as far as the story draws it. Must not print."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = Mapping[str, Any]
_POOL: Final = "cloud.google.com/gke-nodepool"


@dataclass(frozen=True)
class NodeBar:
    """One node: its pool, and the share of its CPU that pods ask for; None once it is gone."""

    name: str
    pool: str
    share: float | None


@dataclass(frozen=True)
class ClusterView:
    """All nodes that ever were, in the order in which they were first seen, and how many pods there are."""

    bars: Sequence[NodeBar]
    pods: int
    unsettled: int
    """Pods that are Pending or on their way out."""

    @property
    def alive(self) -> int:
        return sum(bar.share is not None for bar in self.bars)

    @property
    def mean_share(self) -> float:
        shares = [bar.share for bar in self.bars if bar.share is not None]
        return sum(shares) / max(len(shares), 1)

    def pool(self, name: str) -> int:
        return sum(bar.pool == name and bar.share is not None for bar in self.bars)


def short(node: str) -> str:
    """Return a name that a person can follow: pool and the last part, as in `web-04kc`."""
    parts = node.split("-")
    return f"{'-'.join(parts[2:-2])}-{parts[-1]}"


class ViewBuilder:
    """Makes a picture of what stands now, and remembers the nodes that stood before."""

    def __init__(self) -> None:
        self._pools: dict[str, str] = {}
        self.first: frozenset[str] = frozenset()
        """The nodes of the first picture."""

    def build(self, nodes: Sequence[Json], pods: Sequence[Json]) -> ClusterView:
        """Return the picture of these nodes and pods as the API lists them."""
        used: dict[str, float] = defaultdict(float)
        for pod in pods:
            used[pod["spec"].get("nodeName", "")] += _cpu_of(pod)
        shares = {node["metadata"]["name"]: used[node["metadata"]["name"]] / _allocatable(node) for node in nodes}
        return ClusterView(self._bars(nodes, shares), len(pods), sum(_unsettled(pod) for pod in pods))

    def _bars(self, nodes: Sequence[Json], shares: Mapping[str, float]) -> Sequence[NodeBar]:
        for node in nodes:
            self._pools.setdefault(node["metadata"]["name"], node["metadata"]["labels"].get(_POOL, ""))
        self.first = self.first or frozenset(self._pools)
        return [NodeBar(name, pool, shares.get(name)) for name, pool in self._pools.items()]


def _unsettled(pod: Json) -> bool:
    return pod["status"].get("phase") == "Pending" or "deletionTimestamp" in pod["metadata"]


def _cpu_of(pod: Json) -> float:
    containers = pod["spec"]["containers"]
    return sum(_cores(each.get("resources", {}).get("requests", {}).get("cpu", "0")) for each in containers)


def _allocatable(node: Json) -> float:
    return _cores(node["status"]["allocatable"]["cpu"])


def _cores(text: str) -> float:
    return float(text.removesuffix("m")) / 1000 if text.endswith("m") else float(text)
