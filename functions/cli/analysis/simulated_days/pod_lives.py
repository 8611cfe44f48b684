"""The lives of pods of a simulated cluster: made as many as are wanted, bound, Ready, moved, restarted, ended."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import structs

from functions.cli.analysis.simulated_days.measures import Actor, PodMove, PodWait
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster.pod import Phase, Pod, PodClass, is_of_replica_set
from shared.core.rules.pod_costs import deletion_cost


def create(world: World, spec: PodClass, *, move: PodMove | None = None, node: str = "") -> Pod:
    """A controller makes a pod; `move` is that of the one whose place it takes."""
    name = world.new_name(spec)
    pod = Pod(name=name, uid=name, spec=spec, node=node, phase=Phase.PENDING, ready=False, created=world.now)
    if move is not None:
        world.moves[pod.key] = move
    world.add_pod(pod)
    if node:
        _start(world, pod)
    world.note_change(node)
    return pod


def bind(world: World, key: str, node: str) -> None:
    since = world.pending.pop(key)
    world.measures.waits.append(PodWait(since, world.now - since, world.moved_by(key)))
    pod = structs.replace(world.pods[key], node=node, unschedulable_since=None, started=world.now)
    world.change_pod(pod)
    _start(world, pod)
    world.note_change(node)


def found_no_place(world: World, key: str) -> None:
    """Note that the scheduler has found none; only the first time is news."""
    pod = world.pods[key]
    if pod.unschedulable_since is None:
        world.change_pod(structs.replace(pod, unschedulable_since=world.now))
        world.note_change("")


def evict(world: World, pod: Pod, by: Actor, most: timedelta = timedelta.max) -> None:
    """Evict a pod with its grace, at most so long, and let its controller make another in its place."""
    move = _count_move(world, pod, by)
    world.onlooker.note_eviction(world, pod, by)
    end(world, pod, most)
    if is_of_replica_set(pod.spec) and not pod.spec.replaced_at_end:
        _replace(world, pod, move)
    else:
        world.agenda.note(world.now + _takes_to_end(world, pod, most), lambda: _replace(world, pod, move))


def surge(world: World, pod: Pod) -> None:
    """Start a pod by a rollout, which ends the old one once the new one is available."""
    new = create(world, pod.spec, move=_count_move(world, pod, Actor.EBB))
    world.replaces[new.key] = pod


def _count_move(world: World, pod: Pod, by: Actor) -> PodMove:
    """Count a move, and return it as that of the pod that takes its place."""
    before = world.moves[pod.key].times if pod.key in world.moves else 0
    world.measures.evictions[by] += 1
    world.measures.twice += before > 0
    return PodMove(before + 1, by)


def steer(world: World, pod: Pod, cost: int | None) -> None:
    """Write a deletion cost of Ebb's on a pod, or take it back; only its ReplicaSet asks for it."""
    known = world.pods.get(pod.key)
    if known is not None and known.deleting is None:
        world.change_pod(structs.replace(known, steered="" if cost is None else str(cost)))
        world.details += 1


def end(world: World, pod: Pod, most: timedelta = timedelta.max) -> None:
    """Begin a pod's end; it stays on its node until its grace is over, at most so long."""
    if pod.key not in world.pods or pod.deleting is not None:
        return
    if not pod.node:
        world.delete_pod(pod)
        return
    ends = world.now + _takes_to_end(world, pod, most)
    ending = structs.replace(pod, deleting=ends)
    world.announce_end(pod, ending)
    world.agenda.note(ends, lambda: world.delete_pod(ending))
    world.note_change(pod.node, detail=True)


def _start(world: World, pod: Pod) -> None:
    world.agenda.note(world.now + world.delays.ready, lambda: _ready(world, pod.key))


def _ready(world: World, key: str) -> None:
    """A pod serves; neither scheduler nor autoscaler asks for that, a pass does."""
    pod = world.pods.get(key)
    if pod is None or pod.deleting is not None or pod.ready:
        return
    world.budgets.became_ready(pod)
    world.change_pod(structs.replace(pod, ready=True, phase=Phase.RUNNING, ready_since=world.now))
    world.details += 1
    old = world.replaces.get(key)
    if old is not None:
        workload = world.controlled.workload(old.spec.workload)
        after = workload.deployment.min_ready if workload and workload.deployment else timedelta(0)
        world.agenda.note(world.now + after, lambda: _finish_surge(world, key))


def _finish_surge(world: World, key: str) -> None:
    """End the pod that one takes the place of, unless its restart was undone."""
    old = world.replaces.pop(key, None)
    known = world.pods.get(old.key) if old else None
    if known is not None:
        end(world, known)


def _replace(world: World, pod: Pod, move: PodMove) -> None:
    """Make a pod in place of one that was evicted, unless fewer are wanted by now."""
    if world.controlled.lacks(pod.spec.workload):
        create(world, pod.spec, move=move)


def _takes_to_end(world: World, pod: Pod, most: timedelta) -> timedelta:
    return min(timedelta(seconds=pod.spec.grace_seconds), world.delays.longest_end, most)


def scale(world: World, template: PodClass, wanted: int) -> None:
    """Let a controller want so many pods, and make or end as many as that takes."""
    world.controlled.want(template.workload, wanted)
    living = world.controlled.of(template.workload)
    for _ in range(wanted - len(living)):
        create(world, template)
    if len(living) > wanted:
        neighbours = Counter(pod.node for pod in living.values())
        ranked = sorted(living.values(), key=lambda pod: _removal_order(pod, neighbours, world.now))
        for pod in ranked[: len(living) - wanted]:
            end(world, pod)


def _removal_order(pod: Pod, neighbours: Mapping[str, int], now: datetime) -> tuple[bool, bool, int, int, float, str]:
    """Sort what is removed first to the front: without a node, not Ready, cheapest, most neighbours, youngest.

    Source: kube-controller-manager, pkg/controller (ActivePodsWithRanks).
    """
    age = (now - (pod.created or now)).total_seconds()
    return bool(pod.node), pod.ready, deletion_cost(pod), -neighbours[pod.node], age, pod.key
