"""What every test may name without importing it, and how Hypothesis runs here."""

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.acceptance",
    "tests.fixtures_real",
    "tests.rights.plugin",
    "tests.skips",
    "tests.measured_figures",
]

# How long an example takes says how busy the machine is, never whether the law holds.
settings.register_profile("ebb", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ebb")
