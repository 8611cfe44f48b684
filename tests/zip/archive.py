"""The functions' archive, unpacked as the build does it."""

import io
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def unpack(packed: bytes, folder: Path) -> Path:
    """Unpack as the build does, and return the folder, which is the functions' source root."""
    with zipfile.ZipFile(io.BytesIO(packed)) as made:
        made.extractall(folder)
    return folder
