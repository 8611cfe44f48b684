"""What the check of words and sentences finds, what it leaves, and when its baseline lets a finding pass."""

import json
from pathlib import Path

import pytest

from tests.words import (
    Finding,
    Text,
    baseline,
    blocks,
    grown_files,
    is_excused,
    long_sentences,
    lower,
    of_javascript,
    of_python,
    refused_words,
    unused,
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
    found = refused_words("words", "page.md", [Text(1, text)])

    assert sorted(each.about for each in found) == expected


def test_a_finding_names_its_line() -> None:
    found = refused_words("words", "page.md", [Text(7, "one\ntwo anew")])

    assert [each.line for each in found] == [8]


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
    assert len(list(long_sentences("sentences", "page.md", blocks(page)))) == expected


def test_a_page_is_read_without_its_code() -> None:
    page = "# Head\n\nA `rung` of\nthe [ladder](mend.md)\n\n```sh\nanew\n```\n- item\n"

    assert list(blocks(page)) == [(1, "# Head"), (3, "A CODE of\nthe [ladder]"), (9, "- item")]


def test_docstrings_are_kept_apart_from_what_users_read_and_keys_are_left_out() -> None:
    code = '''
"""Of the module."""
X = 1
"""Of a constant."""
def f() -> str:
    """Of a function."""
    return {"ladder": f"{X} nodes at rest"}["ladder"]
'''
    docstrings, texts = of_python(code)

    assert docstrings == [(2, "Of the module."), (4, "Of a constant."), (6, "Of a function.")]
    assert texts == [(7, " nodes at rest")]


def test_strings_of_a_script_are_read_without_its_names() -> None:
    assert of_javascript("told.picture = 'a b';\nsay(`at ${told.rest} c`, \"key\")") == [(1, "'a b'"), (2, "`at … c`")]


@pytest.mark.parametrize(
    ("expected", "now"),
    [
        pytest.param([], {"a.md": 1, "b.md": 2}, id="as before"),
        pytest.param([], {"b.md": 2}, id="less"),
        pytest.param([], {"moved.md": 1, "b.md": 2}, id="a file was moved"),
        pytest.param([("words", "b.md")], {"a.md": 1, "b.md": 3}, id="more in one"),
        pytest.param([("words", "new.md")], {"a.md": 1, "b.md": 2, "new.md": 1}, id="more in a new file"),
    ],
)
def test_the_sum_of_a_kind_may_not_grow(expected: list[tuple[str, str]], now: dict[str, int]) -> None:
    assert list(grown_files({"words": now}, {"words": {"a.md": 1, "b.md": 2}})) == expected


def test_lowering_the_baseline_writes_smaller_numbers_and_refuses_larger_ones(tmp_path: Path) -> None:
    one, path = Finding("words", "a.md", 1, "anew", ""), tmp_path / "words.json"
    path.write_text(json.dumps({"words": {"a.md": 2}}))

    assert (lower([one], path), baseline(path)) == (0, {"words": {"a.md": 1}})
    assert (lower([one, one], path), baseline(path)) == (1, {"words": {"a.md": 1}})


@pytest.mark.parametrize(
    ("expected", "excuse"),
    [
        pytest.param(True, ("docs/report.md", "picture"), id="of the file"),
        pytest.param(True, ("docs/*.md", "picture"), id="of a pattern"),
        pytest.param(False, ("docs/report.md", "fence"), id="of another word"),
        pytest.param(False, ("docs/faq.md", "picture"), id="of another file"),
    ],
)
def test_an_excuse_is_for_one_word_and_is_needed_by_a_finding(expected: bool, excuse: tuple[str, str]) -> None:
    finding = Finding("words", "docs/report.md", 1, "picture", "")

    assert is_excused(finding, [excuse]) == expected
    assert unused([excuse], [finding]) == ([] if expected else [excuse])
