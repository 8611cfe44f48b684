"""A kubeconfig: the cluster that a context names, how to trust it, and the credentials of its user, a plugin's too.

Files are merged as kubectl merges them: the first that names a thing wins, and relative paths start at their file's
folder. Formats: kubernetes.io/docs/reference/config-api/kubeconfig.v1 and client-authentication.v1.
"""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from shared.errors import BadSettings, Retryable

_KUBECTLS_OWN: Final = "~/.kube/config"
_GKE: Final = "gke-gcloud-auth-plugin"
INSTALL_GKE: Final = "run `gcloud components install gke-gcloud-auth-plugin`"
LOG_IN: Final = "run `gcloud auth login`"
_GCLOUDS_MODULE: Final = re.compile(r"^\([\w.-]+\) ")
_LONGEST: Final = 200
_PLUGINS_EXTENSION: Final = "client.authentication.k8s.io/exec"


class _KubeconfigPart(msgspec.Struct, rename="kebab", frozen=True):
    """A part of the file; what is not read here is passed over."""


class _Context(_KubeconfigPart, frozen=True):
    cluster: str
    user: str = ""


class _Extension(_KubeconfigPart, frozen=True):
    name: str = ""
    extension: Any = None


class _Cluster(_KubeconfigPart, frozen=True):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[_Extension] | None = None


class _Variable(_KubeconfigPart, frozen=True):
    name: str
    value: str


class _Plugin(msgspec.Struct, rename="camel", frozen=True):
    """A command that prints credentials (`exec`)."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool = False


class _Provider(_KubeconfigPart, frozen=True):
    """OpenID Connect; the others are gone from kubectl."""

    config: dict[str, str] | None = None


class _User(_KubeconfigPart, frozen=True):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: _Plugin | None = None
    auth_provider: _Provider | None = None


class _Entry(_KubeconfigPart, frozen=True):
    """One of a list: it holds the part that the list is of."""

    name: str
    context: _Context | None = None
    cluster: _Cluster | None = None
    user: _User | None = None


class _File(_KubeconfigPart, frozen=True):
    current_context: str = ""
    contexts: list[_Entry] | None = None
    clusters: list[_Entry] | None = None
    users: list[_Entry] | None = None


@dataclass(frozen=True, repr=False)
class Credentials:
    """What proves who asks: the Authorization header and its end, or a certificate with its key as PEM."""

    authorization: str = ""
    expires: datetime | None = None
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True, repr=False)
class Login:
    """Where a context leads; `ca` is PEM, empty means the system's own."""

    server: str
    ca: str
    is_checked: bool
    name: str
    """That the server's certificate carries, where it is not that of the address."""
    proxy: str
    credentials: Credentials


class _ExecStatus(msgspec.Struct, rename="camel", frozen=True):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, frozen=True):
    status: _ExecStatus


class KubeconfigFiles:
    """The files of a path, or of the variable KUBECONFIG, or else kubectl's own.

    Raises:
        BadSettings: one of them cannot be read.
    """

    def __init__(self, path: str) -> None:
        variable = "" if path else os.environ.get("KUBECONFIG", "")
        self._path = path or variable or _KUBECTLS_OWN
        whose = " (KUBECONFIG)" if variable else " (kubectl's default)"
        self._named = path or f"{self._path}{whose}"
        self._files = list(self._read())

    def _read(self) -> Iterator[tuple[_File, Path]]:
        paths = [Path(each).expanduser() for each in self._path.split(os.pathsep) if each]
        for path in paths:
            if len(paths) > 1 and not path.exists():
                continue  # as kubectl does
            try:
                with path.open("rb") as file:
                    yield msgspec.convert(yaml.safe_load(file), _File), path.parent
            except yaml.YAMLError as fault:
                raise self._unusable("it is not YAML") from fault  # the parser's words may hold a token
            except (OSError, msgspec.ValidationError, ValueError, RecursionError) as fault:
                raise self._unusable(getattr(fault, "strerror", None) or str(fault)) from fault

    def _unusable(self, why: str) -> BadSettings:
        return BadSettings(f"kubeconfig {self._named} cannot be used: {why}; --kubeconfig FILE names another.")

    def contexts(self) -> list[str]:
        return list(dict.fromkeys(each.name for file, _ in self._files for each in file.contexts or ()))

    def current(self) -> str:
        """Return the name of the current context. Raises BadSettings if there is none."""
        found = next((file.current_context for file, _ in self._files if file.current_context), "")
        if not found:
            raise self._unusable("it has no current-context")
        return found

    def login(self, context: str | None = None) -> Login:
        """Return where a context leads, the current one if none is named.

        Raises:
            BadSettings: it is not there, or incomplete.
            Retryable: its credential plugin gives no credentials; the sentence names the command to run.
        """
        name = context or self.current()
        for each, _ in self._entries("contexts", name):
            if each.context:
                return self._login(each.context)
        raise self._unusable(f"it has no context {name!r}; there are {', '.join(self.contexts()) or 'none'}")

    def _entries(self, part: str, name: str) -> Iterator[tuple[_Entry, Path]]:
        for file, folder in self._files:
            yield from ((each, folder) for each in getattr(file, part) or () if each.name == name)

    def _login(self, context: _Context) -> Login:
        cluster, folder = next(
            ((each.cluster, at) for each, at in self._entries("clusters", context.cluster) if each.cluster),
            (_Cluster(), Path()),
        )
        if not cluster.server:
            raise self._unusable(f"the cluster {context.cluster!r} has no server")
        if cluster.proxy_url and not cluster.proxy_url.startswith(("http://", "https://")):
            raise self._unusable("a proxy-url has to be of http or https")
        return Login(
            cluster.server,
            self._pem(cluster.certificate_authority_data, cluster.certificate_authority, folder),
            not cluster.insecure_skip_tls_verify,
            cluster.tls_server_name,
            cluster.proxy_url,
            self._credentials(context.user, cluster),
        )

    def _pem(self, data: str, path: str, folder: Path) -> str:
        """Return what stands in the file itself, or in the one that it names."""
        try:
            return base64.b64decode(data, validate=True).decode("ascii") if data else self._text(path, folder)
        except ValueError:
            raise self._unusable("a certificate or key in it is no PEM in base64") from None

    def _text(self, path: str, folder: Path) -> str:
        try:
            return (folder / path).read_text(encoding="utf-8") if path else ""
        except OSError as fault:
            raise self._unusable(f"{path}: {fault.strerror}") from fault

    def _credentials(self, name: str, cluster: _Cluster) -> Credentials:
        user, folder = next(
            ((each.user, at) for each, at in self._entries("users", name) if each.user), (_User(), Path())
        )
        given = user.token or self._text(user.token_file, folder).strip() or _id_token(user.auth_provider)
        if user.exec and not given:
            return _run(user.exec, cluster, folder)
        return Credentials(
            f"Bearer {given}" if given else "",
            None,
            self._pem(user.client_certificate_data, user.client_certificate, folder),
            self._pem(user.client_key_data, user.client_key, folder),
        )


def _id_token(provider: _Provider | None) -> str:
    return ((provider and provider.config) or {}).get("id-token", "")


def _run(plugin: _Plugin, cluster: _Cluster, folder: Path) -> Credentials:
    """Run a credential plugin. Raises Retryable if it gives nothing."""
    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    command = str(folder / plugin.command) if os.path.dirname(plugin.command) else plugin.command  # noqa: PTH120 - text
    added = {each.name: each.value for each in plugin.env or ()}
    try:
        done = subprocess.run(  # noqa: S603 - the person's own command, and no shell
            [command, *(plugin.args or ())],
            env={**os.environ, **added, "KUBERNETES_EXEC_INFO": _exec_info(plugin, cluster, interactive=interactive)},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if interactive else subprocess.PIPE,  # a login shows there what a person has to do
            check=False,
        )
    except OSError as fault:
        raise _not_installed(plugin) from fault
    if done.returncode:
        raise _no_credentials(plugin, _complaint((done.stderr or b"").decode(errors="replace")))
    try:
        status = msgspec.json.decode(done.stdout, type=_ExecCredential).status
    except (msgspec.MsgspecError, RecursionError):
        raise _no_credentials(plugin, "its answer cannot be read") from None
    if not (status.token or status.client_certificate_data):
        raise _no_credentials(plugin, "its answer holds none")
    return Credentials(
        f"Bearer {status.token}" if status.token else "",
        status.expiration_timestamp,
        status.client_certificate_data,
        status.client_key_data,
    )


def _exec_info(plugin: _Plugin, cluster: _Cluster, *, interactive: bool) -> str:
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        config = next((each.extension for each in cluster.extensions or () if each.name == _PLUGINS_EXTENSION), None)
        kept = {name: value for name, value in msgspec.to_builtins(cluster).items() if value and name != "extensions"}
        spec["cluster"] = {**kept, **({"config": config} if config else {})}
    return json.dumps({"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec})


def _not_installed(plugin: _Plugin) -> Retryable:
    hint = " ".join((plugin.install_hint or "").split()).rstrip(".") or "install it, or put its folder on PATH"
    how = INSTALL_GKE if _is_gke(plugin) else hint
    return Retryable(f"credential plugin {plugin.command}", f"it is not installed; {how}")


def _no_credentials(plugin: _Plugin, why: str) -> Retryable:
    again = LOG_IN if _is_gke(plugin) else f"run `{' '.join([plugin.command, *(plugin.args or ())])}` to see why"
    return Retryable(f"credential plugin {plugin.command}", f"it gave no credentials{why and f' ({why})'}; {again}")


def _is_gke(plugin: _Plugin) -> bool:
    return os.path.basename(plugin.command).removesuffix(".exe") == _GKE  # noqa: PTH119 - a Windows path on any system


def _complaint(logged: str) -> str:
    """Return the plugin's own complaint, as far as one sentence can hold it."""
    lines = logged.strip().splitlines() or [""]
    own = next((line for line in lines if "ERROR: " in line), lines[0])
    short = _GCLOUDS_MODULE.sub("", own.rpartition("ERROR: ")[2].strip()).rstrip(".")
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"
