"""What a demo leaves up is found by the commands: its profile is one that they read."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from functions.cli.input.profiles import read_profile
from infra.local.demo.__main__ import PROFILE, introduction, keep_up, profile_of
from infra.local.demo.installation import DemoInstallation
from infra.local.demo.screen import Screen
from shared.errors import Terminal
from shared.settings import read_settings

ENVIRONMENT = {
    "EBB_CLUSTER": "projects/local/locations/l/clusters/demo",
    "EBB_TOPIC": "projects/local/topics/ebb-orders",
    "EBB_STATE": "sqlite:/home/it's here/state.sqlite",
    "EBB_KUBECONFIG": "/home/kubeconfig",
    "EBB_GKE_API": "http://127.0.0.1:1",
    "PUBSUB_EMULATOR_HOST": "127.0.0.1:2",
    "GOOGLE_CLOUD_PROJECT": "local",
    "THREADS": "32",
}


def _installation() -> DemoInstallation:
    nodes = [
        {"metadata": {"name": "web-0"}, "spec": {"unschedulable": True}},
        {"metadata": {"name": "web-1"}, "spec": {}},
    ]
    made: Any = SimpleNamespace(environment=ENVIRONMENT, gke=SimpleNamespace(list_all=lambda _plural: nodes))
    return cast("DemoInstallation", made)


def test_the_profile_is_one_that_the_commands_read(tmp_path: Path) -> None:
    (tmp_path / PROFILE).write_text(profile_of(ENVIRONMENT))
    found = read_profile(tmp_path / PROFILE)
    assert found == {name: value for name, value in ENVIRONMENT.items() if name != "THREADS"}
    assert read_settings(found, "topic").cluster == ENVIRONMENT["EBB_CLUSTER"]


def test_every_command_that_is_shown_names_the_profile() -> None:
    commands = [line for line in introduction(Path("/x/demo.env"), "web-1") if line.startswith("  ebb ")]
    assert len(commands) == 5
    assert all("--cluster /x/demo.env" in line for line in commands)


def test_it_waits_for_ctrl_c_and_ends_quietly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    looked: list[str] = []

    def sleep(_seconds: float) -> None:
        if len(looked) == 3:
            raise KeyboardInterrupt

    keep_up(Screen(), _installation(), tmp_path, lambda: looked.append("."), sleep)
    assert "ebb drain web-1 --dry-run" in capsys.readouterr().out
    assert len(looked) == 3


def test_a_process_that_ended_ends_it(tmp_path: Path) -> None:
    def check() -> None:
        raise Terminal("drainer", "the process ended")

    with pytest.raises(Terminal):
        keep_up(Screen(), _installation(), tmp_path, check, lambda _seconds: None)
