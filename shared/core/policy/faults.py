"""Every fault of a policy at once, each as one sentence with its path, the value found and the remedy."""

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

Path = tuple[Any, ...]
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a path, and what to write there."""

    path: Path
    problem: str
    remedy: str
    unknown: bool = False
    """Whether no field of that name belongs there."""

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.problem}; {self.remedy}."


class Wrong(Exception):
    """What was read holds these faults."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(*self.faults)


def wrong_value(path: Path, value: Any, remedy: str) -> Fault:
    """Return the fault of a value that its field does not take."""
    if value is None:
        return Fault(path, "it is missing", remedy)
    return Fault(path, f"value {_SHORT.repr(_plain(value))} is wrong", remedy)


def missing(path: Path, examples: Sequence[Any]) -> Fault:
    """Return the fault of a field that must be written."""
    return Fault(path, "it is missing", f"write for example {examples[0]}" if examples else "write it")


def unknown_field(path: Path, known: Sequence[str]) -> Fault:
    """Return the fault of a field that the section at the path does not have."""
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(path[-1]).lower(), lower, n=1, cutoff=0.6)
    remedy = f"write {lower[near[0]]}, if that was meant" if near else f"write one of {', '.join(known)}"
    return Fault(path, "there is no such field", remedy, unknown=True)


def _plain(value: Any) -> Any:
    """Show decimals and truth values as they were written, not as Python's."""
    if isinstance(value, bool):
        return _Text(str(value).lower())
    return value if isinstance(value, str | int | list | dict) else _Text(str(value))


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def path_text(path: Sequence[Any]) -> str:
    """Return a path as a person would say it: `nodePools.a.disruption.budgets[0].nodes`."""
    text = "".join(_step(step) for step in path)
    return text.removeprefix(".") or "policy"


def _step(step: Any) -> str:
    if isinstance(step, int) and not isinstance(step, bool):
        return f"[{step}]"
    text = str(_plain(step))
    plain = text.isprintable() and 0 < len(text) <= _SHORT.maxstring
    return f".{text if plain else _SHORT.repr(text)}"
