"""What a message carries is not told: a fault is named by its path, with a part of the one value that is wrong."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.drainer.main import PushReply
from tests.builders import node
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb

BEARER = "ya29.a0-this-is-a-bearer-token-of-somebody"
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqh-this-is-a-key"
PASSWORD = "correct-horse-battery-staple-9"  # noqa: S105 - a decoy
ALL = (BEARER, PRIVATE_KEY, PASSWORD)
_PART = 12
"""So many characters of a secret in a row count as the secret."""


def leaked(text: str) -> list[str]:
    """Return the secrets of which the text holds a telling part, plainly or in base64."""
    return [secret for secret in ALL for form in _forms(secret) if any(part in text for part in _parts(form))]


def _forms(secret: str) -> tuple[str, str]:
    return secret, base64.b64encode(secret.encode()).decode()


def _parts(text: str) -> list[str]:
    return [text[at : at + _PART] for at in range(0, len(text) - _PART + 1, _PART // 2)]


def push(data: bytes | str, **fields: Any) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    message = {"data": base64.b64encode(raw).decode(), "messageId": "1", "publishTime": "2026-01-01T00:00:00Z"}
    return json.dumps({"message": {**message, **fields}, "subscription": "s"}).encode()


def order(**fields: Any) -> bytes:
    return push(json.dumps({"node": "n1", **fields}))


MOST_SENTENCE = 600
"""Characters of a line's message, whatever was sent."""
LONG = "x" * 50_000
ENVELOPE = {"data": "", "messageId": "1", "publishTime": "2026-01-01T00:00:00Z"}


def told(body: bytes) -> tuple[str, FakeEbb]:
    """Post a body to the drainer and return every line that it wrote, and what it kept aside with its reason."""
    fake_ebb = FakeEbb(node("n1"))
    fake_ebb.push(body)
    return "\n".join(json.dumps(line, default=str, ensure_ascii=False) for line in fake_ebb.log.lines), fake_ebb


@cases(
    "body",
    ("no JSON", BEARER.encode()),
    ("no envelope", json.dumps({"token": BEARER}).encode()),
    ("a message that is text", json.dumps({"message": BEARER}).encode()),
    ("data that is no base64", json.dumps({"message": {**ENVELOPE, "data": PRIVATE_KEY}}).encode()),
    ("odd attributes", json.dumps({"message": {**ENVELOPE, "attributes": [PASSWORD]}}).encode()),
    ("an odd id", json.dumps({"message": {**ENVELOPE, "messageId": {"k": BEARER}}}).encode()),
    ("data that is no JSON", push(BEARER)),
    ("data that is a list", push(json.dumps([BEARER]))),
    ("no node", push(json.dumps({"password": PASSWORD}))),
    ("a node that is an object", push(json.dumps({"node": {"secret": BEARER}}))),
    ("fields that no order has", order(password=PASSWORD, kubeconfig={"token": BEARER})),
    ("words of a person", order(node="n9", requested_by=BEARER, why=PASSWORD)),
    ("a schema that is an object", order(schema={"token": BEARER})),
    ("an odd list of what is ignored", order(ignore=[PASSWORD, {"token": BEARER}])),
    ("an odd time", order(issued_at=BEARER)),
    ("an odd number", order(generation=PASSWORD)),
    ("attributes", push(json.dumps({"node": "n1"}), attributes={"Authorization": BEARER})),
    ("an order for a node that is not there", push(json.dumps({"node": "n9", "token": BEARER}))),
)
def test_no_secret_of_a_message_reaches_the_log(body: bytes) -> None:
    lines, fake_ebb = told(body)
    assert lines
    assert leaked(lines) == []
    assert leaked(" ".join(why for _, _, why in fake_ebb.bus.rejected)) == []


@pytest.mark.parametrize("field", ["node", "cluster", "kind", "reason", "origin", "order_id", "schema"])
def test_of_a_value_that_is_wrong_only_a_part_is_repeated(field: str) -> None:
    lines, fake_ebb = told(order(**{field: LONG}))
    assert fake_ebb.log.of("message_rejected")
    assert max(map(len, lines.splitlines())) < MOST_SENTENCE
    assert all(len(why) < MOST_SENTENCE for _, _, why in fake_ebb.bus.rejected)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.sampled_from((LONG, *ALL)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
ECHOED = ("node", "cluster", "kind", "reason", "origin", "order_id", "schema")
OTHERS = ("token", "requested_by", "why", "ignore", "dry_run", "issued_at", "generation", "node_uid")


@given(st.dictionaries(st.sampled_from(OTHERS), JSON, max_size=4))
def test_no_field_but_a_named_one_is_ever_repeated(fields: dict[str, Any]) -> None:
    lines, _ = told(order(**fields))
    assert leaked(lines) == []
    assert LONG[:1000] not in lines


@given(st.dictionaries(st.sampled_from(ECHOED + OTHERS), JSON, max_size=6), st.sampled_from(("message", "envelope")))
def test_no_message_makes_a_long_line_or_a_second_one(fields: dict[str, Any], level: str) -> None:
    body = order(**fields) if level == "message" else json.dumps({"message": fields}).encode()
    lines, fake_ebb = told(body)
    assert all(len(line) < 2 * MOST_SENTENCE for line in lines.splitlines())
    messages = [str(line["message"]) for line in fake_ebb.log.of("message_rejected")]
    assert all(message.isprintable() for message in messages)


@cases(
    "body",
    ("compressed bytes are not unpacked", push(b"\x1f\x8b" + b"\0" * 1000)),
    ("a deep nest", push(b"[" * 60_000)),
    ("an order that is too large", push(json.dumps({"node": "n1", "x": LONG + LONG}))),
    ("a deep body", b"[" * 1_000_000),
    ("a message id without end", push(json.dumps({"node": "n1"}), messageId=LONG)),
    ("an order for another cluster", order(cluster="projects/other/locations/l/clusters/c")),
    ("a node's name that is a path", order(node="../namespaces/kube-system/pods/p")),
    ("a node's name that is a selector", order(node="n1,metadata.name=n2")),
    ("a node's name of two lines", order(node="n1\nseverity: ERROR")),
)
def test_what_is_no_order_of_this_cluster_does_nothing_and_does_not_come_again(body: bytes) -> None:
    fake_ebb = FakeEbb(node("n1"))
    assert fake_ebb.push(body) is PushReply.DONE
    assert len(fake_ebb.bus.rejected) == 1
    assert fake_ebb.cluster.calls == []
