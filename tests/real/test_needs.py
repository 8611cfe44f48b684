"""A machine that lacks a real component skips with one line; CI never skips."""

from pathlib import Path

import pytest

from shared.errors import Terminal
from tests.depth import cases
from tests.real.control_plane import AssetsError, assets
from tests.real.emulators import PubSubEmulator
from tests.real.needs import skip_or_fail


@cases(
    "outcome, env",
    ("a laptop skips", pytest.skip.Exception, {}),
    ("CI=false is a laptop", pytest.skip.Exception, {"CI": "false"}),
    ("CI fails", pytest.fail.Exception, {"CI": "true"}),
)
def test_a_missing_part_skips_on_a_laptop_and_fails_in_ci(outcome: type[BaseException], env: dict[str, str]) -> None:
    with pytest.raises(outcome, match="Java is not on PATH"):
        skip_or_fail("Java is not on PATH", env)


def test_a_folder_of_binaries_that_lacks_some_is_refused_by_name(tmp_path: Path) -> None:
    for name in assets.BINARIES[1:]:
        (tmp_path / name).touch()
    with pytest.raises(AssetsError, match="has no etcd: put them there or unset it"):
        assets.locate({"EBB_KUBE_ASSETS": str(tmp_path)})


def test_a_whole_folder_of_binaries_is_taken_without_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in assets.BINARIES:
        (tmp_path / name).touch()
    monkeypatch.setenv("PATH", "")
    assert assets.missing({"EBB_KUBE_ASSETS": str(tmp_path)}) is None
    assert assets.locate({"EBB_KUBE_ASSETS": str(tmp_path)}) == tmp_path


def test_an_emulator_that_ends_at_its_start_is_reported_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / PubSubEmulator.program
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho no room on this machine\nexit 3\n")
    for tool in (program, tmp_path / "java"):
        tool.touch()
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("CLOUDSDK_ROOT", str(tmp_path))
    with (
        pytest.raises(Terminal, match=r"ended at its start \(exit code 3\)\.\n  \| no room on this machine"),
        PubSubEmulator(),
    ):
        pytest.fail("it did not start")
