from collections import Counter
from datetime import timedelta
from typing import Any

from msgspec import structs

from shared.core.cluster.workloads import Workload, mark
from shared.core.draining.drain import Observation
from shared.core.draining.evicting import due_now
from shared.core.policy import Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.workload_limits import (
    MOST_MOVING_PODS,
    OtherClaims,
    WorkloadMove,
    all_moving_pods,
    conflict,
    moving_pods,
    other_claims,
    workload_moves,
)
from tests.builders import NOW, claim, node, order, pdb, pod, pod_class, policy
from tests.depth import cases

NAME = "default/Deployment/web"
WEB, NEW = pod_class(owner="ReplicaSet/web"), pod_class(owner="ReplicaSet/web-new")
KEY = mark(NAME)


def shared(*kinds: Any, workload: Workload | None = None, budgets: tuple[Any, ...] = ()) -> tuple[WorkloadMove, ...]:
    pods = [pod(f"p{index}", on="n1", kind=kind) for index, kind in enumerate(kinds)]
    known = {kind.workload: workload for kind in kinds} if workload else {}
    return workload_moves(pods, DrainContext(budgets, policy().pool("a"), NOW, known))


@cases(
    "expected, found",
    ("two of eight, one is away", (WorkloadMove(NAME, 2, 1, 2),), shared(WEB, WEB, workload=Workload(NAME, 8, 7))),
    ("ReplicaSets of one Deployment", (WorkloadMove(NAME, 2, 0, 1),), shared(WEB, NEW, workload=Workload(NAME, 4, 4))),
    ("not known: one at a time", (WorkloadMove(WEB.workload, 1, 0, 1),), shared(WEB)),
    ("its status not known: one at a time", (WorkloadMove(NAME, 1, 0, 1),), shared(WEB, workload=Workload(NAME, 8))),
    ("a single replica is singleReplicas' alone", (), shared(WEB, workload=Workload(NAME, 1, 1))),
    ("a PodDisruptionBudget speaks for it", (), shared(WEB, budgets=(pdb("web", app="web"),))),
    ("what is not moved", (), shared(pod_class(owner="DaemonSet/agent"))),
)
def test_a_drain_shares_what_it_moves_of_workloads_without_a_pdb(
    expected: tuple[WorkloadMove, ...], found: tuple[WorkloadMove, ...]
) -> None:
    assert found == expected


@cases(
    "expected, wanted, held",
    ("alone, however many: they go in turns", True, WorkloadMove(NAME, 9, 0, 1), 0),
    ("all together may be away", True, WorkloadMove(NAME, 1, 0, 2), 1),
    ("one too many", False, WorkloadMove(NAME, 1, 0, 1), 1),
    ("one is away already", False, WorkloadMove(NAME, 1, 1, 2), 1),
    ("the other holds most of it", False, WorkloadMove(NAME, 2, 0, 4), 3),
)
def test_a_workload_is_shared_only_while_all_pods_together_may_be_away(
    expected: bool, wanted: WorkloadMove, held: int
) -> None:
    assert (conflict([wanted], Counter({KEY: held} if held else {})) is None) is expected


def test_a_refusal_names_the_workload_and_the_numbers() -> None:
    found = conflict([WorkloadMove(NAME, 2, 1, 3)], Counter({KEY: 1}))

    assert found is not None
    assert (found.reason, found.object) == ("workload_moving", NAME)
    assert found.detail == "1 pods of other drains and 2 here, 1 away, 3 may be"


def test_claims_write_down_no_more_pods_than_the_document_has_room_for() -> None:
    held = Counter({mark(f"w{index}"): 10 for index in range(MOST_MOVING_PODS // 10 - 1)})

    assert conflict([WorkloadMove("other", 10, 0, 1)], held) is None
    assert conflict([WorkloadMove("other", 11, 0, 1)], held) is not None


def test_a_claim_sees_the_turns_of_earlier_and_of_later_claims_apart() -> None:
    minute = timedelta(minutes=1)
    claims = {
        "old": claim("n1", moving_pods={KEY: 1}, since=NOW - minute),
        "own": claim("n2", moving_pods={KEY: 2}),
        "new": claim("n3", moving_pods={KEY: 4}, since=NOW + minute),
        "own twin": claim("n4", moving_pods={KEY: 8}),
    }
    assert other_claims(claims, "own") == OtherClaims({KEY: 1}, {KEY: 12})
    assert all_moving_pods(claims.values()) == Counter({KEY: 15})


def let_go(number: int) -> dict[str, PodProgress]:
    """Return rows of pods let go long ago."""
    at = NOW - timedelta(minutes=5)
    rows = (PodProgress(uid=f"gone-{index}", answer="granted", owner=WEB.workload, at=at) for index in range(number))
    return {row.uid: row for row in rows}


@cases(
    "expected, seen, gone",
    ("nobody else: as many as may be away", 2, OtherClaims(), 0),
    ("room is left for an earlier drain", 1, OtherClaims(older={KEY: 1}), 0),
    ("an earlier drain may need all of it", 0, OtherClaims(older={KEY: 2}), 0),
    ("a later drain leaves the room to us", 2, OtherClaims(younger={KEY: 1}), 0),
    ("what the claim wrote down is nearly used up", 1, OtherClaims(younger={KEY: 1}), 1),
    ("pods that came since then wait for the later drain", 0, OtherClaims(younger={KEY: 1}), 2),
    ("and go once there is none", 2, OtherClaims(), 2),
)
def test_earlier_drains_go_first_and_each_keeps_to_what_it_wrote_down(
    expected: int, seen: OtherClaims, gone: int
) -> None:
    present = tuple(pod(f"p{index}", on="n1", kind=WEB) for index in range(4))
    own = claim("n1", moving_pods=moving_pods([WorkloadMove(NAME, 2, 0, 2)]))
    observed = Observation(node("n1"), own, present, (), {WEB.workload: Workload(NAME, 8, 8)}, NOW, seen)
    record = DrainRecord(order=order(), phase=DrainPhase.CORDONED, pods=let_go(gone))

    assert len(due_now(record, observed, Limit(percent=25), NOW)) == expected


def test_a_pod_that_is_away_already_waits_for_nobody() -> None:
    broken = structs.replace(pod("p", on="n1", kind=WEB), ready=False)
    observed = Observation(
        node("n1"),
        claim("n1"),
        (broken,),
        (),
        {WEB.workload: Workload(NAME, 4, 3)},
        NOW,
        OtherClaims({KEY: 1}, {KEY: 1}),
    )
    assert due_now(DrainRecord(order=order(), phase=DrainPhase.CORDONED), observed, Limit(percent=25), NOW) == (broken,)


def test_of_claims_of_one_moment_one_is_older_by_its_nodes_uid() -> None:
    """Whoever asks sees the same order; no two wait for each other."""
    claims = {uid: claim(uid, since=NOW, moving_pods={KEY: pods}) for uid, pods in (("a", 1), ("b", 2), ("c", 4))}

    assert other_claims(claims, "b") == OtherClaims({KEY: 1}, {KEY: 4})
    assert other_claims(claims, "gone") == OtherClaims()
