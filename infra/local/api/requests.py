"""What a request says beside its path: who asks, whether it is a dry run, its JSON body; its row in the record.

Must not answer anything.
"""

import re
from typing import Any

from infra.local.api.statuses import bad_request
from infra.local.http_messages import HttpAnswer, HttpRequest
from infra.local.world.kinds import Json

_BRIEF = 2000
_DRY_BODY = re.compile(rb'"dryRun"\s*:\s*\[\s*"All"')


def actor_of(request: HttpRequest) -> str:
    return request.headers.get("user-agent", "unknown")


def is_dry(request: HttpRequest, body: Any = None) -> bool:
    asked = (body or {}).get("dryRun") if isinstance(body, dict) else None
    return request.query.get("dryRun") == "All" or asked == ["All"]


def body_of(request: HttpRequest) -> Any:
    try:
        return request.json()
    except ValueError as error:
        raise bad_request(f"the body is not JSON: {error}") from error


def record_entry(request: HttpRequest, answer: HttpAnswer) -> Json:
    dry = request.query.get("dryRun") == "All" or _DRY_BODY.search(request.body) is not None
    return {
        "verb": request.method,
        "path": request.path,
        "query": dict(request.query),
        "code": answer.status,
        "lost": answer.lost,
        "user_agent": actor_of(request),
        "dry_run": dry,
        "body": request.body[:_BRIEF].decode(errors="replace"),
    }
