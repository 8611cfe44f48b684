"""An independent judge of moves, pod by pod: sentences for faults, with the drained nodes cordoned and gone."""

from collections.abc import Collection, Iterable, Mapping

from shared.core.cluster import names
from shared.core.cluster.autoscaling import CapacityBuffer
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.selectors import PodTerm, SpreadConstraint, tolerates_all
from shared.core.cluster.snapshot import Snapshot
from tests.volume_checker import volume_faults


def faults(snapshot: Snapshot, moves: Mapping[str, str], drained: Collection[str]) -> list[str]:
    """Judge `moves` (pod key to node name) that empty the `drained` nodes; pods that were pending may move too."""
    standing = _positions(snapshot, moves)
    gone = [(pod, node) for pod, node in standing if node.name not in drained]
    return [
        *_left_behind(snapshot, moves, drained),
        *(fault for pod, node in standing if pod.key in moves for fault in _target(pod.spec, node, drained)),
        *_overfull(snapshot, standing, moves),
        *_ports_taken(standing, moves),
        *volume_faults(snapshot, standing, moves),
        *(
            fault
            for key in moves
            if len(moves) == 1 or _calm(snapshot)
            for fault in _spread(snapshot, moves, key, drained)
        ),
        *(fault for key, node in moves.items() if len(moves) == 1 for fault in _lonely(snapshot, key, node, drained)),
        *_conflicts(snapshot, standing, moves),
        *_conflicts(snapshot, gone, moves),
    ]


def room_for_chunks(snapshot: Snapshot, buffer: CapacityBuffer, moves: Mapping[str, str], gone: Collection[str]) -> int:
    """Count the chunks of a buffer, all by itself, that have room once the moves are made; its labels are no matter."""
    standing = _positions(snapshot, moves)
    found = 0
    for node in snapshot.nodes:
        if not any(_target(buffer.chunk, node, gone)):
            pods = [pod for pod, at in standing if at.name == node.name]
            wanted = {**dict(buffer.chunk.requests.amounts), "pods": 1}
            to_come = _daemons_to_come(snapshot, node)
            used = {name: sum(_asked(pod, name, moves) for pod in pods) for name in wanted}
            used = {name: each + sum(needs.get(name, 0) for needs in to_come) for name, each in used.items()}
            found += max(min((node.allocatable.get(name) - used[name]) // wanted[name] for name in wanted), 0)
    return min(found, buffer.replicas)


def _asked(pod: Pod, resource: str, moves: Mapping[str, str]) -> int:
    if resource == "pods":
        return 1
    return (pod.spec.requests if pod.key in moves else pod.requests).get(resource)


def _positions(snapshot: Snapshot, moves: Mapping[str, str]) -> list[tuple[Pod, Node]]:
    living = [pod for pod in snapshot.pods if pod.phase.value not in {"Succeeded", "Failed"}]
    where = {pod.key: moves.get(pod.key, pod.node) for pod in living}
    nodes = {node.name: node for node in snapshot.nodes}
    return [(pod, nodes[where[pod.key]]) for pod in living if where[pod.key] in nodes]


def _stays(pod: Pod) -> bool:
    daemon = pod.spec.owner is not None and pod.spec.owner.kind == "DaemonSet"
    return daemon or names.MIRROR in pod.spec.annotations or pod.phase.value in {"Succeeded", "Failed"}


def _left_behind(snapshot: Snapshot, moves: Mapping[str, str], drained: Collection[str]) -> Iterable[str]:
    for pod in snapshot.pods:
        if pod.node in drained and not _stays(pod) and pod.key not in moves:
            yield f"{pod.key} is left on {pod.node}"


def _target(spec: PodClass, node: Node, drained: Collection[str]) -> Iterable[str]:
    if node.name in drained:
        yield f"{node.name} is drained and cannot receive"
    if not node.ready or node.unschedulable:
        yield f"{node.name} is not ready or cordoned"
    if _going(node):
        yield f"{node.name} is on its way out"
    if not tolerates_all(node.taints, spec.tolerations):
        yield f"{node.name} is tainted against {spec.owner}"
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        yield f"{node.name} lacks what the selector of {spec.owner} asks"
    if spec.node_terms is not None and not any(term.matches(node.labels, node.name) for term in spec.node_terms):
        yield f"{node.name} lacks what the affinity of {spec.owner} asks"
    if _is_of_another_os(spec, node):
        yield f"{node.name} is of another operating system than {spec.owner}"


def _daemons_to_come(snapshot: Snapshot, node: Node) -> list[dict[str, int]]:
    """What each DaemonSet will ask for that lets its pods onto the node and has none there, by its pods elsewhere."""
    known = {node.name for node in snapshot.nodes}
    sets: dict[tuple[str, str], list[Pod]] = {}
    for pod in snapshot.pods:
        if pod.spec.owner is not None and pod.spec.owner.kind == "DaemonSet" and not pod.phase.finished:
            sets.setdefault((pod.spec.namespace, pod.spec.owner.name), []).extend([pod] if pod.node in known else [])
    lacking = [pods for pods in sets.values() if not any(pod.node == node.name for pod in pods)]
    coming = [pods for pods in lacking if any(_lets_in(pod.spec, node) for pod in pods)]
    return [
        {"pods": 1, **{name: max(pod.spec.requests.get(name) for pod in pods) for name in _asked_for(pods)}}
        for pods in coming
    ]


def _asked_for(pods: Iterable[Pod]) -> set[str]:
    return {name for pod in pods for name, _ in pod.spec.requests.amounts}


def _lets_in(spec: PodClass, node: Node) -> bool:
    terms = spec.node_terms is None or any(term.matches(node.labels, node.name) for term in spec.node_terms)
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector.items())
    return terms and selected and tolerates_all(node.taints, spec.tolerations) and not _is_of_another_os(spec, node)


def _is_of_another_os(spec: PodClass, node: Node) -> bool:
    return spec.os != "" and node.labels.get("kubernetes.io/os", spec.os) != spec.os


def _overfull(snapshot: Snapshot, standing: list[tuple[Pod, Node]], moves: Mapping[str, str]) -> Iterable[str]:
    """What arriving pods ask for must be there; what nobody who arrives asks for may be overbooked already."""
    nodes = {node.name: node for _, node in standing}
    for name, node in nodes.items():
        pods = [pod for pod, at in standing if at.name == name]
        arrived = [pod for pod in pods if pod.key in moves]
        staying = [pod for pod in pods if pod.key not in moves]
        to_come = _daemons_to_come(snapshot, node)
        if arrived and len(pods) + len(to_come) > node.allocatable.get("pods"):
            yield f"{name} would hold {len(pods)} pods"
        arriving = [_arriving(snapshot, pod) for pod in arrived]
        for resource in {each for asked in arriving for each, amount in asked.items() if amount}:
            used = sum(asked.get(resource, 0) for asked in arriving)
            used += sum(pod.requests.get(resource) for pod in staying)
            used += sum(needs.get(resource, 0) for needs in to_come)
            if used > node.allocatable.get(resource):
                yield f"{name} would need {used} {resource}"


def _arriving(snapshot: Snapshot, pod: Pod) -> dict[str, int]:
    """What a pod asks for where it arrives: by its own spec, its template or its autoscaler, whichever is most.

    Counted by pods of one container that no policy of an autoscaler holds: enough to know who forgets any of the three.
    """
    asked, known = dict(pod.spec.requests.amounts), snapshot.workloads.get(pod.spec.workload)
    made = known.templates if pod.node and known is not None else ()
    offers = [template.asks.total for template in made if template.asks is not None]
    for autoscaler in snapshot.autoscalers.found:
        if pod.node and autoscaler.target in {pod.spec.workload, known.name if known else ""}:
            offers += autoscaler.recommended.values()
    for offer in offers:
        asked |= {name: max(value, asked.get(name, 0)) for name, value in offer.amounts}
    return asked


def _ports_taken(standing: list[tuple[Pod, Node]], moves: Mapping[str, str]) -> Iterable[str]:
    """A port is free where nobody else has it on the same address, and neither of the two has it on all addresses."""
    taking = [(pod, node) for pod, node in standing if pod.spec.host_ports]
    for mover, target in taking:
        beside = [pod for pod, node in taking if node.name == target.name and pod.key != mover.key]
        for wanted in mover.spec.host_ports if mover.key in moves else ():
            for pod in beside:
                for taken in pod.spec.host_ports:
                    addresses = {wanted.address, taken.address}
                    everywhere = "0.0.0.0" in addresses or "::" in addresses
                    alike = wanted.number == taken.number and wanted.protocol == taken.protocol
                    if alike and (everywhere or len(addresses) == 1):
                        yield f"{mover.key} and {pod.key} both take {wanted.number}/{wanted.protocol}"


def _calm(snapshot: Snapshot) -> bool:
    """Whether nothing but the moves changes where pods lie: none waits, and no node may lose its pods at any time."""
    steady = all(node.ready and not node.unschedulable and not _going(node) for node in snapshot.nodes)
    return steady and all(pod.node and pod.deleting is None for pod in snapshot.pods)


def _going(node: Node) -> bool:
    return any(taint.key in {names.OUR_TAINT, *names.GOING_TAINTS} for taint in node.taints)


def _spread(snapshot: Snapshot, moves: Mapping[str, str], key: str, drained: Collection[str]) -> Iterable[str]:
    """Once all lie in their new places, the scheduler would put each mover there again.

    The pod itself is away; the drained nodes stand there all, or only the one it leaves, or none.
    """
    lying = [(pod, node) for pod, node in _positions(snapshot, moves) if pod.deleting is None]
    mover, place = next((pod, node) for pod, node in lying if pod.key == key)
    rest = [(pod.spec, node.name) for pod, node in lying if pod is not mover]
    for gone in (set[str](), set(drained) - {mover.node}, set(drained)):
        nodes = [node for node in snapshot.nodes if node.name not in gone]
        for constraint in mover.spec.hard_spread:
            if not _even(mover.spec, constraint, nodes, rest, place, drained):
                yield f"{key} on {place.name} breaks the spread over {constraint.topology_key} without {sorted(gone)}"


def _even(
    spec: PodClass,
    constraint: SpreadConstraint,
    nodes: list[Node],
    pods: list[tuple[PodClass, str]],
    target: Node,
    drained: Collection[str],
) -> bool:
    if any(each.topology_key not in target.labels for each in spec.hard_spread):
        return False
    same = {key: spec.labels[key] for key in constraint.match_label_keys if key in spec.labels}
    counts: dict[str, int] = {}
    for node in nodes:
        if _is_domain(spec, constraint, node, drained):
            matching = sum(on == node.name and _counts(spec, constraint, same, other) for other, on in pods)
            domain = node.labels[constraint.topology_key]
            counts[domain] = counts.get(domain, 0) + matching
    least = min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
    # an empty selector means the pod itself, though no other (labels.Selector.Empty)
    itself = constraint.selector is not None and constraint.selector.matches(spec.labels)
    return counts.get(target.labels[constraint.topology_key], 0) + itself - least <= constraint.max_skew


def _is_domain(spec: PodClass, constraint: SpreadConstraint, node: Node, drained: Collection[str]) -> bool:
    if any(each.topology_key not in node.labels for each in spec.hard_spread):
        return False
    if constraint.honours_taints and (node.name in drained or not tolerates_all(node.taints, spec.tolerations)):
        return False
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector.items())
    terms = spec.node_terms is None or any(term.matches(node.labels, node.name) for term in spec.node_terms)
    return not constraint.honours_affinity or (selected and terms)


def _counts(spec: PodClass, constraint: SpreadConstraint, same: Mapping[str, str], other: PodClass) -> bool:
    if constraint.selector is None or not (constraint.selector.requirements or same):
        return False
    alike = all(other.labels.get(key) == value for key, value in same.items())
    return other.namespace == spec.namespace and alike and constraint.selector.matches(other.labels)


def _lonely(snapshot: Snapshot, key: str, target: str, drained: Collection[str]) -> Iterable[str]:
    """One move alone can be judged, as the scheduler sees it: whom a pod followed may move on later.

    The pod itself is away; the drained nodes stand there all, or only the one it leaves, or none.
    """
    nodes = {node.name: node for node in snapshot.nodes}
    mover = next(pod for pod in snapshot.pods if pod.key == key)
    terms = mover.spec.affinity
    if any(term.topology_key not in nodes[target].labels for term in terms):
        yield f"{key} asks for a topology key that {target} lacks"
        return
    for gone in (set[str](), set(drained) - {mover.node}, set(drained)) if terms else ():
        others = [pod for pod in snapshot.pods if pod is not mover and not pod.phase.finished]
        lying = [(pod, nodes[pod.node]) for pod in others if pod.node in nodes.keys() - gone]
        meant = [node for pod, node in lying if all(_meant(snapshot, term, pod) for term in terms)]
        counted = [node for node in meant if any(term.topology_key in node.labels for term in terms)]
        first = not counted and all(_meant(snapshot, term, mover) for term in terms)
        beside = all(any(_together(term.topology_key, nodes[target], node) for node in counted) for term in terms)
        if not first and not beside:
            yield f"{key} has nobody on {target} whom it asks for without {sorted(gone)}"


def _conflicts(snapshot: Snapshot, standing: list[tuple[Pod, Node]], moves: Mapping[str, str]) -> Iterable[str]:
    rejecting = [(pod, node) for pod, node in standing if pod.spec.anti_affinity]
    for mover, target in standing:
        if mover.key not in moves:
            continue
        for other, node in standing if mover.spec.anti_affinity else rejecting:
            if other.key == mover.key:
                continue
            for term in mover.spec.anti_affinity:
                if _together(term.topology_key, target, node) and _meant(snapshot, term, other):
                    yield f"{mover.key} rejects {other.key}"
            for term in other.spec.anti_affinity:
                if _together(term.topology_key, target, node) and _meant(snapshot, term, mover):
                    yield f"{other.key} rejects {mover.key}"


def _together(key: str, one: Node, other: Node) -> bool:
    return key in one.labels and one.labels[key] == other.labels.get(key)


def _meant(snapshot: Snapshot, term: PodTerm, pod: Pod) -> bool:
    labels = snapshot.namespaces.get(pod.spec.namespace, {})
    return term.matches(pod.spec.namespace, labels, pod.spec.labels)
