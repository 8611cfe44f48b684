"""However a stream of JSON is cut into pieces, the same values come out of it, and no more of it is held than one."""

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.dumps.objects import NotJson, Values, documents

words = st.text(max_size=8) | st.sampled_from(['"', "\\", "}", "]", ",", "{[", "é", "\n"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)
LAYOUTS = st.sampled_from([None, 4, "\t"])


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(st.lists(anything, max_size=4), LAYOUTS, st.integers(1, 40))
def test_values_come_out_as_they_went_in(given: list[Any], indent: int | str | None, size: int) -> None:
    stream = "\n ".join(json.dumps(value, indent=indent, ensure_ascii=False) for value in given).encode()
    values, found = Values(cut(stream, size)), []
    while values.next_byte():
        found.append(json.loads(values.value()))
    assert found == given


@given(st.lists(st.dictionaries(words, anything, max_size=3), max_size=4), LAYOUTS, st.booleans())
def test_the_items_of_a_list_come_one_by_one(items: list[Any], indent: int | str | None, kind_first: bool) -> None:
    fields = {"kind": "PodList", "metadata": {"items": []}, "items": items}
    names = list(fields) if kind_first else list(reversed(fields))
    stream = json.dumps({name: fields[name] for name in names}, indent=indent).encode()
    ((document, found),) = ((one, list(rows)) for one, rows in documents(Values(cut(stream, 7))))
    assert [json.loads(item.raw) for item in found] == items
    assert [item.place for item in found] == list(range(len(items)))
    assert (document.kind, document.is_list) == ("PodList", True)


@pytest.mark.parametrize(
    ("cut_off", "stream"),
    [
        pytest.param(True, b'{"a": [1, 2', id="cut off in a list"),
        pytest.param(True, b'{"a": "b', id="cut off in a text"),
        pytest.param(True, b'{"a"', id="cut off behind a name"),
        pytest.param(False, b'{"a" "b"}', id="no colon"),
        pytest.param(False, b"{1: 2}", id="a number for a name"),
        pytest.param(False, b'{"a": 1 "b": 2}', id="no comma"),
        pytest.param(False, b'{"kind": "Lis\xe2"}', id="bytes that are no text"),
        pytest.param(False, b"Error: no", id="a sentence"),
    ],
)
def test_it_is_shown_whether_a_stream_is_cut_off_or_something_else(cut_off: bool, stream: bytes) -> None:
    with pytest.raises(NotJson) as fault:
        _ = [list(found) for _, found in documents(Values(cut(stream, 3)))]
    assert fault.value.cut_off is cut_off


@pytest.mark.parametrize(
    "layout", [pytest.param((",", ":"), id="on one line"), pytest.param((", ", ":\n"), id="in many")]
)
def test_a_long_list_is_never_held_whole(layout: tuple[str, str]) -> None:
    item = json.dumps({"kind": "Pod", "metadata": {"name": "x" * 4_000}}, separators=layout).encode()
    many = 20_000

    def pieces() -> Iterator[bytes]:
        yield b'{"items": [' + item
        for _ in range(many):
            yield b"," + item
        yield b"]}"

    tracemalloc.start()
    (read,) = (sum(1 for _ in found) for _, found in documents(Values(pieces())))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == many + 1
    assert most < 8 * 1024 * 1024
