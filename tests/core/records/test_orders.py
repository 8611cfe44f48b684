from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.core.reasons import DrainReason
from shared.core.records.drain_record import LET_GO, NO_OBJECTION, REFUSED_FOR_GOOD, STAYS, EvictionAnswer, PodProgress
from shared.core.records.orders import (
    CLAIM_WITHIN,
    MOST_GENERATION,
    Order,
    OrderKind,
    Origin,
    continuation,
    decode,
    encode,
    order_id,
)
from shared.errors import BadOrder
from tests.builders import CLUSTER, NOW, order
from tests.depth import cases

TIMES = st.datetimes(datetime(1971, 1, 1), datetime(8999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
FIELDS = tuple(Order.__struct_fields__)

NODES = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", fullmatch=True)
ORDERS = st.builds(
    Order,
    kind=st.sampled_from([OrderKind.DRAIN, OrderKind.RELEASE]),
    order_id=st.from_regex(r"[a-z0-9]{1,63}", fullmatch=True),
    cluster=TEXT,
    node=NODES,
    node_uid=TEXT,
    reason=st.sampled_from(DrainReason),
    origin=st.sampled_from(Origin),
    issued_at=TIMES,
    expires_at=TIMES,
    picture_at=st.none() | TIMES.filter(lambda at: at <= NOW),
    generation=st.integers(0, 1000),
    dry_run=st.booleans(),
    ignore=st.lists(TEXT, max_size=3).map(tuple),
    requested_by=TEXT,
).flatmap(
    lambda order: (
        st.builds(
            partial(replace, order),
            kind=st.just(OrderKind.RELEASE),
            not_before=st.none() | TIMES.filter(order.expires_at.__ge__),
        )
        | st.builds(
            partial(replace, order),
            kind=st.sampled_from([OrderKind.HOLD, OrderKind.LET_GO]),
            node=st.just(""),
            nodes=st.dictionaries(TEXT, NODES, min_size=1, max_size=3),
        )
        | st.just(order)
    )
)


def read(fields: Any) -> Order:
    return decode(msgspec.json.encode(fields), CLUSTER, "4711", NOW)


@given(ORDERS)
def test_an_order_survives_the_message(given_order: Order) -> None:
    assert decode(encode(given_order), "another", "4711", NOW) == given_order


def test_a_node_is_enough_and_the_message_supplies_the_rest() -> None:
    assert read({"node": "gke-x"}) == Order(
        order_id="4711",
        cluster=CLUSTER,
        node="gke-x",
        issued_at=NOW,
        expires_at=NOW + CLAIM_WITHIN,
        reason=DrainReason.MANUAL,
        origin=Origin.MANUAL,
    )


@cases(
    "sentence, data",
    ("nothing", "message data: not JSON", b""),
    ("a bare word", "message data: not JSON", b"gke-x"),
    ("no text", "message data: not JSON", b"\xff\xfe"),
    ("text that is no UTF-8", "message data: not JSON", b'{"node": "\xff"}'),
    ("nested without end", "message data: not JSON", b"[" * 10_000),
    ("objects nested without end", "message data: not JSON", b'{"a":' * 10_000),
    ("a list", "message data: not a JSON object", b'["gke-x"]'),
    ("null", "message data: not a JSON object", b"null"),
    ("an empty object", "node: missing", b"{}"),
    ("an empty name", "node: missing", b'{"node": ""}'),
    ("a list of nodes", "node: missing", b'{"node": ["gke-x"]}'),
    ("a name that leads to another path", r"node: '\.\.' cannot be", b'{"node": ".."}'),
    ("a name that is a field selector", "node: 'a,b=c' cannot be", b'{"node": "a,b=c"}'),
    ("a name in capitals", "node: 'GKE-X' cannot be", b'{"node": "GKE-X"}'),
    ("a wave of no nodes", "nodes: ", b'{"kind": "hold"}'),
    ("a wave and a single node", "nodes: ", b'{"kind": "hold", "node": "a", "nodes": {"u": "a"}}'),
    ("nodes without their UIDs", "nodes: ", b'{"kind": "let_go", "nodes": ["a"]}'),
    ("a path among the nodes", "nodes: '..' cannot be", b'{"kind": "hold", "nodes": {"u": ".."}}'),
    ("a drain of several", "nodes: only an order of a wave", b'{"node": "a", "nodes": {"u": "b"}}'),
)
def test_what_is_no_order_shows_what_to_send(sentence: str, data: bytes) -> None:
    with pytest.raises(BadOrder, match=sentence) as caught:
        decode(data, CLUSTER, "4711", NOW)

    assert "gke-…" in str(caught.value)


@cases(
    "sentence, fields",
    ("a later schema", "schema: 2 is not known", {"schema": 2}),
    ("a schema in quotes", "schema: '1' is not known", {"schema": "1"}),
    ("an unknown kind", r"'delete' is no word for it - at `\$\.kind", {"kind": "delete"}),
    ("an unknown reason", r"\$\.reason", {"reason": "bored"}),
    ("an origin of the wrong type", r"\$\.origin", {"origin": 5}),
    ("ignore without a list", r"\$\.ignore", {"ignore": "windows"}),
    ("ignore with an object in it", r"\$\.ignore\[1\]", {"ignore": ["windows", {}]}),
    ("dry run neither yes nor no", r"\$\.dry_run", {"dry_run": "perhaps"}),
    ("a generation in words", r"\$\.generation", {"generation": "later"}),
    ("a time in words", r"\$\.issued_at", {"issued_at": "yesterday"}),
    ("too late", "not_before: .* after", {"kind": "release", "not_before": "2026-03-05T22:00:00Z"}),
    ("a drain that waits", "not_before: only a release", {"not_before": "2026-03-04T22:00:00Z"}),
    ("the id of a taint without one", "order_id: 'unnamed' stands for", {"order_id": "unnamed"}),
    ("no zone", "issued_at: the time has no zone", {"issued_at": "2026-03-04T22:00:00"}),
    ("expiry, no zone", "expires_at: the time has no zone", {"expires_at": "2026-03-04T22:00:00"}),
    ("snapshot, no zone", "picture_at: the time has no zone", {"picture_at": "2026-03-04T22:00:00"}),
    ("the end of time", "expires_at: the year 9999", {"expires_at": "9999-12-31T23:59:59Z"}),
    ("the beginning of time", "issued_at: the year 1", {"issued_at": "0001-01-01T00:00:00Z"}),
    ("an id that no taint can carry", "order_id: 'a/b' cannot be", {"order_id": "a/b"}),
    ("an empty id", "order_id: '' cannot be", {"order_id": ""}),
    ("a snapshot to come", "picture_at: .* lies after", {"picture_at": "2027-01-01T00:00:00Z"}),
    ("an id too long for a taint", "order_id: 'aaaa", {"order_id": "a" * 64}),
    ("an id that is not ASCII", "order_id: 'é' cannot be", {"order_id": "é"}),
    ("an id with a newline", "order_id: .* cannot be", {"order_id": "a\n"}),
    ("a generation before the first", r"\$\.generation", {"generation": -1}),
    ("a generation that no store can hold", r"\$\.generation", {"generation": 2**70}),
    ("a message too large to keep", "message data: 7.* bytes", {"requested_by": "x" * 70_000}),
)
def test_a_wrong_field_is_named(sentence: str, fields: dict[str, Any]) -> None:
    with pytest.raises(BadOrder, match=sentence):
        read({"node": "gke-x", **fields})


@given(st.binary(max_size=200))
def test_any_bytes_are_an_order_or_a_bad_one(data: bytes) -> None:
    accepted_or_named(data)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), JSON)
def test_any_fields_are_an_order_or_a_bad_one(fields: dict[str, Any], node: Any) -> None:
    accepted_or_named(msgspec.json.encode({"node": node, **fields}))
    accepted_or_named(msgspec.json.encode({"node": "gke-x", **fields}))


@given(st.sampled_from(["issued_at", "expires_at", "picture_at"]), st.integers() | st.floats(allow_nan=False))
def test_any_number_for_a_time_is_an_order_or_a_bad_one(name: str, number: float) -> None:
    accepted_or_named(msgspec.json.encode({"node": "gke-x", name: number}))


def accepted_or_named(data: bytes) -> None:
    try:
        accepted = decode(data, CLUSTER, "4711", NOW)
    except BadOrder:
        return
    assert accepted.node
    assert accepted.issued_at.tzinfo is not None
    assert accepted.expires_at + timedelta(days=365) > accepted.expires_at  # a core that adds never overflows


def test_the_attributes_repeat_the_order() -> None:
    expected = {"kind": "release", "cluster": CLUSTER, "node": "gke-x", "order_id": "order"}

    assert order("gke-x", kind=OrderKind.RELEASE).attributes == expected


def test_the_same_pass_gives_the_same_order_id_and_another_pass_another() -> None:
    assert order_id("run-1", "uid-1") == order_id("run-1", "uid-1")
    assert len({order_id("run-1", "uid-1"), order_id("run-2", "uid-1"), order_id("run-1", "uid-2")}) == 3
    assert read({"node": "gke-x", "order_id": order_id("run-1", "uid-1")}).order_id == order_id("run-1", "uid-1")


@cases(
    "expected, generation",
    ("the first", 1, 0),
    ("the last but one", MOST_GENERATION, MOST_GENERATION - 1),
    ("the last goes on as itself", MOST_GENERATION, MOST_GENERATION),
)
def test_whatever_order_is_accepted_can_be_continued(expected: int, generation: int) -> None:
    accepted = decode(encode(order(generation=generation)), CLUSTER, "m", NOW)

    following = decode(encode(continuation(accepted, accepted.generation)), CLUSTER, "m", NOW)

    assert following.generation == expected


@cases(
    "expected, answer",
    ("granted", {"let go", "no objection"}, EvictionAnswer.GRANTED),
    ("gone", {"let go", "no objection"}, EvictionAnswer.GONE),
    ("a budget allows none now", {"stays"}, EvictionAnswer.BUDGET),
    ("an overloaded server", {"no objection"}, EvictionAnswer.LATER),
    ("a conflict", {"no objection", "stays"}, EvictionAnswer.CONFLICT),
    ("a namespace that ends", {"no objection", "stays"}, EvictionAnswer.TERMINATING),
    ("several budgets", {"for good", "stays"}, EvictionAnswer.SEVERAL_PDBS),
    ("forbidden", {"for good", "stays"}, EvictionAnswer.FORBIDDEN),
)
def test_each_answer_belongs_to_its_groups(expected: set[str], answer: EvictionAnswer) -> None:
    groups = {"let go": LET_GO, "no objection": NO_OBJECTION, "for good": REFUSED_FOR_GOOD, "stays": STAYS}
    assert {name for name, group in groups.items() if answer in group} == expected


def test_a_record_may_hold_an_answer_of_a_newer_version() -> None:
    stored = {"uid": "u", "answer": "a new word", "at": NOW}
    row = msgspec.convert(stored, PodProgress)
    assert (row.answer, row.moved) == ("a new word", False)


@cases(
    "expected, answer, refused",
    ("the answer was lost", True, "later", False),
    ("a busy server refused", False, "later", True),
    ("granted", True, "granted", False),
    ("a budget allows none now", False, "budget", False),
    ("of a newer version", True, "a new word", False),
)
def test_a_pod_may_leave_unless_its_refusal_is_certain(expected: bool, answer: str, refused: bool) -> None:
    assert PodProgress(uid="u", answer=answer, refused=refused, at=NOW).may_leave is expected
