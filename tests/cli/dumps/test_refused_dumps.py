"""A file that is no dump is refused in one sentence with its remedy, whatever stands in it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from functions.cli.dumps.reading import read_dump
from shared.errors import BadDump
from tests.cli.dumps.test_reading import BUDGET, NAMESPACE, SERVICE, a_node, a_pod, listed, text, write
from tests.depth import cases


def test_a_malformed_volume_is_named(tmp_path: Path) -> None:
    broken = {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {"nfs": {}, "nodeAffinity": 7}}
    with pytest.raises(BadDump, match=r"items\[1\] \(PersistentVolume pv\).*nodeAffinity"):
        read_dump([write(tmp_path / "all.json", listed(a_node(), broken))])


def refusal(path: Path, content: bytes) -> str:
    """Return why a file of that content is no dump."""
    path.write_bytes(content)
    with pytest.raises(BadDump) as fault:
        read_dump([path])
    return str(fault.value)


@cases(
    "expected, content",
    ("empty", "is empty; run: ebb dump", b""),
    ("YAML", 'it begins "apiVersion: v1"; run: ebb dump.', b"apiVersion: v1\nitems: []"),
    ("what kubectl showed of a failure", 'begins "Error from server (Forbidden): nodes is forbidden"; run: ebb dump.',
     b"Error from server (Forbidden): nodes is forbidden\r\nmore"),
    ("kubectl's table", 'it begins "NAME   STATUS"; run: ebb dump.', b"NAME   STATUS\nn1   Ready"),
    ("a long line", f'it begins "{"x" * 200}"; run: ebb dump.', b"x" * 300),
    ("the API's refusal", "the cluster refused (nodes is forbidden); log in, or ask for the right to list it",
     b'{"kind": "Status", "message": "nodes is forbidden"}'),
    ("one in a list", "items[0]: the cluster refused (Unauthorized); log in",
     b'{"items": [{"kind": "Status", "message": "Unauthorized"}]}'),
    ("cut off at once", "is cut off; run: ebb dump", b'{"kind": "List", "items": ['),
    ("cut off within an object", "is cut off; run: ebb dump",
     b'{"items": [{"kind": "Service", "metadata": {"name": "s"}}, {"ki'),
    ("cut off in the second document", "is cut off", b'{"kind": "Service"}\n{"a'),
    ("a failure behind an object", 'it begins "error: no"', b'{"kind": "Service"}\nerror: no'),
    ("a comma is missing", "is not JSON", b'{"kind": "List" "items": []}'),
    ("broken gzip", "cannot be read", b"\x1f\x8bnot gzip"),
    ("gzip cut off", "cannot be read", gzip.compress(b"{}")[:-4]),
    ("half a character", "cannot be read", b"\xff\xfe\x00"),
    ("no text at all", "is not JSON", b"\x80\x81"),
    ("another shape", "is no list of Kubernetes objects", b"[1, 2]"),
    ("items that are none", "is no list of Kubernetes objects", b'{"items": 5}'),
    ("no nodes", "holds no nodes (but 1 Service)", json.dumps(SERVICE).encode()),
    ("nothing", "holds no nodes; ", b'{"kind": "List", "items": []}'),
    ("nested beyond reason", "is not JSON", b'{"a":' * 100_000),
)  # fmt: skip
def test_a_file_that_is_no_dump_is_one_sentence(tmp_path: Path, expected: str, content: bytes) -> None:
    why = refusal(path := tmp_path / "dump.json", content)

    assert why.startswith(f"{path}: ")
    assert expected in why
    assert "\n" not in why


LOTS = {"allocatable": {"cpu": "lots"}}
UNBORN = {"kind": "Node", "metadata": {"name": "n2"}}
POD = "items[1] (Pod default/web-1)"


@cases(
    "expected, item",
    ("a wrong type", f"{POD}: spec.tolerations: Expected `array", a_pod(tolerations="all")),
    ("a pod's quantity", f"{POD}: 'much' is not a quantity", a_pod(overhead={"cpu": "much"})),
    ("a node's quantity", "items[1] (Node n9): 'lots' is not a quantity", a_node("n9", status=LOTS)),
    ("a time", f"{POD}: Invalid RFC3339", a_pod(meta={"creationTimestamp": "yesterday"})),
    ("a number", "items[1]: Expected `object`, got `int`", 5),
    ("no name", "items[1]: this Pod has no metadata.name", {"kind": "Pod"}),
    ("no birth", "items[1] (Node n2): node 'n2' has no metadata.creationTimestamp", UNBORN),
)
def test_a_malformed_item_is_named(tmp_path: Path, expected: str, item: Any) -> None:
    why = refusal(path := tmp_path / "dump.json", text(listed(a_node(), item)))

    assert why.startswith(f"{path}: {expected}")
    assert "run: ebb dump" in why


@pytest.mark.parametrize("missing", ["nowhere.json", "empty-folder"])
def test_a_path_without_a_dump_is_one_sentence(tmp_path: Path, missing: str) -> None:
    (tmp_path / "empty-folder").mkdir()

    with pytest.raises(BadDump, match=missing):
        read_dump([tmp_path / missing])


FIELDS = ["metadata", "spec", "status", "name", "kind", "items", "labels", "affinity", "conditions", "volumes"]
INNER = ["containers", "resources", "requests", "cpu", "taints", "tolerations", "creationTimestamp", "type"]
VALUES = ["2026-03-04T10:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1", "100m", "Ready", "Pod"]
words = st.sampled_from([*FIELDS, *INNER, *VALUES])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def spoilt(item: dict[str, Any], path: list[int], value: Any) -> Any:
    """Put a value into some place of an object."""
    if not path or not isinstance(item, dict | list) or not item:
        return value
    keys = list(item) if isinstance(item, dict) else list(range(len(item)))
    key = keys[path[0] % len(keys)]
    copy: Any = dict(item) if isinstance(item, dict) else list(item)
    copy[key] = spoilt(copy[key], path[1:], value)
    return copy


FULL_POD = a_pod(
    volumes=[{"name": "v", "emptyDir": {}}],
    affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k"}]}},
    tolerations=[{"operator": "Exists"}],
    topologySpreadConstraints=[{"topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}],
    overhead={"cpu": "1"},
    status={"containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "2"}}]},
)
places = st.lists(st.integers(0, 9), min_size=1, max_size=7)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(item=st.sampled_from([a_node(), FULL_POD, BUDGET, NAMESPACE]), place=places, value=anything)
def test_no_spoilt_item_ends_in_anything_but_a_sentence(
    tmp_path: Path, item: dict[str, Any], place: list[int], value: Any
) -> None:
    _reads_or_says_why(write(tmp_path / "dump.json", listed(a_node("whole"), spoilt(item, place, value))))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=60) | anything.map(lambda value: json.dumps(value).encode()))
@example(content=b'{"metadata":{},"kind":null}')
def test_no_content_ends_in_anything_but_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)

    _reads_or_says_why(path)


def _reads_or_says_why(path: Path) -> None:
    try:
        said = ""
        read_dump([path])
    except BadDump as fault:
        said = str(fault)

    assert not said or said.startswith(f"{path}: ")
