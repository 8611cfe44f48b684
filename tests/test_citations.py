"""No code cites a page or a section that the repository does not hold."""

import re
from pathlib import Path

from tests.pages import ROOT

CITED = re.compile(r"\bdocs/[\w/-]+\.md\b")
FOREIGN = re.compile(r"[Dd]esign (?:§|card)|\bguide[:/] |\bseeds? (?:§|guide)|[( ]§\d")
"""What points to documents that the repository does not hold."""
SOURCES = ("*.py", "*.tf", "*.hcl", "*.yaml", "*.toml", "Makefile")
OURS = ("functions", "infra", "shared", "terraform", "tests")


def sources() -> list[Path]:
    """Return every file of code, but for what tools have left beside it."""
    found = [path for folder in OURS for kind in SOURCES for path in (ROOT / folder).rglob(kind)]
    return [*found, ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "main.py"]


def texts() -> dict[str, str]:
    """Return the text of each, by its path."""
    found = {path.relative_to(ROOT): path for path in sources() if ".terraform" not in path.parts and path.is_file()}
    return {str(name): path.read_text(encoding="utf-8", errors="replace") for name, path in sorted(found.items())}


def cited() -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for path, text in texts().items():
        for name in CITED.findall(text):
            places.setdefault(name, []).append(path)
    return places


def test_every_page_that_code_cites_is_there() -> None:
    assert {name: where for name, where in cited().items() if not (ROOT / name).is_file()} == {}


def test_no_code_cites_what_the_repository_does_not_hold() -> None:
    own = str(Path(__file__).relative_to(ROOT))

    assert [name for name, text in texts().items() if name != own and FOREIGN.search(text)] == []
