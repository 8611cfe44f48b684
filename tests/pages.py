"""The pages that people read, and how tests look into them: their sections, blocks and tables."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
README: Final = ROOT / "README.md"
DOCS: Final = ROOT / "docs"
INSTALL, RUN, UNINSTALL = (DOCS / name for name in ("install.md", "run.md", "uninstall.md"))
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Return every page: the root's, those of docs/, and each folder's own README."""
    found = (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("terraform/**/README.md"))
    return sorted(path for path in found if ".terraform" not in path.parts)


def section(page: Path, title: str) -> str:
    """Return what stands under a heading of a page, up to the next one of the same level or a higher one."""
    text = page.read_text(encoding="utf-8")
    level, _, _ = title.partition(" ")
    _, _, rest = f"\n{text}".partition(f"\n{title}\n")
    assert rest, f"{page.name} has no heading {title!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text: str, language: str) -> list[str]:
    return [body for word, body in _BLOCK.findall(text) if word == language]


def languages(text: str) -> set[str]:
    """Return the languages of all code blocks; empty for a block that names none."""
    return {word for word, _ in _BLOCK.findall(text)}


def prose(text: str) -> str:
    return _BLOCK.sub("", text)


def rows(text: str, head: str) -> Iterator[list[str]]:
    """Return the cells of each row of the table that begins with that line."""
    _, _, rest = text.partition(f"{head}\n")
    assert rest, f"there is no table {head!r}"
    for line in rest.splitlines()[1:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def filled(text: str, name: str, body: str) -> str:
    """Return a page with that body between `<!-- name -->` and `<!-- /name -->`. Raises ValueError without them."""
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    if not (start and end):
        raise ValueError(f"the marks <!-- {name} --> and <!-- /{name} --> are missing")
    return f"{before}{start}{body}{end}{after}"
