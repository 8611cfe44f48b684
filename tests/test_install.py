"""The package of a checkout works as it is installed: with what it declares, on any Python from the oldest on."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.installing import EVERY_SECONDS, progress
from tests.bench.cold_start import measured
from tests.real.needs import require

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGED = ("functions", "shared", "infra")
DATA = PROJECT["tool"]["setuptools"]["package-data"]
OURS = {*PACKAGED, "main"}
MIB = 1024 * 1024


def declared() -> set[str]:
    """What pip installs with the package: what it names, and what that needs."""
    files = PROJECT["tool"]["setuptools"]["dynamic"]["dependencies"]["file"]
    lines = [line.partition("#")[0].strip() for name in files for line in (ROOT / name).read_text().splitlines()]
    waiting = [Requirement(line) for line in lines if line]
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
        return [Requirement(each) for each in requires(name) or []]
    except PackageNotFoundError:
        return []


def imported() -> Iterator[tuple[str, str]]:
    """Each file of the package with each foreign module that it imports, wherever in it."""
    for path in (each for folder in PACKAGED for each in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name.partition(".")[0] not in {*sys.stdlib_module_names, *OURS}:
                    yield str(path.relative_to(ROOT)), name


def test_the_commands_import_nothing_that_is_not_installed_with_them() -> None:
    owners, here = packages_distributions(), declared()
    strangers = {
        (path, name)
        for path, name in imported()
        if not here & {canonicalize_name(each) for each in owners.get(name.partition(".")[0], [])}
    }

    assert strangers == set()
    assert {"typer", "rich", "google-crc32c"} <= here


def test_no_python_is_too_new_and_the_makefile_asks_for_the_same_oldest_one() -> None:
    oldest = PROJECT["project"]["requires-python"]
    asked = re.search(r"sys\.version_info < \((\d+), (\d+)\)", (ROOT / "Makefile").read_text(encoding="utf-8"))

    assert asked
    assert oldest == f">={asked[1]}.{asked[2]}"


def test_every_file_that_the_package_reads_is_packed_with_it() -> None:
    """What lies in infra itself is for Terraform and for people."""
    folders = [ROOT / folder for folder in ("functions", "shared", "infra/local")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and is_source(path)]
    rules = [(ROOT / name.replace(".", "/"), rule) for name, rules in DATA.items() for rule in rules]
    packed = {path for folder, rule in rules for path in folder.glob(rule)}

    assert {path for path in files if path.suffix != ".py"} <= packed
    assert [path for path in files if path.suffix == ".py" and not (path.parent / "__init__.py").is_file()] == []


def is_source(path: Path) -> bool:
    return "__pycache__" not in path.parts and not path.name.startswith(".")


@pytest.mark.parametrize(
    ("expected", "version"),
    [
        pytest.param("is Python 3.10.13: name another", "test $1 != -c && echo Python 3.10.13", id="too old"),
        pytest.param("is not there: name another", None, id="not there"),
    ],
)
def test_a_python_that_is_too_old_is_named_before_anything_is_installed(
    expected: str, version: str | None, tmp_path: Path
) -> None:
    require(None if shutil.which("make") else "make is not on PATH: install make")
    for name in ("Makefile", "pyproject.toml", "requirements.txt", "requirements.in", "requirements-cli.in"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    if version is not None:
        python.write_text(f"#!/bin/sh\n{version}\n")
        python.chmod(0o755)

    # As a person calls it: make tells what it runs that it is one of several.
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


def test_an_installation_says_how_far_it_is_and_that_it_still_runs() -> None:
    lines = ["Collecting numpy==2.3 (from -r requirements.txt)\n", "  Downloading\n", None, "Collecting rich\n", None]
    lines += ["Installing collected packages: numpy, rich\n", None, "Successfully installed\n"]
    times = iter(float(second) * EVERY_SECONDS / 2 for second in range(40))

    assert list(progress(lines, lambda: next(times))) == [
        "  4 s  1 packages so far, now numpy",
        "  8 s  2 packages so far, now rich",
        " 12 s  unpacking 2 packages",
        " 16 s  unpacking 2 packages",
    ]


def test_an_installation_that_fails_says_what_pip_said_last() -> None:
    command = [sys.executable, "-m", "infra.installing", "--no-such-option"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode != 0
    assert "no such option: --no-such-option" in done.stderr


def test_the_memory_of_a_cold_start_is_the_functions_own() -> None:
    require(None if Path("/proc/self/status").exists() else "memory of a process is read in /proc: run it on Linux")
    held = bytearray(b"x" * 200 * MIB)

    peak = measured("planner")[2][1]

    assert len(held) == 200 * MIB
    assert 0 < peak < 200
