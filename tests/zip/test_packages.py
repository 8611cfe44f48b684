"""The list beside the archive names what a build installs, in CycloneDX's form; equal archives have equal lists."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from infra.archive import archive, cyclonedx, pins, write_packages

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
