"""Builds the package with its version and commit, for `ebb --version`; pyproject.toml names this class."""

import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py

_FILE = Path("functions") / "cli" / "version.txt"


class BuildWithVersion(build_py):  # type: ignore[misc]  # setuptools is no dependency, and has no types here
    """Writes them into the command's package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        commit = _commit() if Path(".git").exists() else ""
        text = f"{self.distribution.get_version()}{commit and f' ({commit})'}"
        (Path(self.build_lib) / _FILE).write_text(text, encoding="ascii")


def _commit() -> str:
    try:
        return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()  # noqa: S607 - of the person who builds
    except (OSError, subprocess.CalledProcessError):
        return ""
