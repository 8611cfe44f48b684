"""The objects of a file come out of it as they went in, however its documents are laid out."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.cli.dumps.files import documents_of

words = st.text(max_size=8) | st.sampled_from(['"', "\\", "}", "]", ",", "{[", "é", "\n"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(words.filter(lambda word: word not in {"kind", "items"}), anything, max_size=3)
LAYOUTS = st.sampled_from([None, 4, "\t"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(objects | st.lists(objects, max_size=3), min_size=1, max_size=4), LAYOUTS, st.booleans())
def test_objects_come_out_as_they_went_in(
    tmp_path: Path, given: list[Any], indent: int | str | None, kind_first: bool
) -> None:
    def listed(items: list[Any]) -> dict[str, Any]:
        fields = {"kind": "PodList", "metadata": {"items": []}, "items": items}
        return fields if kind_first else dict(reversed(fields.items()))

    whole = [listed(part) if isinstance(part, list) else part for part in given]
    path = tmp_path / "all.json"
    path.write_text("\n ".join(json.dumps(part, indent=indent, ensure_ascii=False) for part in whole) + "\n")

    found = [(is_list, list(items)) for is_list, items in documents_of(path, lambda _: None)]

    assert [[json.loads(bytes(item.raw)) for item in items] for _, items in found] == [
        part if isinstance(part, list) else [part] for part in given
    ]
    for (is_list, items), part in zip(found, given, strict=True):
        assert is_list == isinstance(part, list)
        assert [item.place for item in items] == (list(range(len(items))) if is_list else [-1])
        assert all(item.kind == ("Pod" if is_list else "") for item in items)
