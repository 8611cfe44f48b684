"""The very archive works: alone with what `requirements.txt` names, both functions tick, drain and leave a node."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from infra.archive import archive
from shared.core.cluster.names import OUR_TAINT
from tests.measured_figures import MEASURED
from tests.real.emulators import FirestoreEmulator
from tests.real.needs import skip_or_fail
from tests.real.waiting import until
from tests.zip.processes import TARGETS, RunningEbb, empty_environment, running
from tests.zip.test_packages import unpack

pytestmark = pytest.mark.deep
MOST_COLD_MIB = 120
"""What the cold start of each function may take."""
IMPORTS = """
import pathlib, re, time
before = time.process_time()
import main, functions.{function}.main
spent = time.process_time() - before
import shared
# Not ru_maxrss: a process inherits that of the one that started it. Without /proc it is not told.
status = pathlib.Path("/proc/self/status")
peak = re.search("VmHWM:\\s*([0-9]+) kB", status.read_text() if status.exists() else "VmHWM: 0 kB")
print(spent, int(peak[1]) / 1024, shared.__file__)
"""
Tell = Callable[[str, object], None]


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
def test_a_cold_start_is_small(function: str, source: Path, binaries: Path, record_property: Tell) -> None:
    environment = {"EBB_CLUSTER": "projects/p/locations/l/clusters/c", "EBB_TOPIC": "projects/p/topics/t"}
    rows = [imported(function, source, binaries, environment) for _ in range(3)]
    first, best, peak = rows[0][0], min(row[0] for row in rows), max(row[1] for row in rows)
    record_property(MEASURED, f"zip: {function}, CPU seconds of imports: {first:.2f} at first, {best:.2f} at best")
    record_property(MEASURED, f"zip: {function}, peak memory after the imports: {peak:.0f} MiB")
    assert peak < MOST_COLD_MIB


def imported(function: str, source: Path, binaries: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    command = [str(binaries / "python"), "-c", IMPORTS.format(function=function)]
    done = subprocess.run(
        command, cwd=source, env=dict(environment), capture_output=True, text=True, timeout=300, check=True
    )
    spent, peak, place = done.stdout.split()
    assert Path(place).is_relative_to(source), "the archive's own code runs"
    return float(spent), float(peak)
