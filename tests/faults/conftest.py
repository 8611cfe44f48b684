"""Tells at the end how many histories were run and what they came to, and fails a whole run of fewer than `LEAST`."""

from pathlib import Path

import pytest

from tests.depth import SEED
from tests.faults.running import LEAST, SUMS, Sums, is_whole

_run = pytest.StashKey[Sums]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_run] = Sums()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _is_short(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    sums, short = config.stash[_run], f": at least {LEAST:,} were to be run" if _is_short(config) else ""
    if not (sums.histories or short):
        return
    terminalreporter.write_line(f"{sums.histories:,} histories, seed {SEED}{short}")
    excused = ", ".join(f"{name} {times:,}" for name, times in sorted(sums.excused.items())) or "none"
    terminalreporter.write_line(f"excused in histories: {excused}")
    waits = ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in sorted(sums.waits.items()))
    terminalreporter.write_line(f"longest wait of a moved pod while Ebb held its node and nothing hindered it: {waits}")


class Adder:
    """Adds up what the tests tell; under pytest-xdist the reports come to the main process."""

    def __init__(self, config: pytest.Config) -> None:
        self._sums = config.stash[_run]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, told in report.user_properties:
                if name == SUMS:
                    self._sums.read(str(told))


def _is_short(config: pytest.Config) -> bool:
    if hasattr(config, "workerinput") or config.option.collectonly:
        return False
    paths = [Path(config.invocation_params.dir, given).resolve() for given in config.args]
    chosen = config.option.keyword or config.option.markexpr
    return is_whole(paths, chosen) and config.stash[_run].histories < LEAST


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Adder(session.config), "history-adder")
