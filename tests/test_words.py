"""What the check of words and sentences finds, and what it leaves."""

from tests.depth import cases
from tests.words import Finding, Text, blocks, is_excused, long_sentences, of_javascript, of_python, refused_words

LONG = "Word" + " word" * 25
SHORT = "Word" + " word" * 24


@cases(
    "expected, text",
    ("an inflected form", ["mended"], "The owner mended the budget."),
    ("a capital", ["whoever"], "Whoever reads this"),
    ("words on two lines", ["comes to"], "What it comes\nto"),
    ("each of two", ["anew", "beside"], "Start anew beside the old pod."),
    ("a part of another word", [], "An amended, renewed fencer offences"),
    ("a part of a key", [], "A key such as picture_at"),
)
def test_a_refused_word_is_found(expected: list[str], text: str) -> None:
    found = refused_words("page.md", [Text(1, text)])

    assert sorted(word.about for word in found) == expected


def test_a_finding_names_its_line() -> None:
    found = refused_words("page.md", [Text(7, "one\ntwo anew")])

    assert [word.line for word in found] == [8]


@cases(
    "expected, page",
    ("26 words", 1, f"{LONG}."),
    ("25 words", 0, f"{SHORT}."),
    ("several sentences", 0, f"{SHORT}. {SHORT}! {SHORT}? `{LONG}`"),
    ("a semicolon ends no sentence", 1, f"{SHORT}; and so on."),
    ("a sentence on two lines", 1, f"{SHORT}\nand a second line"),
    ("two paragraphs", 0, f"{SHORT}\n\nand a second paragraph"),
    ("two items", 0, f"- {SHORT}\n- and a second item"),
    ("the second line of an item", 1, f"- {SHORT}\n  and its second line"),
    ("two cells", 0, f"| {SHORT} | {SHORT} |"),
    ("a long cell", 1, f"| word | {LONG} |"),
    ("a block of code", 0, f"```sh\n{LONG}\n```"),
    ("a comment", 0, f"<!-- {LONG} -->"),
    ("the address of a link", 0, f"[{SHORT}](a/b.md)"),
    ("a piece of code is one word", 0, f"{SHORT[5:]} `{LONG}`"),
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


@cases(
    "expected, excuse",
    ("of the file", True, ("docs/report.md", "picture")),
    ("of a pattern", True, ("docs/*.md", "picture")),
    ("of another word", False, ("docs/report.md", "fence")),
    ("of another file", False, ("docs/faq.md", "picture")),
)
def test_an_excuse_is_for_one_word_in_some_files(expected: bool, excuse: tuple[str, str]) -> None:
    finding = Finding("docs/report.md", 1, "picture", "")

    assert is_excused(finding, [excuse]) == expected
