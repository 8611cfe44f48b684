"""The kube-scheduler's filters as an ordered tuple: each says why a node will not do, in the scheduler's words.

Source: kubernetes pkg/scheduler/framework/plugins. Preemption and dynamic resource claims are not modelled:
scenarios of the simulated GKE have none.
"""

from collections.abc import Callable

from infra.local.scheduling.affinity import inter_pod
from infra.local.scheduling.node_infos import HostPort, NodeInfo, NodeInfos, host_ports
from infra.local.scheduling.requests import pod_requests
from infra.local.scheduling.selection import selected
from infra.local.scheduling.spread import topology_spread
from infra.local.scheduling.taints import tolerates, untolerated
from infra.local.scheduling.volume_filters import volume_binding, volume_limits, volume_restrictions
from infra.local.world.kinds import Json

Filter = Callable[[Json, NodeInfo, NodeInfos], str | None]
_UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def node_unschedulable(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    del node_infos
    tolerations: list[Json] = pod["spec"].get("tolerations") or []
    cordoned = node_info.node["spec"].get("unschedulable", False)
    if cordoned and not any(tolerates(item, _UNSCHEDULABLE) for item in tolerations):
        return "node(s) were unschedulable"
    return None


def taint_toleration(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    del node_infos
    taint = untolerated(pod["spec"], node_info.node["spec"].get("taints") or [])
    return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}" if taint else None


def node_affinity(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    del node_infos
    if selected(pod["spec"], node_info.node):
        return None
    return "node(s) didn't match Pod's node affinity/selector"


def resources(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    del node_infos
    offered = node_info.allocatable
    if len(node_info.pods) + 1 > offered.get("pods", 110):
        return "Too many pods"
    for name, asked in pod_requests(pod).items():
        if asked and asked + node_info.booked[name] > offered.get(name, 0):
            return f"Insufficient {name}"
    return None


def _clash(one: HostPort, other: HostPort) -> bool:
    everywhere = "0.0.0.0" in {one[1], other[1]}
    return (one[0], one[2]) == (other[0], other[2]) and (everywhere or one[1] == other[1])


def node_ports(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    del node_infos
    if any(_clash(one, other) for one in host_ports(pod) for other in node_info.ports):
        return "node(s) didn't have free ports for the requested pod ports"
    return None


FILTERS: tuple[Filter, ...] = (
    node_unschedulable,
    taint_toleration,
    node_affinity,
    node_ports,
    resources,
    volume_restrictions,
    volume_limits,
    volume_binding,
    topology_spread,
    inter_pod,
)


def refusal(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The first filter's reason why the pod cannot run on the node, or None if it can."""
    return next((reason for check in FILTERS if (reason := check(pod, node_info, node_infos)) is not None), None)
