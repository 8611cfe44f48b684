"""Laws of reading a policy: whatever is written, it is a policy or a list of sentences, and never half of one."""

import json
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from shared.core.policy import Policy
from shared.core.policy.fields import enough_nodes
from shared.core.policy.parsing import parse
from shared.core.policy.scalars import ratio
from shared.core.policy.warnings import warnings
from shared.errors import BadPolicy
from tests.depth import examples
from tests.docs.policy_schema import schema

FIELDS = sorted({name for part in (schema(), *schema()["$defs"].values()) for name in part["properties"]})
VALUES = ["10%", "5m", "Never", "0 9 * * mon-fri", "UTC", "WhenEmpty", "evict", "2026-11-27", "windows", "0s", "x"]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 100),
    st.floats(allow_nan=False),
    st.sampled_from(VALUES),
    st.text(max_size=5),
)
names = st.sampled_from(FIELDS) | st.text(max_size=4)
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=25
)


def outcome(data: bytes) -> Policy | tuple[str, ...]:
    try:
        return parse(data)
    except BadPolicy as refused:
        return refused.faults


@examples(300)
@given(documents)
def test_a_document_is_a_policy_or_is_refused_in_sentences(document: Any) -> None:
    found = outcome(json.dumps(document).encode())
    if isinstance(found, Policy):
        assert all(warnings(found))
        return
    assert found
    assert all(fault.endswith(".") and ": " in fault and "\n" not in fault for fault in found)


@examples(200)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    found = outcome(data)
    assert isinstance(found, Policy) or found


@examples(100)
@given(documents)
def test_json_and_yaml_show_the_same(document: Any) -> None:
    as_json = outcome(json.dumps(document).encode())
    as_yaml = outcome(yaml.safe_dump(json.loads(json.dumps(document)), default_flow_style=False).encode())
    assert isinstance(as_json, Policy) == isinstance(as_yaml, Policy)


@given(st.integers(1, 10**6))
def test_the_required_count_is_the_smallest_that_suffices(millionths: int) -> None:
    limit = ratio(millionths / 10**6)
    count = enough_nodes(limit)
    if limit == 1:
        assert count == 1
    else:
        assert count * (1 - limit) >= 1 > (count - 1) * (1 - limit)
