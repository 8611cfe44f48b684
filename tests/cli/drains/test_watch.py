import pytest
import typer

from functions.cli.drains.commands import EVERY_SECONDS, watch
from functions.cli.errors import INTERRUPTED


class _Impatient:
    """A clock at which a person looks twice more, and then presses Ctrl-C."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) > 2:
            raise KeyboardInterrupt


def test_it_is_shown_until_somebody_has_seen_enough() -> None:
    clock, shown = _Impatient(), []
    with pytest.raises(typer.Exit) as ended:
        watch(lambda: shown.append("."), clock)
    assert (ended.value.exit_code, len(shown), set(clock.slept)) == (INTERRUPTED, 3, {EVERY_SECONDS})
