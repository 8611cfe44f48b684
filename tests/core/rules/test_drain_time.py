from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.pod import Pod, Volume
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.policy import DrainSettings, PoolPolicy
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.drain_time import LONGEST_DISK_MOVES, DrainEstimate, DrainEstimator, Turns, disk_moves, disk_time
from shared.core.rules.pods import movable
from tests.builders import NOW, cluster, mounts, pdb, pod, pod_class
from tests.depth import cases

WEB = pod_class(owner="ReplicaSet/web", labels={"app": "web"})
DEPLOYMENT = "default/Deployment/web"
SECOND = timedelta(seconds=1)


def pods(number: int, kind: Any = WEB, *, took: int | None = 20, **changes: Any) -> list[Pod]:
    start = NOW - timedelta(hours=1)
    ready = None if took is None else start + took * SECOND
    names = (f"{kind.owner.name}-{any_number}" for any_number in range(number))
    return [pod(name, kind=kind, started=start, ready_since=ready, **changes) for name in names]


def takes(
    rows: list[Pod], *budgets: PodDisruptionBudget, workload: Workload | None = None, drain: DrainSettings | None = None
) -> DrainEstimate:
    known = {WEB.workload: workload} if workload else {}
    context = DrainContext(budgets, PoolPolicy(), NOW, known, drain or DrainSettings())
    return DrainEstimator(cluster([], rows).start_times)(movable(rows, NOW), context)


def seconds(found: DrainEstimate, others: dict[str, int] | None = None) -> tuple[int, float, float]:
    time = found.beside(others or {})
    return time.rounds, time.least / SECOND, time.most / SECOND


@cases(
    "expected, number, budgets",
    ("three pods, one at a time: three rounds", (3, 60, 160), 3, [pdb("web", allowed=1, app="web")]),
    ("two at a time: two rounds", (2, 40, 105), 3, [pdb("web", allowed=2, app="web")]),
    ("all at once", (1, 20, 50), 3, [pdb("web", allowed=3, app="web")]),
    ("another's budget: one at a time, unknown", (3, 60, 160), 3, [pdb("db", allowed=9, app="db")]),
    ("an empty node", (0, 0, 0), 0, []),
)
def test_pods_under_a_budget_go_in_rounds_of_start_and_grace(
    expected: tuple[int, float, float], number: int, budgets: list[PodDisruptionBudget]
) -> None:
    """Each took 20 s to be Ready and has 30 s of grace; what is refused is asked for again after 5 s."""
    assert seconds(takes(pods(number), *budgets)) == expected


@cases(
    "expected, workload",
    ("a quarter of eight at a time", (2, 40, 105), Workload(DEPLOYMENT, 8, 8)),
    ("one is away already", (4, 80, 215), Workload(DEPLOYMENT, 8, 7)),
    ("a single replica waits for no other", (1, 20, 50), Workload(DEPLOYMENT, 1, 1)),
)
def test_a_workload_without_a_budget_goes_as_the_policy_lets_it(
    expected: tuple[int, float, float], workload: Workload
) -> None:
    assert seconds(takes(pods(4), workload=workload)) == expected


@cases(
    "expected, rows",
    ("what is not Ready is away already", (1, 0, 30), pods(3, ready=False, took=None)),
    ("what is on its way out waits for nobody", (0, 0, 0), pods(3, deleting=NOW)),
    ("a DaemonSet's pods stay", (0, 0, 0), pods(3, pod_class(owner="DaemonSet/web"))),
    ("how fast they start is not known: at least nothing", (3, 0, 100), pods(3, took=None)),
    ("the fastest start of the kind counts", (3, 60, 160), [*pods(2), *pods(1, took=40)]),
    ("the longest grace is cut", (3, 0, 1450), pods(3, pod_class(grace_seconds=3600), took=None)),
)
def test_only_what_moves_takes_time(expected: tuple[int, float, float], rows: list[Pod]) -> None:
    assert seconds(takes(rows, pdb("all"))) == expected


def test_the_slowest_budget_shows_how_long_the_drain_takes() -> None:
    db = pod_class(owner="StatefulSet/db", labels={"app": "db"})
    found = takes([*pods(2, took=200), *pods(9, db, took=1)], pdb("web", app="web"), pdb("db", app="db")).alone
    assert (found.limit, found.rounds, found.least / SECOND, found.most / SECOND) == ("default/web", 2, 400, 465)


def test_pods_of_other_drains_under_the_same_budget_take_turns_with_ours() -> None:
    found = takes(pods(3), pdb("web", app="web"))
    assert seconds(found, {"default/web": 2, "default/db": 9}) == (5, 100, 270)
    assert found.waiting == Counter({"default/web": 3})


def test_a_drain_lasts_as_long_as_the_policy_shows_and_its_longest_grace() -> None:
    settings = DrainSettings(timeout=timedelta(minutes=5))
    found = takes(pods(7), pdb("web", app="web"), drain=settings)
    assert found.deadline == timedelta(minutes=5, seconds=30)
    assert found.may_be_late
    assert not takes(pods(6), pdb("web", app="web"), drain=settings).may_be_late


def test_disks_make_the_longest_time_and_the_deadline_longer_and_the_shortest_time_no_longer() -> None:
    """A pod that is Ready 20 s after its start has had its disk by then: how long another node takes is not known."""
    own = pod_class(owner="StatefulSet/db", labels={"app": "db"}, volumes=mounts("data"))
    found = takes(pods(2, own), pdb("db", allowed=1, app="db"))

    assert seconds(found) == (2, 40, 2 * (20 + 30 + 90) + 5)
    assert found.deadline == DrainSettings().timeout + timedelta(seconds=30 + 2 * 90)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 50), st.integers(0, 9), st.integers(0, 9))
def test_more_pods_never_take_less_time_and_a_wider_budget_never_more(
    number: int, at_once: int, others: int, least: int, grace: int
) -> None:
    def time(pods: int, at_once: int, others: int) -> tuple[Any, ...]:
        row = Turns("x", pods, at_once, least * SECOND, (least + grace) * SECOND)
        found = DrainEstimate((row,)).beside({"x": others})
        return found.rounds, found.least, found.most

    now = time(number, at_once, others)
    assert time(number + 1, at_once, others) >= now
    assert time(number, at_once, others + 1) >= now
    assert time(number, at_once + 1, others) <= now
    assert now[1] <= now[2]


def disks(number: int, app: str = "db") -> list[Pod]:
    return [
        pod(f"{app}-{any_number}", owner=f"StatefulSet/{app}", volumes=mounts(f"data-{any_number}"))
        for any_number in range(number)
    ]


@cases(
    "expected, pods",
    ("nothing moves", 0, []),
    ("no pod has a disk", 0, [pod("a", volumes=(Volume("tmp", "emptyDir"),))]),
    ("one disk", 90, disks(1)),
    ("one that is made for the pod", 90, [pod("a", volumes=(Volume("tmp", "ephemeral"),))]),
    ("two of one pod move together", 90, [pod("a", volumes=mounts("data", "log"))]),
    ("those of one workload move in turn", 180, disks(2)),
    ("those of two workloads move at once", 90, [*disks(1), *disks(1, "queue")]),
    ("a cordon has an end, however many", 360, disks(9)),
)
def test_a_deadline_gives_for_disks_what_their_workload_needs_in_turn(expected: float, pods: list[Pod]) -> None:
    assert disk_moves(pods) == timedelta(seconds=expected) <= LONGEST_DISK_MOVES


def test_a_replacement_with_a_disk_may_start_that_much_later() -> None:
    assert [disk_time(disk) for disk in (*disks(1), pod("web"))] == [timedelta(seconds=90), timedelta(0)]
