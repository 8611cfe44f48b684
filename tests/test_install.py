"""The package of a checkout works as it is installed: with what it names, slim, on any Python from the oldest on."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.local.scenario import parse
from infra.local.servers import SimulatedGkeServers
from shared import VERSION
from tests.bench.cold_start import measured
from tests.depth import cases
from tests.real.needs import require

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGED = ("functions", "shared", "infra")
DATA = PROJECT["tool"]["setuptools"]["package-data"]
OURS = {*PACKAGED, "main"}
MIB = 1024 * 1024


def declared() -> set[str]:
    waiting = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    found: set[str] = set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        if name not in found and (asked.marker is None or asked.marker.evaluate({"extra": ""})):
            found.add(name)
            waiting += needed_by(name)
    return found


def needed_by(name: str) -> list[Requirement]:
    try:
        return [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return []


def imported() -> Iterator[tuple[str, str]]:
    """Each file of the package with each foreign module that it imports, wherever in it."""
    for path in (file for folder in PACKAGED for file in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name.partition(".")[0] not in {*sys.stdlib_module_names, *OURS}:
                    yield str(path.relative_to(ROOT)), name


def test_the_package_imports_nothing_that_it_does_not_name() -> None:
    """What builds it may import the builder, too."""
    builders = {Requirement(line).name for line in PROJECT["build-system"]["requires"]}
    owners = {**packages_distributions(), **{builder: [builder] for builder in builders}}  # 3.12 installs none of these
    here = declared() | builders
    strangers = {
        (path, name)
        for path, name in imported()
        if not here & {canonicalize_name(owner) for owner in owners.get(name.partition(".")[0], [])}
    }

    assert strangers == set()


def test_the_functions_and_the_commands_want_the_same_versions() -> None:
    lines = (line.partition("#")[0].strip() for line in (ROOT / "requirements.in").read_text().splitlines())
    functions = {asked.name: asked for asked in map(Requirement, filter(None, lines))}
    commands = PROJECT["project"]["dependencies"]
    both = {asked.name: asked for asked in map(Requirement, commands) if asked.name in functions}

    assert both == functions


def test_the_command_takes_less_than_230_megabytes() -> None:
    """Without bytecode, which pip writes beside it and uv does not; kubernetes is 71 of them, numpy 55, Google's 45."""
    files = [path for name in declared() for path in distribution(name).files or () if path.suffix != ".pyc"]
    own = [path for folder in PACKAGED for path in (ROOT / folder).rglob("*") if path.is_file() and is_source(path)]

    assert (
        sum(Path(str(path.locate())).stat().st_size for path in files) + sum(path.stat().st_size for path in own)
        < 230 * MIB
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    running = SimulatedGkeServers(parse("pools: [{name: main, count: 2}]"))
    running.start()
    yield Path(running.environment(tmp_path_factory.mktemp("kubeconfig"))["EBB_KUBECONFIG"])
    running.stop()


def test_no_python_is_too_new_and_the_makefile_asks_for_the_same_oldest_one() -> None:
    oldest = PROJECT["project"]["requires-python"]
    asked = re.search(r"sys\.version_info < \((\d+), (\d+)\)", (ROOT / "Makefile").read_text(encoding="utf-8"))

    assert asked
    assert oldest == f">={asked[1]}.{asked[2]}"


def test_the_package_names_its_license_and_has_its_text() -> None:
    project = PROJECT["project"]
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "END OF TERMS AND CONDITIONS" in text


def test_every_file_that_the_package_reads_is_packed_with_it() -> None:
    """What lies in infra itself is for Terraform and for people."""
    folders = [ROOT / folder for folder in ("functions", "shared", "infra/local")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and is_source(path)]
    rules = [(ROOT / name.replace(".", "/"), rule) for name, rules in DATA.items() for rule in rules]
    packed = {path for folder, rule in rules for path in folder.glob(rule)}

    assert {path for path in files if path.suffix != ".py"} <= packed
    assert [path for path in files if path.suffix == ".py" and not (path.parent / "__init__.py").is_file()] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the package's wheel has, away from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, capture_output=True, text=True, timeout=240, check=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as packed:
        packed.extractall(folder)
    return folder


def run_wheel(wheel: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the wheel: its own files are found before those of the checkout."""
    command = [sys.executable, "-m", "functions.cli.main", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EBB_")}
    given = {**kept, "PYTHONPATH": str(wheel)}
    return subprocess.run(command, cwd=wheel, env=given, capture_output=True, text=True, timeout=300, check=False)


def test_the_wheel_has_all_that_looks_at_a_cluster(wheel: Path, cluster: Path, tmp_path: Path) -> None:
    assert run_wheel(wheel, "--version").stdout.startswith(f"ebb {VERSION}")
    assert run_wheel(wheel, "plan", "--kubeconfig", cluster).returncode == 0
    assert run_wheel(wheel, "report", "--kubeconfig", cluster, "--out", tmp_path / "page.html").returncode == 0
    assert run_wheel(wheel, "doctor", "--help").returncode == 0


@pytest.mark.deep
def test_the_demo_of_the_wheel_keeps_every_promise(wheel: Path) -> None:
    shown = run_wheel(wheel, "demo")
    assert (shown.returncode, shown.stderr) == (0, "")


def is_source(path: Path) -> bool:
    return "__pycache__" not in path.parts and not path.name.startswith(".")


@cases(
    "expected, version",
    ("too old", "is Python 3.10.13: name another", "test $1 != -c && echo Python 3.10.13"),
    ("not there", "is not there: name another", None),
)
def test_a_python_that_is_too_old_is_named_before_anything_is_installed(
    expected: str, version: str | None, tmp_path: Path
) -> None:
    require(None if shutil.which("make") else "make is not on PATH: install make")
    for name in ("Makefile", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    if version is not None:
        python.write_text(f"#!/bin/sh\n{version}\n")
        python.chmod(0o755)

    # As a person calls it: make lets what it runs know that it is one of several.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "demo", f"PYTHON={python}"]

    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )

    sentence, *rest = done.stderr.splitlines()
    assert sentence.startswith("Ebb needs Python 3.11 or newer, and")
    assert expected in sentence
    assert all(line.startswith("make: ") for line in rest)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (tmp_path / ".venv").exists()


def test_the_memory_of_a_cold_start_is_the_functions_own() -> None:
    require(None if Path("/proc/self/status").exists() else "memory of a process is read in /proc: run it on Linux")
    held = bytearray(b"x" * 200 * MIB)

    peak = measured("planner")[2][1]

    assert len(held) == 200 * MIB
    assert 0 < peak < 200
