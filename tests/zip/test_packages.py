"""The list of packages beside the archive, and what requirements.txt pins."""

import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from infra.archive import archive, cyclonedx, normal, pins, write_packages

ROOT = Path(__file__).resolve().parents[2]


def unpack(packed: bytes, folder: Path) -> Path:
    """Unpack as the build does, and return the folder, which is the functions' source root."""
    with zipfile.ZipFile(io.BytesIO(packed)) as made:
        made.extractall(folder)
    return folder


FORMS = {
    "bomFormat": "CycloneDX",
    "specVersion": r"1\.6",
    "serialNumber": r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "version": "1",
}
"""As https://cyclonedx.org/schema/bom-1.6.schema.json has them, and for a component:"""
PURL = r"pkg:pypi/[a-z0-9]+(-[a-z0-9]+)*@[0-9][0-9a-z.]*"
SHA256 = {"alg": "SHA-256", "content": r"[0-9a-f]{64}"}


def in_form(found: dict[str, Any], forms: dict[str, str]) -> bool:
    return all(re.fullmatch(form, str(found.get(name))) for name, form in forms.items())


def test_the_list_has_the_form_of_its_standard() -> None:
    found = cyclonedx(b"an archive")
    parts = [found["metadata"]["component"], *found["components"]]
    hashes = [hash_ for part in parts for row in part.get("externalReferences", [part]) for hash_ in row["hashes"]]

    assert in_form(found, FORMS)
    assert {part["type"] for part in found["components"]} == {"library"}
    assert [part for part in found["components"] if not in_form(part, dict.fromkeys(("bom-ref", "purl"), PURL))] == []
    assert max(Counter(part["bom-ref"] for part in parts).values()) == 1
    assert [hash_ for hash_ in hashes if hash_.keys() != SHA256.keys() or not in_form(hash_, SHA256)] == []


def test_every_requirement_is_in_the_list_with_its_files_and_its_machines() -> None:
    listed = {
        (
            part["name"],
            part["version"],
            "".join(row["value"] for row in part.get("properties", [])),
            frozenset(hash_["content"] for row in part["externalReferences"] for hash_ in row["hashes"]),
        )
        for part in cyclonedx(b"")["components"]
    }

    assert listed == {(pin.name, pin.version, pin.marker, pin.hashes) for pin in pins()}
    assert len(listed) == len(pins()) > 50


def test_equal_archives_have_equal_lists_and_others_others() -> None:
    packed = archive()

    assert cyclonedx(packed) == cyclonedx(packed)
    assert cyclonedx(packed)["serialNumber"] != cyclonedx(b"another")["serialNumber"]


def test_the_list_lies_next_to_its_archive(tmp_path: Path) -> None:
    (tmp_path / "functions.zip").write_bytes(archive())

    beside = write_packages(tmp_path / "functions.zip")

    assert beside == tmp_path / "functions.cdx.json"
    assert json.loads(beside.read_text(encoding="utf-8")) == cyclonedx(archive())


ASKED = re.compile(r"^([A-Za-z0-9_.-]+)([^#;\n]*)", re.MULTILINE)


def test_every_requirement_is_pinned_to_one_version_with_its_hashes() -> None:
    assert [pin.name for pin in pins() if not re.fullmatch(r"==[0-9][0-9a-z.]*", pin.rule)] == []
    assert [pin.name for pin in pins() if not pin.hashes] == []
    assert len({(pin.name, pin.marker) for pin in pins()}) == len(pins())


def test_what_is_pinned_is_what_is_asked_for() -> None:
    """`make requirements` compiles the one from the other: each asked project is pinned within its rule."""
    text = (ROOT / "requirements.in").read_text(encoding="utf-8")
    wanted = {normal(name): rule.strip() for name, rule in ASKED.findall(text)}
    found = [pin for pin in pins() if pin.name in wanted]
    assert [pin for pin in found if pin.rule.removeprefix("==") not in SpecifierSet(wanted[pin.name])] == []
    assert compiled_from_the_list() == set(wanted)


def compiled_from_the_list() -> set[str]:
    """The projects of which the compiler wrote that `requirements.in` asked for them."""
    entries = re.findall(r"^(\S+?)==.*\n((?: .*\n)+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    return {normal(name) for name, rest in entries if "-r requirements.in" in rest}


@pytest.mark.parametrize("name", ["Google_Auth", "google.auth", "google-auth"])
def test_a_projects_names_are_one(name: str) -> None:
    assert normal(name) == "google-auth"
