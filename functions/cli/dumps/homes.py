"""Which cluster a node belongs to, as far as the node itself shows: by its name and by where the cloud has it.

GKE names a node gke-CLUSTER-POOL-HASH-SUFFIX, the parts cut where they are long; its providerID holds project and
zone, and all nodes of a cluster stand in one region.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from shared.adapters.kubernetes import wire
from shared.core.cluster.names import POOL_LABEL
from shared.core.cluster.node import Node

_NAME: Final = re.compile(r"gke-(?P<rest>.+)-[0-9a-f]{8}-[0-9a-z]{4}")
_ON_GCE: Final = re.compile(r"gce://(?P<project>[^/]+)/(?P<region>[^/]+)-[^/-]+/.*")
_FULL_NAME: Final = re.compile(
    r"projects/(?P<project>[^/]+)/locations/(?P<region>[a-z]+(?:-[a-z]+\d+)?)(?:-[a-z])?/clusters/(?P<name>[^/]+)"
)
_LEAST_OF_A_POOL: Final = 3  # Letters of a pool's name that are enough to know it again where it was cut.


class PlacedSpec(wire.NodeSpec, frozen=True):
    provider_id: str = msgspec.field(default="", name="providerID")


class PlacedNode(wire.Node, frozen=True):
    spec: PlacedSpec = PlacedSpec()


class Home(NamedTuple):
    """A cluster as its nodes know it; each part is empty where it is not known."""

    project: str = ""
    region: str = ""
    name: str = ""

    def may_be(self, other: "Home") -> bool:
        """Return whether both may be one cluster; of two names the shorter may have been cut."""
        same = all(not mine or not theirs or mine == theirs for mine, theirs in zip(self[:2], other[:2], strict=True))
        return same and (self.name.startswith(other.name) or other.name.startswith(self.name))

    def __str__(self) -> str:
        return " ".join(part for part in (self.name, self.region, self.project) if part)


class ClusterSigns(NamedTuple):
    """What a reading of a cluster is known by: the UIDs of kube-system, homes, and nodes by name and UID."""

    kube_system: frozenset[str] = frozenset()
    homes: frozenset[Home] = frozenset()
    nodes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, kube_system: Iterable[str], homes: Iterable[Home], nodes: Iterable[Node]) -> "ClusterSigns":
        named = frozenset(f"{node.name} {node.uid}" for node in nodes)
        return cls(frozenset(kube_system), frozenset(homes), named)

    def are_of_one(self, other: "ClusterSigns") -> bool:
        """Return whether two readings are of one cluster; the first sign that both have decides."""
        if self.kube_system and other.kube_system:
            return self.kube_system == other.kube_system
        mine, theirs = ([home for home in signs.homes if any(home)] for signs in (self, other))
        if mine and theirs:
            return all(one.may_be(another) for one in mine for another in theirs)
        return not self.nodes.isdisjoint(other.nodes)


def home_named(cluster: str) -> Home | None:
    """Return the home that `projects/P/locations/L/clusters/C` means; None of any other name."""
    named = _FULL_NAME.fullmatch(cluster)
    return Home(named["project"], named["region"], named["name"]) if named else None


def home_of(node: PlacedNode) -> Home:
    on_gce = _ON_GCE.fullmatch(node.spec.provider_id)
    project, region = (on_gce["project"], on_gce["region"]) if on_gce else ("", "")
    return Home(project, region, _cluster(node.metadata.name, (node.metadata.labels or {}).get(POOL_LABEL, "")))


def _cluster(node: str, pool: str) -> str:
    named = _NAME.fullmatch(node)
    if named is None or not pool:
        return ""
    rest = named["rest"]
    for length in range(len(pool), min(len(pool), _LEAST_OF_A_POOL) - 1, -1):
        if rest.endswith(f"-{pool[:length].rstrip('-')}"):
            return rest.removesuffix(f"-{pool[:length].rstrip('-')}")
    return ""
