"""What Cloud Logging makes of a function's line: the special keys leave the payload, the rest is `jsonPayload`.

Source: cloud.google.com/logging/docs/structured-logging. Written from that page, not from `shared.log`.
"""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shared.log import JsonLog
from tests.builders import CLUSTER

Entry = Mapping[str, Any]
PREFIX = "logging.googleapis.com/"
_SPECIAL = {f"{PREFIX}{key}": key for key in ("labels", "trace", "spanId", "operation")}


def stored(line: str) -> Entry:
    """Return the LogEntry of one line on stdout."""
    payload = json.loads(line)
    special = {kept: payload.pop(key) for key, kept in _SPECIAL.items() if key in payload}
    assert not [key for key in payload if key.startswith(PREFIX)], payload
    special.get("labels", {}).pop("execution_id", None)  # the platform's own, as the span
    resource = {"type": "cloud_run_revision", "labels": {"service_name": "ebb"}}
    return {"severity": payload.pop("severity"), "resource": resource, "jsonPayload": payload, **special}


def read(text: str) -> list[Entry]:
    """Return the entries of what a function wrote; what is no JSON object, as a traceback, is left out."""
    return [stored(line) for line in text.splitlines() if line.startswith("{")]


def of_folder(folder: Path, *names: str) -> list[Entry]:
    """Return the entries of the functions' logs in a folder."""
    return [entry for name in names for entry in read((folder / name).read_text(encoding="utf-8"))]


def written(lines: Iterable[Mapping[str, Any]], level: str = "DEBUG") -> list[Entry]:
    """Return the entries of lines that a FakeLog kept, as the real log writes them at that level."""
    stream = io.StringIO()
    log = JsonLog(stream, level, CLUSTER, "p")
    for line in lines:
        log.event(**line)
    return read(stream.getvalue())
