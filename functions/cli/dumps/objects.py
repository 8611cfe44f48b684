"""The objects of a stream of JSON documents: the items of lists, one by one, and objects that stand by themselves.

Must not know what the objects are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from functions.cli.dumps.values import NotJson, Values

_text: Final = msgspec.json.Decoder(str)


class NoList(ValueError):
    """A document is JSON, and yet neither an object nor a list of them."""


@dataclass(slots=True)
class Document:
    """One document of a file. kubectl prints a list's kind after its items: until the end it may not be known."""

    kind: str = ""
    is_list: bool = False


class Found(NamedTuple):
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
        document.kind = _decoded(value)
    if name == b'"items"' and value.strip() != b"null":
        raise NoList("its items are no list")
    return value


def _decoded(value: bytes) -> str:
    try:
        return _text.decode(value)
    except (msgspec.MsgspecError, ValueError) as fault:
        raise NotJson(str(fault)) from fault


def _names(values: Values) -> Iterator[bytes]:
    """Yield the name of each field of an object; whoever asks takes the value before the next one."""
    values.take(b"{")
    if values.next_byte() == b"}":
        values.take(b"}")
        return
    more = b","
    while more == b",":
        name = values.value().strip()
        if not name.startswith(b'"'):
            raise NotJson("a field has no name")
        values.take(b":")
        yield name
        more = values.take(b",", b"}")


def _items(values: Values) -> Iterator[Found]:
    values.take(b"[")
    if values.next_byte() == b"]":
        values.take(b"]")
        return
    place, more = 0, b","
    while more == b",":
        yield Found(place, values.value())
        place, more = place + 1, values.take(b",", b"]")
