"""The demand of simulated days: by a file, or by a curve."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from functions.cli.analysis.simulated_days.patterns import Curve, Demand, by_curve, by_hours, swinging
from functions.cli.output.format import count
from functions.cli.simulate.demand_files import read_hours
from shared.core.cluster.snapshot import Snapshot
from shared.errors import BadInput

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
BY_FILE: Final = "Demand is that of {file}: {known}; workloads that are not listed keep their replicas."


@dataclass(frozen=True, slots=True)
class Hours:
    file: Path | None
    night: int | None
    weekend: int
    time_zone: str


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
    night = NIGHT if hours.night is None else hours.night
    note = SWINGS.format(night=night, weekend=hours.weekend, zone=hours.time_zone)
    return by_curve(swinging(snapshot, night), curve, begins, lasts), (note, *_by_night(begins, zone))


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
