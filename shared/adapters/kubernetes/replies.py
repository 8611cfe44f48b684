"""The API's answers, with its own words on what went wrong. Must not judge them: `client` and `evictions` do."""

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire

DENIED: Final = re.compile(r'admission webhook "[^"]+" denied the request')
"""A webhook's no, whatever its code: it is about this object, and no right of the account's would change it."""


class Cause(wire.Partial, frozen=True):
    reason: str = ""
    message: str = ""


class Details(wire.Partial, frozen=True):
    causes: list[Cause] | None = None


class ApiStatus(wire.Partial, frozen=True):
    """The API's answer to a call that failed."""

    message: str = ""
    reason: str = ""
    details: Details | None = None

    @property
    def causes(self) -> list[Cause]:
        return (self.details.causes if self.details else None) or []


_status: Final = msgspec.json.Decoder(ApiStatus)


@dataclass(frozen=True)
class ApiReply:
    """The API's answer, whatever its code."""

    code: int
    body: bytes
    retry_after: str = ""
    """The header of that name."""

    @property
    def status(self) -> ApiStatus:
        """The API's own words on a failure; a body that is none of the API's stands in as the message."""
        try:
            return _status.decode(self.body)
        except (msgspec.MsgspecError, RecursionError):
            return ApiStatus(message=self.body[:200].decode(errors="replace"))
