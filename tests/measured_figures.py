"""Prints at the end of a run what tests have measured: figures are told, not judged by a clock.

A test records a line with `record_property(TOLD, line)`, which reaches the main process of pytest-xdist too.
"""

import pytest

MEASURED = "told"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    lines = [line for report in reports for name, line in report.user_properties if name == MEASURED]
    if lines:
        terminalreporter.section("measured")
    for line in lines:
        terminalreporter.write_line(str(line))
