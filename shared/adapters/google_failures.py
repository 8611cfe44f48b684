"""Failures of Google's clients as Ebb's own errors, their retries, the identity of the process, and REST by it."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shared.errors import EbbError, Retryable, Stale, Terminal

_LOG_IN: Final = "run `gcloud auth application-default login`"
_UNIDENTIFIED: Final = "Getting metadata from plugin failed with error"
"""gRPC's words if the identity could not be refreshed."""
_IN_A_FUNCTION: Final = "K_SERVICE"
"""Cloud Run's variable: there the metadata server has an identity, and at a cold start it may answer too late."""

_PASSING: Final = {"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"}
"""Reasons of a 403 over REST that are no refusal (cloud.google.com/compute/docs/api/errors)."""


@dataclass(frozen=True)
class Service:
    """One outside thing: how to name it in a failure, and what to check when it refuses us."""

    what: str
    remedy: str

    @contextmanager
    def naming_failures(self, *, guarded: bool = False) -> Iterator[None]:
        """Name the failures of this block's calls; a `guarded` call has a precondition, and is Stale when that is lost.

        Raises Retryable: an outage, a timeout, a quota, an identity that could not be refreshed or, in a function,
        found. Terminal: no permission, no such database, topic or bucket, or a request that will never be taken.
        """
        from google.api_core.exceptions import GoogleAPICallError, RetryError
        from google.auth.exceptions import GoogleAuthError

        try:
            yield
        except GoogleAPICallError as error:
            raise self._failure_of(error, guarded=guarded) from error
        except GoogleAuthError as error:
            raise self._without_identity(error) from error
        except (RetryError, OSError) as error:
            if _UNIDENTIFIED in str(error):
                raise self._without_identity(error) from error
            raise Retryable(self.what, f"no answer in time ({error})") from error

    def _failure_of(self, error: Exception, *, guarded: bool) -> EbbError:
        from google.api_core import exceptions

        lost = (exceptions.Conflict, exceptions.FailedPrecondition, exceptions.NotFound)
        never = (exceptions.BadRequest, exceptions.Unauthorized, exceptions.Forbidden, exceptions.NotFound)
        if _UNIDENTIFIED in str(error):
            return self._without_identity(error)
        if guarded and isinstance(error, lost):
            return Stale(f"{self.what}: {error}")
        if isinstance(error, never) and not _PASSING & _reasons(error):
            return Terminal(self.what, f"{error}. {self.remedy}")
        return Retryable(self.what, str(error))

    def _without_identity(self, error: Exception) -> EbbError:
        from google.auth.exceptions import DefaultCredentialsError

        whole = str(error.args[0] if error.args else error)
        first = whole.rpartition(_UNIDENTIFIED)[2].strip(" :").partition(". ")[0].rstrip(".")
        failure: EbbError
        if not isinstance(error, DefaultCredentialsError):
            failure = Retryable(self.what, f"the identity could not be refreshed ({first})")
            failure.at_a_shell = f"if it is a person's, {_LOG_IN}"
        elif _IN_A_FUNCTION in os.environ:
            failure = Retryable(self.what, f"the metadata server did not show the identity in time ({first})")
        else:
            failure = Terminal(self.what, first)
            failure.at_a_shell = f"{_LOG_IN}, or name a key in GOOGLE_APPLICATION_CREDENTIALS"
        failure.everywhere = True
        return failure


def _reasons(error: Exception) -> set[str]:
    """Return the words that a REST answer lists of its failure."""
    return {row.get("reason", "") for row in getattr(error, "errors", ()) if isinstance(row, dict)}


CALL_SECONDS: Final = 10.0  # For one call with its retries; a tick or step has many, and answers 503 rather than hang.
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 1.0


def call_options(call_seconds: float) -> dict[str, Any]:
    """Return the options of a call: another attempt while the service is unavailable or asks for less haste."""
    from google.api_core.exceptions import ServiceUnavailable, TooManyRequests
    from google.api_core.retry import Retry, if_exception_type

    passing = if_exception_type(ServiceUnavailable, TooManyRequests)
    return {"timeout": call_seconds, "retry": Retry(passing, FIRST_WAIT, LONGEST_WAIT, timeout=call_seconds)}


SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/userinfo.email")
"""Without userinfo.email the cluster may know the service account by its numeric id only, which RBAC does not name."""


def shared_credentials(*, anonymous: bool = False) -> Any:
    """Return the credentials that all clients share, `anonymous` ones for stand-ins. Raises google-auth's failures."""
    from google.auth.credentials import AnonymousCredentials

    return AnonymousCredentials() if anonymous else found_credentials()  # type: ignore[no-untyped-call]  # google's is untyped


@cache
def found_credentials() -> Any:
    """Look for them until they are found, and then no more: each search asks the metadata server."""
    import google.auth

    return google.auth.default(scopes=SCOPES)[0]


class RestReader:
    """Reads from a Google API that is asked over REST, without a client of its own. Safe for threads."""

    def __init__(self, service: Service, call_seconds: float, *, anonymous: bool) -> None:
        """Find an identity, unless `anonymous`. Raises Terminal without one; in a function Retryable."""
        from google.api_core.retry import Retry, if_transient_error

        self._service, self._seconds = service, call_seconds
        self._patiently = Retry(if_transient_error, FIRST_WAIT, LONGEST_WAIT, timeout=call_seconds)
        with service.naming_failures():
            self._credentials = shared_credentials(anonymous=anonymous)

    def get(self, address: str, params: Mapping[str, str], known: Collection[int] = (), **headers: str) -> Any:
        """Return the answer: of success, or with a status that is `known`. Raises Terminal, Retryable."""
        from google.api_core.exceptions import from_http_response
        from google.auth.transport.requests import AuthorizedSession

        def ask() -> Any:
            with AuthorizedSession(self._credentials) as session:  # type: ignore[no-untyped-call]  # google's is untyped
                answer = session.get(address, params=params, headers=headers, timeout=self._seconds)
            if answer.ok or answer.status_code in known:
                return answer
            raise from_http_response(answer)  # type: ignore[no-untyped-call]  # google's is untyped

        with self._service.naming_failures():
            return self._patiently(ask)()


_IDENTITY: Final = Service("The identity", "Run `gcloud auth application-default login`.")


def who() -> str:
    """Return the identity's e-mail address, or what is known. Raises Terminal without one, Retryable if stale."""
    from google.auth.transport.requests import Request

    with _IDENTITY.naming_failures():
        credentials = shared_credentials()
        credentials.refresh(Request())
    known = (getattr(credentials, name, "") for name in ("service_account_email", "signer_email", "account"))
    return next((str(name) for name in known if name), "a person (application-default credentials)")
