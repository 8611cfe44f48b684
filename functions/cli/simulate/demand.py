"""The demand of simulated days: by a curve, or by a CSV of replicas or of requests of CPU or memory by hour."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from functions.cli.analysis.simulated_days.patterns import Curve, Demand, by_curve, by_hours, swinging
from functions.cli.dumps.files import name_of
from functions.cli.errors import near
from functions.cli.input.files import read_bytes
from functions.cli.output.format import count
from shared.core.cluster.resources import CPU, MEMORY, amount
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
        listed = f"{count(len(rows), 'workload')}; workloads that are not listed keep their replicas"
        return by_hours(rows, begins, lasts, zone), (f"Demand is that of {hours.file}: {listed}.",)
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


REPLICAS: Final = "replicas"
UNITS: Final = (REPLICAS, CPU, MEMORY)
HEAD: Final = "workload,0,1,2,…,23"
DAY, WEEK = 24, 168
MOST: Final = 100_000
_DIGITS: Final = 12
_NEAR: Final = 0.8
"""All names share their namespaces and kinds: only the last part is compared, and a short word has none to spare."""


def read_hours(path: Path, snapshot: Snapshot) -> Mapping[str, Sequence[int]]:
    """Return replicas by hour, by the controller that pods name; raise BadInput for a line that cannot be used."""
    (_, head), *rows = _read_rows(path)
    known, found = controllers(snapshot), dict[str, Sequence[int]]()
    has_units = head[1:2] == ["unit"]
    for number, row in rows:
        place, (name, *cells) = f"{name_of(path)}:{number}", row
        controller = _controller(name.strip(), known, place)
        if controller in found:
            raise BadInput(f"{place}: {name!r} has a line already; write each workload once.")
        unit, *cells = (cells or [""]) if has_units else [REPLICAS, *cells]
        found[controller] = _hours(cells, place, unit.strip(), snapshot, controller)
    return found


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows with the numbers of their lines, the head first; refuse what is no CSV with commas."""
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise BadInput(f"{name_of(path)}: it is no text in UTF-8; save it as CSV UTF-8.") from error
    if not any(line.strip() for line in lines):
        raise BadInput(f"{name_of(path)}: is empty; its first line is {HEAD}")
    if lines[0].count(";") > lines[0].count(","):
        raise BadInput(
            f"{name_of(path)}:1: ; stands between the columns, as spreadsheets write it here and there; put , there."
        )
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if row and not row[0].startswith("#")]
    if not rows or rows[0][1][0].strip() != "workload":
        raise BadInput(f"{name_of(path)}:1: the first line names no hours; write {HEAD}")
    return rows


def controllers(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the controllers of the pods that are there by each name that a person may write."""
    found: dict[str, str] = {}
    for pod in snapshot.pods:
        key = pod.spec.workload
        if key and pod.deleting is None and not pod.phase.finished:
            workload = snapshot.workloads.get(key)
            found.setdefault(key, key)
            if workload is not None and workload.name:
                found[workload.name] = key
    return found


def _controller(name: str, known: Mapping[str, str], place: str) -> str:
    if name in known:
        return known[name]
    meant = near(name.rpartition("/")[2], known, _NEAR) or "write namespace/Deployment/name as ebb explain names it."
    raise BadInput(f"{place}: no pods of a workload {name!r} are there; {meant}")


def _hours(cells: Sequence[str], place: str, unit: str, snapshot: Snapshot, controller: str) -> Sequence[int]:
    asks = 1 if unit == REPLICAS else _requested_by_pod(unit, controller, snapshot, place)
    if len(cells) not in {DAY, WEEK}:
        raise BadInput(f"{place}: {len(cells)} hours; write {DAY} of a day, or {WEEK} of a week from Monday.")
    found: list[int] = []
    for hour, cell in enumerate(cells):
        at = f"{place}: hour {hour}"
        replicas = -(-_amount(unit, cell.strip(), at) // asks)  # carried by pods of the size of those there
        if replicas > MOST:
            raise BadInput(f"{at}: {replicas:,} replicas are more than the {MOST:,} that can be played.")
        found.append(replicas)
    return found


def _requested_by_pod(unit: str, controller: str, snapshot: Snapshot, place: str) -> int:
    if unit not in UNITS:
        raise BadInput(f"{place}: {unit!r} is no unit; write {REPLICAS}, {CPU} or {MEMORY}.")
    pods = (pod for pod in snapshot.pods if pod.spec.workload == controller and pod.deleting is None)
    asks = min(pods, key=lambda pod: pod.key).spec.requests.get(unit)
    if not asks:
        raise BadInput(f"{place}: the pods of {controller} ask for no {unit}; write {REPLICAS}.")
    return asks


def _amount(unit: str, cell: str, place: str) -> int:
    if unit != REPLICAS:
        try:
            return amount(unit, cell)
        except BadInput as error:
            raise BadInput(f"{place}: {error}") from error
    if cell.isascii() and cell.isdigit():
        return int(cell) if len(cell) <= _DIGITS else 10**_DIGITS
    raise BadInput(f"{place}: {cell!r} is no number of replicas; write a whole number from 0.")
