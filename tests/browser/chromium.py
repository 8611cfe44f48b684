"""Chromium without its window: the one that is installed, or Debian's package, unpacked once into a cache.

Nothing is installed and no rights are needed: apt keeps its lists in a folder of its own here. Debian's archive holds
the newest version only, so the cache is kept by the names of the packages and the release of Debian. Starts nothing.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PACKAGES: Final = ("chromium-headless-shell", "fonts-liberation")
INSTALLED: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PROGRAM: Final = Path("usr/lib/chromium/chromium-headless-shell")
_TOOLS: Final = ("apt-get", "dpkg-deb")
_SECONDS: Final = 600
_FONTS: Final = """\
<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{folder}</dir>
  <match target="pattern">
    <test name="family"><string>system-ui</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Liberation Sans</string></edit>
  </match>
  <match target="pattern">
    <test name="family"><string>sans-serif</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Liberation Sans</string></edit>
  </match>
</fontconfig>
"""
"""So that pictures have the same letters on every machine."""


class ChromiumError(RuntimeError):
    """Chromium cannot be had; the first line says why."""


@dataclass(frozen=True)
class Chromium:
    """A program, and what it needs in its environment."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    """Say in one sentence what keeps this machine from having a Chromium, or None if nothing does."""
    if env.get("EBB_CHROMIUM") or _on_path(env) or (home(env) / _PROGRAM).is_file():
        return None
    if all(shutil.which(tool, path=env.get("PATH")) for tool in _TOOLS):
        return None
    return "no Chromium is on PATH: install chromium, or let EBB_CHROMIUM name the program"


def locate(env: Mapping[str, str] = os.environ) -> Chromium:
    """Return Chromium, fetching Debian's package first if none is there (about 100 MB, once).

    Raises:
        ChromiumError: it cannot be had.
    """
    if given := env.get("EBB_CHROMIUM"):
        if not Path(given).is_file():
            raise ChromiumError(f"EBB_CHROMIUM={given} is no file: name the program or unset it")
        return Chromium(Path(given))
    if found := _on_path(env):
        return Chromium(Path(found))
    if reason := missing(env):
        raise ChromiumError(reason)
    return _unpacked(home(env))


def home(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the cache, there or not."""
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "") if sys.platform == "linux" else ""
    key = hashlib.sha256(" ".join((*PACKAGES, release, platform.machine())).encode()).hexdigest()[:16]
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebb" / "chromium" / key


def _on_path(env: Mapping[str, str]) -> str | None:
    found = (shutil.which(name, path=env.get("PATH")) for name in INSTALLED)
    return next((each for each in found if each), None)


def _unpacked(folder: Path) -> Chromium:
    """Return the cached program; processes that ask at the same time fetch once, and what is cached is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / f"{folder.name}.lock"):
        if not (folder / _PROGRAM).is_file():
            _fetch(folder)
    libraries = sorted({str(path.parent) for path in (folder / "usr/lib").rglob("*.so*")})
    fonts = folder / "fonts.conf"
    fonts.write_text(_FONTS.format(folder=folder / "usr/share/fonts"), encoding="utf-8")
    return Chromium(folder / _PROGRAM, {"LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_FILE": str(fonts)})


def _fetch(folder: Path) -> None:
    sys.stderr.write(f"fetching Debian's {PACKAGES[0]}, once, about 100 MB: {folder}\n")
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
        here, fresh = Path(temporary), Path(temporary) / "fresh"
        fresh.mkdir()
        with suppress(ChromiumError):  # a source of others that does not answer keeps nobody from Debian's
            _apt(here, "update")
        _apt(here, "install", "--yes", "--no-install-recommends", "--download-only", *PACKAGES)
        for package in sorted((here / "cache" / "archives").glob("*.deb")):
            _run("dpkg-deb", "--extract", str(package), str(fresh))
        if not (fresh / _PROGRAM).is_file():
            raise ChromiumError(f"Debian's {PACKAGES[0]} does not hold {_PROGRAM}")
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
    _run("apt-get", "--quiet", *(f"--option={name}={value}" for name, value in own.items()), *words)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as slow:
        raise ChromiumError(f"{command[0]} took more than {_SECONDS} s") from slow
    if done.returncode:
        raise ChromiumError(f"{command[0]} failed:\n{(done.stderr or done.stdout).strip()[-2000:]}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
