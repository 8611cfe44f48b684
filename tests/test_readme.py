"""The README is short and leads to every page, and what is written from the code is that of the code."""

import re

from shared.settings import Settings, variable
from tests.docs.written import written
from tests.pages import DOCS, README, RUN, pages, rows

TEXT = README.read_text(encoding="utf-8")
MOST_LINES = 200


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_what_is_written_from_the_code_is_that_of_the_code() -> None:
    for page, text in written().items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: run `make pages`"


def test_it_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(docs/([\w/.-]+?)(?:#[\w-]+)?\)", TEXT))

    assert {path.name for path in DOCS.glob("*.md")} <= linked


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
