"""What a file is that is no dump, as far as its beginning tells, in the words of one sentence, and what helps.

Must not read the file: it is given the beginning.
"""

import re
from typing import Final

from functions.cli.dumps.kinds import COMMAND
from shared.adapters.kubernetes.plugin import INSTALL_GKE, LOG_IN

_MOST_SAID: Final = 200
_SIGNS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (
        re.compile(rb"\s*<(!DOCTYPE|html|head|\?xml)", re.IGNORECASE),
        "this is a web page, as a proxy or a login sends it",
    ),
    (re.compile(rb"\s*No resources found"), "kubectl found nothing there"),
    (re.compile(rb"\s*(NAMESPACE +)?NAME +[A-Z]"), "this is kubectl's table: use -o json"),
    (re.compile(rb"\s*Name: +\S"), "this is what kubectl describe prints: use kubectl get and -o json"),
    (re.compile(rb"\s*(node|pod|namespace|deployment\.apps)/\S+\s*\n"), "these are names only: use -o json"),
    (re.compile(rb"(\s|---|#[^\n]*\n)*(apiVersion|items|kind|metadata):"), "this is YAML: use -o json"),
)
_KUBECTL_FAILED: Final = re.compile(
    rb"\s*(Error from server|error: |Error: |Unable to connect|The connection to the server|ERROR: |[EF]\d{4} "
    rb"|Unauthorized\b)"
)
_CREDENTIALS: Final = "`gcloud container clusters get-credentials NAME --location LOCATION`"
_HELPS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"gke-gcloud-auth-plugin\S* not found"), INSTALL_GKE),
    (
        re.compile(r"Unauthorized|must be logged in|provide credentials|getting credentials"),
        f"{LOG_IN} and {_CREDENTIALS}",
    ),
    (re.compile(r"[Ff]orbidden"), "ask for rights to list it (roles/container.viewer)"),
    (re.compile(r"localhost:8080"), f"name the cluster with {_CREDENTIALS}"),
)
"""Where the same command would be refused again."""
MAKE_ONE: Final = f"make a dump with `{COMMAND}`"


def what_it_is(head: bytes, fault: str) -> str:
    """Return what the file holds instead of JSON, and what to do."""
    for sign, said in _SIGNS:
        if sign.match(head):
            return f"{said}; {MAKE_ONE}"
    if _KUBECTL_FAILED.match(head):
        words = head.decode(errors="replace")
        return f"kubectl failed ({words.strip().split(chr(10), 1)[0].strip()[:_MOST_SAID]}); {remedy(words, MAKE_ONE)}"
    return f"is not JSON ({fault}); {MAKE_ONE}"


def remedy(refusal: str, other: str) -> str:
    """Return what helps where the cluster refused; something else where these words do not tell."""
    helps = next((helps for sign, helps in _HELPS if sign.search(refusal)), None)
    return f"{helps}, then print it again" if helps else other
