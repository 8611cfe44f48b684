"""Chromium without its window: the one that is installed, or Debian's package, unpacked once into a cache."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.browser import debian
from tests.browser.fonts import configuration

PACKAGES: Final = ("chromium-headless-shell", "fonts-liberation")
INSTALLED: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PROGRAM: Final = Path("usr/lib/chromium/chromium-headless-shell")
_SYSTEMS_FONTS: Final = '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>'


class ChromiumError(RuntimeError):
    """Chromium cannot be had; the first line says why."""


@dataclass(frozen=True)
class Chromium:
    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def with_fonts(self, configuration: Path) -> "Chromium":
        """Return it with the fonts that a configuration of fontconfig names, and no other."""
        return replace(self, environment={**self.environment, "FONTCONFIG_FILE": str(configuration)})


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    """Say in one sentence what keeps this machine from having a Chromium, or None if nothing does."""
    if env.get("EBB_CHROMIUM") or _on_path(env) or (home(env) / _PROGRAM).is_file():
        return None
    if debian.has_tools(env):
        return None
    return "no Chromium is on PATH: install chromium, or let EBB_CHROMIUM name the program"


def locate(env: Mapping[str, str] = os.environ) -> Chromium:
    """Get Chromium, fetching Debian's package once (100 MB) if there is none. Raises ChromiumError or DebianError."""
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
    return debian.home("chromium", PACKAGES, env)


def _on_path(env: Mapping[str, str]) -> str | None:
    found = (shutil.which(name, path=env.get("PATH")) for name in INSTALLED)
    return next((path for path in found if path), None)


def _unpacked(folder: Path) -> Chromium:
    debian.unpack(folder, PACKAGES, _PROGRAM)
    libraries = sorted({str(path.parent) for path in (folder / "usr/lib").rglob("*.so*")})
    fonts = folder / "fonts.conf"
    families = dict.fromkeys(("system-ui", "sans-serif"), "Liberation Sans")  # the same letters on every machine
    fonts.write_text(configuration(folder / "usr/share/fonts", families, _SYSTEMS_FONTS), encoding="utf-8")
    return Chromium(folder / _PROGRAM, {"LD_LIBRARY_PATH": ":".join(libraries)}).with_fonts(fonts)
