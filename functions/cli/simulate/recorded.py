"""Demand from Ebb's own log: `cluster_state` lines say how much CPU pods asked for at each hour.

All Deployments follow the sum, from what they have now: nobody wrote down which of them rose. Must not guess an hour
that was not recorded: the one before it counts.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from functions.cli.files import name_of, read_bytes
from shared.errors import BadInput

EVENT: Final = "cluster_state"
_LABELS: Final = ("logging.googleapis.com/labels", "labels")


def is_log(data: bytes) -> bool:
    """Whether a file holds JSON, and not a CSV."""
    return data.lstrip()[:1] in {b"{", b"["}


def hours_in(path: Path, zone: tzinfo) -> list[float]:
    """Return for each hour of a day the requested CPU on average, as a share of the highest of them.

    Raises:
        BadInput: a line is no JSON, or none is of that event.
    """
    sums: dict[int, list[float]] = {}
    for at, cpu in _rows(path):
        sums.setdefault(at.astimezone(zone).hour, []).append(cpu)
    if not sums:
        raise BadInput(f"{name_of(path)}: no {EVENT} line with a time and requested_cpu is in it; see docs/events.md.")
    last = sum(sums[max(sums)]) / len(sums[max(sums)])
    means: list[float] = []
    for hour in range(24):
        last = sum(sums[hour]) / len(sums[hour]) if hour in sums else last
        means.append(last)
    return [mean / max(means) if max(means) else 0.0 for mean in means]


def _rows(path: Path) -> Iterator[tuple[datetime, float]]:
    for place, entry in _entries(path):
        fields: Mapping[str, Any] = entry.get("jsonPayload") or entry
        labels: Mapping[str, Any] = next((entry[key] for key in _LABELS if isinstance(entry.get(key), dict)), {})
        if EVENT not in {labels.get("event"), fields.get("event")} or "requested_cpu" not in fields:
            continue
        try:
            at = datetime.fromisoformat(str(entry.get("timestamp") or entry.get("time")))
            yield at, float(fields["requested_cpu"])
        except ValueError as error:
            raise BadInput(f"{name_of(path)}:{place}: {error}; take lines as Cloud Logging gives them.") from error


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = read_bytes(path).decode("utf-8", errors="replace")
    if text.lstrip().startswith("["):
        yield from ((1, entry) for entry in _json(text, path, 1))
        return
    for place, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield place, _json(line, path, place)


def _json(text: str, path: Path, place: int) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput(f"{name_of(path)}:{place}: it is no JSON; take lines as Cloud Logging gives them.") from error
