"""What holds for every test of the suite."""

from hypothesis import HealthCheck, settings


def test_no_example_fails_because_the_machine_is_busy() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
