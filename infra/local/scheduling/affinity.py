"""Required inter-pod affinity and anti-affinity, in both directions.

Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
"""

from collections.abc import Iterator

from infra.local.scheduling.node_infos import NodeInfo, NodeInfos
from infra.local.world.kinds import Json
from infra.local.world.pods import labels_of
from infra.local.world.selectors import matches

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _terms(pod: Json, sort: str) -> list[Json]:
    affinity: Json = (pod["spec"].get("affinity") or {}).get(sort) or {}
    terms: list[Json] = affinity.get(_REQUIRED) or []
    return terms


def _with_label_keys(term: Json, owner: Json) -> Json:
    """The API server writes them into the selector when it creates the pod; what it has written stands."""
    labels, selector = labels_of(owner), term.get("labelSelector") or {}
    expressions: list[Json] = selector.get("matchExpressions") or []
    written = {(item["key"], item["operator"]) for item in expressions}
    asked = [(key, "In") for key in term.get("matchLabelKeys") or []]
    asked += [(key, "NotIn") for key in term.get("mismatchLabelKeys") or []]
    missing = [each for each in asked if each[0] in labels and each not in written]
    extra = [{"key": key, "operator": operator, "values": [labels[key]]} for key, operator in missing]
    return {**selector, "matchExpressions": [*expressions, *extra]}


def _in_namespace(term: Json, owner: Json, namespace: str, node_infos: NodeInfos) -> bool:
    named: list[str] = term.get("namespaces") or []
    selector = term.get("namespaceSelector")
    if not named and selector is None:
        return bool(namespace == owner["metadata"]["namespace"])
    return namespace in named or matches(selector, node_infos.namespaces.get(namespace, {}))


def _meant(term: Json, owner: Json, pod: Json, node_infos: NodeInfos) -> bool:
    """Does a term of `owner` select `pod`?"""
    return (
        term.get("labelSelector") is not None
        and _in_namespace(term, owner, pod["metadata"]["namespace"], node_infos)
        and matches(_with_label_keys(term, owner), labels_of(pod))
    )


def _together(node_info: NodeInfo, other: NodeInfo, key: str) -> bool:
    return key in node_info.labels and node_info.labels[key] == other.labels.get(key)


def _placed(node_infos: NodeInfos) -> Iterator[tuple[NodeInfo, Json]]:
    return ((node_info, pod) for node_info in node_infos.by_name.values() for pod in node_info.pods)


def _attracted(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    terms = _terms(pod, "podAffinity")
    if any(term["topologyKey"] not in node_info.labels for term in terms):
        return False
    found = [
        (other, existing)
        for other, existing in _placed(node_infos)
        if any(term["topologyKey"] in other.labels for term in terms)
        and all(_meant(term, pod, existing, node_infos) for term in terms)
    ]
    if not found:  # the first pod of a group that selects itself may start anywhere
        return all(_meant(term, pod, pod, node_infos) for term in terms)
    return all(any(_together(node_info, other, term["topologyKey"]) for other, _ in found) for term in terms)


def _repelled(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    return any(
        _together(node_info, other, term["topologyKey"]) and _meant(term, pod, existing, node_infos)
        for term in _terms(pod, "podAntiAffinity")
        for other, existing in _placed(node_infos)
    )


def _repelled_by_others(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    return any(
        _together(node_info, other, term["topologyKey"]) and _meant(term, existing, pod, node_infos)
        for other in node_infos.by_name.values()
        for existing in other.repelling
        for term in _terms(existing, "podAntiAffinity")
    )


def inter_pod(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The scheduler's reason if affinity or anti-affinity (the pod's or others') forbids the node."""
    if _terms(pod, "podAffinity") and not _attracted(pod, node_info, node_infos):
        return "node(s) didn't match pod affinity rules"
    if _repelled(pod, node_info, node_infos):
        return "node(s) didn't match pod anti-affinity rules"
    if _repelled_by_others(pod, node_info, node_infos):
        return "node(s) didn't satisfy existing pods anti-affinity rules"
    return None
