"""What every test may name without importing it."""

pytest_plugins = ["tests.acceptance", "tests.fixtures_real", "tests.rights.plugin", "tests.skips", "tests.telling"]
