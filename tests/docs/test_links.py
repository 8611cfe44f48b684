"""Every link between pages leads somewhere, and what pages and code name is there."""

import re
from pathlib import Path

import pytest

from shared.settings import Settings, variable
from tests.docs.written import written
from tests.pages import DOCS, ROOT, RUN, pages, prose, rows

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:functions|infra|shared|terraform|tests|docs)(?:/[\w./*-]+)?|main\.py|[A-Z_]+\.md)`")
PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        aim = (page.parent / path).resolve() if path else page
        assert aim.exists(), target
        assert not anchor or anchor in anchors(aim), target


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    text = page.read_text(encoding="utf-8")

    assert [name for name in sorted(set(NAMED.findall(text))) if not list(ROOT.glob(name.rstrip("/")))] == []


def test_every_page_under_docs_can_be_reached_from_the_readme() -> None:
    seen, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        targets = (target.partition("#")[0] for target in LINK.findall(prose(page.read_text(encoding="utf-8"))))
        todo += [(page.parent / target).resolve() for target in targets if target and not target.startswith("http")]

    assert set(DOCS.rglob("*.md")) - seen == set()


def test_what_is_written_from_the_code_is_that_of_the_code() -> None:
    for page, text in written().items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: run `make pages`"


def test_every_variable_of_the_environment_is_explained_and_no_other_is_named() -> None:
    variables = {variable(name) for name in Settings.__dataclass_fields__}
    explained = {
        name
        for cells in rows(RUN.read_text(encoding="utf-8"), "| variable | meaning |")
        for name in re.findall(r"`((?:EBB|GOOGLE)_\w+)`", cells[0])
    }
    tests_own = {"EBB_TFMIRROR", "EBB_OPENB", "EBB_RECORDINGS", "EBB_KUBE_ASSETS", "EBB_SEED"}
    named = {name for page in pages() for name in re.findall(r"\b(EBB_[A-Z_]+)\b", page.read_text(encoding="utf-8"))}

    assert explained == variables
    assert named <= variables | tests_own


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
