"""Every link between pages leads somewhere, and every file that a page names is there."""

import re
from pathlib import Path

import pytest

from tests.pages import DOCS, ROOT, pages, prose

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
