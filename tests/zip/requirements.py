"""What requirements.txt pins."""

import re
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}(?![0-9a-f])")


def pins() -> list[tuple[Requirement, int]]:
    """Return each requirement, and the number of files that may be installed for it."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    whole = "\n".join(line for line in lines if not line.lstrip().startswith("#")).replace("\\\n", " ")
    rows = (line for line in whole.splitlines() if line.strip())
    return [(Requirement(row.partition("--hash")[0]), len(_HASH.findall(row))) for row in rows]
