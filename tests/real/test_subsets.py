"""Whichever tools a machine has, no test fails for want of one: it skips with what would enable it, and fails in CI."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.depth import cases
from tests.parts import PARTS
from tests.real.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.needs import NEEDS, lacking

ROOT = Path(__file__).parents[2]
TOOLS: Final = {
    "chromium": "#!/bin/sh\n",
    "apt-get dpkg-deb": "#!/bin/sh\n",
    "gcloud": "#!/bin/sh\necho {folder}/sdk\n",
    "go": "#!/bin/sh\necho go1.26.8\n",
    "java": "#!/bin/sh\n",
    "kubectl": "#!/bin/sh\n",
    "ps": "#!/bin/sh\n",
    "terraform": '#!/bin/sh\necho \'{{"terraform_version": "1.9.8"}}\'\n',
}
REMEDIES: Final = {
    "apt-get dpkg-deb": "run it on Debian",
    "chromium": "install chromium",
    "gcloud": "gcloud components install",
    "go": "install Go 1.26",
    "java": "install a Java 17 runtime",
    "ps": "install procps",
    "terraform": "install Terraform 1.7",
}
TAKES: Final[Mapping[str, tuple[set[str], ...]]] = {
    "chromium": ({"chromium"}, {"apt-get dpkg-deb"}),
    "font_sets": ({"apt-get dpkg-deb"},),
    "new_control_plane": ({"go", "ps"},),
    "new_firestore_emulator": ({"java", "gcloud"},),
    "new_pubsub_emulator": ({"java", "gcloud"},),
    "process_list": ({"ps"},),
    "scheduler_filters": ({"go"},),
    "terraform": ({"terraform"},),
}
"""Each with what is enough for it."""
SIZES = (0, 1, 2, len(TOOLS) - 1, len(TOOLS))
"""Each tool alone, beside each other one, and missing alone: no part needs more than two."""
SUBSETS = list(chain.from_iterable(combinations(TOOLS, size) for size in SIZES))
STARTS = re.compile(r"(?<!class )\b(?:ControlPlane|SchedulerFilters|FirestoreEmulator|PubSubEmulator)\(")
SKIPS = re.compile(r"\b(?:pytest\.skip\(|mark\.skip|skipif\(|importorskip\()")
MARKED = re.compile(r"\bmark\.control_plane\b")
SKIPPERS = {
    "cli/analysis/simulated_days/test_recordings.py": "recordings are no part of a machine",
    "local/demo/test_demo.py": "reads /proc, which no machine but Linux can get",
    "real/needs.py": "where it is decided",
    "real/test_teardown.py": "reads /proc",
}
STARTERS = {
    "real/test_needs.py": "starts what is known to end at once",
    "real/test_teardown.py": "starts them in a process to be killed; both tests name their fixtures",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without tools: nothing on its PATH, no SDK in the usual places, nothing built before."""
    (tmp_path / "bin").mkdir()
    for each in (FirestoreEmulator, PubSubEmulator):
        program = tmp_path / "sdk" / each.program
        program.parent.mkdir(parents=True)
        program.touch()
    for name, value in {"PATH": "bin", "XDG_CACHE_HOME": "cache", "CLOUDSDK_ROOT": "nowhere"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    for name in ("EBB_CHROMIUM", "EBB_KUBE_ASSETS", "CLOUDSDK_ROOT_DIR", "CI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(machine: Path, tool: str) -> None:
    for name in tool.split():
        program = machine / "bin" / name
        program.write_text(TOOLS[tool].format(folder=machine))
        program.chmod(0o755)


@pytest.mark.parametrize("tools", SUBSETS, ids=lambda tools: " ".join(tools) or "python alone")
def test_each_tool_that_a_part_lacks_is_named_with_its_remedy(tools: tuple[str, ...], machine: Path) -> None:
    for tool in tools:
        install(machine, tool)

    assert TAKES.keys() == NEEDS.keys()
    for need, ways in TAKES.items():
        said, lacks = lacking([need]), [takes - set(tools) for takes in ways]
        assert (said is None) == (set() in lacks), (need, said)
        assert said is None or any(REMEDIES[tool] in said for tool in set().union(*lacks)), (need, said)
        assert "\n" not in (said or "")


def test_a_test_that_lacks_several_parts_hears_of_all_of_them_at_once(machine: Path) -> None:
    install(machine, "gcloud")

    said = lacking(["tmp_path", "new_pubsub_emulator", "new_firestore_emulator", "new_control_plane"])

    assert said is not None
    assert "install procps" in said
    assert "to run the cloud-firestore-emulator" in said
    assert "to run the pubsub-emulator" in said
    assert said.count("; ") == 2


def test_an_old_terraform_counts_as_none(machine: Path) -> None:
    (machine / "bin" / "terraform").write_text('#!/bin/sh\necho \'{"terraform_version": "1.6.6"}\'\n')
    (machine / "bin" / "terraform").chmod(0o755)

    assert "too old" in (lacking(["terraform"]) or "")


@pytest.mark.deep
@pytest.mark.timeout(900)
@cases(
    "tools, marked, env, ends",
    ("python alone", "", "control_plane or emulator", {}, "skipped"),
    ("everything but Go", "java gcloud kubectl ps", "control_plane", {}, "skipped"),
    ("python alone in CI", "", "control_plane or emulator", {"CI": "true"}, "failed"),
)
def test_no_test_on_real_parts_starts_one_where_another_is_missing(
    tools: str, marked: str, env: dict[str, str], ends: str, machine: Path
) -> None:
    for tool in tools.split():
        install(machine, tool)
    report = machine / "report.xml"
    plan = [sys.executable, "-m", "pytest", "-q", "--setup-plan", "-p", "no:cacheprovider", f"--junitxml={report}"]
    plan += ["-m", marked, "tests/real", "tests/adapters", "tests/cli"]

    done = subprocess.run(
        plan, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, timeout=800, check=False
    )

    found = {case.get("name"): _outcome(case) for case in ET.parse(report).iter("testcase")}  # noqa: S314 - our own
    assert len(found) > 30, done.stdout
    assert set(found.values()) == {ends}, found
    assert done.returncode == (pytest.ExitCode.TESTS_FAILED if ends == "failed" else pytest.ExitCode.OK), done.stdout


def _outcome(case: ET.Element) -> str:
    child = next(iter(case), None)
    return {"error": "failed", "failure": "failed"}.get(child.tag, child.tag) if child is not None else "ran"


def test_only_the_fixtures_start_real_parts() -> None:
    """Who starts one elsewhere can forget to ask for it, and only a machine that lacks it would tell."""
    folder = ROOT / "tests"
    starting = [path for path in folder.rglob("*.py") if STARTS.search(path.read_text(encoding="utf-8"))]

    assert {str(path.relative_to(folder)) for path in starting} == STARTERS.keys()


def test_every_test_on_a_control_plane_stands_where_it_is_looked_for() -> None:
    """The part collects these folders alone: one that stands elsewhere would never run."""
    (part,) = (each for each in PARTS if each.name == "real")
    folders = [ROOT / word for word in " ".join(part.commands).split() if word.startswith("tests")]
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if MARKED.search(path.read_text(encoding="utf-8"))]

    assert marked
    assert [path for path in marked if not any(map(path.is_relative_to, folders))] == []
    assert ROOT / "tests" not in folders


def test_a_missing_part_is_skipped_where_ci_can_forbid_it() -> None:
    """A mark that skips would skip in CI too; what a system does not have at all is no missing part."""
    folder = ROOT / "tests"
    skipping = [path for path in folder.rglob("*.py") if SKIPS.search(path.read_text(encoding="utf-8"))]

    assert {str(path.relative_to(folder)) for path in skipping} == SKIPPERS.keys()
