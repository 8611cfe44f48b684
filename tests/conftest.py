"""What every test may name without importing it, and what each run does beside its tests."""

pytest_plugins = [
    "pytester",
    "tests.acceptance",
    "tests.depth",
    "tests.fixtures_real",
    "tests.rights.plugin",
    "tests.skips",
    "tests.measured_figures",
    "tests.times",
]
