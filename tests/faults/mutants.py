"""Does the suite see anything? Ebb, deliberately broken in one place at a time, must be caught.

`python -m tests.faults.mutants [how many]` shows what catches each mutant, and by how many of so many histories that a
run draws it is caught. A mutant is made by substituting a port or a public function, here and nowhere else.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, TypeVar

from functions.drainer import admit, finish, reads
from functions.planner import plan_pass, read_and_repair
from shared.adapters.kubernetes import node_objects, wire, writes
from shared.core.cluster.names import DELETION_COST, OUR_ANNOTATION, OUR_TAINT, STEERED
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining import admission, completion
from shared.core.draining.admission import exceeded_limits
from shared.core.draining.drain import Observation
from shared.core.draining.replacements import MovedWorkload
from shared.core.healing import repairs as healing
from shared.core.healing.healing_input import HealingInput, Repair
from shared.core.healing.repairs import find_repairs
from shared.core.placement import Simulation
from shared.core.placement.assignments import Assignments, Move
from shared.core.planning import selection as choosing
from shared.core.planning import steering
from shared.core.planning.plan import Plan
from shared.core.reasons import Blocker, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Order
from shared.core.rules.situation import Situation
from shared.errors import Gone
from shared.port_types import DocumentKey
from shared.ports import Ports
from tests.depth import SEED
from tests.faults import directed
from tests.faults.families import shuffled
from tests.faults.history import History, breaches_of
from tests.faults.installation import Installation
from tests.faults.ports import RecordingState

T = TypeVar("T")
Mutant = Callable[[], AbstractContextManager[None]]
_MINIMUMS = {Unremovable.MINIMUM_NODES, Unremovable.MINIMUM_NON_TAINTED, Unremovable.POOL_AT_MINIMUM}


@contextmanager
def swapped(owner: Any, name: str, other: Any) -> Iterator[None]:
    """Put another thing in the place of a public attribute for a while."""
    own = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, own)


@contextmanager
def claim_without_precondition() -> Iterator[None]:
    put = RecordingState.put

    def careless(state: RecordingState, key: DocumentKey[T], value: T, expected: str | None) -> str:
        del expected
        return put(state, key, value, state.get(key).version)

    with swapped(RecordingState, "put", careless):
        yield


@contextmanager
def eviction_without_uid() -> Iterator[None]:
    body = writes.eviction_body

    def careless(pod: Pod, grace_seconds: int, *, dry_run: bool) -> dict[str, Any]:
        made = body(pod, grace_seconds, dry_run=dry_run)
        del made["deleteOptions"]["preconditions"]
        return made

    with swapped(writes, "eviction_body", careless):
        yield


@contextmanager
def no_revalidation() -> Iterator[None]:
    def nothing(*_: object) -> tuple[Blocker, ...]:
        return ()

    with swapped(admit, "objections", nothing), swapped(admit, "no_place", nothing):
        yield


@contextmanager
def uncordon_without_ownership() -> Iterator[None]:
    """Whatever the node carries is ours; the patch still rests on the version read."""

    def careless(ports: Ports, name: str, uid: str, order_id: str) -> Node | None:
        del order_id
        try:
            node = ports.cluster.node(name)
        except Gone:
            return None
        return ports.cluster.return_node(node, "") if node.uid == uid else None

    def return_patch(node: Node, raw: node_objects.RawNode, order_id: str) -> dict[str, Any]:
        del order_id
        kept = [taint for taint in raw.taints if taint["key"] != OUR_TAINT]
        return {
            "metadata": {"resourceVersion": node.resource_version, "annotations": {OUR_ANNOTATION: None}},
            "spec": {"unschedulable": False, "taints": kept},
        }

    with swapped(finish, "restore_node", careless), swapped(node_objects, "return_patch", return_patch):
        yield


@contextmanager
def cordons_known_by_the_taint_alone() -> Iterator[None]:
    """A cordon whose taint somebody removed is left to whoever did."""

    def tainted(node: Node) -> str | None:
        return node.drain_taint

    with swapped(finish, "holding_order", tainted), swapped(healing, "holding_order", tainted):
        yield


@contextmanager
def acknowledge_before_checkpoint() -> Iterator[None]:
    with swapped(Installation, "acknowledges_first", other=True):
        yield


@contextmanager
def no_watchdog() -> Iterator[None]:
    def blind(inputs: HealingInput) -> tuple[Repair, ...]:
        return tuple(repair for repair in find_repairs(inputs) if repair.why is not ReturnReason.WATCHDOG)

    with swapped(read_and_repair, "find_repairs", blind):
        yield


@contextmanager
def minimum_only_in_the_planner() -> Iterator[None]:
    def lenient(order: Order, node: Node, situation: Situation, now: datetime) -> tuple[Blocker, ...]:
        found = exceeded_limits(order, node, situation, now)
        return tuple(limit for limit in found if limit.reason not in _MINIMUMS)

    with swapped(admit, "exceeded_limits", lenient):
        yield


@contextmanager
def no_care_for_replacements() -> Iterator[None]:
    """Every node's pods are said to fit somewhere, by the planner and by the drainer, and nobody looks for them after.

    Either alone keeps the promise: without the proof a node is given back before its pods have waited too long.
    """

    def fits(simulation: Simulation, name: str) -> None:
        del simulation, name

    def moves(assignments: Assignments) -> dict[str, tuple[Move, ...]]:
        del assignments
        return defaultdict(tuple)

    def none(*_: object) -> None:
        return None

    with (
        swapped(Simulation, "try_remove", fits),
        swapped(Assignments, "moves", moves),
        swapped(completion, "overdue_replacement", none),
    ):
        yield


@contextmanager
def drained_when_empty() -> Iterator[None]:
    """A drain is over when its node is empty, wherever the pods are."""

    def nothing(record: DrainRecord, observed: Observation) -> tuple[MovedWorkload, ...]:
        del record, observed
        return ()

    with (
        swapped(completion, "missing_replicas", nothing),
        swapped(completion, "moved_workloads", nothing),
        swapped(completion, "MIN_WATCHDOG", timedelta(0)),
    ):
        yield


@contextmanager
def no_proof_before_the_first_eviction() -> Iterator[None]:
    """The planner's picture is believed, however much has happened since."""

    def nothing(*_: object) -> tuple[Blocker, ...]:
        return ()

    with swapped(reads, "lost_place", nothing):
        yield


@contextmanager
def room_of_announced_nodes_is_free() -> Iterator[None]:
    """What the autoscaler has announced to move is nobody's."""

    def nobody(snapshot: Snapshot, departing: Collection[str]) -> frozenset[str]:
        del snapshot, departing
        return frozenset()

    with (
        swapped(choosing, "announced_nodes", nobody),
        swapped(admission, "announced_nodes", nobody),
    ):
        yield


@contextmanager
def costs_over_what_people_wrote() -> Iterator[None]:
    """Whatever stands on a pod is ours."""

    def careless(meta: wire.Meta, cost: int | None) -> dict[str, Any]:
        value = None if cost is None else str(cost)
        notes = {DELETION_COST: value, STEERED: value}
        return {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": notes}}

    with (
        swapped(writes, "cost_patch", careless),
        swapped(steering, "has_written_cost", lambda spec: spec.workload == "nobody's"),
    ):
        yield


@contextmanager
def costs_that_are_never_taken_back() -> Iterator[None]:
    def forgetful(plan: Plan, situation: Situation) -> steering.Steering:
        found = steering.steering(plan, situation)
        return replace(found, writes=tuple(write for write in found.writes if write.cost is not None))

    with swapped(plan_pass, "steering", forgetful):
        yield


MUTANTS: Final[Mapping[Mutant, Callable[[], Iterable[History]]]] = {
    claim_without_precondition: directed.a_claim_is_overtaken,
    eviction_without_uid: directed.an_eviction_arrives_after_its_pod_has_moved,
    no_revalidation: directed.an_order_comes_late_and_its_node_is_cordoned,
    uncordon_without_ownership: directed.a_node_is_taken_back_and_cordoned,
    acknowledge_before_checkpoint: directed.a_drainer_dies_before_its_claim,
    no_watchdog: directed.nobody_deletes,
    minimum_only_in_the_planner: directed.a_person_orders_a_drain_at_the_minimum,
    no_care_for_replacements: directed.room_is_tight,
    drained_when_empty: directed.a_rival_takes_the_room_of_what_was_moved,
    no_proof_before_the_first_eviction: directed.a_rival_takes_the_room_of_a_late_order,
    room_of_announced_nodes_is_free: directed.an_announced_node_needs_the_room,
    costs_over_what_people_wrote: directed.people_write_costs,
    costs_that_are_never_taken_back: directed.steering_ends,
}
"""Each mutant with the histories of which one shows it: they are built of what it needs."""


def caught(mutant: Mutant, histories: Iterable[History]) -> tuple[History, Sequence[str]] | None:
    """Return the first history that catches the mutant, and by what."""
    for history in histories:
        with mutant():
            found = breaches_of(history)
        if found:
            return history, found
    return None


def main(most: int) -> int:
    """Try every mutant; return 1 if one of them got through."""
    drawn = list(islice(shuffled(SEED), most))
    got_through = False
    for mutant, needed in MUTANTS.items():
        shown = caught(mutant, needed())
        got_through |= shown is None
        said = f"caught by {shown[0]}: {shown[1][0]}" if shown else "NOT caught"
        number = sum(caught(mutant, [history]) is not None for history in drawn)
        also = f"; by {number} of {most} that are drawn" if drawn else ""
        print(f"{mutant.__name__.replace('_', ' ')}: {said}{also}", flush=True)  # noqa: T201 - a command's output
    return int(got_through)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
