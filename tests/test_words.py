"""What the check of words and sentences finds, and what it leaves."""

import pytest

from tests.words import (
    Finding,
    Text,
    blocks,
    is_excused,
    long_sentences,
    of_javascript,
    of_python,
    refused_words,
)

LONG = "Word" + " word" * 25
SHORT = "Word" + " word" * 24


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(["mended"], "The owner mended the budget.", id="an inflected form"),
        pytest.param(["whoever"], "Whoever reads this", id="a capital"),
        pytest.param(["comes to"], "What it comes\nto", id="words on two lines"),
        pytest.param(["anew", "beside"], "Start anew beside the old pod.", id="each of two"),
        pytest.param([], "An amended, renewed fencer offences", id="a part of another word"),
        pytest.param([], "A key such as picture_at", id="a part of a key"),
    ],
)
def test_a_refused_word_is_found(expected: list[str], text: str) -> None:
    found = refused_words("page.md", [Text(1, text)])

    assert sorted(word.about for word in found) == expected


def test_a_finding_names_its_line() -> None:
    found = refused_words("page.md", [Text(7, "one\ntwo anew")])

    assert [word.line for word in found] == [8]


@pytest.mark.parametrize(
    ("expected", "page"),
    [
        pytest.param(1, f"{LONG}.", id="26 words"),
        pytest.param(0, f"{SHORT}.", id="25 words"),
        pytest.param(0, f"{SHORT}. {SHORT}! {SHORT}? `{LONG}`", id="several sentences"),
        pytest.param(1, f"{SHORT}; and so on.", id="a semicolon ends no sentence"),
        pytest.param(1, f"{SHORT}\nand a second line", id="a sentence on two lines"),
        pytest.param(0, f"{SHORT}\n\nand a second paragraph", id="two paragraphs"),
        pytest.param(0, f"- {SHORT}\n- and a second item", id="two items"),
        pytest.param(1, f"- {SHORT}\n  and its second line", id="the second line of an item"),
        pytest.param(0, f"| {SHORT} | {SHORT} |", id="two cells"),
        pytest.param(1, f"| word | {LONG} |", id="a long cell"),
        pytest.param(0, f"```sh\n{LONG}\n```", id="a block of code"),
        pytest.param(0, f"<!-- {LONG} -->", id="a comment"),
        pytest.param(0, f"[{SHORT}](a/b.md)", id="the address of a link"),
        pytest.param(0, f"{SHORT[5:]} `{LONG}`", id="a piece of code is one word"),
    ],
)
def test_a_sentence_has_at_most_25_words(expected: int, page: str) -> None:
    assert len(list(long_sentences("page.md", blocks(page)))) == expected


def test_a_page_is_read_without_its_code() -> None:
    page = "# Head\n\nA `rung` of\nthe [ladder](mend.md)\n\n```sh\nanew\n```\n- item\n"

    assert list(blocks(page)) == [(1, "# Head"), (3, "A CODE of\nthe [ladder]"), (9, "- item")]


def test_docstrings_comments_and_what_users_read_is_looked_at_and_keys_are_left_out() -> None:
    code = '''
"""Of the module."""
X = 1  # of a line
"""Of a constant."""
def f() -> str:
    """Of a function."""
    return {"ladder": f"{X} nodes at rest"}["ladder"]
'''
    assert sorted(of_python(code)) == [
        (2, "Of the module."), (3, "# of a line"), (4, "Of a constant."), (6, "Of a function."), (7, " nodes at rest"),
    ]  # fmt: skip


def test_strings_of_a_script_are_read_without_its_names() -> None:
    assert of_javascript("told.picture = 'a b';\nsay(`at ${told.rest} c`, \"key\")") == [(1, "'a b'"), (2, "`at … c`")]


@pytest.mark.parametrize(
    ("expected", "excuse"),
    [
        pytest.param(True, ("docs/report.md", "picture"), id="of the file"),
        pytest.param(True, ("docs/*.md", "picture"), id="of a pattern"),
        pytest.param(False, ("docs/report.md", "fence"), id="of another word"),
        pytest.param(False, ("docs/faq.md", "picture"), id="of another file"),
    ],
)
def test_an_excuse_is_for_one_word_in_some_files(expected: bool, excuse: tuple[str, str]) -> None:
    finding = Finding("docs/report.md", 1, "picture", "")

    assert is_excused(finding, [excuse]) == expected
