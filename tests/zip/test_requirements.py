"""`requirements.txt` is what `requirements.in` compiles to: every project pinned to one version, with its hashes."""

import re

import pytest
from packaging.specifiers import SpecifierSet

from infra.archive import normal, pins
from tests.zip.archive import ROOT

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
