"""Which pods a drain evicts next, once their place is proved, and for how long it waits for the others."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from shared.core.cluster.pod import Phase
from shared.core.draining.completion import grace_seconds
from shared.core.draining.drain import Await, Evict, Proof, Prove, ReturnNode, WritePhase
from shared.core.draining.next_step import next_step
from shared.core.policy import DrainSettings, LongGrace
from shared.core.reasons import Blocker, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainPhase, PodProgress
from tests.builders import claim, pdb, pod, pod_class, policy
from tests.core.draining.test_next_step import LATER, STAYS, asked, observed, record
from tests.depth import cases

NO_ROOM = Blocker(Unremovable.NO_PLACE_FOR_PODS, "default/p", "no node has room")
STALE = ReturnNode(ReturnReason.STALE, NO_ROOM.sentence)
PROVED, AGAINST = Proof(LATER, LATER), Proof(LATER, LATER, (NO_ROOM,))


def ago(seconds: float, *, ended: float | None = None, **changes: Any) -> Proof:
    """Return a proof on a picture of so many seconds ago; it ended as long ago unless said."""
    end = seconds if ended is None else ended
    return Proof(LATER - timedelta(seconds=seconds), LATER - timedelta(seconds=end), **changes)


@pytest.mark.acceptance(84)
def test_pods_are_evicted_together_and_the_number_is_bounded() -> None:
    web = pod_class(owner="ReplicaSet/web", labels={"app": "web"})
    pods = [pod(f"p{index}", on="n1", kind=web) for index in range(5)]
    bounded = claim("n1", settings=DrainSettings(max_parallel_evictions=3))
    seen = observed(*pods, disruption_budgets=(pdb("web", allowed=5, app="web"),), claim=bounded)

    assert next_step(record("cordoned"), seen, LATER) == Evict(tuple(pods[:3]))


@cases(
    "expected, own",
    ("the pod's own grace when it is short", 30, 30),
    ("eight minutes exactly", 480, 480),
    ("an hour is cut to eight minutes", 480, 3600),
    ("a second at least: with none the pod is gone while its containers run", 1, 0),
)
@pytest.mark.acceptance(85)
def test_grace_is_the_pods_own_but_never_above_eight_minutes(expected: int, own: int) -> None:
    assert expected == grace_seconds(pod("p", grace_seconds=own), DrainSettings().max_grace)


@cases(
    "expected, own, drain, rules",
    ("as much as the drain gives", True, 480, DrainSettings(), {}),
    ("more", False, 481, DrainSettings(), {}),
    ("an hour that is cut by the policy", True, 3600, DrainSettings(), {"long_grace": LongGrace.CUT}),
    ("an hour that the drain began with", True, 3600, DrainSettings(max_grace=timedelta(hours=1)), {}),
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


@cases(
    "expected, known, proof",
    ("no pod goes before its place is proved again", Prove(), {}, None),
    ("it is", Evict((STAYS,)), {}, PROVED),
    ("a moment ago", Evict((STAYS,)), {}, ago(19)),
    ("too long ago", Prove(), {}, ago(20)),
    ("on a snapshot of a moment ago", Evict((STAYS,)), {}, ago(19, ended=3)),
    ("on one that is too old", Prove(), {}, ago(20, ended=2)),
    ("whose reading took long, just now", Evict((STAYS,)), {}, ago(60, ended=0)),
    ("which holds for the next look", Evict((STAYS,)), {}, ago(60, ended=1.9)),
    ("which holds for no second round", Prove(), {}, ago(60, ended=2)),
    ("the room was gone, and the node is looked at again before it is returned", STALE, {},
     ago(60, ended=19, against=(NO_ROOM,))),
    ("the room was taken meanwhile", STALE, {}, AGAINST),
    ("a budget kept the first eviction back", Prove(), asked("p", "budget", ago=5), None),
    ("the API was too busy", Prove(), asked("p", "later", ago=5), None),
    ("somebody else wrote", Prove(), asked("p", "conflict", ago=5), None),
    ("not yet on its way", Prove(), asked("p", "terminating", ago=5), None),
    ("it ended with its namespace", Prove(), asked("gone", "terminating", ago=5), None),
    ("killed before it asked", Prove(), asked("p", "asked", ago=5), None),
    ("a pod that went by itself", Prove(), asked("old", "budget", ago=5), None),
    ("once a pod has moved the drain goes on, and its replacement is watched", Evict((STAYS,)),
     asked("old", "granted", ago=5), AGAINST),
    ("an answer was lost, and the pod is gone", Evict((STAYS,)), asked("old", "later", ago=5), None),
    ("the API was too busy, and the pod went by itself", Prove(), asked("old", "later", ago=5, refused=True), None),
    ("killed after it asked, and the pod is gone", Evict((STAYS,)), asked("old", "asked", ago=5), AGAINST),
    ("or on its way out", Evict((STAYS,)), asked("going", "asked", ago=5), None),
)  # fmt: skip
def test_the_place_is_proved_once_more_before_the_first_eviction(
    expected: Any, known: dict[str, PodProgress], proof: Proof | None
) -> None:
    going = pod("going", on="n1", deleting=LATER)
    seen = observed(STAYS, going, disruption_budgets=(pdb("web", app="web"),), proof=proof)

    assert next_step(record("cordoned", pods=known), seen, LATER) == expected


HELD = asked("p", "budget", ago=5, detail="default/web")
AWAY = pod("away", on="n1", ready=False)
FREE = pod("free", on="n1", owner="ReplicaSet/free", labels={"app": "free"})


@cases(
    "expected, allowed, pods, known, proof",
    ("its budget is shut: there is nothing to prove", Await(), 0, (STAYS,), HELD, ago(60)),
    ("it opens: the place is proved first", Prove(), 1, (STAYS,), HELD, ago(60)),
    ("and then the pod is asked for", Evict((STAYS,)), 1, (STAYS,), HELD, ago(1)),
    ("while a proof stands the pod is asked for", Evict((STAYS,)), 0, (STAYS,), HELD, ago(1)),
    ("what is not Ready may go yet", Prove(), 0, (AWAY,), asked("away", "budget", ago=5), ago(60)),
    ("an answer that was no budget's is asked again", Prove(), 0, (STAYS,), asked("p", "later", ago=5), None),
    ("whose budget it is shows the first answer", Prove(), 0, (STAYS,), {}, None),
    ("another pod may go", Prove(), 0, (STAYS, FREE), HELD, ago(60)),
    ("a drain that moves keeps asking", Evict((STAYS,)), 0, (STAYS,), HELD | asked("old", "granted"), None),
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
