"""Raw parts of an object, decoded when their kind is met for the first time."""

from typing import Generic, TypeVar

import msgspec

from shared.errors import BadInput

PartKind = TypeVar("PartKind")


class RawPart(Generic[PartKind]):
    """The decoder of a raw part, which names the part's place when it is not of the API's shape."""

    def __init__(self, place: str, kind: type[PartKind]) -> None:
        self._place = place
        self._decoder: msgspec.json.Decoder[PartKind | None] = msgspec.json.Decoder(kind | None)

    def read(self, raw: bytes | msgspec.Raw) -> PartKind | None:
        """Return the part, or None where there is none.

        Raises:
            BadInput: it is not of the API's shape.
        """
        if not raw:
            return None
        try:
            return self._decoder.decode(raw)
        except msgspec.MsgspecError as fault:
            raise BadInput(f"{self._place}: {fault}.") from fault
