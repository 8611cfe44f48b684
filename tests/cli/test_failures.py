import sys
from pathlib import Path
from typing import Any

import pytest

from functions.cli.errors import exit_code, install_command, spread_dumps
from shared.errors import BadDump, BadInput, BadPolicy, BadSettings, EbbError, Retryable, Terminal


@pytest.mark.parametrize(
    ("expected", "failure"),
    [
        pytest.param(2, BadInput("x"), id="a wrong option"),
        pytest.param(2, BadDump("x"), id="a file that is no dump"),
        pytest.param(2, BadSettings("x"), id="a wrong environment"),
        pytest.param(1, BadPolicy("x"), id="a policy with faults"),
        pytest.param(1, Retryable("the cluster"), id="an outage"),
        pytest.param(1, Terminal("the cluster"), id="no permission"),
    ],
)
def test_a_failure_ends_with(expected: int, failure: EbbError) -> None:
    assert exit_code(failure) == expected


@pytest.mark.parametrize(
    ("expected", "typed"),
    [
        pytest.param("plan", "plan", id="no dump"),
        pytest.param("plan --dump a", "plan --dump a", id="one file"),
        pytest.param(
            "plan --dump a --dump b --dump c -o json", "plan --dump a b c -o json", id="what a shell makes of *"
        ),
        pytest.param("plan --dump a --dump b", "plan --dump a --dump b", id="the option repeated"),
        pytest.param("explain --dump a --dump b n1", "explain --dump a b n1", id="what is no file stays itself"),
        pytest.param("explain --dump a n1 b", "explain --dump a n1 b", id="and ends the files"),
        pytest.param("plan --dump", "plan --dump", id="nothing after it"),
    ],
)
def test_several_files_may_follow_one_dump(
    expected: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    assert " ".join(spread_dumps(typed.split())) == expected


PIP, UV_PIP = f"{sys.executable} -m pip install", f"uv pip install --python {sys.executable}"
UV_TOOL, PIPX = "uv tool install --force", "pipx install --force"
CHECKOUT: dict[str, Any] = {"url": "file:///home/me/ebb", "dir_info": {}}
EDITABLE: dict[str, Any] = {"url": "file:///home/me/my%20ebb", "dir_info": {"editable": True}}
WHEEL: dict[str, Any] = {"url": "file:///tmp/ebb-1-py3-none-any.whl", "archive_info": {}}
GIT: dict[str, Any] = {"url": "https://x.org/ebb.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}


@pytest.mark.parametrize(
    ("expected", "origin", "by", "left"),
    [
        pytest.param(f"{UV_TOOL} '/home/me/ebb[demo]'", CHECKOUT, "uv", "uv-receipt.toml", id="uv tool"),
        pytest.param(f"{PIPX} '/home/me/ebb[demo]'", CHECKOUT, "pip", "pipx_metadata.json", id="pipx"),
        pytest.param(f"{PIPX} '/home/me/ebb[demo]'", CHECKOUT, "uv", "pipx_metadata.json", id="pipx, which uses uv"),
        pytest.param(f"{PIP} '/home/me/ebb[demo]'", CHECKOUT, "pip", "", id="pip"),
        pytest.param(f"{UV_PIP} '/home/me/ebb[demo]'", CHECKOUT, "uv", "", id="uv pip: no pip is in there"),
        pytest.param(f"{PIP} -e '/home/me/my ebb[demo]'", EDITABLE, "pip", "", id="an editable checkout"),
        pytest.param(f"{PIP} '/tmp/ebb-1-py3-none-any.whl[demo]'", WHEEL, "pip", "", id="a wheel"),
        pytest.param(f"{PIP} 'ebb[demo] @ git+https://x.org/ebb.git@abc'", GIT, "pip", "", id="a repository"),
        pytest.param(f"{PIP} 'ebb[demo] @ https://x.org/ebb.zip'", {"url": "https://x.org/ebb.zip"}, "pip", "",
                     id="an archive on the web"),
        pytest.param(f"{PIP} 'ebb[demo]'", {}, "pip", "", id="an index"),
    ],
)  # fmt: skip
def test_an_extra_is_installed_as_ebb_was(
    expected: str, origin: dict[str, Any], by: str, left: str, tmp_path: Path
) -> None:
    if left:
        (tmp_path / left).touch()
    assert install_command("demo", origin, by, tmp_path) == expected
