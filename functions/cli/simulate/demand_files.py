"""Demand from a file: replicas, or requests of CPU or memory, by hour from a CSV."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from functions.cli.dumps.files import name_of
from functions.cli.errors import near
from functions.cli.input.files import read_bytes
from shared.core.cluster.resources import CPU, MEMORY, amount
from shared.core.cluster.snapshot import Snapshot
from shared.errors import BadInput

WORKLOAD: Final = "workload"
UNIT: Final = "unit"
REPLICAS: Final = "replicas"
UNITS: Final = (REPLICAS, CPU, MEMORY)
HEAD: Final = f"{WORKLOAD},0,1,2,…,23"
DAY, WEEK = 24, 168
MOST: Final = 100_000
_DIGITS: Final = 12
_NEAR: Final = 0.8
"""All names share their namespaces and kinds: only the last part is compared, and a short word has none to spare."""


def read_hours(path: Path, snapshot: Snapshot) -> Mapping[str, Sequence[int]]:
    """Return replicas by hour, by the controller that pods name; raise BadInput for a line that cannot be used."""
    lines = _text(path).splitlines()
    _check(path, lines)
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if row and not row[0].startswith("#")]
    if not rows or rows[0][1][0].strip() != WORKLOAD:
        raise BadInput(f"{name_of(path)}:1: the first line names no hours; write {HEAD}")
    known, found = controllers(snapshot), dict[str, Sequence[int]]()
    units = rows[0][1][1:2] == [UNIT]
    for number, row in rows[1:]:
        place = f"{name_of(path)}:{number}"
        controller = _controller(row[0].strip(), known, place)
        if controller in found:
            raise BadInput(f"{place}: {row[0]!r} has a line already; write each workload once.")
        size = _size("".join(row[1:2]).strip(), controller, snapshot, place) if units else PodSize()
        found[controller] = _hours(row[2:] if units else row[1:], place, size)
    return found


def _check(path: Path, lines: Sequence[str]) -> None:
    """Refuse what is no CSV with commas, by what it is."""
    if not any(line.strip() for line in lines):
        raise BadInput(f"{name_of(path)}: is empty; its first line is {HEAD}")
    if lines[0].count(";") > lines[0].count(","):
        raise BadInput(
            f"{name_of(path)}:1: ; stands between the columns, as spreadsheets write it here and there; put , there."
        )


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


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name_of(path)}: it is no text in UTF-8; save it as CSV UTF-8.") from error


def _controller(name: str, known: Mapping[str, str], place: str) -> str:
    if name in known:
        return known[name]
    meant = near(name.rpartition("/")[2], known, _NEAR) or "write namespace/Deployment/name as ebb explain names it."
    raise BadInput(f"{place}: no pods of a workload {name!r} are there; {meant}")


def _hours(cells: Sequence[str], place: str, size: "PodSize") -> Sequence[int]:
    if len(cells) not in {DAY, WEEK}:
        raise BadInput(f"{place}: {len(cells)} hours; write {DAY} of a day, or {WEEK} of a week from Monday.")
    places = (f"{place}: hour {hour}" for hour in range(len(cells)))
    found = [(size.replicas(cell.strip(), at), at) for cell, at in zip(cells, places, strict=True)]
    for replicas, at in found:
        if replicas > MOST:
            raise BadInput(f"{at}: {replicas:,} replicas are more than the {MOST:,} that can be played.")
    return [replicas for replicas, _ in found]


@dataclass(frozen=True, slots=True)
class PodSize:
    unit: str = REPLICAS
    asks: int = 1

    def replicas(self, cell: str, place: str) -> int:
        """Return how many replicas a cell asks for; requests are carried by pods of the size of those there."""
        if self.unit != REPLICAS:
            return -(-_amount(self.unit, cell, place) // self.asks)
        if cell.isascii() and cell.isdigit():
            return int(cell) if len(cell) <= _DIGITS else 10**_DIGITS
        raise BadInput(f"{place}: {cell!r} is no number of replicas; write a whole number from 0.")


def _amount(unit: str, cell: str, place: str) -> int:
    try:
        return amount(unit, cell)
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from error


def _size(unit: str, controller: str, snapshot: Snapshot, place: str) -> PodSize:
    if unit == REPLICAS:
        return PodSize()
    if unit not in UNITS:
        raise BadInput(f"{place}: {unit!r} is no unit; write {REPLICAS}, {CPU} or {MEMORY}.")
    pods = (pod for pod in snapshot.pods if pod.spec.workload == controller and pod.deleting is None)
    asks = min(pods, key=lambda pod: pod.key).spec.requests.get(unit)
    if not asks:
        raise BadInput(f"{place}: the pods of {controller} ask for no {unit}; write {REPLICAS}.")
    return PodSize(unit, asks)
