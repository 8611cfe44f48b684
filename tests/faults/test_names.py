"""A failure names the history that failed, and that name is enough to see it again, to the letter."""

import os
import subprocess
import sys

import pytest

from tests.faults.catalog import each_call, history_named, mixture, provider_actions
from tests.faults.history import History
from tests.faults.mutants import MUTANTS, histories, no_watchdog
from tests.faults.running import describe_failure
from tests.faults.worlds import settings, with_buffers


def output(*command: str, **environment: str) -> tuple[int, str]:
    """Run a command of Python's to its end."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(mixture(7, people=False), id="a mixture"),
        pytest.param(mixture(7, people=True), id="a mixture with people"),
        pytest.param([*each_call("pause", settings()[1])][12], id="a pause"),
        pytest.param([*each_call("kill", with_buffers()[0])][7], id="a world with buffers"),
        pytest.param([*provider_actions(settings()[2])][3], id="an action of GKE"),
    ],
)
def test_a_name_finds_the_very_history(history: History) -> None:
    assert history_named(history.name) == history


def test_a_failure_tells_the_command_that_shows_it_again() -> None:
    _, caught = next(histories(MUTANTS[no_watchdog], 1))
    with no_watchdog():
        assert f"python -m tests.faults.rerun '{caught.name}'" in describe_failure(caught)


def test_a_history_is_the_same_in_every_process() -> None:
    runs = {output("tests.faults.rerun", "people:5", PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(runs) == 1
    assert "The promise was kept.\nrecord " in runs.pop()[1]


def test_a_run_of_too_few_histories_fails_and_says_so() -> None:
    one = ("pytest", "-q", "-p", "no:cacheprovider", "tests/faults/test_provider_actions.py", "-k", "tight")
    code, told = output(*one, FAULT_STRIDE="1000", FAULT_LEAST="2", FAULT_SEED="4")
    assert code == 1
    assert "1 histories, seed 4, stride 1000: at least 2 were to be run" in told
