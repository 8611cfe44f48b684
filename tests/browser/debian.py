"""Debian's packages, unpacked once into the cache by their names and the release; nothing is installed."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.real.waiting import locked

_TOOLS: Final = ("apt-get", "dpkg-deb")
_SECONDS: Final = 600


class DebianError(RuntimeError):
    """A package cannot be had; the first line says why."""


def has_tools(env: Mapping[str, str] = os.environ) -> bool:
    return all(shutil.which(tool, path=env.get("PATH")) for tool in _TOOLS)


def home(kind: str, packages: Sequence[str], env: Mapping[str, str] = os.environ) -> Path:
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "") if sys.platform == "linux" else ""
    key = hashlib.sha256(" ".join((*packages, release, platform.machine())).encode()).hexdigest()[:16]
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebb" / kind / key


def unpack(folder: Path, packages: Sequence[str], proof: Path, *, alone: bool = False) -> None:
    """Unpack packages, with dependencies or alone, once and whole, unless `proof` is there. Raises DebianError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f"{folder.name}.lock"):
        if not (folder / proof).is_file():
            _fetch(folder, packages, proof, alone=alone)


def _fetch(folder: Path, packages: Sequence[str], proof: Path, *, alone: bool) -> None:
    sys.stderr.write(f"fetching {', '.join(packages)} of Debian, once: {folder}\n")
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
        here, fresh = Path(temporary), Path(temporary) / "fresh"
        fresh.mkdir()
        with suppress(DebianError):  # a source of others that does not answer keeps nobody from Debian's
            _apt(here, "update")
        # What is installed already is downloaded by the first alone, and what a package depends on by the second.
        words = ("download",) if alone else ("install", "--yes", "--no-install-recommends", "--download-only")
        _apt(here, *words, *packages)
        for package in sorted((here / "cache" / "archives").glob("*.deb")):
            _run(here, "dpkg-deb", "--extract", str(package), str(fresh))
        if not (fresh / proof).is_file():
            raise DebianError(f"Debian's {packages[0]} does not hold {proof}")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)


def _apt(folder: Path, *words: str) -> None:
    """Run apt with lists and cache of its own, on what is known to be installed."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    own = {
        "Dir::State": str(folder / "state"),
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": str(folder / "cache"),
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "",
    }
    options = (f"--option={name}={value}" for name, value in own.items())
    _run(folder / "cache" / "archives", "apt-get", "--quiet", *options, *words)


def _run(folder: Path, *command: str) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as slow:
        raise DebianError(f"{command[0]} took more than {_SECONDS} s") from slow
    if done.returncode:
        raise DebianError(f"{command[0]} failed:\n{(done.stderr or done.stdout).strip()[-2000:]}")
