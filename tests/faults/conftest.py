"""Tells at the end how many histories were run, and fails a run of fewer than `FAULT_LEAST`."""

import os

import pytest

from tests.faults.checking import COUNT, SEED, STRIDE

LEAST = int(os.environ.get("FAULT_LEAST", "0"))
_run = pytest.StashKey[list[object]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_run] = []


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _is_short(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    count, short = _count(config), f": at least {LEAST:,} were to be run" if _is_short(config) else ""
    if count or short:
        terminalreporter.write_line(f"{count:,} histories, seed {SEED}, stride {STRIDE}{short}")


class Counter:
    """Adds up what the tests tell; under pytest-xdist the reports come to the main process."""

    def __init__(self, config: pytest.Config) -> None:
        self._counts = config.stash[_run]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._counts.extend(value for name, value in report.user_properties if name == COUNT)


def _count(config: pytest.Config) -> int:
    return sum(told for told in config.stash[_run] if isinstance(told, int))


def _is_short(config: pytest.Config) -> bool:
    is_worker = hasattr(config, "workerinput")
    return not is_worker and _count(config) < LEAST


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Counter(session.config), "history-counter")
