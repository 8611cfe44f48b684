"""The functions' archive, packed from `infra/zip.yaml` as Terraform's archive_file packs it.

Entries by name, one fixed time and one mode: the provider does so that equal files make equal bytes
(https://github.com/hashicorp/terraform-provider-archive, internal/provider/zip_archiver.go).
"""

import io
import zipfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ROOT / "infra" / "zip.yaml"
_TIME = (2049, 1, 1, 0, 0, 0)
_MODE = 0o100644


def patterns() -> list[str]:
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


def unpack(packed: bytes, folder: Path) -> Path:
    """Unpack as the build does, and return the folder, which is the functions' source root."""
    with zipfile.ZipFile(io.BytesIO(packed)) as made:
        made.extractall(folder)
    return folder
