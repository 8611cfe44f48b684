"""A mirror is completed in a copy: its own types stand, what it lacks is added, and it is never written to."""

import json
from pathlib import Path

import pytest

from tests.terraform.mirror import SCHEMAS, completed

ADDED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.json")}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def mirror(folder: Path, own: dict[str, dict[str, object]]) -> Path:
    (folder / "provider" / "schemas").mkdir(parents=True)
    (folder / "mirror.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "mirror.sh").chmod(0o555)
    for name in ADDED:
        document = {"provider_schemas": {name: {"resource_schemas": own.get(name, {})}}}
        path = folder / "provider" / "schemas" / f"{name}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        path.chmod(0o444)
    return folder


def held(folder: Path, name: str) -> dict[str, object]:
    text = (folder / "provider" / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, object] = json.loads(text)["provider_schemas"][name]["resource_schemas"]
    return found


def test_what_a_mirror_lacks_is_added_in_a_copy(tmp_path: Path) -> None:
    given = mirror(tmp_path / "given", {"google": {"google_project": {"version": 1}}})
    copy = completed(given)

    assert held(copy, "google") == {"google_project": {"version": 1}, **ADDED["google"]}
    assert held(copy, "kubernetes") == ADDED["kubernetes"]
    assert held(given, "kubernetes") == {}
    assert completed(given) == copy


def test_a_type_that_the_mirror_has_stands(tmp_path: Path) -> None:
    given = mirror(tmp_path / "given", {**ADDED, "kubernetes": {"kubernetes_manifest": {"version": 9}}})

    assert completed(given) == given


def test_a_mirror_of_another_make_is_taken_as_it_is(tmp_path: Path) -> None:
    assert completed(tmp_path) == tmp_path
