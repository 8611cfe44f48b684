"""The failures that somebody handles, and only those.

EbbError
    ├── BadInput      a person's mistake: one sentence with the path of the fault and the remedy
    ├── Retryable     an outage: the same call may succeed later; the message or tick comes again
    ├── Stale         the world changed under us: read again and decide again
    └── Terminal      repeating the call cannot help: permission, protocol, an unsupported cluster
        ├── Forbidden   the account's rights do not reach
        └── Unreadable  one document that this version cannot decode, by name: the others are not concerned

Adapters raise these and chain the client's own error as the cause; no caller ever sees a client's class.
"""


class EbbError(Exception):
    """Base of all failures that Ebb names."""

    everywhere: bool = False  # Whether every service would fail so, because who asks has no identity.
    at_a_shell: str = ""
    """What somebody at a shell does about it. It is no part of the message: who reads a function's log has no shell."""


class BadInput(EbbError):
    """A person's mistake: `faults` are sentences, each with the path of the fault and the remedy."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class BadSettings(BadInput):
    """The environment is incomplete or holds a bad value."""


class BadPolicy(BadInput):
    """The policy document is missing or invalid; no part is applied."""


class BadOrder(BadInput):
    """A message that is no order of ours: malformed, of an unknown schema, or for another cluster."""


class BadDump(BadInput):
    """A dump that `kubectl get -o json` did not print, or that lacks what a plan needs."""


class FailureOf(EbbError):
    """A failure of one thing outside, which `what` names."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what}: {detail}" if detail else what)
        self.what = what


class Retryable(FailureOf):
    """An outage: it did not answer as it should."""


class Stale(EbbError):
    """The world changed: a resourceVersion, UID or document version that we relied on is no longer true."""


class Gone(Stale):
    """The object is no longer there, or another one has its name."""


class Terminal(FailureOf):
    """Repeating the call cannot help, e.g. permission denied."""


class Forbidden(Terminal):
    """The account lacks a right (403). A list that only adds to the answer may be left out, which is reported."""


class Unreadable(Terminal):
    """A document that this version of Ebb cannot decode, for example after a rollback; `what` names it."""
