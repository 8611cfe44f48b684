"""A Terraform module's inputs and outputs as tables; reads HCL by its lines, as `terraform fmt` leaves them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

_BLOCK: Final = re.compile(r'^(variable|output) "(\w+)" \{\n(.*?)^\}$', re.DOTALL | re.MULTILINE)
_TEXT: Final = re.compile(r'^  description = "(.*)"$', re.MULTILINE)
_TYPE: Final = re.compile(r"^  type += (.*?)(?=^  \w)", re.DOTALL | re.MULTILINE)
_DEFAULT: Final = re.compile(r"^  default += (.*)$", re.MULTILINE)
_FIELD: Final = re.compile(r"(?P<name>\w+) += (?:optional\()?(?P<type>\w+(?:\(\w+\))?)(?:, (?P<default>.*?))?\)?")


@dataclass(frozen=True)
class Row:
    name: str
    type: str
    default: str
    about: str = ""


def inputs(module: Path) -> str:
    rows = sorted(_inputs(module), key=lambda rows: rows[0].name)
    cells = "".join(f"| `{row.name}` | {row.type} | {row.default} | {row.about} |\n" for found in rows for row in found)
    return f"| input | type | default | meaning |\n|---|---|---|---|\n{cells}"


def outputs(module: Path) -> str:
    cells = "".join(f"| `{name}` | {_about(body)} |\n" for name, body in sorted(_blocks(module, "output")))
    return f"| output | meaning |\n|---|---|\n{cells}"


def _inputs(module: Path) -> Iterator[list[Row]]:
    """Return each input with its fields: those of an input of any type stand in the folder inputs."""
    form = dict(_blocks(module / "inputs", "variable")).get("input", "")
    known = [replace(row, name=row.name.partition(".")[2]) for row in _fields("", form)]
    for name, body in _blocks(module, "variable"):
        fields = [row for row in known if row.name.startswith(f"{name}.")]
        default = _DEFAULT.search(body)
        own = Row(
            name, "object" if fields else _type(body), _shown(default[1]) if default else "required", _about(body)
        )
        yield _explained(own, fields)


def _explained(own: Row, fields: list[Row]) -> list[Row]:
    """Give each field its part of the description, which begins with the field's name and a colon."""
    places = ((own.about.find(f" {row.name.partition('.')[2]}: "), row.name) for row in fields)
    found = sorted((at, name) for at, name in places if at >= 0)
    bounds = [*(at for at, _ in found), len(own.about)]
    parts = (own.about[at:end] for at, end in pairwise(bounds))
    texts = {name: part.partition(": ")[2].strip(" .") for (_, name), part in zip(found, parts, strict=True)}
    opening = replace(own, about=own.about[: bounds[0]])
    return [opening, *(replace(row, about=texts.get(row.name, "")) for row in fields)]


def _blocks(module: Path, kind: str) -> Iterator[tuple[str, str]]:
    for path in sorted(module.glob("*.tf")):
        for found, name, body in _BLOCK.findall(path.read_text(encoding="utf-8")):
            if found == kind:
                yield name, body


def _about(body: str) -> str:
    found = _TEXT.search(body)
    return found[1].replace('\\"', '"').replace("|", "\\|") if found else ""


def _type(body: str) -> str:
    found = _TYPE.search(f"{body}  end")
    return found[1].strip() if found else "any"


def _fields(name: str, body: str) -> Iterator[Row]:
    """Walk through the lines of an object's type; `path` is where in it a line stands."""
    path = [name]
    for line in map(str.strip, _type(body).splitlines()[1:]):
        if line.startswith("}"):
            path.pop()
        elif line.endswith("({"):
            path.append(line.partition(" ")[0])
        elif found := _FIELD.fullmatch(line):
            none = "none" if "optional(" in line else "required"
            default = _shown(found["default"]) if found["default"] else none
            yield Row(".".join((*path, found["name"])), found["type"], default)


def _shown(value: str) -> str:
    return "none" if value == "null" else f"`{value}`"
