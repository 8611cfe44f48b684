"""Which nodes a pod asks for by itself: its node selector together with its required node affinity."""

from infra.local.world.kinds import Json
from infra.local.world.pods import labels_of
from infra.local.world.selectors import node_selector_holds


def selected(spec: Json, node: Json) -> bool:
    """Do the pod's node selector and required node affinity admit the node?"""
    labels = labels_of(node)
    wanted: dict[str, str] = spec.get("nodeSelector") or {}
    affinity: Json = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required: Json | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return all(labels.get(key) == value for key, value in wanted.items()) and node_selector_holds(required, node)
