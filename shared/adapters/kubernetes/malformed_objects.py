"""Objects that cannot be decoded: the parser's error with its place, and which objects a list leaves out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Generic, TypeVar

import msgspec

from shared.adapters.kubernetes import wire
from shared.errors import BadInput

PartKind = TypeVar("PartKind")


class RawPart(Generic[PartKind]):
    """The decoder of a raw part, which names the part's place when it is not of the API's shape."""

    def __init__(self, place: str, kind: type[PartKind]) -> None:
        self._place = place
        self._decoder: msgspec.json.Decoder[PartKind | None] = msgspec.json.Decoder(kind | None)

    def read(self, raw: bytes | msgspec.Raw) -> PartKind | None:
        """Return the part, None where there is none. Raises BadInput when it is not of the API's shape."""
        if not raw:
            return None
        try:
            return self._decoder.decode(raw)
        except msgspec.MsgspecError as fault:
            raise BadInput(f"{self._place}: {fault}.") from fault


T = TypeVar("T")
RAW_PAGES: Final = msgspec.json.Decoder(wire.Page[msgspec.Raw])


class NamedMeta(wire.Partial, frozen=True):
    name: str = ""
    namespace: str = ""


class NamedObject(wire.Partial, frozen=True):
    metadata: NamedMeta = NamedMeta()


@dataclass
class MalformedObjects:
    """What could not be read, a sentence each, however often a list was begun again."""

    found: dict[str, None] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(self.found)

    def skip_malformed(
        self, kind: str, items: Iterator[bytes | msgspec.Raw], read: Callable[[bytes | msgspec.Raw], T]
    ) -> Iterator[T]:
        """Yield what is read of each item of a list, without those that cannot be read."""
        for raw in items:
            yield from self.attempt(f"{kind} {_name(raw)}", partial(read, raw))

    def attempt(self, what: str, read: Callable[[], T]) -> Iterator[T]:
        """Yield what is read, or nothing where it cannot be."""
        try:
            value = read()
        except (msgspec.MsgspecError, RecursionError, BadInput) as fault:
            self.found[f"{what}: {str(fault).removesuffix('.')}"] = None
            return
        yield value


def _name(raw: bytes | msgspec.Raw) -> str:
    try:
        meta = msgspec.json.decode(raw, type=NamedObject).metadata
    except msgspec.MsgspecError:
        return "without a name"
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
