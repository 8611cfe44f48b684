"""Objects of kinds that others define: one that is not of the shape known here is named and left out, the rest counts.

Nodes and pods are the API server's own, and a page of them that cannot be read ends a reading. A custom resource of a
preview may change its shape any day, and must keep neither the planner from healing nor its neighbours from counting.
Must not say what holds without the object: who asks names that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import msgspec

from shared.adapters.kubernetes import wire
from shared.errors import BadInput

T = TypeVar("T")
RAW_PAGES: Final = msgspec.json.Decoder(wire.Page[msgspec.Raw])


class NamedMeta(wire.Partial, frozen=True):
    name: str = ""
    namespace: str = ""


class NamedObject(wire.Partial, frozen=True):
    metadata: NamedMeta = NamedMeta()


_named: Final = msgspec.json.Decoder(NamedObject)


@dataclass
class OddObjects:
    """What could not be read, a sentence each, however often a list was begun anew."""

    found: dict[str, None] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(self.found)

    def left_out(
        self, kind: str, items: Iterator[bytes | msgspec.Raw], read: Callable[[bytes | msgspec.Raw], T]
    ) -> Iterator[T]:
        """Yield what each item of a list says, without those that cannot be read."""
        for raw in items:
            yield from self.attempt(f"{kind} {_name(raw)}", partial(read, raw))

    def attempt(self, what: str, read: Callable[[], T]) -> Iterator[T]:
        """Yield what is read, or nothing where it cannot be."""
        try:
            said = read()
        except (msgspec.MsgspecError, RecursionError, BadInput) as fault:
            self.found[f"{what}: {str(fault).removesuffix('.')}"] = None
            return
        yield said


def _name(raw: bytes | msgspec.Raw) -> str:
    try:
        meta = _named.decode(raw).metadata
    except msgspec.MsgspecError:
        return "without a name"
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
