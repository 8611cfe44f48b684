"""Prints at the end of a run what tests have measured, and what was skipped: one line for each thing that is missing.

Figures are told, not judged by a clock. A test records a line with `record_property(MEASURED, line)`, which reaches the
main process of pytest-xdist too.
"""

from collections import Counter

import pytest

MEASURED = "told"


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
