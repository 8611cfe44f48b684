"""Words that must stand in no log and no sentence, and a way to see whether they do."""

import base64
import json
from typing import Any

BEARER = "ya29.a0-this-is-a-bearer-token-of-somebody"
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqh-this-is-a-key"
PASSWORD = "correct-horse-battery-staple-9"  # noqa: S105 - a decoy
ALL = (BEARER, PRIVATE_KEY, PASSWORD)
_PART = 12
"""So many characters of a secret in a row count as the secret."""


def leaked(text: str) -> list[str]:
    """Return the secrets of which the text holds a telling part, plainly or in base64."""
    return [secret for secret in ALL for form in _forms(secret) if any(part in text for part in _parts(form))]


def _forms(secret: str) -> tuple[str, str]:
    return secret, base64.b64encode(secret.encode()).decode()


def _parts(text: str) -> list[str]:
    return [text[at : at + _PART] for at in range(0, len(text) - _PART + 1, _PART // 2)]


def push(data: bytes | str, **fields: Any) -> bytes:
    """Return a push request's body around message data."""
    raw = data.encode() if isinstance(data, str) else data
    message = {"data": base64.b64encode(raw).decode(), "messageId": "1", "publishTime": "2026-01-01T00:00:00Z"}
    return json.dumps({"message": {**message, **fields}, "subscription": "s"}).encode()


def order(**fields: Any) -> bytes:
    return push(json.dumps({"node": "n1", **fields}))
