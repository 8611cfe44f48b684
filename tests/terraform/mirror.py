"""The mirror that EBB_TFMIRROR names, with the schemas that this repository adds to it.

`schemas/PROVIDER.json` holds resource types in the layout of `terraform providers schema -json`, as the provider's own
source declares them. Where the mirror has a type itself, its own stands. Must not write into the mirror.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).parent / "schemas"
_HELD: Final = Path("provider", "schemas")

Types = Mapping[str, Mapping[str, Any]]


def completed(mirror: Path) -> Path:
    """Return the mirror if it has all types, else a copy of it in the cache that does."""
    added = {path.stem: _missing(mirror, path) for path in sorted(SCHEMAS.glob("*.json"))}
    if not any(added.values()):
        return mirror
    copy = _cache() / _hash(mirror, added)
    if not copy.is_dir():
        _write(mirror, copy, added)
    return copy


def _missing(mirror: Path, added: Path) -> Types:
    try:
        held = _resources(json.loads((mirror / _HELD / added.name).read_text(encoding="utf-8")))
    except FileNotFoundError:  # a mirror of another make: it has what it has
        return {}
    return {name: load for name, load in json.loads(added.read_text(encoding="utf-8")).items() if name not in held}


def _resources(document: dict[str, Any]) -> dict[str, Any]:
    provider = next(iter(document["provider_schemas"].values()))
    found: dict[str, Any] = provider["resource_schemas"]
    return found


def _cache() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebb" / "tfmirror-sources"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _hash(mirror: Path, added: Mapping[str, Types]) -> str:
    """Of the mirror's files and of what is added, so that a change of either is another copy."""
    found = hashlib.sha256(json.dumps(added, sort_keys=True).encode())
    for path in sorted(path for path in mirror.rglob("*") if path.is_file()):
        found.update(str(path.relative_to(mirror)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _write(mirror: Path, copy: Path, added: Mapping[str, Types]) -> None:
    """Write the copy beside its place and move it there: of two workers at once the first one's stays."""
    new = Path(tempfile.mkdtemp(dir=copy.parent, prefix="new."))
    for path in (path for path in mirror.rglob("*") if path.is_file()):
        target = new / path.relative_to(mirror)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        target.chmod(0o755 if os.access(path, os.X_OK) and path.suffix in (".sh", ".py") else 0o644)
    for name, types in added.items():
        held = new / _HELD / f"{name}.json"
        document = json.loads(held.read_text(encoding="utf-8"))
        _resources(document).update(types)
        held.write_text(json.dumps(document), encoding="utf-8")
    try:
        new.rename(copy)
    except OSError:
        shutil.rmtree(new)
