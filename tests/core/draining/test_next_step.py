"""The drain as a reconciler: what stands now → the one next step.

See docs/acceptance.md rows 82 to 93 where they are decisions.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT, OUR_ANNOTATION
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.completion import deadline, grace_seconds
from shared.core.draining.cordon import uncordoned_by_autoscaler
from shared.core.draining.drain import (
    Await,
    Cordon,
    Evict,
    Observation,
    Proof,
    Prove,
    ReturnNode,
    Settle,
    WritePhase,
)
from shared.core.draining.next_step import next_step
from shared.core.policy import DrainSettings, LongGrace
from shared.core.reasons import Blocker, Outcome, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from tests.builders import NOW, claim, mounts, node, order, our_taint, pdb, pod, pod_class, pod_template, policy, taint

WEB = "default/ReplicaSet/web"

LATER = NOW + timedelta(minutes=1)
STAYS = pod("p", on="n1")
NO_ROOM = Blocker(Unremovable.NO_PLACE_FOR_PODS, "default/p", "no node has room")
PROVED, AGAINST = Proof(LATER, LATER), Proof(LATER, LATER, (NO_ROOM,))
WORKED_ON = node("n1", unschedulable=True, taints=(our_taint(),), conditions=frozenset({"DrainInProgress"}))
UNCORDONED = node("n1", taints=(our_taint(),))


def record(phase: str, **changes: Any) -> DrainRecord:
    given: dict[str, Any] = {
        "node_uid": "uid-n1",
        "cordoned_at": NOW,
        "deadline": NOW + timedelta(minutes=9),
        **changes,
    }
    return DrainRecord(order=order(), phase=DrainPhase(phase), **given)


def observed(*pods: Any, taken: bool = True, **changes: Any) -> Observation:
    ours: dict[str, Any] = {"unschedulable": True, "taints": (our_taint(),)} if taken else {}
    given: dict[str, Any] = {"node": node("n1", **ours), "claim": claim("n1"), "pods": pods, "policy": policy()}
    given["proof"] = PROVED
    return Observation(**{**given, **changes})


def noted_by(order_id: str) -> dict[str, str]:
    """Our annotation, as the patch that took the node wrote it."""
    return {OUR_ANNOTATION: f'{{"order_id": "{order_id}", "since": "{NOW.isoformat()}"}}'}


def asked(pod_name: str, answer: str, *, ago: float = 60, **changes: Any) -> dict[str, PodProgress]:
    at = LATER - timedelta(seconds=ago)
    row = PodProgress(uid=f"uid-{pod_name}", answer=answer, at=at, **changes)
    return {f"default/{pod_name}": row}


def scene(
    expected: Any, phase: str, title: str, *pods: Pod, drain: Mapping[str, Any] | None = None, **seen: Any
) -> Any:
    """A row of a table: the step of a drain in that phase that sees those pods."""
    return pytest.param(expected, record(phase, **(drain or {})), observed(*pods, **seen), id=title)


HELD_UP = asked("p", "budget", detail="default/web")
OVERDUE = NOW + timedelta(minutes=9)


@pytest.mark.parametrize(
    ("expected", "minutes", "seen"),
    [
        pytest.param(ReturnNode, 0, {}, id="nobody works on the node"),
        pytest.param(Await, 0, {"in_upgrade": True}, id="an upgrade may have taken it"),
        pytest.param(Await, 9.9, {"in_upgrade": True}, id="for ten minutes"),
        pytest.param(ReturnNode, 10, {"in_upgrade": True}, id="and no longer"),
        pytest.param(Await, 24, {"node": WORKED_ON}, id="it shows that others work on it"),
        pytest.param(ReturnNode, 25, {"node": WORKED_ON}, id="for no longer than a drained node is waited for"),
        pytest.param(ReturnNode, 0, {"in_upgrade": True, "paused": True}, id="a pause is a person's word"),
        pytest.param(ReturnNode, 0, {"in_upgrade": True, "claim": None}, id="a release is, too"),
    ],
)
def test_past_the_deadline_a_node_that_others_empty_is_not_uncordoned_at_once(
    expected: type, minutes: float, seen: dict[str, Any]
) -> None:
    step = next_step(record("cordoned", pods=HELD_UP), observed(STAYS, **seen), OVERDUE + timedelta(minutes=minutes))

    assert type(step) is expected


def ago(seconds: float, *, ended: float | None = None, **changes: Any) -> Proof:
    """Return a proof on a picture of so many seconds ago; it ended as long ago unless said."""
    end = seconds if ended is None else ended
    return Proof(LATER - timedelta(seconds=seconds), LATER - timedelta(seconds=end), **changes)


@pytest.mark.parametrize(
    ("expected", "drain", "seen"),
    [
        scene(Settle(Outcome.REMOVED), "claimed", "the node vanished before the cordon", node=None),
        scene(Settle(Outcome.REMOVED), "cordoned", "the node vanished while draining", node=None),
        scene(WritePhase(DrainPhase.CORDONED), "claimed", "a crash between the patch and its record"),
        scene(
            ReturnNode(ReturnReason.OVERRULED),
            "claimed",
            "a person took the node back after such a crash",
            node=node("n1", annotations=noted_by(order().order_id)),
        ),
        scene(
            Cordon(node("n1", annotations=noted_by("earlier"))),
            "claimed",
            "an earlier order's annotation shows nothing about this one",
            node=node("n1", annotations=noted_by("earlier")),
        ),
        scene(
            ReturnNode(ReturnReason.CORDONED_BY_OTHER),
            "claimed",
            "a person cordoned the node first",
            node=node("n1", unschedulable=True),
        ),
        scene(
            ReturnNode(ReturnReason.RELEASED, "the claim has been ended"), "cordoned", "released meanwhile", claim=None
        ),
        scene(ReturnNode(ReturnReason.OVERRULED), "cordoned", "a person took our taint and cordon off", taken=False),
        scene(
            ReturnNode(ReturnReason.OVERRULED),
            "cordoned",
            "the cordon was cleared under our taint",
            node=node("n1", taints=(our_taint(),)),
        ),
        scene(
            Cordon(UNCORDONED),
            "cordoned",
            "the autoscaler cleared the cordon after a failed deletion",
            node=UNCORDONED,
            deletion_begun_at=NOW,
        ),
        scene(
            ReturnNode(ReturnReason.OVERRULED),
            "cordoned",
            "a deletion from before our cordon does not excuse a person",
            node=UNCORDONED,
            deletion_begun_at=NOW - timedelta(minutes=5),
        ),
        scene(Cordon(UNCORDONED), "drained", "and when drained", node=UNCORDONED, deletion_begun_at=NOW),
        scene(ReturnNode(ReturnReason.PAUSED, "pause flag"), "cordoned", "paused by flag", paused=True),
        scene(
            ReturnNode(ReturnReason.PAUSED, "dryRun"),
            "cordoned",
            "switched to dry run",
            policy=policy(cluster_wide={"dry_run": True}),
        ),
        scene(
            ReturnNode(ReturnReason.PAUSED, "enabled: false"),
            "cordoned",
            "the pool was disabled",
            policy=policy(enabled=False),
        ),
        scene(WritePhase(DrainPhase.DRAINED), "cordoned", "nothing left to move"),
        scene(
            WritePhase(DrainPhase.DRAINED), "cordoned", "an invalid policy does not stop a running drain", policy=None
        ),
        scene(
            ReturnNode(ReturnReason.POD_BLOCKS, "default/bare: not_replicated"),
            "cordoned",
            "a bare pod slipped in before the cordon",
            pod("bare", on="n1", owner=None),
        ),
        scene(
            ReturnNode(ReturnReason.POD_BLOCKS, "default/p: names_its_node"),
            "cordoned",
            "a pod came back because its template names the node",
            pod("p", on="n1"),
            drain={"pods": asked("p", "granted")},
            workloads={WEB: Workload(WEB, templates=(pod_template(node_name="n1"),))},
        ),
        scene(
            ReturnNode(ReturnReason.POD_WAITS, "default/p: job_running"),
            "cordoned",
            "a Job's pod slipped in before the cordon",
            pod("p", on="n1", owner="Job/x"),
            drain={"rules": policy().pool("a").pod_rules},
        ),
        scene(
            ReturnNode(ReturnReason.POD_BLOCKS, "default/p: eviction_responders"),
            "cordoned",
            "a pod names who answers for its eviction, whatever an earlier version asked of them",
            pod("p", on="n1", eviction_responders=("example.com/mover",)),
            drain={"pods": asked("p", "granted")},
        ),
        scene(
            ReturnNode(ReturnReason.SEVERAL_PDBS, "default/p: two"),
            "cordoned",
            "two PDBs match a pod",
            pod("p", on="n1"),
            drain={"pods": asked("p", "several_pdbs", detail="two")},
        ),
        scene(
            ReturnNode(ReturnReason.EVICTION_FORBIDDEN, "default/p: webhook"),
            "cordoned",
            "a webhook denied an eviction",
            pod("p", on="n1"),
            drain={"pods": asked("p", "forbidden", detail="webhook")},
        ),
        scene(
            WritePhase(DrainPhase.DRAINED),
            "cordoned",
            "a denied pod that went by itself does not halt",
            drain={"pods": asked("p", "forbidden", detail="webhook")},
        ),
    ],
)
def test_each_scene_has_one_next_step(expected: Any, drain: DrainRecord, seen: Observation) -> None:
    assert expected == next_step(drain, seen, LATER)


@pytest.mark.acceptance(82)
def test_the_node_is_cordoned_before_any_pod_is_evicted() -> None:
    seen = observed(pod("p", on="n1"), taken=False)

    assert next_step(record("claimed"), seen, LATER) == Cordon(seen.node)  # type: ignore[arg-type]  # a node was seen


@pytest.mark.acceptance(84)
def test_pods_are_evicted_together_and_the_number_is_bounded() -> None:
    web = pod_class(owner="ReplicaSet/web", labels={"app": "web"})
    pods = [pod(f"p{index}", on="n1", kind=web) for index in range(5)]
    bounded = claim("n1", settings=DrainSettings(max_parallel_evictions=3))
    seen = observed(*pods, disruption_budgets=(pdb("web", allowed=5, app="web"),), claim=bounded)

    assert next_step(record("cordoned"), seen, LATER) == Evict(tuple(pods[:3]))


@pytest.mark.parametrize(
    ("expected", "own"),
    [
        pytest.param(30, 30, id="the pod's own grace when it is short"),
        pytest.param(480, 480, id="eight minutes exactly"),
        pytest.param(480, 3600, id="an hour is cut to eight minutes"),
        pytest.param(1, 0, id="a second at least: with none the pod is gone while its containers run"),
    ],
)
@pytest.mark.acceptance(85)
def test_grace_is_the_pods_own_but_never_above_eight_minutes(expected: int, own: int) -> None:
    assert expected == grace_seconds(pod("p", grace_seconds=own), DrainSettings().max_grace)


@pytest.mark.parametrize(
    ("expected", "own", "drain", "rules"),
    [
        pytest.param(True, 480, DrainSettings(), {}, id="as much as the drain gives"),
        pytest.param(False, 481, DrainSettings(), {}, id="more"),
        pytest.param(
            True, 3600, DrainSettings(), {"long_grace": LongGrace.CUT}, id="an hour that is cut by the policy"
        ),
        pytest.param(
            True, 3600, DrainSettings(max_grace=timedelta(hours=1)), {}, id="an hour that the drain began with"
        ),
    ],
)
def test_a_pod_that_comes_late_and_asks_for_too_much_grace_ends_the_drain(
    expected: bool, own: int, drain: DrainSettings, rules: dict[str, Any]
) -> None:
    late = pod("p", on="n1", grace_seconds=own)
    begun = record("cordoned", rules=policy(**rules).pool("a").pod_rules)
    step = next_step(begun, observed(late, claim=claim("n1", settings=drain)), LATER)

    assert (step == Evict((late,))) is expected
    assert expected or (isinstance(step, ReturnNode) and step.why is ReturnReason.POD_BLOCKS)


@pytest.mark.acceptance(86)
def test_a_refused_eviction_rests_five_seconds_before_it_is_asked_again() -> None:
    waiting = pod("p", on="n1")
    seen = observed(waiting, disruption_budgets=(pdb("web", allowed=0, app="web"),))

    assert next_step(record("cordoned", pods=asked("p", "budget", ago=4.9)), seen, LATER) == Await()
    assert next_step(record("cordoned", pods=asked("p", "budget", ago=5)), seen, LATER) == Evict((waiting,))


@pytest.mark.acceptance(86)
def test_a_pod_reborn_under_its_name_is_another_pod() -> None:
    reborn = replace(pod("p", on="n1"), uid="uid-second")
    seen = observed(reborn, disruption_budgets=(pdb("web", app="web"),))

    assert next_step(record("cordoned", pods=asked("p", "granted", ago=4)), seen, LATER) == Evict((reborn,))


@pytest.mark.acceptance(87)
def test_daemon_set_mirror_and_finished_pods_are_left() -> None:
    left = (
        pod("daemon", on="n1", owner="DaemonSet/logs"),
        pod("static", on="n1", owner="Node/n1", annotations={"kubernetes.io/config.mirror": "x"}),
        pod("done", on="n1", owner="Job/batch", phase=Phase.SUCCEEDED),
    )

    assert next_step(record("cordoned"), observed(*left), LATER) == WritePhase(DrainPhase.DRAINED)


def test_the_cordon_settles_before_pods_are_counted() -> None:
    early = NOW + timedelta(seconds=2)

    assert next_step(record("cordoned"), observed(pod("p", on="n1")), early) == Await(timedelta(seconds=3))


@pytest.mark.parametrize(
    ("expected", "drain", "proof"),
    [
        pytest.param(Prove(), record("cordoned"), None, id="no pod goes before its place is proved again"),
        pytest.param(Evict((STAYS,)), record("cordoned"), PROVED, id="it is"),
        pytest.param(Evict((STAYS,)), record("cordoned"), ago(19), id="a moment ago"),
        pytest.param(Prove(), record("cordoned"), ago(20), id="too long ago"),
        pytest.param(Evict((STAYS,)), record("cordoned"), ago(19, ended=3), id="on a snapshot of a moment ago"),
        pytest.param(Prove(), record("cordoned"), ago(20, ended=2), id="on one that is too old"),
        pytest.param(Evict((STAYS,)), record("cordoned"), ago(60, ended=0), id="whose reading took long, just now"),
        pytest.param(Evict((STAYS,)), record("cordoned"), ago(60, ended=1.9), id="which holds for the next look"),
        pytest.param(Prove(), record("cordoned"), ago(60, ended=2), id="which holds for no second round"),
        pytest.param(
            ReturnNode(ReturnReason.STALE, f"{NO_ROOM.sentence}"),
            record("cordoned"),
            ago(60, ended=19, against=(NO_ROOM,)),
            id="the room was gone, and the node is looked at again before it is returned",
        ),
        pytest.param(
            ReturnNode(ReturnReason.STALE, f"{NO_ROOM.sentence}"),
            record("cordoned"),
            AGAINST,
            id="the room was taken meanwhile",
        ),
        pytest.param(
            Prove(),
            record("cordoned", pods=asked("p", "budget", ago=5)),
            None,
            id="a budget kept the first eviction back",
        ),
        pytest.param(Prove(), record("cordoned", pods=asked("p", "later", ago=5)), None, id="the API was too busy"),
        pytest.param(Prove(), record("cordoned", pods=asked("p", "conflict", ago=5)), None, id="somebody else wrote"),
        pytest.param(Prove(), record("cordoned", pods=asked("p", "terminating", ago=5)), None, id="not yet on its way"),
        pytest.param(
            Prove(),
            record("cordoned", pods=asked("gone", "terminating", ago=5)),
            None,
            id="it ended with its namespace",
        ),
        pytest.param(Prove(), record("cordoned", pods=asked("p", "asked", ago=5)), None, id="killed before it asked"),
        pytest.param(
            Prove(), record("cordoned", pods=asked("old", "budget", ago=5)), None, id="a pod that went by itself"
        ),
        pytest.param(
            Evict((STAYS,)),
            record("cordoned", pods=asked("old", "granted", ago=5)),
            AGAINST,
            id="once a pod has moved the drain goes on, and its replacement is watched",
        ),
        pytest.param(
            Evict((STAYS,)),
            record("cordoned", pods=asked("old", "later", ago=5)),
            None,
            id="an answer was lost, and the pod is gone",
        ),
        pytest.param(
            Prove(),
            record("cordoned", pods=asked("old", "later", ago=5, refused=True)),
            None,
            id="the API was too busy, and the pod went by itself",
        ),
        pytest.param(
            Evict((STAYS,)),
            record("cordoned", pods=asked("old", "asked", ago=5)),
            AGAINST,
            id="killed after it asked, and the pod is gone",
        ),
        pytest.param(
            Evict((STAYS,)), record("cordoned", pods=asked("going", "asked", ago=5)), None, id="or on its way out"
        ),
    ],
)
def test_the_place_is_proved_once_more_before_the_first_eviction(
    expected: Any, drain: DrainRecord, proof: Proof | None
) -> None:
    going = pod("going", on="n1", deleting=LATER)
    seen = observed(STAYS, going, disruption_budgets=(pdb("web", app="web"),), proof=proof)

    assert next_step(drain, seen, LATER) == expected


HELD = asked("p", "budget", ago=5, detail="default/web")
AWAY = pod("away", on="n1", ready=False)
FREE = pod("free", on="n1", owner="ReplicaSet/free", labels={"app": "free"})


@pytest.mark.parametrize(
    ("expected", "allowed", "pods", "known", "proof"),
    [
        pytest.param(Await(), 0, (STAYS,), HELD, ago(60), id="its budget is shut: there is nothing to prove"),
        pytest.param(Prove(), 1, (STAYS,), HELD, ago(60), id="it opens: the place is proved first"),
        pytest.param(Evict((STAYS,)), 1, (STAYS,), HELD, ago(1), id="and then the pod is asked for"),
        pytest.param(Evict((STAYS,)), 0, (STAYS,), HELD, ago(1), id="while a proof stands the pod is asked for"),
        pytest.param(Prove(), 0, (AWAY,), asked("away", "budget", ago=5), ago(60), id="what is not Ready may go yet"),
        pytest.param(
            Prove(), 0, (STAYS,), asked("p", "later", ago=5), None, id="an answer that was no budget's is asked again"
        ),
        pytest.param(Prove(), 0, (STAYS,), {}, None, id="whose budget it is shows the first answer"),
        pytest.param(Prove(), 0, (STAYS, FREE), HELD, ago(60), id="another pod may go"),
        pytest.param(
            Evict((STAYS,)), 0, (STAYS,), HELD | asked("old", "granted"), None, id="a drain that moves keeps asking"
        ),
    ],
)
def test_a_drain_that_only_a_budget_holds_proves_its_place_when_it_could_act(
    expected: Any, allowed: int, pods: tuple[Any, ...], known: dict[str, PodProgress], proof: Proof | None
) -> None:
    web = pdb("web", allowed=allowed, app="web", current_healthy=2, desired_healthy=2)
    seen = observed(*pods, disruption_budgets=(web,), proof=proof)

    assert next_step(record("cordoned", pods=known), seen, LATER) == expected


def test_a_pod_that_is_not_ready_is_held_too_while_fewer_are_healthy_than_must_be() -> None:
    short = pdb("web", allowed=0, app="web", current_healthy=1, desired_healthy=2)
    seen = observed(AWAY, disruption_budgets=(short,), proof=ago(60))

    assert next_step(record("cordoned", pods=asked("away", "budget", ago=5)), seen, LATER) == Await()


def test_pods_whose_budget_is_shut_take_no_other_pods_turn_in_a_round() -> None:
    """One eviction a round: the place is proved for the pod that may go, though the other one's answer is older."""
    one = claim("n1", settings=DrainSettings(max_parallel_evictions=1))
    known = asked("p", "budget", ago=9) | asked("free", "later", ago=5)
    seen = observed(STAYS, FREE, claim=one, disruption_budgets=(pdb("web", allowed=0, app="web"),), proof=None)

    assert next_step(record("cordoned", pods=known), seen, LATER) == Prove()


def test_critical_pods_go_only_after_all_ordinary_ones_are_gone() -> None:
    ordinary = pod("a", on="n1", owner="ReplicaSet/a")
    critical = pod("b", on="n1", owner="ReplicaSet/b", priority_class="system-cluster-critical")
    on_its_way = replace(ordinary, deleting=LATER)

    assert next_step(record("cordoned"), observed(ordinary, critical), LATER) == Evict((ordinary,))
    assert next_step(record("cordoned"), observed(on_its_way, critical), LATER) == Await()
    assert next_step(record("cordoned"), observed(critical), LATER) == Evict((critical,))


def test_a_workload_without_a_pdb_never_loses_two_pods_at_once() -> None:
    web = pod_class(owner="ReplicaSet/web")
    pods = (pod("a", on="n1", kind=web), pod("b", on="n1", kind=web))

    assert next_step(record("cordoned"), observed(*pods), LATER) == Evict(pods[:1])


@pytest.mark.acceptance(90)
def test_a_pdb_that_never_opens_ends_the_drain_and_is_named() -> None:
    held = record("cordoned", pods=asked("p", "budget", detail="default/web"), deadline=LATER)
    seen = observed(pod("p", on="n1"), disruption_budgets=(pdb("web", allowed=0, app="web"),))

    assert next_step(held, seen, LATER) == ReturnNode(ReturnReason.DEADLINE, "held by default/web")


@pytest.mark.parametrize(
    ("expected", "drain", "seen"),
    [
        scene(
            "held by default/p, which is still there",
            "cordoned",
            "a pod that has never been asked for",
            STAYS,
            drain={"deadline": LATER},
        ),
        scene(
            "held by default/p, which is still there",
            "cordoned",
            "and no budget of a pod that is gone",
            STAYS,
            drain={"deadline": LATER, "pods": asked("gone", "budget", detail="default/web")},
        ),
        scene(
            "held by default/p, which is still there",
            "claimed",
            "a pod of a node that was never cordoned",
            STAYS,
            drain={"deadline": LATER},
            taken=False,
        ),
        pytest.param(
            "held by default/p0, which is still there, default/p1, which is still there, default/p2, which is still "
            "there, default/p3, which is still there, default/p4, which is still there and 1 more",
            record("cordoned", deadline=LATER),
            observed(*(pod(f"p{index}", on="n1") for index in range(6))),
            id="as many as an event can carry",
        ),
    ],
)
def test_a_drain_that_is_late_shows_what_it_waits_for(expected: str, drain: DrainRecord, seen: Observation) -> None:
    assert next_step(drain, seen, LATER) == ReturnNode(ReturnReason.DEADLINE, expected)


def test_an_empty_node_is_cordoned_however_late() -> None:
    seen = observed(taken=False)

    assert next_step(record("claimed", deadline=NOW), seen, LATER) == Cordon(seen.node)  # type: ignore[arg-type]  # a node was seen


@pytest.mark.acceptance(89)
def test_the_deadline_is_eight_and_a_half_minutes_plus_the_longest_capped_grace() -> None:
    pods = (pod("a", grace_seconds=30), pod("b", grace_seconds=3600))

    assert deadline(claim("n1"), pods) == NOW + timedelta(minutes=8, seconds=30) + timedelta(minutes=8)


def test_a_drain_has_more_time_for_disks_that_move_in_turn() -> None:
    pods = [pod(f"db-{row}", owner="StatefulSet/db", grace_seconds=30, volumes=mounts(f"d{row}")) for row in (0, 1)]

    assert deadline(claim("n1"), pods) == NOW + timedelta(minutes=8, seconds=30) + timedelta(seconds=30 + 2 * 90)


@pytest.mark.parametrize("phase", ["claimed", "cordoned"])
def test_the_same_scene_gives_the_same_step_again(phase: str) -> None:
    seen = observed(pod("p", on="n1"), taken=phase == "cordoned")
    drain = replace(record(phase), generation=3)

    assert next_step(drain, seen, LATER) == next_step(drain, seen, LATER)


@pytest.mark.parametrize(
    ("expected", "held"),
    [
        pytest.param(ReturnNode(ReturnReason.RELEASED, "the claim has been ended"), None, id="nobody holds the node"),
        pytest.param(
            ReturnNode(ReturnReason.RELEASED, "the claim has been ended"),
            claim("n1", order_id="another"),
            id="another order does",
        ),
    ],
)
def test_a_drain_whose_claim_is_no_longer_its_own_returns_what_it_took(expected: ReturnNode, held: Any) -> None:
    assert next_step(record("cordoned"), observed(claim=held), LATER) == expected


@pytest.mark.parametrize(
    ("expected", "begun", "cordoned", "changes"),
    [
        pytest.param(False, None, NOW, {}, id="the autoscaler has done nothing"),
        pytest.param(True, None, None, {"taints": (taint(AUTOSCALER_DELETING_TAINT),)}, id="it deletes the node"),
        pytest.param(True, NOW, NOW - timedelta(seconds=1), {}, id="it began to, since our cordon"),
        pytest.param(True, NOW, NOW, {}, id="in its very second: events are shown in whole ones"),
        pytest.param(False, NOW, NOW + timedelta(seconds=1), {}, id="it began before, and our cordon came after"),
        pytest.param(False, NOW, None, {}, id="nobody knows when we cordoned"),
    ],
)
def test_a_missing_cordon_is_the_autoscalers_if_it_was_at_the_node_since_ours(
    expected: bool, begun: Any, cordoned: Any, changes: dict[str, Any]
) -> None:
    assert uncordoned_by_autoscaler(node("n1", **changes), begun, cordoned) is expected


@pytest.mark.parametrize(
    ("expected", "drain", "seen"),
    [
        scene(
            ReturnReason.PAUSED,
            "cordoned",
            "a pause is no failure of the drain, whatever was refused",
            STAYS,
            drain={"pods": asked("p", "forbidden")},
            paused=True,
        ),
        scene(
            ReturnReason.EVICTION_FORBIDDEN,
            "cordoned",
            "what was refused for good shows more than the deadline",
            STAYS,
            drain={"pods": asked("p", "forbidden"), "deadline": NOW},
        ),
        scene(
            ReturnReason.OVERRULED,
            "cordoned",
            "a person who wants the node comes before a pause",
            STAYS,
            node=node("n1"),
            paused=True,
        ),
    ],
)
def test_of_two_reasons_to_give_a_node_back_the_first_rule_decides(
    expected: ReturnReason, drain: DrainRecord, seen: Observation
) -> None:
    step = next_step(drain, seen, LATER)

    assert isinstance(step, ReturnNode)
    assert step.why is expected
