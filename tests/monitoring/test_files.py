"""The generated files are those of the tables, and Terraform can fill them in."""

import re
from pathlib import Path

import pytest

from infra.monitoring.__main__ import files
from tests.monitoring.generated import FLEET_VALUES, VALUES, filled, fleet_metrics, metrics

MOST_FILTER = 20_000
"""Characters of a log-based metric's filter (cloud.google.com/logging/quotas)."""
FILES = [pytest.param(path, text, id=path.name) for path, text in files().items()]


@pytest.mark.parametrize(("path", "text"), FILES)
def test_the_generated_files_are_fresh(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "run `make monitoring`"


@pytest.mark.parametrize(("path", "text"), FILES)
def test_nothing_looks_like_terraforms_but_the_names_it_fills_in(path: Path, text: str) -> None:
    known = FLEET_VALUES if path.name.startswith("fleet") else VALUES
    assert set(re.findall(r"\$\{(.*?)\}", text)) <= known.keys()
    assert "%{" not in text
    assert "$$" not in text
    assert "${" not in filled(path.name)


def test_terraform_fills_in_those_names_and_no_other() -> None:
    module = (Path(__file__).parents[2] / "terraform" / "monitoring.tf").read_text(encoding="utf-8")
    block = module.split("monitoring = {")[1].split("}")[0]

    assert set(re.findall(r"^\s+(\w+) +=", block, re.MULTILINE)) == VALUES.keys()


def test_metrics_keep_the_limits_of_cloud_logging() -> None:
    for name, metric in [*metrics().items(), *fleet_metrics().items()]:
        assert re.fullmatch(r"[a-z_]+", name)
        assert len(f"{VALUES['name']}/{name}") <= 100
        assert len(metric["filter"]) < MOST_FILTER
        assert len(metric["labels"]) <= 10
        assert len(metric["description"]) <= 8000
        assert bool(metric["value"]) == (metric["value_type"] == "DISTRIBUTION")
