"""What becomes of a pod of a simulated cluster: it is made, bound, Ready, moved, and told to end."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from msgspec import structs

from functions.cli.analysis.simulated_days.measures import Actor, PodWait
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster.pod import Phase, Pod, PodClass, is_daemon, is_mirror, is_of_replica_set


def create(world: World, spec: PodClass, *, moved: int = 0, node: str = "") -> Pod:
    """A controller makes a pod; `moved` is how often those whose place it takes were evicted."""
    name = world.new_name(spec)
    pod = Pod(name=name, uid=name, spec=spec, node=node, phase=Phase.PENDING, ready=False, created=world.now)
    if moved:
        world.times_moved[pod.key] = moved
    world.add_pod(pod)
    if node:
        _start(world, pod)
    world.changed(node)
    return pod


def bind(world: World, key: str, node: str) -> None:
    """The scheduler has found a place."""
    since = world.pending.pop(key)
    moved = key in world.times_moved
    world.measures.waits.append(PodWait(since, world.now - since, moved))
    pod = structs.replace(world.pods[key], node=node, unschedulable_since=None, started=world.now)
    world.change_pod(pod)
    _start(world, pod)
    world.changed(node)


def found_no_place(world: World, key: str) -> None:
    """The scheduler has found none; that says nothing new to anybody who heard it before."""
    pod = world.pods[key]
    if pod.unschedulable_since is None:
        world.change_pod(structs.replace(pod, unschedulable_since=world.now))
        world.changed("")


def evict(world: World, pod: Pod, by: Actor) -> None:
    """Tell a pod to end, and let its controller make it anew."""
    moved = world.times_moved.get(pod.key, 0)
    world.measures.evicted(by, before=moved)
    world.onlooker.evicted(world, pod, by)
    end(world, pod)
    if is_of_replica_set(pod.spec):
        _anew(world, pod, moved + 1)
    else:
        world.agenda.note(world.now + _takes_to_end(world, pod), lambda: _anew(world, pod, moved + 1))


def steer(world: World, pod: Pod, cost: int | None) -> None:
    """Write a deletion cost of Ebb's on a pod, or take it back; only its ReplicaSet asks for it."""
    known = world.pods.get(pod.key)
    if known is not None and known.deleting is None:
        world.change_pod(structs.replace(known, steered="" if cost is None else str(cost)))
        world.details += 1


def end(world: World, pod: Pod) -> None:
    """Tell a pod to end; it stays on its node until its grace is over."""
    if pod.key not in world.pods or pod.deleting is not None:
        return
    if not pod.node:
        world.delete_pod(pod)
        return
    ending = structs.replace(pod, deleting=world.now + _takes_to_end(world, pod))
    world.announce_end(pod, ending)
    world.agenda.note(world.now + _takes_to_end(world, pod), lambda: world.delete_pod(ending))
    world.changed(pod.node, detail=True)


def movers(pods: Iterable[Pod]) -> Iterator[Pod]:
    """Yield the pods that would have to run elsewhere if their node went."""
    return (pod for pod in pods if not is_daemon(pod.spec) and not is_mirror(pod.spec))


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


def _anew(world: World, pod: Pod, moved: int) -> None:
    """Make a pod that ended anew, unless fewer are wanted by now."""
    if world.controlled.lacks(pod.spec.workload):
        world.moved_from[create(world, pod.spec, moved=moved).key] = pod.node


def _takes_to_end(world: World, pod: Pod) -> timedelta:
    return min(timedelta(seconds=pod.spec.grace_seconds), world.delays.longest_end)
