import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from functions.cli.input.options import Sources
from functions.cli.top.live import Read, Watcher, follow
from functions.cli.top.view import LiveView, Sign
from shared.errors import Retryable
from tests.builders import NOW
from tests.cli import dumps
from tests.cli.running import run_ebb

FIRST, SECOND = (LiveView(name, NOW, (), 0, 0) for name in ("first", "second"))


def drawn(read: Sequence[Read], keys: str) -> list[tuple[str, int, str]]:
    """Return what was drawn while these keys were pressed; a dot does nothing, and q comes last."""
    waiting: SimpleQueue[Read] = SimpleQueue()
    for each in read:
        waiting.put(each)
    pressed, found = iter([*keys, "q"]), list[tuple[str, int, str]]()
    follow(
        FIRST,
        waiting,
        lambda _: next(pressed),
        lambda view, scrolled, failure: found.append((view.cluster, scrolled, failure)),
    )
    return found


@pytest.mark.parametrize(
    ("expected", "read", "keys"),
    [
        pytest.param([("first", 0, "")], [], "", id="q quits"),
        pytest.param([("second", 0, ""), ("second", 0, "")], [SECOND], ".", id="what was read is drawn"),
        pytest.param(
            [("first", 0, "API: away"), ("second", 0, "")],
            [Retryable("API", "away"), SECOND],
            ".",
            id="a failure stands next to the view until the next one",
        ),
        pytest.param(
            [("first", 0, ""), ("first", 1, ""), ("first", 0, ""), ("first", 0, "")], [], "jkk", id="j and k scroll"
        ),
    ],
)
def test_it_draws_until_a_person_quits(expected: list[tuple[str, int, str]], read: list[Read], keys: str) -> None:
    assert drawn(read, keys) == expected


def test_a_fault_of_ebb_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        drawn([ZeroDivisionError()], "")


def test_marks_are_kept_from_look_to_look_without_an_installation(tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.json", 24)
    watcher = Watcher(Sources((dump,)))
    marked = {bar.name for bar in watcher.look().of(Sign.MARKED)}
    later = (NOW + timedelta(minutes=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = json.loads(dump.read_text())
    late = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "late", "creationTimestamp": later}}
    dump.write_text(json.dumps({**document, "items": [*document["items"], late]}))

    assert marked
    assert {bar.name for bar in watcher.look().of(Sign.NEXT)} & marked


def test_without_a_terminal_one_view_is_printed(tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.json", 12)

    shown = run_ebb("top", dump)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.count("%") == 12
