"""At which line of a document each of its fields stands, by the field's path as faults say it.

Must not read values, and must not refuse: of what cannot be read no line is known.
"""

from collections.abc import Iterator, Mapping

import yaml

from shared.core.policy.faults import Path, path_text
from shared.core.policy.reading import Loader
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy


def line_of(sentence: str, lines: Mapping[str, int]) -> int | None:
    """Return the line that a fault speaks of; of a field that is not there, that of what should hold it."""
    path = sentence.partition(": ")[0]
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


def lines_of(data: bytes) -> Mapping[str, int]:
    """Return the line of each field of a document, YAML or JSON; none of what is too large to be read at all."""
    if len(data) > MOST_POLICY_BYTES:
        return {}
    try:
        root = Loader(data.decode("utf-8-sig")).get_single_node()
    except (yaml.YAMLError, ValueError, RecursionError, BadPolicy):
        return {}
    return dict(_fields(root, (), set())) if root is not None else {}


def _fields(node: yaml.Node, path: Path, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield each field once: an anchor's are found where it stands."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield path_text((*path, str(key.value))), key.start_mark.line + 1
            yield from _fields(value, (*path, str(key.value)), seen)
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield path_text((*path, place)), value.start_mark.line + 1
            yield from _fields(value, (*path, place), seen)
