"""What `requirements.in` asks for and what `requirements.txt` pins: name, version and hashes, line by line."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.zip.archive import ROOT

_NAME = re.compile(r"[-_.]+")
_ASKED = re.compile(r"^([A-Za-z0-9_.-]+)([^#;\n]*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?![0-9a-f])")


@dataclass(frozen=True)
class Pin:
    name: str
    rule: str
    marker: str
    hashes: frozenset[str]


def normal(name: str) -> str:
    """Return a project's name as an index compares it (PEP 503)."""
    return _NAME.sub("-", name).lower()


def asked(path: Path = ROOT / "requirements.in") -> dict[str, str]:
    """Return the version rule of each project that is asked for."""
    return {normal(name): rule.strip() for name, rule in _ASKED.findall(path.read_text(encoding="utf-8"))}


def pins(path: Path = ROOT / "requirements.txt") -> list[Pin]:
    """Return every requirement with the hashes that follow it."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [_pin(line) for line in whole if line.strip()]


def _pin(line: str) -> Pin:
    requirement, _, _ = line.partition("--hash")
    rest, _, marker = requirement.partition(";")
    name = re.match(r"[A-Za-z0-9_.-]+", rest)
    assert name, f"requirements.txt: {line[:80]!r} is no requirement"
    rule = re.sub(r"^\[.*?\]", "", rest[name.end() :])
    return Pin(normal(name[0]), rule.strip(), marker.strip(), frozenset(_HASH.findall(line)))
