"""One decision, one line of JSON in Cloud Logging's structured form (docs/events.md).

It must not fail because of what it is asked to write. Cloud Logging stamps each line, and the state's time stands in
the fields where it matters. Source: https://cloud.google.com/logging/docs/structured-logging.
"""

import re
import traceback
from collections.abc import Mapping
from threading import Lock
from typing import Final, TextIO

import msgspec

_WRITING: Final = Lock()
"""For all logs of the process: each request has its own, and functions-framework writes a line in two pieces."""
LABELS: Final = ("cluster", "run_id", "order_id", "node", "pool", "event", "reason")
"""Fields that become labels: indexed, and the handle of every query (`labels.node="gke-…"`)."""
MOST_BYTES: Final = 240 * 1024
"""An entry may have 256 KB (https://cloud.google.com/logging/quotas); Cloud Logging adds its own fields."""

_PREFIX: Final = "logging.googleapis.com"
_RANKS: Final = {
    "DEFAULT": 0, "DEBUG": 100, "INFO": 200, "NOTICE": 300, "WARNING": 400, "ERROR": 500, "CRITICAL": 600,
    "ALERT": 700, "EMERGENCY": 800,
}  # fmt: skip
"""Cloud Logging's LogSeverity."""
_MOST_LABEL_CHARACTERS: Final = 1000
_LEAST_FIELD_BYTES: Final = 1000  # What is left at least of a long field that had to be cut.
_SPECIAL: Final = frozenset({"severity", "message", "time", "timestamp", "timestampSeconds", "httpRequest"})
_CLOUD_TRACE: Final = re.compile(r"([0-9a-f]{32})(?:/.*)?", re.IGNORECASE)
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-.*", re.IGNORECASE)


def trace_id(headers: Mapping[str, str]) -> str:
    """Return the trace that a request belongs to, from `traceparent` or `X-Cloud-Trace-Context`; empty without."""
    lower = {name.lower(): value for name, value in headers.items()}
    forms = (("traceparent", _TRACEPARENT), ("x-cloud-trace-context", _CLOUD_TRACE))
    matches = (form.fullmatch(lower.get(name, "")) for name, form in forms)
    return next((match[1].lower() for match in matches if match), "")


def message_of_unforeseen(what: str, fault: BaseException) -> str:
    """Return the message of a failure that nobody foresaw, with its traceback, which is what will be looked for."""
    return f"{what} met what nobody foresaw.\n{''.join(traceback.format_exception(fault))}"


class JsonLog:
    """The port `Log` over a text stream, usually stdout. Safe for threads."""

    def __init__(self, stream: TextIO, level: str, cluster: str, project: str) -> None:
        """Lines below `level` are dropped; `cluster` labels each line, `project` names its trace."""
        self._stream = stream
        self._least = _RANKS[level]
        self._project = project
        self._context: Mapping[str, object] = {"cluster": cluster}

    def event(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        """Write one line. A field that is None or empty and would be a label is left out."""
        if _RANKS.get(severity, self._least) < self._least:
            return
        entry = _entry({**self._context, **fields, "event": event}, self._project)
        line = _line({"severity": severity, "message": message, **entry})
        with _WRITING:
            self._stream.write(line + "\n")
            self._stream.flush()

    def bind(self, **fields: object) -> "JsonLog":
        """Return a log that adds these fields to each line; `trace` is a request's trace id."""
        child = object.__new__(JsonLog)
        child.__dict__.update(self.__dict__, _context={**self._context, **fields})
        return child

    def add(self, **fields: object) -> None:
        """Add these fields to each later line of this log."""
        self._context = {**self._context, **fields}


def _entry(fields: Mapping[str, object], project: str) -> dict[str, object]:
    labels = {name: _label(fields[name]) for name in LABELS if _is_given(fields.get(name))}
    entry: dict[str, object] = {f"{_PREFIX}/labels": labels}
    if _is_given(fields.get("trace")):
        entry[f"{_PREFIX}/trace"] = f"projects/{project}/traces/{_label(fields['trace'])}"
    if "order_id" in labels:
        entry[f"{_PREFIX}/operation"] = {"id": labels["order_id"], "producer": "ebb"}
    payload = {name: value for name, value in fields.items() if name not in {*LABELS, "trace"}}
    # a field of ours must not mean something else to Cloud Logging
    return {**entry, **{f"{name}_" if name in _SPECIAL else name: value for name, value in payload.items()}}


def _is_given(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and not value)


def _label(value: object) -> str:
    text = _text(value) if isinstance(value, str) else _json(value).decode().strip('"')
    return text[:_MOST_LABEL_CHARACTERS]


def _line(entry: Mapping[str, object]) -> str:
    pieces = {name: _json(value) for name, value in entry.items()}
    cuttable = [name for name in pieces if not name.startswith(_PREFIX)]
    for name in sorted(cuttable, key=lambda piece: len(pieces[piece]), reverse=True):
        excess = sum(map(len, pieces.values())) - MOST_BYTES
        if excess <= 0:
            break
        pieces[name] = _cut(pieces[name], excess)
    return msgspec.json.encode({name: msgspec.Raw(piece) for name, piece in pieces.items()}).decode()


def _cut(piece: bytes, excess: int) -> bytes:
    """Shorten a field to text, a short one to nothing; written as a string its quotes count double, hence the half."""
    keep = max(_LEAST_FIELD_BYTES, (len(piece) - excess) // 2 - _LEAST_FIELD_BYTES)
    text = piece[:keep].decode(errors="ignore").strip('"') if len(piece) > 2 * _LEAST_FIELD_BYTES else ""
    return msgspec.json.encode(f"{text}… (cut: {len(piece)} bytes)")


def _json(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except Exception:  # noqa: BLE001 - encoding an odd value may raise anything, and a log must not
        return msgspec.json.encode(_text(value))


def _text(value: object) -> str:
    try:
        return str(value).encode(errors="replace").decode()
    except Exception as error:  # noqa: BLE001 - so may its __str__
        return f"<{type(value).__name__} that cannot be written: {type(error).__name__}>"
