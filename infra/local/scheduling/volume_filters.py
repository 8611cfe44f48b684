"""The scheduler's volume filters: where the disk is or may be made, who else uses it, how many a node attaches.

Source: kubernetes pkg/scheduler/framework/plugins/{volumebinding,volumerestrictions,nodevolumelimits}. Free capacity,
labels of volumes, in-tree disks and volumes that nobody has asked for are not modelled: scenarios have none.
"""

from infra.local.scheduling.node_infos import NodeInfo, NodeInfos
from infra.local.world.disks import SELECTED_NODE, Disks, Key, claims_of
from infra.local.world.kinds import Json
from infra.local.world.selectors import node_selector_holds


def volume_binding(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    disks = node_infos.disks
    for key in claims_of(pod):
        if key not in disks.claims or "deletionTimestamp" in disks.claims[key]["metadata"]:
            return f'persistentvolumeclaim "{key[1]}" not found'
        volume = disks.volume(key)
        if volume is None:
            reason = _unbound(key, node_info, disks)
        else:
            required = (volume["spec"].get("nodeAffinity") or {}).get("required")
            holds = node_selector_holds(required, node_info.node)
            reason = None if holds else "node(s) had volume node affinity conflict"
        if reason is not None:
            return reason
    return None


def _unbound(key: Key, node_info: NodeInfo, disks: Disks) -> str | None:
    if not disks.waits_for_consumer(key):
        return "pod has unbound immediate PersistentVolumeClaims"
    chosen = (disks.claims[key]["metadata"].get("annotations") or {}).get(SELECTED_NODE)
    allowed = [
        each.get("matchLabelExpressions") or [] for each in disks.storage_class(key).get("allowedTopologies") or []
    ]
    inside = any(term and all(node_info.labels.get(each["key"]) in each["values"] for each in term) for term in allowed)
    if (chosen and chosen != node_info.name) or (allowed and not inside):
        return "node(s) didn't find available persistent volumes to bind"
    return None


def volume_restrictions(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """A ReadWriteOncePod claim has one pod in the whole cluster, also while that one ends."""
    del node_info
    wanted = {key for key in claims_of(pod) if node_infos.disks.is_exclusive(key)}
    if wanted and any(
        not wanted.isdisjoint(claims_of(other)) for each in node_infos.by_name.values() for other in each.pods
    ):
        return "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    return None


def volume_limits(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    disks = node_infos.disks
    limits = disks.limits.get(node_info.name)
    wanted = set(disks.attached(pod)) if limits else set()
    if not limits or not wanted:
        return None
    there = {each for other in node_info.pods for each in disks.attached(other)}
    drivers = [driver for driver, _ in wanted | there]
    if any(drivers.count(driver) > limits.get(driver, len(drivers)) for driver, _ in wanted - there):
        return "node(s) exceed max volume count"
    return None
