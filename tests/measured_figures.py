"""Prints at the end of a run what tests have measured (`record_property(MEASURED, line)`) and what was skipped."""

import json
import resource
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")
MEASURED = "told"
_MOST_SECONDS: Final = 1200


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    lines = [str(line) for report in reports for name, line in report.user_properties if name == MEASURED]
    _show(terminalreporter, "measured", lines)
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    skipped = [f"{tests} test{'s' if tests > 1 else ''}: {reason}" for reason, tests in sorted(reasons.items())]
    _show(terminalreporter, "skipped on this machine", skipped)


def _show(terminalreporter: pytest.TerminalReporter, title: str, lines: list[str]) -> None:
    if lines:
        terminalreporter.section(title)
    for line in lines:
        terminalreporter.write_line(line)


def _reason(report: pytest.TestReport) -> str:
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")


_TURNS: Final = 13
"""So many take a second where a plan of sixty nodes takes 0.85."""


def slowness() -> float:
    """Return how many seconds of CPU now take what takes one elsewhere; 1 at least."""
    begun = process_time()
    text = json.dumps([{str(number): [number] * 9} for number in range(20_000)])
    for _ in range(_TURNS):
        sorted(json.dumps(load) for load in json.loads(text))
    return max(1.0, process_time() - begun)


def busiest(times: Iterable[float], seconds: float) -> int:
    """Return the most events within any half-open stretch of that length; 0 when there are none."""
    most, within = 0, deque[float]()
    for at in sorted(times):
        within.append(at)
        while within[0] <= at - seconds:
            within.popleft()
        most = max(most, len(within))
    return most


def sustained(times: Iterable[float], seconds: float) -> float:
    return busiest(times, seconds) / seconds


def say(what: str, found: str, goal: str) -> None:
    """Print what a bench found, in one line: always against a peer or a bound of the same run."""
    print(f"  {what:62} {found:>28}   goal {goal}", flush=True)  # noqa: T201 - this is what the command is for


def cpu_of(command: Sequence[str], **given: Any) -> float:
    """Return the seconds of CPU that a program takes, which must end well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, timeout=_MOST_SECONDS, check=True, **given)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(function: Callable[[], T]) -> tuple[float, T]:
    began = process_time()
    result = function()
    return process_time() - began, result
