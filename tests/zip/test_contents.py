"""The archive holds what the two functions need and nothing else, and equal files make equal bytes."""

import ast
import hashlib
import io
import os
import re
import zipfile
from pathlib import Path

from infra.archive import archive, patterns, write
from shared.settings import Settings, variable
from tests.zip.processes import PLATFORM, STAND_INS, TARGETS, variables
from tests.zip.test_packages import ROOT, unpack

FUNCTIONS = ROOT / "terraform" / "functions.tf"
MOST_BYTES = 1024 * 1024
FOREIGN = ("infra", "functions/cli", "tests", "terraform")
DATA_ALONE = "shared/data/__init__.py"
"""A package without code: its table of prices is read by its place."""


def names() -> list[str]:
    with zipfile.ZipFile(io.BytesIO(archive())) as packed:
        return packed.namelist()


def test_nothing_of_the_ground_the_commands_or_the_tests_is_inside() -> None:
    assert [name for name in names() if name.startswith(FOREIGN)] == []
    assert {name.partition("/")[0] for name in names()} == {"main.py", "requirements.txt", "functions", "shared"}
    assert {Path(name).suffix for name in names()} == {".py", ".txt", ".yaml"}


def test_every_pattern_names_something() -> None:
    assert [pattern for pattern in patterns() if not any(ROOT.glob(pattern))] == []


def test_the_archive_holds_the_modules_that_main_reaches_and_no_other_and_all_of_shared() -> None:
    """What only people's commands use lives with them, in functions/cli."""
    inside = {name for name in names() if name.endswith(".py")} - {DATA_ALONE}
    inside |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "shared").rglob("*.py")} - {DATA_ALONE}
    reached = reached_from("main.py")

    assert sorted(inside - reached) == []
    assert sorted(reached - inside) == []


def reached_from(start: str) -> set[str]:
    """Return that file and those of all modules that it imports, wherever in them, and of the packages around them."""
    reached, next_ones = set[str](), {start}
    while next_ones:
        reached |= next_ones
        imported = {place for name in next_ones for module in ours(ROOT / name) for place in places(module)}
        around = {f"{package}/__init__.py" for package in parents(imported | next_ones)}
        next_ones = {name for name in imported | around if (ROOT / name).is_file()} - reached
    return reached


def parents(names: set[str]) -> set[str]:
    """Return the packages around those: importing one runs what is above it."""
    return {parent.as_posix() for name in names for parent in Path(name).parents}


def ours(path: Path) -> set[str]:
    """The modules of this project that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {
                node.module,
                *(module for module in named if any((ROOT / place).exists() for place in places(module))),
            }
    return {module for module in found if module.partition(".")[0] in {"functions", "shared", "infra", "tests"}}


def places(module: str) -> tuple[str, str]:
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def test_equal_files_make_equal_bytes_wherever_and_whenever_they_are_packed(tmp_path: Path) -> None:
    packed = archive()
    copy = unpack(packed, tmp_path)
    for path in copy.rglob("*"):
        os.utime(path, (0, 0))
        path.chmod(0o700)
    assert archive(copy) == packed
    (copy / "main.py").write_text("other")
    assert archive(copy) != packed


def test_the_archive_of_a_release_is_the_tested_one(tmp_path: Path) -> None:
    told = write(tmp_path / "build" / "functions.zip")

    assert (tmp_path / "build" / "functions.zip").read_bytes() == archive()
    assert told == hashlib.sha256(archive()).hexdigest()


def test_the_archive_is_small() -> None:
    assert len(archive()) < MOST_BYTES


def test_terraform_packs_nothing_besides_that_list_and_sets_only_variables_that_are_read() -> None:
    text = FUNCTIONS.read_text()
    (source,) = re.findall(r'dynamic "source" \{\n +for_each = (\S+)', text)
    assert source == "local.source_files"
    assert "source_dir" not in text
    known = {variable(name) for name in Settings.__dataclass_fields__}
    assert terraform_variables() - known == {"THREADS"}


def test_the_functions_run_here_with_the_variables_that_terraform_sets() -> None:
    ground = dict.fromkeys(("EBB_CLUSTER", "GOOGLE_CLOUD_PROJECT", *STAND_INS), "")
    given = {name for target in TARGETS for name in variables(target, ground, {})}
    assert given - STAND_INS - PLATFORM == terraform_variables()


def terraform_variables() -> set[str]:
    text = FUNCTIONS.read_text() + FUNCTIONS.with_name("sizes.tf").read_text()
    return set(re.findall(r"\b((?:EBB|GOOGLE)_[A-Z_]+|THREADS) += ", text))
