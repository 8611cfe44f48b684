"""An instance that starts pays for a client only when it makes one."""

import subprocess
import sys

import pytest

LOOK = "import sys, {0}; print(*sorted({{'grpc', 'google.auth', 'google.api_core', 'requests'}} & set(sys.modules)))"


@pytest.mark.parametrize(
    "module", [f"shared.adapters.{name}" for name in ("compute", "firestore", "pubsub", "sqlite", "storage")]
)
def test_importing_an_adapter_imports_no_client(module: str) -> None:
    code = LOOK.format(module)

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert answer.stdout.strip() == ""
