"""`pytest --acceptance` prints which rows of docs/acceptance.md are shown: their tests passed, and none was skipped."""

from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

ROWS = 110
MOST_ROWS_A_TEST = 2
_RANK = {"passed": 0, "skipped": 1, "failed": 2}
OUTCOMES = pytest.StashKey[dict[int, dict[str, str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--acceptance", action="store_true", help="print which acceptance rows have a passing test")


def pytest_configure(config: pytest.Config) -> None:
    rows: dict[int, dict[str, str]] = defaultdict(dict)
    config.stash[OUTCOMES] = rows


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a mark that claims too much or a row that does not exist."""
    for item in items:
        rows = rows_of(item)
        if len(rows) > MOST_ROWS_A_TEST or not all(1 <= row <= ROWS for row in rows):
            raise pytest.UsageError(f"{item.nodeid}: acceptance takes one or two rows from 1 to {ROWS}, not {rows}")


def rows_of(item: pytest.Item) -> tuple[int, ...]:
    return tuple(sorted({row for mark in item.iter_markers("acceptance") for row in mark.args}))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the rows along with the report, so that they reach the main process of pytest-xdist."""
    report = yield
    report.user_properties.extend(("acceptance", row) for row in rows_of(item) if call.when == "call")
    if call.when == "setup" and report.outcome != "passed":
        report.user_properties.extend(("acceptance", row) for row in rows_of(item))
    return report


class Collector:
    def __init__(self, config: pytest.Config) -> None:
        self._rows = config.stash[OUTCOMES]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, row in report.user_properties:
            if name == "acceptance" and isinstance(row, int):
                before = self._rows[row].get(report.nodeid, "passed")
                self._rows[row][report.nodeid] = max(before, report.outcome, key=lambda word: _RANK[word])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not terminalreporter.config.getoption("--acceptance"):
            return
        terminalreporter.section("rows of docs/acceptance.md")
        for row, tests in sorted(self._rows.items()):
            worst = max(tests.values(), key=lambda word: _RANK[word])
            terminalreporter.write_line(f"{row:4}  {'shown' if worst == 'passed' else worst:8} {len(tests)} tests")
        shown = [row for row, tests in self._rows.items() if set(tests.values()) == {"passed"}]
        missing = [row for row in range(1, ROWS + 1) if row not in self._rows]
        terminalreporter.write_line(f"{len(shown)} of {ROWS} rows shown; without a test: {missing}")


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Collector(session.config), "acceptance-collector")
