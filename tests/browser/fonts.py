"""Sets of fonts of other widths that a page is shown in: fontconfig is shown one of them, and nothing else."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.browser import debian


@dataclass(frozen=True)
class FontSet:
    package: str
    file: str
    text: str
    code: str


FONT_SETS: Final[Mapping[str, FontSet]] = {
    "Liberation": FontSet(
        "fonts-liberation", "liberation/LiberationSans-Regular.ttf", "Liberation Sans", "Liberation Mono"
    ),
    "DejaVu": FontSet("fonts-dejavu-core", "dejavu/DejaVuSans.ttf", "DejaVu Sans", "DejaVu Sans Mono"),
    "Noto Mono": FontSet("fonts-noto-mono", "noto/NotoMono-Regular.ttf", "Noto Mono", "Noto Mono"),
}
"""As wide as Arial; a sixth wider; each letter as wide as the widest."""
_TEXT, _CODE = ("sans", "sans-serif", "system-ui"), ("monospace", "ui-monospace")
_RULE: Final = """\
  <match target="pattern">
    <test name="family"><string>{generic}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>
"""
_CONFIGURATION: Final = """\
<?xml version="1.0"?>
<fontconfig>
  {more}
  <dir>{fonts}</dir>
{rules}</fontconfig>
"""


def configuration(fonts: Path, families: Mapping[str, str], more: str) -> str:
    """Return what fontconfig is to read: a folder of fonts, by generic name the family that serves it, and more."""
    rules = (_RULE.format(generic=generic, family=family) for generic, family in families.items())
    return _CONFIGURATION.format(fonts=fonts, rules="".join(rules), more=more)


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    """Say in one sentence what keeps this machine from having the sets, or None if nothing does."""
    if debian.has_tools(env) or all((folder / "usr").is_dir() for folder in _homes(env).values()):
        return None
    return "the sets of fonts are Debian's packages, and apt-get or dpkg-deb is not on PATH: run it on Debian or Ubuntu"


def locate(env: Mapping[str, str] = os.environ) -> Mapping[str, Path]:
    """Return each set's FONTCONFIG_FILE, fetching packages first (3 MB, once). Raises DebianError."""
    return {name: _written(name, folder) for name, folder in _homes(env).items()}


def _homes(env: Mapping[str, str]) -> Mapping[str, Path]:
    return {name: debian.home("fonts", [fonts.package], env) for name, fonts in FONT_SETS.items()}


def _written(name: str, folder: Path) -> Path:
    fonts, file = FONT_SETS[name], folder / "fonts.conf"
    debian.unpack(folder, [fonts.package], Path("usr/share/fonts/truetype") / fonts.file, alone=True)
    families = dict.fromkeys(_TEXT, fonts.text) | dict.fromkeys(_CODE, fonts.code)
    if not file.is_file():
        cache = f"<cachedir>{folder / 'cache'}</cachedir>"
        file.write_text(configuration(folder / "usr/share/fonts", families, cache), encoding="utf-8")
    return file
