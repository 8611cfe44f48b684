"""What a file is that is no dump, as far as its beginning tells, in the words of one sentence.

Must not read the file: it is given the beginning.
"""

import re
from typing import Final

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
    rb"\s*(Error from server|error: |Error: |Unable to connect|The connection to the server|ERROR: |[EF]\d{4} )"
)


def what_it_is(head: bytes, fault: str) -> str:
    """Return what the file holds instead of JSON."""
    for sign, said in _SIGNS:
        if sign.match(head):
            return said
    if _KUBECTL_FAILED.match(head):
        return f"kubectl failed ({head.decode(errors='replace').split(chr(10), 1)[0].strip()[:_MOST_SAID]})"
    return f"is not JSON ({fault})"
