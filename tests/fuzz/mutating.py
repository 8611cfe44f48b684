"""Inputs that are almost right, with one to five faults, made by number from examples. Knows no reader."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import yaml

ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 50, 2**63, -(2**63), 10**400, 0.1, -0.0, 1e308, "", " ", "0", "-1", "10%", "100%",
    "101%", "-5%", "1.5", "٣", "1h", "0s", "8h30s", "1h1h", "9" * 30 + "h", "3660d", "Never", "never", "evict",
    "0 9 * * mon-fri", "0 0 30 2 *", "* * * * *", "*/0 * * * *", "60 * * * *", "0 0 * * 7", "@daily", "@every 1h",
    "TZ=UTC 0 0 * * *", "1-1 2/3 ? jan-dec sun", "Europe/Amsterdam", "Australia/Lord_Howe", "../etc/passwd", "/",
    "\x00", "\ud800", "\u2028", "é" * 300, "2026-11-27", "2026-11-27T18:00:00+01:00", "0001-01-01", "WhenEmpty",
    "9999-12-31T23:59:59Z", "2026-02-30", "2026-11-27T18:00:00.123456789Z", "1Gi", "100m", "1e3", "12E", "1e-9",
    "NaN", "Infinity", "bnVsbA==",
    "9E", "5Ei", "9223372036854775807", "9223372036854776", "1e30", "-9E", "281474976710657",
    [], {}, [[]], {"": ""}, {"a": None}, [None],
)  # fmt: skip
_ODD: Final = tuple(map(json.dumps, ODD_VALUES))
TOKENS: Final = (
    b"{", b"}", b"[", b"]", b":", b",", b'"', b"\n", b"\n- ", b"  ", b"\t", b"#", b"&a ", b"*a", b"<<: *a", b"-",
    b"!!python/object:os ", b"!!binary ", b"? ", b"|", b">", b"---\n", b"%YAML 9.9\n", b"null", b"\xff\xfe", b"\x00",
    b"\xef\xbb\xbf", b"\\ud800", b"1e999999999", b"0x10", b"0o7", b".inf", b".nan", b"NaN", b"\xe2\x80\xa8",
    b"9" * 40, b"[" * 200, b'{"a":' * 200,
)  # fmt: skip
_FEWEST, _MOST = 1, 5
_MANY = 60
"""More than the 50 budgets that a policy may hold; a list is repeated only while it is shorter."""


class Mutator:
    """Makes inputs from examples. `trees` are JSON values; those that are no JSON serve as bytes alone."""

    def __init__(self, examples: Sequence[bytes], *, as_yaml: bool) -> None:
        self._examples = tuple(examples)
        self._trees = [tree for tree in map(_tree, examples) if isinstance(tree, dict)]
        self._keys = sorted({key for tree in self._trees for key in _keys(tree)})
        self._values = [json.dumps(value) for tree in self._trees for value in _values(tree)]
        self._as_yaml = as_yaml

    def input(self, number: int) -> bytes:
        roll = Random(number)  # noqa: S311 - inputs of a test, to be had again
        kind = roll.random()
        if kind < 0.75 and self._trees:  # most faults that a person makes lie in the tree
            return self._written(roll, self._bent(roll))
        data = roll.choice(self._examples) if kind < 0.97 else roll.randbytes(roll.randrange(60))
        for _ in range(roll.randint(_FEWEST, _MOST)):
            data = roll.choice(_BYTES)(roll, data)
        return data

    def _bent(self, roll: Random) -> Any:
        tree = json.loads(json.dumps(roll.choice(self._trees)))
        for _ in range(roll.randint(_FEWEST, _MOST)):
            self._bend(roll, tree)
        return tree

    def _bend(self, roll: Random, tree: Any) -> None:
        place = roll.choice(_containers(tree))
        if isinstance(place, list):
            _bend_list(roll, place, self._value(roll))
        else:
            _bend_mapping(roll, place, roll.choice(self._keys), self._value(roll))

    def _value(self, roll: Random) -> Any:
        """Return a value of its own each time: what is put into a tree may be bent again there."""
        return json.loads(roll.choice(_ODD) if roll.random() < 0.6 else roll.choice(self._values))

    def _written(self, roll: Random, tree: Any) -> bytes:
        if self._as_yaml and roll.random() < 0.2:
            text: str = yaml.safe_dump(tree, default_flow_style=roll.choice([None, True, False]))
            return text.encode("utf-8", "surrogatepass")
        return json.dumps(tree, ensure_ascii=roll.random() < 0.9).encode("utf-8", "surrogatepass")


def _tree(example: bytes) -> Any:
    try:
        return json.loads(example)
    except ValueError:
        return None


def _containers(tree: Any) -> list[Any]:
    found, open_ = [], [tree]
    while open_:
        each = open_.pop()
        if isinstance(each, dict | list):
            found.append(each)
            open_ += each.values() if isinstance(each, dict) else each
    return found


def _keys(tree: Any) -> set[str]:
    return {key for container in _containers(tree) if isinstance(container, dict) for key in container}


def _values(tree: Any) -> list[Any]:
    rows = (container.values() if isinstance(container, dict) else container for container in _containers(tree))
    return [value for row in rows for value in row]


def _bend_list(roll: Random, place: list[Any], value: Any) -> None:
    spot = roll.randrange(len(place) + 1)
    if place and roll.random() < 0.3:
        del place[spot - 1]
    elif 0 < len(place) < _MANY and roll.random() < 0.2:
        place.extend(place * roll.choice([1, _MANY]))
    else:
        place.insert(spot, value)


def _bend_mapping(roll: Random, place: dict[str, Any], key: str, value: Any) -> None:
    known = roll.choice(sorted(place)) if place else key
    match roll.randrange(6):
        case 0:
            place.pop(known, None)
        case 1:
            place[key] = place.pop(known, value)
        case 2:
            place[key] = value
        case 3:
            place[known] = [place.get(known)]
        case _:
            place[known] = value


def _flip(roll: Random, data: bytes) -> bytes:
    spot = roll.randrange(len(data) + 1)
    return data[:spot] + roll.randbytes(1) + data[spot + 1 :]


def _cut(roll: Random, data: bytes) -> bytes:
    ends = sorted((roll.randrange(len(data) + 1), roll.randrange(len(data) + 1)))
    return data[: ends[0]] + data[ends[1] :]


def _repeat(roll: Random, data: bytes) -> bytes:
    ends = sorted((roll.randrange(len(data) + 1), roll.randrange(len(data) + 1)))
    return data[: ends[1]] + data[ends[0] :]


def _insert(roll: Random, data: bytes) -> bytes:
    spot = roll.randrange(len(data) + 1)
    return data[:spot] + roll.choice(TOKENS) + data[spot:]


_BYTES: Final[tuple[Callable[[Random, bytes], bytes], ...]] = (_flip, _cut, _repeat, _insert, _insert)
