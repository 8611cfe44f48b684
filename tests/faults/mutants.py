"""Does the suite see anything? Ebb is broken in one place at a time, by substituting a port or a public function."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from functions.drainer import admit, finish, reads, release, restart
from functions.drainer import main as drainer
from functions.planner import plan_pass, read_and_repair
from functions.planner.lease import PlannerLease
from shared.adapters.kubernetes import node_objects, wire, writes
from shared.core.cluster.names import DELETION_COST, OUR_ANNOTATION, OUR_TAINT, STEERED
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining import admission, completion, next_step, surging
from shared.core.draining.admission import exceeded_limits
from shared.core.healing import repairs as healing
from shared.core.healing.healing_input import HealingInput, Repair
from shared.core.healing.repairs import find_repairs
from shared.core.placement import Simulation, demand, simulation
from shared.core.placement.buffer_room import BufferRoom
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.constraint import NewConstraint
from shared.core.placement.constraints.exclusion import AntiAffinity, HostPorts
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import VolumePlace
from shared.core.placement.packing import Assignments, Move
from shared.core.planning import selection as choosing
from shared.core.planning import steering
from shared.core.planning.plan import Plan
from shared.core.reasons import Blocker, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Order
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.errors import Gone, Retryable
from shared.ports import DocumentKey, Ports
from shared.store import snapshots
from shared.store.compare_and_set import read_cluster
from tests.faults import directed
from tests.faults.history import History, breaches_of
from tests.faults.installation import Installation
from tests.faults.outages import Ending
from tests.faults.ports import RecordingState
from tests.faults.returning_worlds import FULL

T = TypeVar("T")
_MINIMUMS = {Unremovable.MINIMUM_NODES, Unremovable.MINIMUM_NON_TAINTED, Unremovable.POOL_AT_MINIMUM}
Swap = tuple[Any, str, Any]
"""An owner, its public attribute, and what stands there in place of its own."""


@contextmanager
def swapped(*swaps: Swap) -> Iterator[None]:
    with ExitStack() as undo:
        for owner, name, other in swaps:
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, other)
        yield


def _always(value: T) -> Callable[..., T]:
    return lambda *_, **__: value


_put, _body = RecordingState.put, writes.eviction_body


def _put_blindly(state: RecordingState, key: DocumentKey[T], value: T, expected: str | None) -> str:
    del expected
    return _put(state, key, value, state.get(key).version)


def _body_without_uid(pod: Pod, grace_seconds: int, *, dry_run: bool) -> dict[str, Any]:
    made = _body(pod, grace_seconds, dry_run=dry_run)
    del made["deleteOptions"]["preconditions"]
    return made


def _restore_anything(ports: Ports, name: str, uid: str, order_id: str) -> Node | None:
    """Whatever the node carries is ours; the patch still rests on the version read."""
    del order_id
    try:
        node = ports.cluster.node(name)
    except Gone:
        return None
    return ports.cluster.return_node(node, "") if node.uid == uid else None


def _return_any_patch(node: Node, raw: node_objects.RawNode, order_id: str) -> dict[str, Any]:
    del order_id
    kept = [taint for taint in raw.taints if taint["key"] != OUR_TAINT]
    return {
        "metadata": {"resourceVersion": node.resource_version, "annotations": {OUR_ANNOTATION: None}},
        "spec": {"unschedulable": False, "taints": kept},
    }


def _drain_taint(node: Node) -> str | None:
    """A cordon whose taint somebody removed is left to whoever did."""
    return node.drain_taint


def _no_watchdog(inputs: HealingInput) -> tuple[Repair, ...]:
    return tuple(repair for repair in find_repairs(inputs) if repair.why is not ReturnReason.WATCHDOG)


def _no_minimums(order: Order, node: Node, situation: Situation, now: datetime) -> tuple[Blocker, ...]:
    found = exceeded_limits(order, node, situation, now)
    return tuple(limit for limit in found if limit.reason not in _MINIMUMS)


def _moves_of_nobody(assignments: Assignments) -> dict[str, tuple[Move, ...]]:
    del assignments
    return defaultdict(tuple)


def _any_cost(meta: wire.Meta, cost: int | None) -> dict[str, Any]:
    """Whatever stands on a pod is ours."""
    value = None if cost is None else str(cost)
    notes = {DELETION_COST: value, STEERED: value}
    return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": notes}}


def _costs_for_good(plan: Plan, situation: Situation) -> steering.Steering:
    found = steering.steering(plan, situation)
    return replace(found, writes=tuple(write for write in found.writes if write.cost is not None))


def _commitments_fail(*_: object) -> Any:
    raise Retryable("all commitments", "503")


def _ask_in_vain(lease: PlannerLease) -> None:
    read_cluster(lease.state)


def _is_ours(*_: object) -> bool:
    """Nobody has taken back a restart of which no answer came."""
    return False


def _as_they_left(pods: Iterable[Pod], *_: object) -> tuple[Pod, ...]:
    return tuple(pods)


def _no_buffers(arrays: ClusterArrays, _: object) -> BufferRoom:
    return BufferRoom(arrays, ())


def _arrays_without(rule: NewConstraint) -> Callable[..., None]:
    own, kept = ClusterArrays.__init__, tuple(constraint for constraint in CONSTRAINTS if constraint is not rule)

    def arrays(self: ClusterArrays, snapshot: Snapshot, constraints: Sequence[NewConstraint] = kept) -> None:
        own(self, snapshot, constraints)

    return arrays


def _without_surges() -> Mapping[DrainPhase, Any]:
    rules = (rule for rule in next_step.RULES[DrainPhase.CORDONED] if rule is not surging.surge)
    return {**next_step.RULES, DrainPhase.CORDONED: tuple(rules)}


@dataclass(frozen=True)
class Mutant:
    """How Ebb is broken, the histories of which one shows it, and what the oracle says then, if that matters."""

    name: str
    needed: Callable[[], Iterable[History]]
    swaps: Collection[Swap]
    said: str = ""

    def made(self) -> AbstractContextManager[None]:
        return swapped(*self.swaps)


SHOWN: Final[Mapping[NewConstraint, str]] = {
    AntiAffinity: "apart",
    RequiredAffinity: "no room in its zone",
    HostPorts: "ports",
    TopologySpread: "zones",
    VolumePlace: "no room where its disk is",
}
"""The rules that decide a fit in the rich worlds, and one in which each does; of the others see `tests/real`."""
NO_WATCHDOG: Final = Mutant("no watchdog", directed.nobody_deletes, [(read_and_repair, "find_repairs", _no_watchdog)])
MUTANTS: Final = (
    NO_WATCHDOG,
    Mutant("a claim without precondition", directed.a_claim_is_overtaken, [(RecordingState, "put", _put_blindly)]),
    Mutant(
        "an eviction without UID",
        directed.an_eviction_arrives_after_its_pod_has_moved,
        [(writes, "eviction_body", _body_without_uid)],
    ),
    Mutant(
        "no revalidation",
        directed.an_order_comes_late_and_its_node_is_cordoned,
        [(admit, "objections", _always(())), (admit, "no_place", _always(()))],
    ),
    Mutant(
        "an uncordon without ownership",
        directed.a_node_is_taken_back_and_cordoned,
        [(finish, "restore_node", _restore_anything), (node_objects, "return_patch", _return_any_patch)],
    ),
    Mutant(
        "cordons known by the taint alone",
        directed.somebody_removes_our_taint,
        [(finish, "holding_order", _drain_taint), (healing, "holding_order", _drain_taint)],
        "stood cordoned by Ebb",
    ),
    Mutant(
        "a message acknowledged before its checkpoint",
        directed.a_drainer_dies_before_its_claim,
        [(Installation, "acknowledges_first", True)],
    ),
    Mutant(
        "a minimum only in the planner",
        directed.a_person_orders_a_drain_at_the_minimum,
        [(admit, "exceeded_limits", _no_minimums)],
    ),
    # Either alone keeps the promise: without the proof a node is given back before its pods have waited too long.
    Mutant(
        "no care for replacements, by the planner, the drainer and after",
        directed.room_is_tight,
        [
            (Simulation, "try_remove", _always(None)),
            (Assignments, "moves", _moves_of_nobody),
            (completion, "overdue_replacement", _always(None)),
        ],
    ),
    Mutant(
        "drained when empty, wherever the pods are",
        directed.a_rival_takes_the_room_of_what_was_moved,
        [
            (completion, "missing_replicas", _always(())),
            (completion, "moved_workloads", _always(())),
            (completion, "MIN_WATCHDOG", timedelta(0)),
        ],
    ),
    Mutant(
        "no proof before the first eviction",
        directed.a_rival_takes_the_room_of_a_late_order,
        [(reads, "lost_place", _always(()))],
    ),
    Mutant(
        "room of announced nodes is free",
        directed.an_announced_node_needs_the_room,
        [(choosing, "announced_nodes", _always(frozenset())), (admission, "announced_nodes", _always(frozenset()))],
    ),
    Mutant(
        "costs over what people wrote",
        directed.people_write_costs,
        [(writes, "cost_patch", _any_cost), (steering, "has_written_cost", lambda spec: spec.workload == "nobody's")],
    ),
    Mutant("costs that are never taken back", directed.steering_ends, [(plan_pass, "steering", _costs_for_good)]),
    Mutant(
        "a pass that dies frees no late wave",
        partial(directed.fails, "all pools", 900.0, Ending.FAULT),
        [(plan_pass, "release_expired_wave", _always(None))],
        "carries the soft taint",
    ),
    Mutant(
        "commitments end a pass",
        partial(directed.fails, "all commitments", 60.0),
        [(plan_pass, "with_commitments", _commitments_fail)],
        "all commitments",
    ),
    Mutant(
        "the lease is asked for in vain",
        directed.a_pass_stalls_past_its_lease,
        [(PlannerLease, "check", _ask_in_vain)],
        "was busy",
    ),
    Mutant(
        "no message expires",
        partial(directed.fails, "patch nodes", 900.0, Ending.REFUSAL, 0),
        [(drainer, "read_cluster", _always((ClusterState(), None, datetime.fromtimestamp(0, UTC))))],
        "after it has expired",
    ),
    Mutant(
        "a restart that somebody undid is written again",
        directed.a_restart_is_undone_before_it_was_written_down,
        [(restart, "is_taken_back", _is_ours)],
        "which somebody had undone",
    ),
    Mutant(
        "single replicas are evicted all the same",
        directed.single_replicas,
        [(next_step, "RULES", _without_surges())],
        "no Ready pod",
    ),
    Mutant(
        "restarts are undone neither by the drain nor by the release after it",
        directed.single_replicas,
        [(finish, "undo_restarts", _always(None)), (release, "undo_restarts", _always(None))],
        "still waits for a pod",
    ),
    Mutant(
        "blind to buffers",
        directed.buffers,
        [(simulation, "BufferRoom", _no_buffers), (demand, "BufferRoom", _no_buffers)],
        "bought back",
    ),
    *(
        Mutant(
            f"no rule {rule.__name__}",
            partial(directed.one, world),
            [(ClusterArrays, "__init__", _arrays_without(rule))],
            "the first eviction",
        )
        for rule, world in SHOWN.items()
    ),
    *(
        Mutant(
            f"a pod is booked as it left: {world}",
            partial(directed.one, world),
            [(snapshots, "as_they_return", _as_they_left)],
            "the first eviction",
        )
        for world in sorted(FULL)
    ),
)


def caught(mutant: Mutant) -> tuple[History, Sequence[str]] | None:
    for history in mutant.needed():
        with mutant.made():
            found = breaches_of(history)
        if any(mutant.said in fault for fault in found):
            return history, found
    return None
