"""CronJobs as demand: at each hit of a schedule some pods come, and go after a while.

How long a run takes no object tells: it is given. Must not read objects: what they say has been read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from functions.cli.analysis.simulated_days.patterns import Demand, JobRun, Wish
from shared.core.cluster.pod import PodClass, cron_job_of
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.schedule import hits
from shared.core.policy.values import Schedule


class Overlap(StrEnum):
    """What a hit does while the run before it is not over (spec.concurrencyPolicy)."""

    ALLOW = "Allow"
    FORBID = "Forbid"
    REPLACE = "Replace"


@dataclass(frozen=True, slots=True)
class CronJob:
    """One CronJob: when it runs, so many pods of which class, and how long they may at most."""

    namespace: str
    name: str
    schedule: Schedule
    spec: PodClass
    pods: int = 1
    limit: timedelta | None = None
    suspended: bool = False
    overlap: Overlap = Overlap.ALLOW

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def lasts(self, usual: timedelta) -> timedelta:
        """Return how long a run takes that is not ended by another."""
        return usual if self.limit is None else min(usual, self.limit)

    def owns(self, spec: PodClass) -> bool:
        """Whether a pod is of a Job of this."""
        return cron_job_of(spec) == f"{self.namespace}/CronJob/{self.name}"


def runs_of(job: CronJob, begins: datetime, lasts: timedelta, usual: timedelta) -> tuple[JobRun, ...]:
    """Return the runs that begin in a stretch of time, each as long as is usual; a picture has those of its own moment.

    Raises:
        BadInput: the schedule or its time zone cannot be read.
    """
    times = tuple(hits(job.schedule, begins, begins + lasts))
    if job.suspended or job.pods < 1 or job.lasts(usual) <= timedelta():
        return ()
    runs = _each(times, job.lasts(usual), job.overlap)
    return tuple(JobRun(at, job.spec, job.pods, takes) for at, takes in runs)


def _each(times: Sequence[datetime], takes: timedelta, overlap: Overlap) -> Iterator[tuple[datetime, timedelta]]:
    """Yield when runs begin and how long they take."""
    if overlap is Overlap.REPLACE:
        yield from ((one, min(takes, two - one)) for one, two in pairwise(times))
        yield from ((last, takes) for last in times[-1:])
        return
    ended: datetime | None = None
    for at in times:
        if overlap is Overlap.ALLOW or ended is None or at >= ended:
            ended = at + takes
            yield at, takes


def with_cron_jobs(
    demand: Demand, jobs: Sequence[CronJob], picture: Snapshot, lasts: timedelta, usual: timedelta
) -> Demand:
    """Return the demand with their runs; what runs of them in the picture ends after the same time.

    Raises:
        BadInput: a schedule or its time zone cannot be read.
    """
    runs = [run for job in jobs for run in runs_of(job, picture.taken_at, lasts, usual)]
    ends = {
        pod.spec.workload: Wish(picture.taken_at + job.lasts(usual), pod.spec.workload, 0)
        for job in jobs
        for pod in picture.pods
        if job.owns(pod.spec)
    }
    return replace(
        demand,
        wishes=tuple(sorted((*demand.wishes, *ends.values()), key=lambda wish: wish.at)),
        jobs=tuple(sorted((*demand.jobs, *runs), key=lambda run: run.at)),
    )
