"""What `make zip` writes: the functions' archive.

Terraform's archive_file packs in the same way: entries by name, one time, one mode, so that equal files make equal
bytes.
"""

import hashlib
import io
import sys
import zipfile
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
PATTERNS: Final = ROOT / "infra" / "zip.yaml"
TARGET: Final = ROOT / "build" / "ebb-functions.zip"
_TIME: Final = (2049, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644


def patterns() -> list[str]:
    """Return what the archive holds, as patterns from the repository's root."""
    found: list[str] = yaml.safe_load(PATTERNS.read_text(encoding="utf-8"))["include"]
    return found


def source_files(root: Path = ROOT) -> list[str]:
    """Return the files that the patterns name, relative to the root, by name."""
    found = {path for pattern in patterns() for path in root.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(root).as_posix() for path in found)


def archive(root: Path = ROOT) -> bytes:
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


if __name__ == "__main__":
    sys.stdout.write(f"{write()}  {TARGET.relative_to(ROOT)}\n")
