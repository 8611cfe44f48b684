"""The very archive works: alone with what `requirements.txt` names, both functions tick, drain and leave a node."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from infra.archive import archive
from shared.core.cluster.names import OUR_TAINT
from tests.bench.cold_start import measured
from tests.real.emulators import FirestoreEmulator
from tests.real.needs import skip_or_fail
from tests.real.waiting import until
from tests.zip.processes import TARGETS, RunningEbb, empty_environment, running
from tests.zip.test_packages import unpack

pytestmark = pytest.mark.deep
MOST_COLD_MIB = 120
"""What the imports of each function may take."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(archive(), tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def binaries(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return empty_environment(tmp_path_factory.mktemp("environment"), source)
    except subprocess.CalledProcessError as failure:
        said = str(failure.stderr).strip()
        assert "HASHES" not in said, said
        return skip_or_fail(f"pip cannot install requirements.txt here: {said.splitlines()[-1]}")


@pytest.fixture
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    """Firestore's emulator where the machine has it; it must be there in CI."""
    if FirestoreEmulator.missing() and os.environ.get("CI") != "true":
        return {"EBB_STATE": f"sqlite:{tmp_path / 'state.sqlite'}"}
    emulator = request.getfixturevalue("firestore_emulator")
    return {"FIRESTORE_EMULATOR_HOST": emulator.host}


def test_the_archive_drains_a_node_and_leaves_it_to_the_autoscaler(
    source: Path, binaries: Path, state: Mapping[str, str], tmp_path: Path
) -> None:
    with running(binaries, source, tmp_path, state) as ebb:
        before = names(ebb)
        until("a node drained, deleted and settled", lambda: has_gone(ebb, before), 120)
        assert [line for target in TARGETS for line in ebb.lines(target) if not is_json(line)] == []


def has_gone(ebb: RunningEbb, before: set[str]) -> bool:
    summary = ebb.tick()
    left = [node for node in ebb.nodes() if any(t["key"] == OUR_TAINT for t in node["spec"].get("taints", []))]
    return bool(before - names(ebb)) and not left and not summary["verdicts"].get("in_flight")


def names(ebb: RunningEbb) -> set[str]:
    return {node["metadata"]["name"] for node in ebb.nodes()}


def is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("function", ["planner", "drainer"])
def test_a_cold_start_is_small(function: str, source: Path, binaries: Path) -> None:
    _, (_, peak), _ = measured(function, str(binaries / "python"), source)
    assert peak < MOST_COLD_MIB
