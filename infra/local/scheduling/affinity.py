"""Required inter-pod affinity and anti-affinity, in both directions.

Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
"""

from collections.abc import Iterator

from infra.local.scheduling.picture import Picture, Room
from infra.local.selectors import matches
from infra.local.world.kinds import Json
from infra.local.world.pods import labels_of

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _terms(pod: Json, sort: str) -> list[Json]:
    affinity: Json = (pod["spec"].get("affinity") or {}).get(sort) or {}
    terms: list[Json] = affinity.get(_REQUIRED) or []
    return terms


def _with_label_keys(term: Json, owner: Json) -> Json:
    keys, labels = term.get("matchLabelKeys") or [], labels_of(owner)
    unlike = term.get("mismatchLabelKeys") or []
    extra = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys if key in labels]
    extra += [{"key": key, "operator": "NotIn", "values": [labels[key]]} for key in unlike if key in labels]
    selector: Json = term.get("labelSelector") or {}
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or []), *extra]}


def _in_namespace(term: Json, owner: Json, namespace: str, picture: Picture) -> bool:
    named: list[str] = term.get("namespaces") or []
    selector = term.get("namespaceSelector")
    if not named and selector is None:
        return bool(namespace == owner["metadata"]["namespace"])
    return namespace in named or matches(selector, picture.namespaces.get(namespace, {}))


def _meant(term: Json, owner: Json, pod: Json, picture: Picture) -> bool:
    """Does a term of `owner` select `pod`?"""
    return (
        term.get("labelSelector") is not None
        and _in_namespace(term, owner, pod["metadata"]["namespace"], picture)
        and matches(_with_label_keys(term, owner), labels_of(pod))
    )


def _together(room: Room, other: Room, key: str) -> bool:
    return key in room.labels and room.labels[key] == other.labels.get(key)


def _placed(picture: Picture) -> Iterator[tuple[Room, Json]]:
    return ((room, pod) for room in picture.rooms.values() for pod in room.pods)


def _attracted(pod: Json, room: Room, picture: Picture) -> bool:
    terms = _terms(pod, "podAffinity")
    if any(term["topologyKey"] not in room.labels for term in terms):
        return False
    found = [
        (other, existing)
        for other, existing in _placed(picture)
        if all(_meant(term, pod, existing, picture) for term in terms)
    ]
    if not found:  # the first pod of a group that selects itself may start anywhere
        return all(_meant(term, pod, pod, picture) for term in terms)
    return all(any(_together(room, other, term["topologyKey"]) for other, _ in found) for term in terms)


def _repelled(pod: Json, room: Room, picture: Picture) -> bool:
    return any(
        _together(room, other, term["topologyKey"]) and _meant(term, pod, existing, picture)
        for term in _terms(pod, "podAntiAffinity")
        for other, existing in _placed(picture)
    )


def _repelled_by_others(pod: Json, room: Room, picture: Picture) -> bool:
    return any(
        _together(room, other, term["topologyKey"]) and _meant(term, existing, pod, picture)
        for other in picture.rooms.values()
        for existing in other.repelling
        for term in _terms(existing, "podAntiAffinity")
    )


def inter_pod(pod: Json, room: Room, picture: Picture) -> str | None:
    """The scheduler's reason if affinity or anti-affinity (the pod's or others') forbids the node."""
    if _terms(pod, "podAffinity") and not _attracted(pod, room, picture):
        return "node(s) didn't match pod affinity rules"
    if _repelled(pod, room, picture):
        return "node(s) didn't match pod anti-affinity rules"
    if _repelled_by_others(pod, room, picture):
        return "node(s) didn't satisfy existing pods anti-affinity rules"
    return None
