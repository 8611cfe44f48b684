"""What the scheduler knows of the nodes: what is allocatable, what is booked, who runs there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from infra.local.world.disks import Disks
from infra.local.world.kinds import Json
from infra.local.world.pods import Resources, is_finished, labels_of, node_of, pod_requests, units

HostPort = tuple[str, str, int]


def host_ports(pod: Json) -> set[HostPort]:
    """The (protocol, address, port) triples that the pod takes on its node."""
    ports = [port for container in pod["spec"].get("containers") or [] for port in container.get("ports") or []]
    return {
        (port.get("protocol", "TCP"), port.get("hostIP") or "0.0.0.0", port["hostPort"])
        for port in ports
        if port.get("hostPort")
    }


@dataclass
class NodeInfo:
    """One node as the scheduler sees it; `add` books a pod."""

    node: Json
    pods: list[Json] = field(default_factory=list)
    booked: Counter[str] = field(default_factory=Counter)
    ports: set[HostPort] = field(default_factory=set)
    repelling: list[Json] = field(default_factory=list)
    """The pods here that have an anti-affinity of their own."""

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    @property
    def labels(self) -> dict[str, str]:
        return labels_of(self.node)

    @cached_property
    def allocatable(self) -> Resources:
        status: Json = self.node.get("status") or {}
        offered: Json = status.get("allocatable") or status.get("capacity") or {}
        return {name: units(name, value) for name, value in offered.items()}

    def copy(self) -> "NodeInfo":
        """A node that books on its own."""
        return NodeInfo(self.node, [*self.pods], Counter(self.booked), {*self.ports}, [*self.repelling])

    def add(self, pod: Json) -> None:
        self.pods.append(pod)
        self.booked.update(pod_requests(pod))
        self.ports |= host_ports(pod)
        if (pod["spec"].get("affinity") or {}).get("podAntiAffinity"):
            self.repelling.append(pod)


@dataclass
class NodeInfos:
    """All nodes with their pods, and what stands behind volumes."""

    by_name: dict[str, NodeInfo]
    disks: Disks = field(default_factory=Disks)

    def place(self, pod: Json, node: str) -> None:
        """Book a pod on a node, as scheduling it does."""
        self.by_name[node].add({**pod, "spec": {**pod["spec"], "nodeName": node}})


def node_infos_of(nodes: Sequence[Json], pods: Sequence[Json], disks: Disks | None = None) -> NodeInfos:
    """What is known of nodes and of the pods bound to them; finished pods hold nothing."""
    by_name = {node["metadata"]["name"]: NodeInfo(node) for node in nodes}
    for pod in pods:
        node_info = by_name.get(node_of(pod))
        if node_info is not None and not is_finished(pod):
            node_info.add(pod)
    return NodeInfos(by_name, disks or Disks())
