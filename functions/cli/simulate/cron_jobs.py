"""The CronJobs of a dump run at their schedules in simulated days; those that do not are named in a note."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final

import msgspec

from functions.cli.analysis.simulated_days.patterns import CronJob, Demand, Overlap, runs_of, with_cron_jobs
from functions.cli.output.format import count
from functions.cli.simulate.patterns import note, unreadable
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.values import DEFAULT_ZONE, Schedule
from shared.errors import BadInput

KIND: Final = "CronJob"
RUN: Final = "{all} {verb}, each {minutes} (--job-minutes)."
SUSPENDED: Final = "{some} of {all} {verb} suspended, and not run: {names}."
NO_SCHEDULE: Final = "{some} of {all} {verb} a schedule or time zone that cannot be read, and not run: {names}."
_LONGEST: Final = 31 * 24 * 3600
"""Seconds: no more are played."""
NOT_READ: Final = (
    "CronJobs are not read from a cluster, only from a dump: add cronjobs to the command of ebb dump. Jobs that run "
    "now stay, and no others come."
)


class _WrittenJobSpec(wire.Partial, frozen=True):
    template: wire.Pod
    parallelism: int | None = None
    completions: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool | None = None

    @property
    def pods(self) -> int:
        """How many run at the same time."""
        most = 1 if self.parallelism is None else self.parallelism
        return most if self.completions is None else min(most, self.completions)


class _WrittenJobTemplate(wire.Partial, frozen=True):
    spec: _WrittenJobSpec


class _WrittenSpec(wire.Partial, frozen=True):
    schedule: str
    job_template: _WrittenJobTemplate
    time_zone: str | None = None
    suspend: bool | None = None
    concurrency_policy: Overlap | None = None


class _WrittenCronJob(wire.Partial, frozen=True):
    metadata: wire.Meta
    spec: _WrittenSpec


_decoder: Final = msgspec.json.Decoder(_WrittenCronJob)


def beside(
    demand: Demand, objects: Iterable[tuple[str, bytes]], snapshot: Snapshot, lasts: timedelta, usual: timedelta
) -> tuple[Demand, tuple[str, ...]]:
    """Return the demand with the runs of CronJobs, and notes on what runs and on what does not."""
    raws = [raw for kind, raw in objects if kind == KIND]
    folder = PodDecoder()
    read = {each.key: each for raw in raws if (each := _read(raw, folder)) is not None}
    runs = {key: each for key, each in read.items() if _has_schedule(each, snapshot, usual)}
    found = with_cron_jobs(demand, tuple(runs.values()), snapshot, lasts, usual)
    return found, tuple(filter(None, _notes(len(raws), read, runs, usual)))


def _notes(all_: int, read: Mapping[str, CronJob], runs: Mapping[str, CronJob], usual: timedelta) -> Iterator[str]:
    suspended = [key for key, job in runs.items() if job.suspended]
    unscheduled, every = [key for key in read if key not in runs], count(all_, KIND)
    if at_work := len(runs) - len(suspended):
        verb, minutes = ("runs at its schedule", "run at their schedule")[at_work != 1], usual // timedelta(minutes=1)
        yield RUN.format(all=count(at_work, KIND), verb=verb, minutes=count(minutes, "minute"))
    yield note(SUSPENDED, suspended, every, ("is", "are"))
    yield note(NO_SCHEDULE, unscheduled, every, ("has", "have"))
    yield unreadable(all_ - len(read), every)


def _has_schedule(job: CronJob, snapshot: Snapshot, usual: timedelta) -> bool:
    try:
        runs_of(job, snapshot.taken_at, timedelta(), usual)
    except BadInput:
        return False
    return True


def _read(raw: bytes, folder: PodDecoder) -> CronJob | None:
    try:
        return _job(_decoder.decode(raw), folder)
    except (msgspec.MsgspecError, BadInput):
        return None


def _job(read: _WrittenCronJob, folder: PodDecoder) -> CronJob:
    """Return the CronJob. Its Jobs share one owner: what each is called nobody knows, and nothing asks."""
    meta, job = read.metadata, read.spec.job_template.spec
    namespace, limit = meta.namespace or "default", job.active_deadline_seconds
    owner = wire.OwnerReference("Job", meta.name, meta.uid, controller=True)
    named = msgspec.structs.replace(
        job.template.metadata, name=meta.name, namespace=namespace, owner_references=[owner]
    )
    return CronJob(
        namespace,
        meta.name,
        Schedule(read.spec.schedule, timedelta(), read.spec.time_zone or DEFAULT_ZONE),
        folder.decode(msgspec.structs.replace(job.template, metadata=named)).spec,
        job.pods,
        None if limit is None else timedelta(seconds=min(limit, _LONGEST)),
        suspended=bool(read.spec.suspend or job.suspend),
        overlap=read.spec.concurrency_policy or Overlap.ALLOW,
    )
