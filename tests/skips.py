"""What was skipped, one line for each thing that is missing on this machine, and what would enable it."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped on this machine")
    for reason, tests in sorted(reasons.items()):
        terminalreporter.write_line(f"{tests} test{'s' if tests > 1 else ''}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")
