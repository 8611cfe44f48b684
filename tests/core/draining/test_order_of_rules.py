"""Where two rules of a phase have something to say, the one that stands first decides.

A scene is one cause. Two neighbours are put into one scene, and the step is to be that of the first: an order that is
not this one turns at least one pair of neighbours round. `drained` has no scene: `autoscaler_deletes` asks it first.
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.draining.drain import (
    Await,
    Observation,
    OtherDrain,
    OtherDrains,
    Restart,
    ReturnNode,
    Settle,
    Step,
    WritePhase,
)
from shared.core.draining.next_step import next_step
from shared.core.policy import PodRules, SingleReplicas
from shared.core.reasons import Outcome, ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress, Replicas, Surge
from tests.builders import NOW, buffer, claim, held, node, order, our_taint, pod, policy, taint
from tests.core.draining.test_next_step import asked, noted_by

LATER = NOW + timedelta(minutes=1)
SET, WEB = "default/ReplicaSet/web", "default/Deployment/web"
DB_SET, DB = "default/ReplicaSet/db", "default/Deployment/db"
STAYS, SINGLE = pod("stays", on="n1", owner="ReplicaSet/other"), pod("db", on="n1", owner="ReplicaSet/db")
WAITS = pod("waits", ready=False, created=NOW, unschedulable_since=LATER - timedelta(seconds=21))
DELETING = taint(AUTOSCALER_DELETING_TAINT)
NOTED = {"annotations": noted_by("order")}
MOVED: dict[str, Any] = {
    "pods": {"default/old": PodProgress(uid="uid-old", answer="granted", owner=SET, at=LATER - timedelta(seconds=30))},
    "before": {SET: Replicas(4, 4)},
}


class Scene(NamedTuple):
    """One cause: what is done about it, and what it changes in the node (None: there is none), the look, the record."""

    expected: Any
    node: Mapping[str, Any] | None = {}
    seen: Mapping[str, Any] = {}
    record: Mapping[str, Any] = {}


def web(available: int = 4) -> dict[str, Any]:
    return {"workloads": {SET: Workload(WEB, 4, available, created=4)}}


def single(**changes: Any) -> dict[str, Any]:
    """A single replica on the node, and its Deployment."""
    found = Deployment(name=DB, uid="u", created=1, updated=1, available=1, template="t", **changes)
    return {"pods": (SINGLE,), "workloads": {DB_SET: Workload(DB, 1, 1, created=1, deployment=found)}}


SURGES = {"rules": PodRules(single_replicas=SingleReplicas.SURGE)}
WRITTEN = {DB: Surge(uid="u", template="t", at=NOW, written=True)}
ANOTHER = DrainRecord(order=order("n2"), phase=DrainPhase.HALTING, cordoned_at=NOW, updated_at=LATER, **MOVED)

GONE = Scene(Settle(Outcome.REMOVED), None)
ENDED = Scene(ReturnReason.RELEASED, seen={"claim": None})
PAUSED = Scene(ReturnReason.PAUSED, seen={"paused": True})
OVERRULED = Scene(ReturnReason.OVERRULED, {"unschedulable": False, "taints": ()})
LATE = Scene(ReturnReason.DEADLINE, seen={"pods": (STAYS,)}, record={"deadline": LATER})
UNPLACED = Scene(ReturnReason.REPLACEMENT_PENDING, seen={"unbound": (WAITS,), **web()}, record=MOVED)
FELL = Scene(
    ReturnReason.BUFFER, seen={"buffers": held(buffer("web", 3, ready=2))}, record={"buffers": {"default/web": 3}}
)

RULES = {
    DrainPhase.CLAIMED: {
        "the node is gone": GONE,
        "the claim is ended": ENDED,
        "it carries our taint": Scene(
            WritePhase(DrainPhase.CORDONED), {"unschedulable": True, "taints": (our_taint(),), **NOTED}
        ),
        "it carries our annotation": Scene(ReturnReason.OVERRULED, NOTED),
        "all is paused": PAUSED,
        "the autoscaler deletes it": Scene(ReturnReason.GOING_AWAY, {"taints": (DELETING,)}),
        "a person has cordoned it": Scene(ReturnReason.CORDONED_BY_OTHER, {"unschedulable": True}),
        "the deadline has passed": LATE,
    },
    DrainPhase.CORDONED: {
        "the node is gone": GONE,
        "the claim is ended": ENDED,
        "a person has taken it back": OVERRULED,
        "all is paused": PAUSED,
        "an eviction is forbidden": Scene(
            ReturnReason.EVICTION_FORBIDDEN, seen={"pods": (STAYS,)}, record={"pods": asked("stays", "forbidden")}
        ),
        "a replacement finds no node": UNPLACED,
        "a restart comes to nothing": Scene(
            ReturnReason.SURGE_FAILED,
            seen=single(stamp="order", progressing=False),
            record={**SURGES, "surges": WRITTEN},
        ),
        "a buffer has lost room": FELL,
        "the cordon is two seconds old": Scene(
            Await(timedelta(seconds=3)), record={"cordoned_at": LATER - timedelta(seconds=2)}
        ),
        "the autoscaler deletes it": Scene(Await(), {"taints": (our_taint(), DELETING)}, {"pods": (STAYS,)}),
        "the deadline has passed": LATE,
        "a pod blocks": Scene(ReturnReason.POD_BLOCKS, seen={"pods": (pod("bare", on="n1", owner=None),)}),
        "another drain gives way for what finds no node": Scene(
            Await(timedelta(seconds=5)),
            seen={**UNPLACED.seen, "pods": (STAYS,), "others": OtherDrains((OtherDrain(NOW, ANOTHER),))},
            record=MOVED,
        ),
        "a restart is due": Scene(Restart(DB, (SINGLE,)), seen=single(), record={**SURGES, **MOVED}),
    },
    DrainPhase.DRAINED: {
        "the node is gone": GONE,
        "the claim is ended": ENDED,
        "a person has taken it back": OVERRULED,
        "a replacement finds no node": UNPLACED,
        "a buffer has lost room": FELL,
        "a replacement starts": Scene(Await(timedelta(seconds=5)), seen=web(available=3), record=MOVED),
    },
}


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Join the tuples and mappings that both have; of anything else the first's counts."""

    def one(mine: Any, other: Any) -> Any:
        if isinstance(mine, tuple):
            return tuple(dict.fromkeys((*mine, *other)))
        return {**other, **mine} if isinstance(mine, dict) else mine

    return {**second, **first, **{key: one(first[key], second[key]) for key in first.keys() & second.keys()}}


def both(first: Scene, second: Scene) -> Scene:
    node_of_both = None if first.node is None or second.node is None else joined(first.node, second.node)
    return Scene(first.expected, node_of_both, joined(first.seen, second.seen), joined(first.record, second.record))


def said(phase: DrainPhase, scene: Scene) -> Step | ReturnReason:
    """Return what a drain does of which the scene is all that is known; why, where it gives its node back."""
    ours = {} if phase is DrainPhase.CLAIMED else {"unschedulable": True, "taints": (our_taint(),)}
    seen: dict[str, Any] = {
        "node": None if scene.node is None else node("n1", **{**ours, **scene.node}),
        "claim": claim("n1"), "policy": policy(), "workloads_at": LATER, "emptied_at": NOW, "others": OtherDrains(),
        **scene.seen,
    }  # fmt: skip
    known = {"node_uid": "uid-n1", "cordoned_at": NOW, "deadline": NOW + timedelta(minutes=9), **scene.record}
    step = next_step(DrainRecord(order=order(), phase=phase, **known), Observation(**seen), LATER)
    return step.why if isinstance(step, ReturnNode) else step


ALONE = [pytest.param(phase, row, id=f"{phase}: {name}") for phase, rows in RULES.items() for name, row in rows.items()]
PAIRS = [
    pytest.param(phase, both(rows[first], rows[second]), id=f"{phase}: {first}, and {second}")
    for phase, rows in RULES.items()
    for first, second in pairwise(rows)
]


@pytest.mark.parametrize(("phase", "scene"), ALONE)
def test_each_cause_alone_has_its_step(phase: DrainPhase, scene: Scene) -> None:
    assert said(phase, scene) == scene.expected


@pytest.mark.parametrize(("phase", "scene"), PAIRS)
def test_of_two_causes_the_one_that_stands_first_decides(phase: DrainPhase, scene: Scene) -> None:
    assert said(phase, scene) == scene.expected
