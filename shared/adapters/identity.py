"""Who this process is to Google's services. Must not be asked by the functions: they need no name for themselves."""

from typing import Final

from shared.adapters.google_failures import Service

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_IDENTITY: Final = Service("The identity", "Run `gcloud auth application-default login`.")


def who() -> str:
    """Return the identity's e-mail address, or what is known of it.

    Raises:
        Terminal: there is none. Retryable: it could not be refreshed.
    """
    import google.auth
    from google.auth.transport.requests import Request

    with _IDENTITY.naming_failures():
        credentials, _ = google.auth.default(scopes=[_SCOPE])
        credentials.refresh(Request())  # type: ignore[no-untyped-call]  # google-auth types a part of itself
    known = (getattr(credentials, name, "") for name in ("service_account_email", "signer_email", "account"))
    return next((str(each) for each in known if each), "a person (application-default credentials)")
