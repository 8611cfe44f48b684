"""What requirements.txt pins, and how an archive is unpacked."""

import io
import re
import zipfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}(?![0-9a-f])")


def pins() -> list[tuple[Requirement, int]]:
    """Return each requirement, and the number of files that may be installed for it."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    whole = "\n".join(line for line in lines if not line.lstrip().startswith("#")).replace("\\\n", " ")
    rows = (line for line in whole.splitlines() if line.strip())
    return [(Requirement(row.partition("--hash")[0]), len(_HASH.findall(row))) for row in rows]


def unpack(packed: bytes, folder: Path) -> Path:
    """Unpack as the build does, and return the folder, which is the functions' source root."""
    with zipfile.ZipFile(io.BytesIO(packed)) as made:
        made.extractall(folder)
    return folder


def test_every_requirement_is_pinned_to_one_version_with_its_hashes() -> None:
    found = pins()
    assert [str(pin) for pin, _ in found if not re.fullmatch(r"==[0-9][0-9a-z.]*", str(pin.specifier))] == []
    assert [str(pin) for pin, files in found if not files] == []
    assert len({(pin.name, str(pin.marker)) for pin, _ in found}) == len(found)


def test_what_is_pinned_is_what_is_asked_for() -> None:
    """`make requirements` compiles the one from the other: each asked project is pinned within its rule."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    asked = [Requirement(text) for line in lines if (text := line.partition("#")[0].strip())]
    wanted = {canonicalize_name(given.name): given.specifier for given in asked}
    found = [pin for pin, _ in pins() if pin.name in wanted]
    assert [
        str(pin)
        for pin in found
        if not all(rule.version in wanted[canonicalize_name(pin.name)] for rule in pin.specifier)
    ] == []
    assert compiled_from_the_list() == set(wanted)


def compiled_from_the_list() -> set[str]:
    """The projects of which the compiler wrote that `requirements.in` asked for them."""
    entries = re.findall(r"^(\S+?)==.*\n((?: .*\n)+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    return {canonicalize_name(name) for name, rest in entries if "-r requirements.in" in rest}
