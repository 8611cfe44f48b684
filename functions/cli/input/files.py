"""Files that a person names: read, written and parsed; each fault has its file and line."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import yaml

from functions.cli.dumps.files import STDIN, name_of
from shared.core.policy import Policy
from shared.core.policy.field import Path as FieldPath
from shared.core.policy.field import path_text
from shared.core.policy.reading import Loader
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadInput, BadPolicy


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


def _fields(node: yaml.Node, path: FieldPath, seen: set[int]) -> Iterator[tuple[str, int]]:
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


_LINE: Final = re.compile(r"line (?P<line>\d+)(?::|,) (?P<rest>.*)", re.DOTALL)


DUMP_OR_CLUSTER: Final = "--dump: a dump takes the place of the cluster; leave out --kubeconfig and --context."


def check_dumps_exist(paths: Iterable[Path]) -> None:
    missing = [str(path) for path in paths if path != STDIN and not path.exists()]
    if missing:
        raise BadInput(f"--dump: {', '.join(missing)} does not exist.")


def read_policy(path: Path) -> Policy:
    """Read and parse a policy file. Raises BadInput: the file cannot be read; BadPolicy: with every fault."""
    from shared.core.policy.parsing import parse

    data = read_bytes(path)
    with faults_of(path, data):
        return parse(data)


def read_bytes(path: Path) -> bytes:
    """Return what a file holds, or stdin for `-`, which can be read once. Raises BadInput: the file cannot be read."""
    if str(path).startswith("gs:/"):
        raise BadInput(f"{path}: no object of Cloud Storage is read here; fetch it: gcloud storage cat gs://… > FILE.")
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from error


def write_text(path: Path, text: str, option: str) -> None:
    """Write the file that an option named. Raises BadInput, with the option, where it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{option}: {path} cannot be written ({error.strerror}).") from error


@contextmanager
def faults_of(path: Path, data: bytes = b"") -> Iterator[None]:
    """Let each fault of a document begin with its file's name and its line, as an editor and a pipeline take it."""
    try:
        yield
    except BadPolicy as bad:
        lines, name = lines_of(data), name_of(path)
        plain = (fault.removeprefix("policy: ").removeprefix("file: ") for fault in bad.faults)
        placed = (_split_line(fault) or (line_of(fault, lines), fault) for fault in plain)
        raise BadPolicy(*(f"{name}:{line}: {fault}" if line else f"{name}: {fault}" for line, fault in placed)) from bad


def _split_line(fault: str) -> tuple[int, str] | None:
    """Return the line that a fault itself begins with, and the rest."""
    match = _LINE.fullmatch(fault)
    return (int(match["line"]), match["rest"]) if match else None
