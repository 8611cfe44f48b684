"""What becomes of a pod of a simulated cluster when it is told to end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.patterns import (
    CronJob,
    Demand,
    Overlap,
    ReplicaChange,
    runs_of,
    with_cron_jobs,
)
from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl, bind, end, evict
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.policy.values import Schedule
from shared.errors import BadInput
from tests.builders import NOW, cluster, node, pdb, pod, pod_class


def world(**changes: Any) -> World:
    pods = [pod(name, on="n1", owner="ReplicaSet/web", **changes) for name in ("a", "b")]
    return World(cluster([node("n1")], pods), load(), DELAYS, NOW)


def test_a_pod_takes_its_grace_to_end_and_no_longer_than_the_longest_end() -> None:
    short, long = world(grace_seconds=30), world(grace_seconds=9 * 3600)
    for played in (short, long):
        end(played, played.pods["default/a"])

    assert short.pods["default/a"].deleting == NOW + timedelta(seconds=30)
    assert long.pods["default/a"].deleting == NOW + DELAYS.longest_end


def test_a_pod_that_takes_anothers_place_has_been_moved_as_often_and_once_more() -> None:
    seen = world()
    evict(seen, seen.pods["default/a"], Actor.EBB)
    (first,) = seen.pending
    assert seen.moves[first].times == 1

    evict(seen, seen.pods[first], Actor.EBB)
    (second,) = seen.pending
    assert (seen.moves[second].times, seen.measures.twice) == (2, 1)


def test_a_pod_that_is_made_again_once_its_forerunner_has_ended_has_been_moved_as_often_too() -> None:
    seen = World(cluster([node("n1")], [pod("a", on="n1", owner="StatefulSet/db")]), load(), DELAYS, NOW)
    for times in (1, 2):
        (latest,) = seen.pods.values()
        evict(seen, latest, Actor.EBB)
        seen.now += DELAYS.longest_end
        for action in seen.agenda.due(seen.now):
            action()

        assert [move.times for move in seen.moves.values()] == [times]
        (following,) = seen.pending
        bind(seen, following, "n1")


def test_a_pod_that_is_ending_from_the_beginning_counts_for_no_budget() -> None:
    pods = [pod("a", on="n1"), pod("b", on="n1", deleting=NOW)]
    seen = World(cluster([node("n1")], pods, disruption_budgets=(pdb("web", app="web"),)), load(), DELAYS, NOW)

    assert [(budget.expected_pods, budget.current_healthy) for budget in seen.budgets.now()] == [(1, 1)]


WEB = "default/ReplicaSet/web"


def costing(written: str | None = None, mark: str = "") -> Pod:
    """A pod on which people wrote a deletion cost, or that carries Ebb's mark of one."""
    notes = {} if written is None else {names.DELETION_COST: written}
    return pod("b", on="n1", owner="ReplicaSet/web", annotations=notes, steered=mark)


@pytest.mark.parametrize(
    ("expected", "other"),
    [
        pytest.param("a", costing(), id="no cost: the first by name"),
        pytest.param("b", costing(mark="-5"), id="Ebb's"),
        pytest.param("b", costing("-5"), id="its people's"),
        pytest.param("a", costing("7", mark="-5"), id="its people's, written over Ebb's"),
        pytest.param("a", costing("dear", mark="-5"), id="what stands there and cannot be read is none"),
        pytest.param("a", costing(mark="true"), id="a mark from its template, next to no cost"),
        pytest.param("a", costing(mark="7"), id="a mark with its cost from its template, above Ebb's own"),
    ],
)
def test_of_two_pods_the_one_of_the_lower_cost_is_dropped(expected: str, other: Pod) -> None:
    pods = [pod("a", on="n0", owner="ReplicaSet/web"), other]
    world = World(cluster([node("n0"), node("n1")], pods), load(), DELAYS, NOW)

    ReplicaControl(world).scale(WEB, 1)

    assert [one.name for one in world.pods.values() if one.deleting is not None] == [expected]


MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
HALF_HOUR = timedelta(minutes=30)
JOB: PodClass = pod_class(owner="Job/nightly", cpu=2)


def cron_job(cron: str = "0 2 * * *", *, zone: str = "UTC", **changes: Any) -> CronJob:
    return CronJob("default", "nightly", Schedule(cron, timedelta(), zone), JOB, **changes)


def hours(job: CronJob, lasts: timedelta = DAY, begins: datetime = MONDAY) -> list[float]:
    """When the runs of a job begin, in hours."""
    return [(run.at - begins) / timedelta(hours=1) for run in runs_of(job, begins, lasts, HALF_HOUR)]


@pytest.mark.parametrize(
    ("expected", "job", "days"),
    [
        pytest.param([2], cron_job(), 1, id="once a night"),
        pytest.param([2, 26, 50], cron_job(), 3, id="each night"),
        pytest.param([1], cron_job(zone="Europe/Amsterdam"), 1, id="by the clock of its time zone"),
        pytest.param(
            list(range(1, 25)), cron_job("@hourly"), 1, id="a word for a schedule; the snapshot has midnight's"
        ),
        pytest.param([], cron_job("0 2 * * sun"), 1, id="not on that day"),
        pytest.param([], cron_job(suspended=True), 1, id="suspended"),
        pytest.param([], cron_job(pods=0), 1, id="of no pods"),
        pytest.param([], cron_job(limit=timedelta()), 1, id="that may not run at all"),
    ],
)
def test_a_run_begins_at_each_hit_of_the_schedule(expected: list[float], job: CronJob, days: int) -> None:
    assert hours(job, days * DAY) == expected


@pytest.mark.parametrize(
    ("expected", "job"),
    [
        pytest.param([(2.0, 30)], cron_job(), id="as long as is shown"),
        pytest.param([(2.0, 10)], cron_job(limit=timedelta(minutes=10)), id="until its activeDeadlineSeconds"),
        pytest.param([(2.0, 30)], cron_job(limit=DAY), id="a later deadline changes nothing"),
        pytest.param([(2.0, 30), (2.25, 30)], cron_job("0,15 2 * * *"), id="runs next to each other"),
        pytest.param([(2.0, 30)], cron_job("0,15 2 * * *", overlap=Overlap.FORBID), id="none next to another"),
        pytest.param([(2.0, 30), (2.5, 30)], cron_job("0,15,30 2 * * *", overlap=Overlap.FORBID),
                     id="the next one once the first has ended"),
        pytest.param([(2.0, 15), (2.25, 30)], cron_job("0,15 2 * * *", overlap=Overlap.REPLACE),
                     id="one in place of the other"),
    ],
)  # fmt: skip
def test_a_run_lasts(expected: list[tuple[float, int]], job: CronJob) -> None:
    found = runs_of(job, MONDAY, DAY, HALF_HOUR)

    assert [((run.at - MONDAY) / timedelta(hours=1), run.lasts // timedelta(minutes=1)) for run in found] == expected


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(cron_job("@every 5m"), id="an interval"),
        pytest.param(cron_job("whenever"), id="no schedule"),
        pytest.param(cron_job(zone="Mars/Base"), id="no time zone"),
    ],
)
def test_what_cannot_be_read_is_refused_even_where_it_is_suspended(job: CronJob) -> None:
    with pytest.raises(BadInput):
        runs_of(job, MONDAY, DAY, HALF_HOUR)


def test_runs_come_next_to_the_demand_that_is_known_in_order_of_time() -> None:
    wish = ReplicaChange(MONDAY, "default/ReplicaSet/web", 2)
    ramps = ((MONDAY, MONDAY + DAY),)
    jobs = [cron_job("0 3 * * *", pods=4), cron_job()]
    found = with_cron_jobs(Demand((wish,), (), ramps), jobs, cluster([node("n")]), DAY, HALF_HOUR)

    assert [(run.pods, run.spec) for run in found.jobs] == [(1, JOB), (4, JOB)]
    assert (found.changes, found.ramps) == ((wish,), ramps)


@pytest.mark.parametrize(
    ("expected", "owner"),
    [
        pytest.param(["default/Job/nightly-29384756"], "Job/nightly-29384756", id="of the CronJob"),
        pytest.param([], "Job/nightly-by-hand", id="made by hand"),
        pytest.param([], "Job/other-29384756", id="of another"),
        pytest.param([], "ReplicaSet/nightly-29384756", id="no Job"),
    ],
)
@pytest.mark.parametrize("suspended", [True, False])
def test_a_job_that_runs_in_the_snapshot_ends_after_the_same_time(
    expected: list[str], owner: str, *, suspended: bool
) -> None:
    picture = cluster([node("n")], [pod("j", on="n", owner=owner)])
    found = with_cron_jobs(Demand(), [cron_job(suspended=suspended)], picture, DAY, HALF_HOUR)

    assert found.changes == tuple(ReplicaChange(NOW + HALF_HOUR, name, 0) for name in expected)


def test_a_node_that_only_a_running_job_needs_goes_once_it_has_ended() -> None:
    keeps = [pod(f"w{n}", on="n0", cpu=0.9, owner=f"ReplicaSet/w{n}") for n in range(4)]
    picture = cluster([node("n0"), node("n1")], [*keeps, pod("j", on="n1", cpu=2, owner="Job/nightly-29384756")])
    demand = with_cron_jobs(Demand(), [cron_job(suspended=True)], picture, DAY, HALF_HOUR)

    assert simulate(Days(picture, load(), Demand(), DAY)).end_nodes == 2
    assert simulate(Days(picture, load(), demand, DAY)).end_nodes == 1


def pods_of_a_run(*, evicted_at: int | None = None, bound_after: int = 0) -> dict[int, int]:
    """How many pods of a run of two, of ten minutes each, there are after so many minutes."""
    world = World(cluster([node("n0")]), load(), DELAYS, NOW)
    ReplicaControl(world).run_job(JOB, 2, timedelta(minutes=10))
    there: dict[int, int] = {}
    for minute in range(40):
        world.now = NOW + timedelta(minutes=minute)
        for action in world.agenda.due(world.now):
            action()
        for key in list(world.pending) if minute >= bound_after else []:
            bind(world, key, "n0")
        if minute == evicted_at:
            evict(world, min(world.pods.values(), key=lambda one: one.key), Actor.EBB)
        there[minute] = len(world.pods)
    return there


@pytest.mark.parametrize(
    ("expected", "evicted_at", "bound_after"),
    [
        pytest.param({9: 2, 10: 0}, None, 0, id="both end"),
        pytest.param({14: 2, 15: 0}, None, 5, id="so long after they got a node"),
        pytest.param({9: 2, 10: 1, 15: 1, 16: 0}, 5, 0, id="an evicted one begins again, and only once"),
    ],
)
def test_pods_of_a_run_have_their_whole_time(
    expected: dict[int, int], evicted_at: int | None, bound_after: int
) -> None:
    found = pods_of_a_run(evicted_at=evicted_at, bound_after=bound_after)

    assert {minute: found[minute] for minute in expected} == expected
