"""A machine without Chromium hears what to install, or gets Debian's; what a page said and asked for is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.local.bound_process import ROOT
from tests.browser import chromium
from tests.browser.chromium import Chromium, ChromiumError
from tests.browser.debian import DebianError
from tests.browser.devtools import opened

# Downloads what it is asked for into its own cache, slowly enough for two to meet, and counts.
FAKE_APT = """#!/bin/sh
for word in "$@"; do case "$word" in --option=Dir::Cache=*) cache="${word#--option=Dir::Cache=}";; esac; done
case "$*" in *--download-only*) echo fetch >> "$COUNT"; touch "$cache/archives/a.deb"; sleep 1;; esac
echo "no such package" >&2
exit ${FAIL:-0}
"""
FAKE_DPKG = """#!/bin/sh
mkdir -p "$3/usr/lib/chromium" && touch "$3/usr/lib/chromium/chromium-headless-shell" "$3/usr/lib/chromium/libEGL.so"
"""


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with apt and nothing installed; the file counts what was fetched."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in {"apt-get": FAKE_APT, "dpkg-deb": FAKE_DPKG}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    for name in ("sh", "touch", "mkdir", "sleep", "echo"):
        (tools / name).symlink_to(Path("/bin") / name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    monkeypatch.delenv("EBB_CHROMIUM", raising=False)
    return tmp_path / "count"


def test_a_machine_that_cannot_have_it_hears_what_to_install(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}

    assert chromium.missing(nothing) == "no Chromium is on PATH: install chromium, or let EBB_CHROMIUM name the program"
    with pytest.raises(ChromiumError, match="no Chromium is on PATH"):
        chromium.locate(nothing)


def test_what_is_named_or_installed_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.touch(mode=0o755)

    assert chromium.locate({"PATH": str(tmp_path)}) == Chromium(program)
    assert chromium.locate({"PATH": "", "EBB_CHROMIUM": str(program)}) == Chromium(program)
    with pytest.raises(ChromiumError, match="is no file"):
        chromium.locate({"PATH": "", "EBB_CHROMIUM": str(tmp_path / "other")})


def test_two_processes_that_ask_at_the_same_time_fetch_once(debian: Path) -> None:
    program = "from tests.browser.chromium import locate; print(locate().program)"
    command = [sys.executable, "-c", program]
    both = [subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=60)[0].strip() for process in both}

    assert len(answers) == 1
    assert Path(answers.pop()).is_file()
    assert debian.read_text() == "fetch\n"


def test_a_fetch_that_fails_shows_why_and_leaves_nothing(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "100")
    with pytest.raises(DebianError, match="apt-get failed:\nno such package"):
        chromium.locate()
    monkeypatch.setenv("FAIL", "0")
    assert chromium.locate().environment["LD_LIBRARY_PATH"].endswith("usr/lib/chromium")
    assert debian.read_text() == "fetch\nfetch\n"


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
