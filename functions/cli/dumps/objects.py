"""JSON values of a stream and the objects in them, without holding more than one value in memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

MOST_HEAD: Final = 1_000
"""Bytes of the beginning that are kept, to show what a file is that is not JSON."""
_LEAST: Final = 1 << 20
_BLANK: Final = re.compile(rb"[ \t\r\n]*")
_AFTER_IT: Final = re.compile(r"trailing characters \(byte (\d+)\)")
"""The decoder's words; it counts the first byte that is too many as read."""
_GOES_ON: Final = "Input data was truncated"
_CLOSED: Final = (b"{", b"[", b'"')
"""Values that begin like this have an end of their own; a number does not."""
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
        self._read_more()
        self.head = self._data[:MOST_HEAD]

    def next_byte(self) -> bytes:
        """Return the next byte that is not blank, which stays; nothing at the end."""
        while True:
            self._at = self._after_blanks()
            if self._at < len(self._data) or self._ended:
                return self._data[self._at : self._at + 1]
            self._read_more()

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
        while (end := self._value_length()) is None:
            if self._ended:
                raise NotJson("it ends too early", cut_off=True)
            self._read_more()
        found = self._data[self._at : self._at + end]
        self._at += end
        return found

    def _after_blanks(self) -> int:
        blank = _BLANK.match(self._data, self._at)
        return blank.end() if blank else self._at

    def _value_length(self) -> int | None:
        """Return how long the next value is; nothing where it may go on after what has been read."""
        rest = memoryview(self._data)[self._at :]
        try:
            _any.decode(rest)
        except msgspec.DecodeError as fault:
            return _length_before(str(fault))
        except RecursionError as fault:
            raise NotJson("it is nested too deeply") from fault
        return len(rest) if self._ended or self._data.startswith(_CLOSED, self._at) else None

    def _read_more(self) -> None:
        """Read on, by at least as much as waits already: a long value is then looked at a few times only."""
        rest = self._data[self._at :]
        found, wanted = [rest], max(_LEAST, len(rest))
        while wanted > 0 and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            found.append(piece or b"")
            wanted -= len(found[-1])
        self._data, self._at = b"".join(found), 0


def _length_before(fault: str) -> int | None:
    after = _AFTER_IT.search(fault)
    if after is None and fault != _GOES_ON:
        raise NotJson(fault)
    return int(after[1]) - 1 if after else None


_text: Final = msgspec.json.Decoder(str)


class NoList(ValueError):
    """A document is JSON, and yet neither an object nor a list of them."""


@dataclass(slots=True)
class Document:
    """One document of a file. kubectl prints a list's kind after its items: until the end it may not be known."""

    kind: str = ""
    is_list: bool = False


@dataclass(frozen=True, order=True, slots=True)
class Found:
    """One object; `place` is its number in the list, and -1 where it stands by itself."""

    place: int
    raw: bytes


def documents(values: Values) -> Iterator[tuple[Document, Iterator[Found]]]:
    """Yield every document with its objects, which have to be taken before the next document.

    Raises:
        NotJson, NoList: the stream holds something else.
    """
    while values.next_byte():
        document = Document()
        yield document, _objects(values, document)


def _objects(values: Values, document: Document) -> Iterator[Found]:
    if values.next_byte() != b"{":
        raise NoList(f"it is {values.value()[:40].decode(errors='replace')}")
    fields: list[bytes] = []
    for name in _names(values):
        if name == b'"items"' and values.next_byte() == b"[":
            document.is_list = True
            yield from _items(values)
        else:
            fields.append(name + b":" + _field(values, document, name))
    if not document.is_list:
        yield Found(-1, b"{" + b",".join(fields) + b"}")


def _field(values: Values, document: Document, name: bytes) -> bytes:
    value = values.value()
    if name == b'"kind"' and value.startswith(b'"'):
        document.kind = _decode_text(value)
    if name == b'"items"' and value.strip() != b"null":
        raise NoList("its items are no list")
    return value


def _decode_text(value: bytes) -> str:
    try:
        return _text.decode(value)
    except (msgspec.MsgspecError, ValueError) as fault:
        raise NotJson(str(fault)) from fault


def _names(values: Values) -> Iterator[bytes]:
    """Yield the name of every field of an object; the caller takes the value before the next one."""
    for _ in _members(values, b"{", b"}"):
        name = values.value().strip()
        if not name.startswith(b'"'):
            raise NotJson("a field has no name")
        values.take(b":")
        yield name


def _items(values: Values) -> Iterator[Found]:
    for place in _members(values, b"[", b"]"):
        yield Found(place, values.value())


def _members(values: Values, begin: bytes, end: bytes) -> Iterator[int]:
    """Yield the number of every member of a list or an object; the caller takes it before the next one."""
    values.take(begin)
    place, more = 0, end if values.next_byte() == end else b","
    if more == end:
        values.take(end)
    while more == b",":
        yield place
        place, more = place + 1, values.take(b",", end)
