"""The JSON values of a stream, each as its own bytes, without holding more of the stream than the one at hand.

The decoder itself says where a value ends: it refuses what comes after it, by its place. Must not know Kubernetes.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

MOST_HEAD: Final = 1_000
"""Bytes of the beginning that are kept, to tell what a file is that is not JSON."""
_LEAST: Final = 1 << 20
_BLANK: Final = re.compile(rb"[ \t\r\n]*")
_AFTER_IT: Final = re.compile(r"trailing characters \(byte (\d+)\)")
"""The decoder's words; it counts the first byte that is too many as read."""
_GOES_ON: Final = "Input data was truncated"
_CLOSED: Final = (b"{", b"[", b'"')
"""Values that begin like this say themselves where they end; a number does not."""
_any: Final = msgspec.json.Decoder(msgspec.Raw)


class NotJson(ValueError):
    """The stream holds something else. `cut_off`: it is JSON as far as it goes."""

    def __init__(self, why: str, *, cut_off: bool = False) -> None:
        super().__init__(why)
        self.cut_off = cut_off


class Values:
    """What is left of a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._data, self._at, self._ended = b"", 0, False
        self._more()
        self.head = self._data[:MOST_HEAD]

    def next_byte(self) -> bytes:
        """Return the next byte that is not blank, which stays; nothing at the end."""
        while True:
            self._at = self._skipped()
            if self._at < len(self._data) or self._ended:
                return self._data[self._at : self._at + 1]
            self._more()

    def take(self, *wanted: bytes) -> bytes:
        """Return the next byte that is not blank, which has to be one of these.

        Raises:
            NotJson: it is another one.
        """
        found = self.next_byte()
        if not found:
            raise NotJson("it ends too early", cut_off=True)
        if found not in wanted:
            raise NotJson(f"{found!r} stands where {b' or '.join(wanted)!r} should")
        self._at += 1
        return found

    def value(self) -> bytes:
        """Return the next value.

        Raises:
            NotJson: there is none.
        """
        self.next_byte()
        while (end := self._end()) is None:
            if self._ended:
                raise NotJson("it ends too early", cut_off=True)
            self._more()
        found = self._data[self._at : self._at + end]
        self._at += end
        return found

    def _skipped(self) -> int:
        blank = _BLANK.match(self._data, self._at)
        return blank.end() if blank else self._at

    def _end(self) -> int | None:
        """Return how long the next value is; nothing where it may go on after what has been read."""
        rest = memoryview(self._data)[self._at :]
        try:
            _any.decode(rest)
        except msgspec.DecodeError as fault:
            return _length(str(fault))
        except RecursionError as fault:
            raise NotJson("it is nested too deeply") from fault
        return len(rest) if self._ended or self._data.startswith(_CLOSED, self._at) else None

    def _more(self) -> None:
        """Read on, by at least as much as waits already: a long value is then looked at a few times only."""
        rest = self._data[self._at :]
        found, wanted = [rest], max(_LEAST, len(rest))
        while wanted > 0 and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            found.append(piece or b"")
            wanted -= len(found[-1])
        self._data, self._at = b"".join(found), 0


def _length(fault: str) -> int | None:
    after = _AFTER_IT.search(fault)
    if after is None and fault != _GOES_ON:
        raise NotJson(fault)
    return int(after[1]) - 1 if after else None
