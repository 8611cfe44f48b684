"""The shapes of what a policy holds, each read by itself: single values, lists, mappings by name, blocks and groups.

A shape returns what it read, or raises everything that is wrong in it at once. Must not know the policy's fields.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from shared.core.policy.faults import Fault, Path, Wrong, unknown_field, wrong_value
from shared.core.policy.field import Field, Shape

T = TypeVar("T")
_UNQUOTED: Final = {"boolean": "true|false", "integer": "[0-9]{1,9}", "number": r"[0-9]{1,9}(\.[0-9]{1,12})?"}
"""By type in the schema: text that is a value of it."""


@dataclass(frozen=True, slots=True)
class Single(Generic[T]):
    """One value, by a reader of `scalars`, with the JSON Schema that says the same to an editor."""

    reader: Callable[[Any], T]
    schema: Mapping[str, Any]

    def read(self, written: Any, path: Path) -> T:
        try:
            return self.reader(written)
        except ValueError as error:
            quotes = ", without quotes" if self._is_quoted(written) else ""
            raise Wrong([wrong_value(path, written, f"{error}{quotes}")]) from error

    def _is_quoted(self, value: Any) -> bool:
        """Whether it is text that would be what the field asks for, had it no quotes."""
        pattern = _UNQUOTED.get(self.schema.get("type", ""), "")
        return bool(pattern) and isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


@dataclass(frozen=True, slots=True)
class ListOf(Generic[T]):
    item: Shape[T]
    most: int | None = None

    def read(self, written: Any, path: Path) -> tuple[T, ...]:
        if not isinstance(written, list):
            raise Wrong([wrong_value(path, written, "write a list")])
        if self.most is not None and len(written) > self.most:
            raise Wrong([wrong_value(path, written, f"write at most {self.most}")])
        return tuple(_each(partial(self.item.read, each, (*path, place)) for place, each in enumerate(written)))


@dataclass(frozen=True, slots=True)
class SetOf(Generic[T]):
    """A list whose order says nothing."""

    item: Shape[T]
    most: int | None = None

    def read(self, written: Any, path: Path) -> frozenset[T]:
        return frozenset(ListOf(self.item, self.most).read(written, path))


@dataclass(frozen=True, slots=True)
class ByName(Generic[T]):
    """A mapping whose names are a person's own."""

    item: Shape[T]

    def read(self, written: Any, path: Path) -> dict[str, T]:
        if not isinstance(written, dict):
            raise Wrong([wrong_value(path, written, "write a mapping of names to settings")])
        return dict(_each(partial(self._entry, name, each, path) for name, each in written.items()))

    def _entry(self, name: Any, written: Any, path: Path) -> tuple[str, T]:
        first, second = _each((partial(_name, name, path), partial(self.item.read, written, (*path, name))))
        return first, second


@dataclass(frozen=True, slots=True)
class Block(Generic[T]):
    """A mapping that is one value: complete in itself, written as a whole or not at all."""

    title: str
    text: str
    fields: tuple[Field, ...]
    make: Callable[[Mapping[str, Any]], T]

    def read(self, written: Any, path: Path) -> T:
        return self.make(_known(self.fields, written, path))


@dataclass(frozen=True, slots=True)
class Group:
    """A mapping of settings: what was not written stays open, so that another group can be laid under it."""

    title: str
    text: str
    fields: tuple[Field, ...]

    def read(self, written: Any, path: Path) -> dict[str, Any]:
        known = _known(self.fields, written, path)
        return {name: known[name] for name in written}


def _known(fields: tuple[Field, ...], written: Any, path: Path) -> dict[str, Any]:
    """Return what is known of each field once the section was read: what is written, or its default."""
    if not isinstance(written, dict):
        raise Wrong([wrong_value(path, written, "write a mapping of settings")])
    known: dict[str, Any] = {}
    faults: list[Fault] = []
    for field in fields:
        try:
            known[field.name] = field.read(written, path, known)
        except Wrong as wrong:
            faults += wrong.faults
    names = [field.name for field in fields]
    faults += (_unknown(name, path, names) for name in written if name not in names)
    if faults:
        raise Wrong(faults)
    return known


def _each(readers: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return what all of them read, or raise the faults of all."""
    values: list[Any] = []
    faults: list[Fault] = []
    for read in readers:
        try:
            values.append(read())
        except Wrong as wrong:
            faults += wrong.faults
    if faults:
        raise Wrong(faults)
    return values


def _name(name: Any, path: Path) -> str:
    if not isinstance(name, str):
        raise Wrong([_no_name(name, path)])
    return name


def _unknown(name: Any, path: Path, known: Sequence[str]) -> Fault:
    return unknown_field((*path, name), known) if isinstance(name, str) else _no_name(name, path)


def _no_name(name: Any, path: Path) -> Fault:
    return wrong_value((*path, name), name, "write the name as text")
