"""What one field of the policy is, how a class of settings declares its fields, and the faults of what was written.

Schema, pages and checks are generated from it. All faults are reported at once, with path, value and remedy.
"""

import difflib
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Protocol, TypedDict, TypeVar, Unpack

Path = tuple[Any, ...]
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


@dataclass(frozen=True, slots=True)
class Fault:
    path: Path
    problem: str
    remedy: str
    unknown: bool = False  # Whether no field of that name belongs there.

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.problem}; {self.remedy}."


class Wrong(Exception):
    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(*self.faults)


def wrong_value(path: Path, value: Any, remedy: str) -> Fault:
    if value is None:
        return Fault(path, "it is missing", remedy)
    return Fault(path, f"value {_SHORT.repr(_plain(value))} is wrong", remedy)


def missing(path: Path, examples: Sequence[Any]) -> Fault:
    return Fault(path, "it is missing", f"write for example {examples[0]}" if examples else "write it")


def unknown_field(path: Path, known: Sequence[str]) -> Fault:
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
    """Return a path as a person would write it: `nodePools.a.disruption.budgets[0].nodes`."""
    text = "".join(_step(step) for step in path)
    return text.removeprefix(".") or "policy"


def _step(step: Any) -> str:
    if isinstance(step, int) and not isinstance(step, bool):
        return f"[{step}]"
    text = str(_plain(step))
    plain = text.isprintable() and 0 < len(text) <= _SHORT.maxstring
    return f".{text if plain else _SHORT.repr(text)}"


T_co = TypeVar("T_co", covariant=True)
REQUIRED: Final = object()  # The default of a field that must be written.


class Shape(Protocol[T_co]):
    """Anything that can stand behind a name."""

    def read(self, written: Any, path: Path) -> T_co:
        """Return the value. Raises Wrong with every fault."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name in the document, its shape, and its texts."""

    path: str  # Its name, below the groups in which it stands: `disruption.budgets`.
    shape: Shape[Any]
    text: str  # What it means; `{default}` is the default.
    default: Any = REQUIRED  # As a person would write it; None if leaving it out has a meaning of its own.
    unset: str = "none"  # The text for a field that is left out.
    empty: str = "none"  # The text for an empty list.
    unit: str = ""
    written: Callable[[Any, Mapping[str, Any]], None] | None = None  # Checks it as written (None = nothing).
    check: Callable[[Any, Mapping[str, Any]], None] | None = None  # Checks the value, with the fields before it.

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def description(self) -> str:
        return self.text.format(default=str(self.default).lower() if isinstance(self.default, bool) else self.default)

    def initial(self) -> Any:
        return None if self.default is None else self.shape.read(self.default, (self.path,))

    def read(self, section: Mapping[str, Any], path: Path, known: Mapping[str, Any]) -> Any:
        """Return the field's value in a section of the document; Wrong has every fault."""
        here, written = (*path, self.name), section.get(self.name, self.default)
        if written is REQUIRED:
            raise Wrong([missing(here, getattr(self.shape, "schema", {}).get("examples", ()))])
        try:
            if self.written:
                self.written(written, known)
            value = None if written is None else self.shape.read(written, here)
            if self.check:
                self.check(value, known)
        except ValueError as error:
            raise Wrong([wrong_value(here, written, str(error))]) from error
        return value


T = TypeVar("T")
_DECLARED: Final = "declared"


class Options(TypedDict, total=False):
    unset: str
    empty: str
    unit: str


def setting(
    path: str, shape: Shape[T], default: Any, text: str, *, in_force: T | None = None, **more: Unpack[Options]
) -> T:
    """Declare an attribute of a dataclass; where the default is None, `in_force` is what holds when it is left out."""
    declared = Field(path, shape, text, default, **more)
    value: T = in_force if default is None else declared.initial()  # type: ignore[assignment]  # None may stand for it
    return field(default=value, metadata={_DECLARED: declared})


def fields_of(kind: type) -> Mapping[str, Field]:
    """Return the fields of a dataclass by attribute; attributes that are no settings are not among them."""
    return {row.name: row.metadata[_DECLARED] for row in fields(kind) if _DECLARED in row.metadata}
