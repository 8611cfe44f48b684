"""The saving that README and docs/pilot.md name is the one of the sample."""

import re
from typing import Final

from tests.pages import DOCS, README

PILOT: Final = (DOCS / "pilot.md").read_text(encoding="utf-8")


def test_the_saving_of_the_sample_is_the_one_that_pages_name() -> None:
    text = README.read_text(encoding="utf-8")
    sample = text.partition("<!-- sample -->")[2].partition("<!-- /sample -->")[0]
    named = re.findall(r"\[(\d+) % in the sample", text) + re.findall(r"\[The sample\].* saves (\d+) %", PILOT)

    assert len(named) == 2
    assert [percent for percent in named if f"{percent}%" not in sample.split()] == []
