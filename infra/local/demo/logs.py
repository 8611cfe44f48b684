"""Reads the functions' logs as they grow: one JSON object a line, in Cloud Logging's form. Must not interpret them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_LABELS: Final = "logging.googleapis.com/labels"


@dataclass(frozen=True)
class LogLine:
    """One decision: its event, the node it is about (or empty), its reason's word, and all its fields."""

    event: str
    node: str
    reason: str
    run_id: str
    fields: Mapping[str, Any]

    @property
    def message(self) -> str:
        return str(self.fields.get("message", ""))


class Tail:
    """The lines that a log got since they were last asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def lines(self) -> Iterator[LogLine]:
        """Give the new whole lines; what is no JSON object, as a traceback, is left to the file."""
        data = self._path.read_bytes()[self._at :]
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        for text in whole.splitlines():
            if text.startswith(b"{"):
                yield _line(json.loads(text))


def _line(entry: Mapping[str, Any]) -> LogLine:
    labels = entry.get(_LABELS, {})
    event, node = labels.get("event", ""), labels.get("node", "")
    return LogLine(event, node, labels.get("reason", ""), labels.get("run_id", ""), entry)
