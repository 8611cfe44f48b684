"""What every test may name without importing it."""

pytest_plugins = ["tests.fixtures_real"]
