"""What `make zip` writes: the functions' archive, and a CycloneDX list of the packages that its build installs.

Terraform's archive_file packs in the same way: entries by name, one time, one mode, so that equal files make equal
bytes. Forms: https://cyclonedx.org/docs/1.6/json/ and https://github.com/package-url/purl-spec (pkg:pypi).
"""

import hashlib
import io
import json
import re
import sys
import uuid
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from shared import VERSION

ROOT: Final = Path(__file__).resolve().parents[1]
PATTERNS: Final = ROOT / "infra" / "zip.yaml"
TARGET: Final = ROOT / "build" / "ebb-functions.zip"
_TIME: Final = (2049, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644
_NAME: Final = re.compile(r"[-_.]+")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})(?![0-9a-f])")


def patterns() -> list[str]:
    """Return what the archive holds, as patterns from the repository's root."""
    found: list[str] = yaml.safe_load(PATTERNS.read_text(encoding="utf-8"))["include"]
    return found


def source_files(root: Path = ROOT) -> list[str]:
    """Return the files that the patterns name, relative to the root, by name."""
    found = {path for pattern in patterns() for path in root.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(root).as_posix() for path in found)


def archive(root: Path = ROOT) -> bytes:
    """Return the archive's bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source_files(root):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _MODE << 16
            made.writestr(entry, (root / name).read_bytes())
    return packed.getvalue()


def write(target: Path = TARGET) -> str:
    """Write the archive and return its SHA-256."""
    packed = archive()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(packed)
    return hashlib.sha256(packed).hexdigest()


@dataclass(frozen=True)
class Pin:
    """One requirement: a project, its rule, the machines that it is for, and the files that may be installed."""

    name: str
    rule: str
    marker: str
    hashes: frozenset[str]

    @property
    def version(self) -> str:
        return self.rule.removeprefix("==")


def normal(name: str) -> str:
    """Return a project's name as an index compares it (PEP 503)."""
    return _NAME.sub("-", name).lower()


def pins(path: Path = ROOT / "requirements.txt") -> list[Pin]:
    """Return every requirement with the hashes that follow it."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [_parse_pin(line) for line in whole if line.strip()]


def _parse_pin(line: str) -> Pin:
    requirement, _, _ = line.partition("--hash")
    rest, _, marker = requirement.partition(";")
    name = re.match(r"[A-Za-z0-9_.-]+", rest)
    if not name:
        raise ValueError(f"requirements.txt: {line[:80]!r} is no requirement")
    rule = re.sub(r"^\[.*?\]", "", rest[name.end() :])
    return Pin(normal(name[0]), rule.strip(), marker.strip(), frozenset(_HASH.findall(line)))


def cyclonedx(packed: bytes) -> dict[str, Any]:
    """Return the list of an archive with these bytes."""
    sha256 = hashlib.sha256(packed).hexdigest()
    functions = {
        "type": "application",
        "bom-ref": "ebb-functions",
        "name": "ebb-functions",
        "version": VERSION,
        "hashes": [{"alg": "SHA-256", "content": sha256}],
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, sha256)}",
        "version": 1,
        "metadata": {"component": functions},
        "components": [_component(pin) for pin in sorted(pins(), key=lambda pin: (pin.name, pin.version))],
    }


def _component(pin: Pin) -> dict[str, Any]:
    """Of the files that have one of the hashes the build installs the one that fits its Python."""
    files = {
        "type": "distribution",
        "url": f"https://pypi.org/project/{pin.name}/{pin.version}/#files",
        "hashes": [{"alg": "SHA-256", "content": sha256} for sha256 in sorted(pin.hashes)],
    }
    purl = f"pkg:pypi/{pin.name}@{pin.version}"
    only = {"properties": [{"name": "ebb:environment_marker", "value": pin.marker}]} if pin.marker else {}
    return {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        "purl": purl,
        "externalReferences": [files],
        **only,
    }


def write_packages(target: Path = TARGET) -> Path:
    """Write the list next to the archive, and return its path."""
    path = target.with_suffix(".cdx.json")
    path.write_text(json.dumps(cyclonedx(target.read_bytes()), indent=2) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{write()}  {TARGET.relative_to(ROOT)}\n{write_packages().relative_to(ROOT)}\n")
