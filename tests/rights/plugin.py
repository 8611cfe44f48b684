"""Holds the whole suite against `infra/rbac.yaml` and the options beside it: a right that is used and not granted fails
every run, one that is granted and never used fails a run of everything.

Under pytest-xdist the workers report to the controlling process.
"""

from typing import Any

import pytest

from tests.rights.rbac import filled, granted, with_options
from tests.rights.used_rights import DRAINER, PLANNER, USED_RIGHTS, idle, idle_options, lacking, listen

_OUTPUT = "rights"
_WHOLE = {"", "not control_plane"}
FAULTS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FAULTS] = []
    listen()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a worker of pytest-xdist wrote down; one that crashed wrote nothing, and its tests failed."""
    del error
    USED_RIGHTS.take(getattr(node, "workeroutput", {}).get(_OUTPUT, {}))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    worker_output = getattr(session.config, "workeroutput", None)
    if worker_output is not None:
        worker_output[_OUTPUT] = USED_RIGHTS.written()
        return
    identities = {"planner": PLANNER, "drainer": DRAINER}
    faults = lacking(USED_RIGHTS.used, with_options(**identities))
    if exitstatus == pytest.ExitCode.OK and is_whole(session.config):
        faults += idle(USED_RIGHTS.used, granted(filled(**identities))) + idle_options(USED_RIGHTS.used)
    session.config.stash[FAULTS] = faults
    if faults and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def is_whole(config: pytest.Config) -> bool:
    """Whether this run holds every test but those that need a control plane: no path, no choice, no listing."""
    option = config.option
    narrowed = option.keyword or option.collectonly or getattr(option, "lf", False) or getattr(option, "deselect", None)
    return config.args_source is not pytest.Config.ArgsSource.ARGS and option.markexpr in _WHOLE and not narrowed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    faults = terminalreporter.config.stash.get(FAULTS, [])
    if faults:
        terminalreporter.section("rights in the cluster")
    for fault in faults:
        terminalreporter.write_line(f"FAILED {fault}", red=True)
