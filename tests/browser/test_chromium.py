"""What is named or installed is taken; what a page said and asked for is told, and a browser ends with its block."""

import os
from pathlib import Path

import pytest

from tests.browser import chromium
from tests.browser.chromium import Chromium, ChromiumError
from tests.browser.devtools import opened


def test_what_is_named_or_installed_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.touch(mode=0o755)

    assert chromium.locate({"PATH": str(tmp_path)}) == Chromium(program)
    assert chromium.locate({"PATH": "", "EBB_CHROMIUM": str(program)}) == Chromium(program)
    with pytest.raises(ChromiumError, match="is no file"):
        chromium.locate({"PATH": "", "EBB_CHROMIUM": str(tmp_path / "other")})


def test_what_a_page_shows_and_asks_for_is_shown(chromium: Chromium) -> None:
    with opened(chromium) as page:
        page.open("data:text/html,<script>console.error('odd'); fetch('http://127.0.0.1:9/x').catch(() => 0)</script>")
        page.value("new Promise((done) => setTimeout(done, 100))")

        assert page.said[0] == "error: ['odd']"
        assert "http://127.0.0.1:9/x" in page.asked


def test_a_browser_ends_with_its_block(chromium: Chromium) -> None:
    with opened(chromium) as page:
        process = page.pipe.process
        assert page.value("1 + 1") == 2
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
