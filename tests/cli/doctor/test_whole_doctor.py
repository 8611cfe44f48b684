"""`ebb doctor` as an operator runs it: a process, on the simulated GKE, told of it by its environment alone."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import flask
import pytest

from functions.cli.doctor.checks import CHECKS
from functions.planner.main import answer
from infra.local.scenario import DEMO, load
from infra.local.servers import SimulatedGkeServers
from shared.settings import read_settings
from tests.cli.running import run_ebb

TOPIC = "projects/local/topics/ebb-orders"
UNSEEN = ["rbac", "admission"]
"""The simulated API server knows neither rights nor admission policies; the real one's are seen in tests/real."""


@pytest.fixture(scope="module")
def gke() -> Iterator[SimulatedGkeServers]:
    running = SimulatedGkeServers(load(DEMO).model_copy(update={"topics": [TOPIC]}))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def environment(gke: SimulatedGkeServers, tmp_path: Path) -> Mapping[str, str]:
    own = {"EBB_TOPIC": TOPIC, "EBB_POLICY": "gs://ebb-demo/policy.yaml"}
    return {**gke.environment(tmp_path), **own, "EBB_STATE": f"sqlite:{tmp_path / 'state.sqlite'}"}


def findings(printed: str) -> dict[tuple[str, str], str]:
    """Return what was printed by grade and check, each with the remedy's line below it."""
    found = re.findall(r"^(ok|warn|FAIL) +(\w+): (.*\.)\n(?:      (.*\.)\n)?", printed, re.MULTILINE)
    assert len(found) == int(re.search(r"^(\d+) checks", printed, re.MULTILINE)[1])  # type: ignore[index]
    assert [check for grade, check, _, remedy in found if (grade == "ok") == bool(remedy)] == []
    return {(grade, check): sentence for grade, check, sentence, _ in found}


def test_a_new_installation_lacks_its_first_pass_alone(environment: Mapping[str, str]) -> None:
    done = run_ebb("doctor", **environment)
    found = findings(done.stdout)

    assert done.returncode == 0, done.stderr
    assert {check for _, check in found} == {name for name, _ in CHECKS} | {"clock"}
    assert [check for grade, check in found if grade != "ok"] == [*UNSEEN, "last_pass"]


def test_after_a_pass_all_is_well(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with flask.Flask("tick").test_request_context(method="POST"):
        told = answer(flask.request, read_settings(dict(environment)))
    done = run_ebb("doctor", **environment)

    assert told[1] == 200  # type: ignore[index]
    assert [check for grade, check in findings(done.stdout) if grade != "ok"] == UNSEEN


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({"EBB_GKE_API": "http://127.0.0.1:9"}, ["gke"], id="no GKE API"),
        pytest.param({"EBB_POLICY": "gs://ebb-demo/other.yaml"}, ["policy"], id="no policy object"),
        pytest.param({"EBB_TOPIC": "projects/local/topics/none"}, ["topics"], id="no topic"),
        pytest.param({"EBB_STATE": "sqlite:/nowhere/state.sqlite"}, ["state"], id="no state"),
    ],
)
def test_what_is_missing_is_shown_once_and_the_rest_all_the_same(
    environment: Mapping[str, str], changed: Mapping[str, str], expected: list[str]
) -> None:
    done = run_ebb("doctor", **{**environment, **changed})
    found = findings(done.stdout)

    assert done.returncode == 1
    assert [check for grade, check in found if grade == "FAIL"] == expected
    skipped = ", ".join(re.findall(r"^skip +([\w, ]+): ", done.stdout, re.MULTILINE)).split(", ")
    assert {*skipped, *(check for _, check in found)} >= {name for name, _ in CHECKS}
