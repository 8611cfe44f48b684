"""The demand that a person means: a file of it, or a curve between limits. What was taken is said in a note.

Must not play anything.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from functions.cli.format import count
from functions.cli.simulate.csv_hours import read_hours
from shared.core.cluster.snapshot import Snapshot
from shared.core.simulated_days.demand import Demand
from shared.core.simulated_days.patterns import Curve, by_curve, by_hours, swinging
from shared.errors import BadInput

NIGHT: Final = 60
SWINGS: Final = (
    "Demand is a guess: each Deployment falls to {night}% of its replicas at night (22 to 6 h {zone}) and is back by "
    "10 h, at weekends at {weekend}% of the rise; --demand FILE says what is known."
)
BY_FILE: Final = "Demand is that of {file}: {known}; all else stays as it is."


@dataclass(frozen=True, slots=True)
class Hours:
    """What a person said of demand."""

    file: Path | None
    night: int | None
    weekend: int
    time_zone: str
    dumps: tuple[Path, ...] = ()


def demand_of(hours: Hours, picture: Snapshot, lasts: timedelta) -> tuple[Demand, tuple[str, ...]]:
    """Return the demand, and the notes that say what it rests on.

    Raises:
        BadInput: a time zone is unknown, or a file cannot be used.
    """
    zone, begins = _zone(hours.time_zone), picture.taken_at
    if hours.file is not None:
        if hours.night is not None:
            raise BadInput("--night: --demand says what is wanted at night; leave out one of them.")
        rows = read_hours(hours.file, picture)
        known = BY_FILE.format(file=hours.file, known=count(len(rows), "workload"))
        return by_hours(rows, begins, lasts, zone), (known,)
    night = NIGHT if hours.night is None else hours.night
    curve = Curve(weekend=hours.weekend, zone=zone)
    said = SWINGS.format(night=night, weekend=hours.weekend, zone=hours.time_zone)
    return by_curve(swinging(picture, night), curve, begins, lasts), (said,)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(f"--time-zone: {name!r} is not known; write for example Europe/Amsterdam.") from error
