"""Processes that the demo starts: ready, failed with a sentence, and gone when the demo is."""

from pathlib import Path

import pytest

from infra.local.bound_process import Child, free_ports, listens
from shared.errors import Terminal

LISTEN = "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); sys.stdin.read()"


def test_a_child_is_awaited_and_ends_with_its_holder(tmp_path: Path) -> None:
    [port] = free_ports(1)
    child = Child("server", ["-c", LISTEN, str(port)], tmp_path, {})
    child.wait_until(lambda: listens(port), "it did not listen")
    assert not child.has_ended()
    child.close()
    assert (child.has_ended(), listens(port)) == (True, False)


def test_a_child_that_ends_at_its_start_is_shown_with_its_last_lines(tmp_path: Path) -> None:
    child = Child("planner", ["-c", "raise SystemExit('EBB_CLUSTER: missing')"], tmp_path, {})
    with pytest.raises(Terminal, match=r"planner: it ended at its start \(exit code 1\)\.\n  \| EBB_CLUSTER: missing"):
        child.wait_until(lambda: False, "it did not listen")
    child.close()


def test_a_child_that_shown_nothing_is_shown(tmp_path: Path) -> None:
    child = Child("planner", ["-c", "raise SystemExit(3)"], tmp_path, {})
    with pytest.raises(Terminal, match=r"exit code 3\)\. It wrote nothing\."):
        child.wait_until(lambda: False, "it did not listen")
    child.close()


def test_a_childs_environment_is_laid_over_our_own(tmp_path: Path) -> None:
    child = Child(
        "planner", ["-c", "import os; print(os.environ['EBB_X'], 'PATH' in os.environ)"], tmp_path, {"EBB_X": "1"}
    )
    child.wait_until(lambda: child.out.read_text() == "1 True\n", "it did not answer")
    child.close()


def test_free_ports_differ() -> None:
    assert len(set(free_ports(5))) == 5
