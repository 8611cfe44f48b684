"""`make lint`: refuses words and long sentences (CONTRIBUTING.md); `python -m tests.words PATH …` looks there alone."""

import ast
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from io import StringIO
from itertools import product, takewhile
from pathlib import Path
from typing import Final, NamedTuple

from tests.pages import ROOT, pages

LONGEST: Final = 25
"""Words in a sentence of a page."""
REFUSED: Final[Mapping[str, str]] = {
    r"mend(s|ed|ing)?": "fix",
    r"amiss": "wrong",
    r"anew": "again",
    r"whoever": "anyone who",
    r"dear(er|est|ly)?": "expensive",
    r"beside": "next to, with, as well as",
    r"(come|comes|came|coming)\s+to": "ends at, is, costs",
    r"of\s+it": "its, or name the thing",
    r"(give|gives|gave|given|giving)\s+up": "relax, stop",
    r"wish(es|ed)?": "constraint, relaxation",
    r"rungs?": "scenario",
    r"ladders?": "scenarios",
    r"at\s+rest": "in steady state",
    r"pictures?": "snapshot",
    r"fence[sd]?": "admission policy",
    r"(tell|tells|told|telling)": "show, report",
    r"(bear|bears|bore|borne|bearing)": "have, carry",
    r"(say|says|said|saying)": "show, report, name",
    r"(give|gives|gave|given|giving)\s+back": "uncordon, return",
    r"for\s+ever": "always",
    r"whom": "a subject and a verb",
    r"(under-?)?utilis(ed|ation)|under-utilized": "underutilized, utilization: Kubernetes' spelling",
}
"""By pattern, the words to write instead."""
EXCUSED: Final[Mapping[tuple[str, str], str]] = {("Makefile", "pictures"): "the target that draws docs/pictures"}
"""By file (a pattern) and word, why the word is right there."""
_REFUSED: Final = [(re.compile(rf"\b(?:{each})\b", re.IGNORECASE), instead) for each, instead in REFUSED.items()]
_CODE: Final = ("main.py", "shared/**/*.py", "functions/**/*.py", "infra/**/*.py")
_TEXTS: Final = ("Makefile", "infra/**/*.yaml", "terraform/**/*.tf", "terraform/**/*.yaml")
_SKIPPED: Final = {".terraform", ".venv", "build"}
_FIRST_OF_A_BLOCK: Final = re.compile(r"\s*(?:[-*+] |\d+\. |#+ |>|\|)")


class Finding(NamedTuple):
    path: str
    line: int
    about: str
    """The word; the first words of a sentence."""
    remedy: str


class Text(NamedTuple):
    line: int
    text: str


def main(arguments: Sequence[str]) -> int:
    below = tuple(arguments) or ("",)
    found = [row for row in findings() if row.path.startswith(below) and not is_excused(row)]
    sys.stdout.writelines(f"{row.path}:{row.line}: {row.about} ({row.remedy})\n" for row in found)
    return 1 if found else 0


def findings() -> Iterator[Finding]:
    """Return all findings: in pages, docstrings, comments, messages, manifests, Terraform and the report's page."""
    for page in pages():
        path, text = _named(page), page.read_text(encoding="utf-8")
        yield from refused_words(path, blocks(text))
        yield from long_sentences(path, blocks(text))
    for path, text in _files(_CODE):
        yield from refused_words(path, of_python(text))
    for path, text in _files(_TEXTS):
        yield from refused_words(path, [Text(1, text)])
    for path, text in _files(("functions/**/*.html",)):
        yield from refused_words(path, [Text(1, re.sub(r"\.\w+", "", text))])  # without keys: `report.title`
    for path, text in _files(("functions/**/*.js",)):
        yield from refused_words(path, of_javascript(text))


def _files(patterns: Iterable[str]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        for file in sorted(ROOT.glob(pattern)):
            if not _SKIPPED & set(file.relative_to(ROOT).parts):
                yield _named(file), file.read_text(encoding="utf-8")


def _named(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def refused_words(path: str, texts: Iterable[Text]) -> Iterator[Finding]:
    for (line, text), (refused, instead) in product(texts, _REFUSED):
        for match in refused.finditer(text):
            at = line + text.count("\n", 0, match.start())
            yield Finding(path, at, " ".join(match[0].split()).lower(), f"better: {instead}")


def is_excused(finding: Finding, excuses: Iterable[tuple[str, str]] = EXCUSED) -> bool:
    return any(finding.about == word and fnmatch(finding.path, file) for file, word in excuses)


def long_sentences(path: str, texts: Iterable[Text]) -> Iterator[Finding]:
    """Find the sentences of more than `LONGEST` words."""
    for line, text in texts:
        for sentence in re.split(r"(?<=[.!?])[\"')*_]*\s+(?=[^a-z])", text):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > LONGEST:
                yield Finding(path, line, f"{' '.join(words[:8])} …", f"{len(words)} words, at most {LONGEST}")


def blocks(page: str) -> Iterator[Text]:
    """Return the paragraphs, items and table cells of a Markdown page without code, comments and addresses of links."""
    hidden = re.compile(r"^```.*?^```$|<!--.*?-->", re.DOTALL | re.MULTILINE)
    lines = hidden.sub(lambda match: "\n" * match[0].count("\n"), page).splitlines()
    number = 0
    while number < len(lines):
        more = takewhile(lambda line: line.strip() and not _FIRST_OF_A_BLOCK.match(line), lines[number + 1 :])
        block = [lines[number], *(more if not lines[number].startswith(("#", "|")) and lines[number].strip() else ())]
        cells = re.split(r"(?<!\\)\|", block[0]) if block[0].startswith("|") else ["\n".join(block)]
        yield from (Text(number + 1, plain(cell)) for cell in cells if cell.strip())
        number += len(block)


def plain(markdown: str) -> str:
    """Return the words of a piece of Markdown; a piece of code is one word."""
    without_code = re.sub(r"(`+)(.+?)\1", lambda match: "CODE" + "\n" * match[0].count("\n"), markdown, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", without_code)


def of_python(code: str) -> list[Text]:
    """Return the docstrings and comments of a module, and its other strings with a space: no key or name has one."""
    tree = ast.parse(code)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    read = [node for node in strings if id(node) in alone or " " in str(node.value)]
    tokens = tokenize.generate_tokens(StringIO(code).readline)
    comments = [Text(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    return [*(Text(node.lineno, plain(str(node.value))) for node in read), *comments]


def of_javascript(code: str) -> list[Text]:
    """Return the strings with a space, without the values that are put into them."""
    strings = re.finditer(r""" "[^"\n]*" | '[^'\n]*' | `[^`]*` """, code, re.VERBOSE)
    found = (
        Text(code.count("\n", 0, string.start()) + 1, re.sub(r"\$\{[^}]*\}", "…", string[0])) for string in strings
    )
    return [text for text in found if " " in text.text]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
