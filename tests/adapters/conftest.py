"""What the tests of several adapters share."""

import ssl
from typing import Any

import pytest
import urllib3.connection
import urllib3.util.ssl_


@pytest.fixture
def strict_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make urllib3's contexts as strict on every Python as it makes them from 3.13 on."""
    lenient = urllib3.util.ssl_.create_urllib3_context

    def strict(*args: Any, **options: Any) -> ssl.SSLContext:
        context = lenient(*args, **options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
        return context

    for module in (urllib3.util, urllib3.util.ssl_, urllib3.connection):
        monkeypatch.setattr(module, "create_urllib3_context", strict)
