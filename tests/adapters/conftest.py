"""What the tests of several adapters share."""

import ssl
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3.connection
import urllib3.util.ssl_

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from tests.adapters.scripted import Script, access_to, no_wait, scripted
from tests.builders import NOW


@pytest.fixture
def api() -> Iterator[Script]:
    with scripted() as script:
        yield script


@pytest.fixture
def cluster(api: Script) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2), now=lambda: NOW)


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
