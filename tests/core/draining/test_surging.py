from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from shared.core.cluster.workloads import Deployment, Workload
from shared.core.draining.drain import Await, Evict, Observation, Proof, Prove, Restart, ReturnNode
from shared.core.draining.next_step import next_step
from shared.core.draining.surging import asked_of, restarts, stamp_to_restore, why_not_restart
from shared.core.policy import Limit, PodRules, SingleReplicas
from shared.core.reasons import Blocker, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainPhase, DrainRecord, Surge
from tests.builders import NOW, claim, node, order, our_taint, pod
from tests.depth import cases

NAME, SET = "default/Deployment/web", "default/ReplicaSet/web"
AT_REST = Deployment(name=NAME, uid="u", created=1, updated=1, available=1, template="t")
ONE = pod("one", on="n1")
SECOND = timedelta(seconds=1)


@cases(
    "expected, changes",
    ("in steady state", True, {}),
    ("as it shows", True, {"max_surge": Limit(count=1), "max_unavailable": Limit(count=0)}),
    ("a change that its controller has not seen", False, {"observed": False}),
    ("in a rollout: another drain's, too", False, {"created": 2}),
    ("not available", False, {"available": 0}),
    ("on its way out", False, {"deleting": True}),
    ("scaled up meanwhile", False, {"wanted": 2, "created": 2, "updated": 2, "available": 2}),
    ("Recreate", False, {"rolling_update": False}),
    ("paused", False, {"paused": True}),
    ("forbidden", False, {"wish": "false"}),
)
def test_only_what_is_in_steady_state_and_leaves_no_gap_is_restarted(expected: bool, changes: dict[str, Any]) -> None:
    assert (why_not_restart(replace(AT_REST, **changes), (ONE,)) == "") is expected


ASKED = asked_of(replace(AT_REST, stamp="earlier"), NOW)
WAITING = replace(AT_REST, stamp="order", created=2, updated=1)


@cases(
    "expected, changes",
    ("it waits for its new pod", "earlier", {}),
    ("not begun", "earlier", {"created": 1, "updated": 1, "observed": False}),
    ("its new pod is refused", "earlier", {"created": 1, "updated": 0}),
    ("rolled out", None, {"created": 1, "updated": 1}),
    ("another drain's", None, {"stamp": "another"}),
    ("never written, or undone", None, {"stamp": "earlier"}),
    ("changed by somebody", None, {"template": "changed"}),
    ("another of that name", None, {"uid": "another"}),
)
def test_nothing_is_undone_but_what_hangs_and_is_ours(expected: str | None, changes: dict[str, Any]) -> None:
    assert stamp_to_restore(replace(WAITING, **changes), ASKED, "order") == expected


def step(
    deployment: Deployment, surge: Surge | None = None, setting: SingleReplicas = SingleReplicas.SURGE, **seen: Any
) -> Any:
    """Return the step of a drain whose cordon has settled, with one single replica and another pod on its node."""
    record = DrainRecord(
        order=order(),
        phase=DrainPhase.CORDONED,
        node_uid="uid-n1",
        cordoned_at=NOW - 100 * SECOND,
        deadline=NOW + 100 * SECOND,
        rules=PodRules(single_replicas=setting),
        surges={NAME: surge} if surge else {},
    )
    rolling = deployment.created != deployment.updated
    known = {
        SET: Workload(NAME, 1, deployment.available, rolling, deployment.created, deployment=deployment),
        "default/ReplicaSet/other": Workload("default/Deployment/other", 2, 2, created=2),
    }
    taken = node("n1", unschedulable=True, taints=(our_taint(),))
    given: dict[str, Any] = {
        "pods": (ONE, pod("other", on="n1", owner="ReplicaSet/other")),
        "proof": Proof(NOW, NOW),
        "claim": claim("n1", moving_pods={}),
        **seen,
    }
    read = given.pop("workloads_at", NOW)
    return next_step(record, Observation(node=taken, workloads=known, workloads_at=read, **given), NOW)


WRITTEN = Surge(uid="u", template="t", at=NOW - 5 * SECOND, written=True)
ROLLING = replace(AT_REST, stamp="order", created=2, updated=1)


def test_a_surge_is_proved_then_restarted_then_awaited_and_only_then_are_others_evicted() -> None:
    other = pod("other", on="n1", owner="ReplicaSet/other")

    assert step(AT_REST, proof=None) == Prove()
    assert step(AT_REST) == Restart(NAME, (ONE,))
    assert step(ROLLING, WRITTEN) == Await()
    assert step(replace(ROLLING, created=1), WRITTEN, pods=(other,)) == Evict((other,))


def test_a_surge_without_room_is_not_begun() -> None:
    against = (Blocker(Unremovable.NO_PLACE_FOR_PODS, "default/one"),)

    assert step(AT_REST, proof=Proof(NOW, NOW, against)).why is ReturnReason.STALE


@cases(
    "expected, deployment, seen",
    ("the new pod finds no node", ReturnReason.SURGE_PENDING, ROLLING,
     {"unbound": (pod("new", owner="ReplicaSet/web", unschedulable_since=NOW - 60 * SECOND, created=NOW),)}),
    ("no progress", ReturnReason.SURGE_FAILED, replace(ROLLING, progressing=False), {}),
    ("undone by somebody", ReturnReason.SURGE_FAILED, replace(ROLLING, stamp=""), {}),
    ("applied anew with our stamp", ReturnReason.SURGE_FAILED, replace(ROLLING, uid="another"), {}),
    ("it would end it first", ReturnReason.POD_BLOCKS, replace(ROLLING, rolling_update=False), {}),
)  # fmt: skip
def test_a_surge_that_fails_ends_the_drain(
    expected: ReturnReason, deployment: Deployment, seen: dict[str, Any]
) -> None:
    found = step(deployment, WRITTEN, **seen)

    assert isinstance(found, ReturnNode)
    assert found.why is expected


def test_of_several_new_pods_without_a_node_the_first_by_name_is_shown_at_every_look() -> None:
    waits = [
        pod(name, owner="ReplicaSet/web", unschedulable_since=NOW - 60 * SECOND, created=NOW)
        for name in ("new-b", "new-a", "new-c")
    ]

    assert step(ROLLING, WRITTEN, unbound=tuple(waits)) == ReturnNode(ReturnReason.SURGE_PENDING, "default/new-a")


def test_what_was_read_before_the_restart_shows_nothing_of_it() -> None:
    assert step(AT_REST, structs.replace(WRITTEN, at=NOW + SECOND)) == Await()


@pytest.mark.parametrize("setting", SingleReplicas)
@cases(
    "deployment",
    ("in its rollout", ROLLING),
    ("no single one any more", replace(ROLLING, wanted=2)),
    ("of an earlier one", replace(AT_REST, stamp="order", progressing=False, observed=False)),
)
def test_a_restarted_pod_is_awaited_whatever_the_policy_has_since(
    deployment: Deployment, setting: SingleReplicas
) -> None:
    found = step(deployment, WRITTEN, setting, pods=(ONE,))

    assert found == Await() or (setting is SingleReplicas.NEVER and isinstance(found, ReturnNode))


def test_what_was_restarted_for_a_drained_node_is_not_undone() -> None:
    begun = DrainRecord(order=order(), surges={NAME: WRITTEN})

    assert dict(restarts(begun)) == {NAME: WRITTEN}
    assert dict(restarts(structs.replace(begun, drained_at=NOW))) == {}


@pytest.mark.parametrize("setting", SingleReplicas)
@pytest.mark.parametrize("owner", ["ReplicaSet/unread", "StatefulSet/unread"])
def test_a_pod_that_came_before_its_workload_was_read_is_not_touched_yet(setting: SingleReplicas, owner: str) -> None:
    stranger = pod("stranger", on="n1", owner=owner)

    assert step(AT_REST, setting=setting, pods=(stranger,)) == Evict((stranger,))
    assert step(AT_REST, setting=setting, pods=(stranger,), workloads_at=NOW - 96 * SECOND) == Await()


def test_what_has_no_such_workload_is_not_waited_for() -> None:
    work = pod("work", on="n1", owner="Job/work")

    assert step(AT_REST, pods=(work,), workloads_at=NOW - 96 * SECOND) == Evict((work,))
