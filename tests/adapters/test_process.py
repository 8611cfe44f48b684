from shared.adapters.process import SystemClock
from shared.ports import Clock
from tests.fakes import FakeClock


def test_sleeping_passes_time_and_a_negative_sleep_none() -> None:
    clocks: tuple[Clock, ...] = (SystemClock(), FakeClock())
    for clock in clocks:
        began = clock.monotonic()
        clock.sleep(-1)
        clock.sleep(0.01)

        assert clock.monotonic() - began >= 0.01
