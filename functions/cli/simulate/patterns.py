"""The demand of simulated days: a file, a curve, the limits of HorizontalPodAutoscalers; and CronJobs on top."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from functions.cli.analysis.simulated_days.patterns import (
    CronJob,
    Curve,
    Demand,
    Overlap,
    Range,
    by_curve,
    by_hours,
    runs_of,
    swinging,
    with_cron_jobs,
)
from functions.cli.output.format import count, some
from functions.cli.simulate.demand_files import controllers, read_hours
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.values import DEFAULT_ZONE, Schedule
from shared.errors import BadInput

KIND: Final = "HorizontalPodAutoscaler"
NO_WORKLOAD: Final = "{some} of {all} {verb} no workload whose pods are in the dump: {names}."
BACKWARDS: Final = "{some} of {all} {verb} minReplicas above maxReplicas: {names}."


class _Meta(msgspec.Struct):
    name: str
    namespace: str = "default"

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Target(msgspec.Struct):
    kind: str
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scale_target_ref: _Target
    max_replicas: int
    min_replicas: int | None = None

    @property
    def least(self) -> int:
        return 1 if self.min_replicas is None else self.min_replicas


class _Autoscaler(msgspec.Struct):
    metadata: _Meta
    spec: _Spec

    @property
    def target(self) -> str:
        target = self.spec.scale_target_ref
        return f"{self.metadata.namespace}/{target.kind}/{target.name}"


_decoder: Final = msgspec.json.Decoder(_Autoscaler)


def limits_in(
    objects: Iterable[tuple[str, bytes]], controllers: Mapping[str, str]
) -> tuple[dict[str, Range], tuple[str, ...]]:
    """Return the limits by controller, of workloads whose pods are there, and notes on autoscalers left aside."""
    raws = [raw for kind, raw in objects if kind == KIND]
    read = {hpa.metadata.key: hpa for raw in raws if (hpa := _read(raw)) is not None}
    backwards = [key for key, hpa in read.items() if hpa.spec.least > hpa.spec.max_replicas]
    unknown = [key for key, hpa in read.items() if hpa.target not in controllers and key not in backwards]
    found = {
        controllers[hpa.target]: Range(hpa.spec.least, hpa.spec.max_replicas)
        for key, hpa in read.items()
        if key not in {*backwards, *unknown}
    }
    every = count(len(raws), KIND)
    left = (note(NO_WORKLOAD, unknown, every, ("names", "name")), note(BACKWARDS, backwards, every, ("has", "have")))
    return found, tuple(filter(None, (*left, unreadable(len(raws) - len(read), every))))


def _read(raw: bytes) -> _Autoscaler | None:
    try:
        return _decoder.decode(raw)
    except msgspec.MsgspecError:
        return None


def note(sentence: str, keys: list[str], every: str, verbs: tuple[str, str]) -> str:
    """Return a note that names some of all objects of a kind; empty where there are none to name."""
    verb = verbs[len(keys) != 1]
    return sentence.format(some=len(keys), all=every, verb=verb, names=some(sorted(keys))) if keys else ""


def unreadable(many: int, every: str) -> str:
    """Return the note on so many objects that do not decode; empty where all do."""
    return f"{many} of {every} cannot be read." if many else ""


NIGHT: Final = 60
_HALF: Final = Fraction(1, 2)
SWINGS: Final = (
    "Demand is a guess: each Deployment falls to {night}% of its replicas at night (22 to 6 h {zone}) and is back by "
    "10 h, at weekends at {weekend}% of the rise; --demand FILE replaces the guess."
)
BY_NIGHT: Final = (
    "The snapshot is of {hour}, when this curve is low, but its pods are taken for the day's highest demand: "
    "dump the cluster by day, or add --demand FILE."
)
BY_LIMITS: Final = (
    "Demand is a curve between the limits of HorizontalPodAutoscalers ({known}): the least from 22 to 6 h {zone}, the "
    "most from 10 to 17 h, at weekends {weekend}% of the rise; all other workloads keep their replicas."
)
NOT_READ: Final = (
    "HorizontalPodAutoscalers are not read from a cluster, only from a dump: add hpa to the command of ebb dump."
)
BY_FILE: Final = "Demand is that of {file}: {known}; workloads that are not listed keep their replicas."


@dataclass(frozen=True, slots=True)
class Hours:
    file: Path | None
    night: int | None
    weekend: int
    time_zone: str
    objects: tuple[tuple[str, bytes], ...] = ()
    """The objects of a dump that are about demand, each with its kind."""
    live: bool = False


def demand_of(hours: Hours, snapshot: Snapshot, lasts: timedelta) -> tuple[Demand, tuple[str, ...]]:
    """Return the demand, and the notes on what it rests on; raise BadInput for an unknown time zone or a bad file."""
    zone, begins = _zone(hours.time_zone), snapshot.taken_at
    if hours.file is not None:
        if hours.night is not None:
            raise BadInput("--night: --demand has the demand of the night; leave out one of them.")
        rows = read_hours(hours.file, snapshot)
        known = BY_FILE.format(file=hours.file, known=count(len(rows), "workload"))
        return by_hours(rows, begins, lasts, zone), (known,)
    curve = Curve(weekend=hours.weekend, zone=zone)
    limits, left = limits_in(hours.objects, controllers(snapshot)) if hours.night is None else ({}, ())
    notes = (*left, NOT_READ) if hours.live and hours.night is None else left
    if limits:
        known = BY_LIMITS.format(known=count(len(limits), "workload"), zone=hours.time_zone, weekend=hours.weekend)
        return by_curve(limits, curve, begins, lasts), (known, *notes)
    night = NIGHT if hours.night is None else hours.night
    note = SWINGS.format(night=night, weekend=hours.weekend, zone=hours.time_zone)
    return by_curve(swinging(snapshot, night), curve, begins, lasts), (note, *_by_night(begins, zone), *notes)


def _by_night(begins: datetime, zone: ZoneInfo) -> tuple[str, ...]:
    """Return a note where the snapshot is of an hour at which the curve is in its lower half."""
    if Curve(weekend=100, zone=zone).share(begins) >= _HALF:
        return ()
    return (BY_NIGHT.format(hour=f"{begins.astimezone(zone):%H:%M} {zone.key}"),)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(f"--time-zone: {name!r} is not known; write for example Europe/Amsterdam.") from error


CRON_JOB: Final = "CronJob"
RUN: Final = "{all} {verb}, each {minutes} (--job-minutes)."
SUSPENDED: Final = "{some} of {all} {verb} suspended, and not run: {names}."
NO_SCHEDULE: Final = "{some} of {all} {verb} a schedule or time zone that cannot be read, and not run: {names}."
_LONGEST: Final = 31 * 24 * 3600
"""Seconds: no more are played."""
JOBS_NOT_READ: Final = (
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


_job_decoder: Final = msgspec.json.Decoder(_WrittenCronJob)


def add_cron_jobs(
    demand: Demand, objects: Iterable[tuple[str, bytes]], snapshot: Snapshot, lasts: timedelta, usual: timedelta
) -> tuple[Demand, tuple[str, ...]]:
    """Return the demand with the runs of CronJobs, and notes on what runs and on what does not."""
    raws = [raw for kind, raw in objects if kind == CRON_JOB]
    folder = PodDecoder()
    read = {job.key: job for raw in raws if (job := _read_job(raw, folder)) is not None}
    runs = {key: job for key, job in read.items() if _has_schedule(job, snapshot, usual)}
    found = with_cron_jobs(demand, tuple(runs.values()), snapshot, lasts, usual)
    return found, tuple(filter(None, _job_notes(len(raws), read, runs, usual)))


def _job_notes(all_: int, read: Mapping[str, CronJob], runs: Mapping[str, CronJob], usual: timedelta) -> Iterator[str]:
    suspended = [key for key, job in runs.items() if job.suspended]
    unscheduled, every = [key for key in read if key not in runs], count(all_, CRON_JOB)
    if at_work := len(runs) - len(suspended):
        verb, minutes = ("runs at its schedule", "run at their schedule")[at_work != 1], usual // timedelta(minutes=1)
        yield RUN.format(all=count(at_work, CRON_JOB), verb=verb, minutes=count(minutes, "minute"))
    yield note(SUSPENDED, suspended, every, ("is", "are"))
    yield note(NO_SCHEDULE, unscheduled, every, ("has", "have"))
    yield unreadable(all_ - len(read), every)


def _has_schedule(job: CronJob, snapshot: Snapshot, usual: timedelta) -> bool:
    try:
        runs_of(job, snapshot.taken_at, timedelta(), usual)
    except BadInput:
        return False
    return True


def _read_job(raw: bytes, folder: PodDecoder) -> CronJob | None:
    try:
        return _job(_job_decoder.decode(raw), folder)
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
