"""Names that a person may have meant by one that is not known. Must not choose one: it only asks."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_NEAR: Final = 0.75
"""One letter of four may be another; what is less alike only distracts."""
_AS_NEAR: Final = 0.03
"""What is by so much less alike than the nearest was not meant: all names of a cluster share most of their letters."""
_MOST: Final = 3


def near(word: str, known: Iterable[str], least: float = _NEAR) -> str:
    """Return `did you mean A or B?`, or nothing where no name is so much like the word, whole or by its end."""
    by_part = {part: name for name in known for part in _parts(name, word)}
    found = difflib.get_close_matches(word, by_part, n=_MOST, cutoff=least)
    likeness = {part: difflib.SequenceMatcher(None, part, word).ratio() for part in found}
    nearest = max(likeness.values(), default=0) - _AS_NEAR
    names = list(dict.fromkeys(by_part[part] for part in found if likeness[part] >= nearest))
    return f"did you mean {_either(names)}?" if names else ""


def _either(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _parts(name: str, word: str) -> Iterator[str]:
    """Yield what of a name a person writes: the whole, what follows its namespace or kind, as many words at its end."""
    yield name
    own = name.rpartition("/")[2]
    yield own
    yield "-".join(own.split("-")[-1 - word.count("-") :])
