"""The changes as markdown: to paste into an issue, a merge request or a chat. The same words as the terminal's.

Must not rank: the core has. Must not word anything.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from functions.cli.analysis.what_if import Freed, WhyNot
from functions.cli.markdown_text import code, table, text
from functions.cli.why_not import words
from functions.cli.why_not.how import how

_TITLES: Final = ("frees/mo", "nodes", "without", "meaning", "how")
_FIGURES: Final = _TITLES[:2]


def page(found: WhyNot, cluster: str, whose: str, notes: Sequence[str]) -> str:
    """Return the changes as one page."""
    title = f"# What single changes would free: {text(cluster or 'the cluster')}"
    return "\n\n".join(
        (title, text(words.base(found, whose)), *_changes(found), *(f"> {text(note)}" for note in notes))
    )


def _changes(found: WhyNot) -> Iterator[str]:
    freeing = words.freeing(found)
    yield text(words.FREES if freeing else words.NOTHING)
    if freeing:
        yield table(_TITLES, map(_cells, freeing), _FIGURES)
        if not words.is_whole(freeing):
            yield text(words.AT_LEAST)
    yield from map(text, words.others(found))


def _cells(freed: Freed) -> Sequence[str]:
    subject = freed.subject
    return (
        words.frees(freed),
        f"{freed.nodes:,}",
        code(words.named(subject)),
        text(words.meaning(subject)),
        code(how(subject)),
    )
