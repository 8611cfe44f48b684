"""What is installed is what was looked at: pinned by hash (see tests/zip), and no older than the fixes we know of."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version

from infra.archive import normal, pins

KNOWN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("advisories.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", KNOWN["fixed"], ids=lambda row: f"{row['project']} {row['advisory']}")
def test_no_pin_is_older_than_a_known_fix(row: dict[str, str]) -> None:
    pinned = [Version(pin.rule.removeprefix("==")) for pin in pins() if pin.name == normal(row["project"])]
    assert pinned, f"{row['project']} is no longer pinned: take the row out"
    assert min(pinned) >= Version(row["version"]), f"{row['advisory']}: run `make requirements`; see {row['source']}"


def test_no_pin_is_a_version_before_its_release() -> None:
    early = [pin.name for pin in pins() if Version(pin.rule.removeprefix("==")).is_prerelease]
    assert early in ([], ["opentelemetry-semantic-conventions"]), "OpenTelemetry's conventions have only such versions"
