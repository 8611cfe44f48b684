"""Topology spread constraints that forbid (`DoNotSchedule`).

Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread/filtering.go.
"""

from collections import Counter

from infra.local.scheduling.node_infos import NodeInfo, NodeInfos
from infra.local.scheduling.selection import selected
from infra.local.scheduling.taints import untolerated
from infra.local.world.kinds import Json
from infra.local.world.pods import is_terminating, labels_of
from infra.local.world.selectors import matches


def _hard(pod: Json) -> list[Json]:
    constraints: list[Json] = pod["spec"].get("topologySpreadConstraints") or []
    return [item for item in constraints if item.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule"]


def _selector(constraint: Json, pod: Json) -> Json | None:
    selector: Json | None = constraint.get("labelSelector")
    if selector is None:
        return None
    labels = labels_of(pod)
    keys = [key for key in constraint.get("matchLabelKeys") or [] if key in labels]
    extra = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys]
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or []), *extra]}


def _asks(selector: Json | None) -> bool:
    """A selector that asks for nothing counts nobody (labels.Selector.Empty), though the pod itself matches it."""
    return bool(selector and (selector.get("matchLabels") or selector.get("matchExpressions")))


def _counts_as_domain(constraint: Json, pod: Json, node_info: NodeInfo) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not selected(pod["spec"], node_info.node):
        return False
    taints: list[Json] = node_info.node["spec"].get("taints") or []
    honoured = constraint.get("nodeTaintsPolicy", "Ignore") == "Honor"
    return not (honoured and untolerated(pod["spec"], taints))


def _domains(constraint: Json, constraints: list[Json], pod: Json, node_infos: NodeInfos) -> Counter[str]:
    selector, key = _selector(constraint, pod), constraint["topologyKey"]
    namespace = pod["metadata"]["namespace"]
    domains: Counter[str] = Counter()
    for node_info in node_infos.by_name.values():
        if all(item["topologyKey"] in node_info.labels for item in constraints) and _counts_as_domain(
            constraint, pod, node_info
        ):
            domains[node_info.labels[key]] += sum(
                existing["metadata"]["namespace"] == namespace
                and not is_terminating(existing)
                and _asks(selector)
                and matches(selector, labels_of(existing))
                for existing in node_info.pods
            )
    return domains


def topology_spread(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The scheduler's reason if a constraint forbids the node."""
    constraints = _hard(pod)
    for constraint in constraints:
        domain = node_info.labels.get(constraint["topologyKey"])
        if domain is None:
            return "node(s) didn't match pod topology spread constraints (missing required label)"
        domains = _domains(constraint, constraints, pod, node_infos)
        least = min(domains.values(), default=0)
        if len(domains) < constraint.get("minDomains", 1):
            least = 0
        itself = matches(_selector(constraint, pod), labels_of(pod))
        if domains[domain] + itself - least > constraint["maxSkew"]:
            return "node(s) didn't match pod topology spread constraints"
    return None
