"""No code cites a page or a section that the repository does not hold."""

import re
from pathlib import Path

from tests.pages import ROOT

CITED = re.compile(r"\bdocs/[\w/-]+\.md\b")
SOURCES = ("*.py", "*.tf", "*.hcl", "*.yaml", "*.toml", "Makefile")
OURS = ("functions", "infra", "shared", "terraform", "tests")


def sources() -> list[Path]:
    """Return every file of code, but for what tools have left beside it."""
    found = [path for folder in OURS for kind in SOURCES for path in (ROOT / folder).rglob(kind)]
    return [*found, ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "main.py"]


def cited() -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for path in sources():
        if ".terraform" in path.parts or not path.is_file():
            continue
        for name in CITED.findall(path.read_text(encoding="utf-8", errors="replace")):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return places


def test_every_page_that_code_cites_is_there() -> None:
    assert {name: where for name, where in cited().items() if not (ROOT / name).is_file()} == {}
