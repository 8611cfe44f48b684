"""A kubeconfig, read by the official client, whose input is prepared where it is not safe or not as kubectl is.

It only logs a plugin that fails, and calls without credentials; it fetches an OpenID token over unchecked TLS; of
several files it takes the last current-context; its messages quote the file, tokens and all (config-api/kubeconfig.v1).
"""

import base64
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec

from shared.adapters.kubernetes.access import Access, Bearer, Header, take_trust
from shared.errors import BadSettings, Retryable

if TYPE_CHECKING:
    from ssl import SSLContext

    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import ConfigNode, KubeConfigMerger

_GKE: Final = "gke-gcloud-auth-plugin"
_INSTALL_GKE: Final = "run `gcloud components install gke-gcloud-auth-plugin`"
_LOG_IN: Final = "run `gcloud auth login`"
_GCLOUDS_MODULE: Final = re.compile(r"^\([\w.-]+\) ")
_EXIT: Final = re.compile(r"^exec: process returned -?\d+(\. )?")
_UNREADABLE: Final = "its answer cannot be read"
_LONGEST: Final = 200
_OTHER_SHAPE: Final = "it has not the shape of a kubeconfig"
_NO_PEM: Final = "a certificate, key or token in it cannot be read"
_NO_FILE: Final = "File does not exist: "
_SHAPE_FAULTS: Final = (TypeError, AttributeError, KeyError, RecursionError)
"""What the client raises for a document of another shape, with no exception of its own."""

_one_at_a_time: Final = threading.Lock()


def from_kubeconfig(path: str, context: str | None = None) -> Access:
    """Return the access that a kubeconfig describes; an empty path means kubectl's own place.

    Raises BadSettings: it cannot be read, or describes no such context. Retryable: its credential plugin gives none.
    """
    configuration, tls, header = KubeconfigFiles(path).login(context)
    return Access(configuration, Bearer(lambda: KubeconfigFiles(path).login(context)[2], first=header), tls)


class KubeconfigFiles:
    """The files of a path, of KUBECONFIG, or kubectl's own, merged as kubectl does. Raises BadSettings."""

    def __init__(self, path: str) -> None:
        variable = "" if path else os.environ.get("KUBECONFIG", "")
        self._path = path or variable or "~/.kube/config"
        whose = " (KUBECONFIG)" if variable else " (kubectl's default)"
        self._named = path or f"{self._path}{whose}"
        with self._naming_faults():
            self._files = self._merge()

    def _merge(self) -> "KubeConfigMerger":
        from kubernetes.config.kube_config import KubeConfigMerger
        from yaml import YAMLError

        try:
            files = KubeConfigMerger(self._path)
        except YAMLError:
            raise self._unusable("it is not YAML") from None  # the parser's words may hold a token
        if files.config is None:
            raise self._unusable("No such file or directory")
        return files

    @contextmanager
    def _naming_faults(self) -> Iterator[None]:
        """Name a fault in the files. The client's own words are kept where they cannot hold a token."""
        from kubernetes.config import ConfigException

        try:
            yield
        except ConfigException as fault:
            text = str(fault)
            raise self._unusable(text if text.startswith(_NO_FILE) else _OTHER_SHAPE) from None
        except OSError as fault:
            raise self._unusable(f"{fault.filename}: {fault.strerror}" if fault.filename else _NO_PEM) from None
        except ValueError:
            raise self._unusable(_NO_PEM) from None
        except _SHAPE_FAULTS:
            raise self._unusable(_OTHER_SHAPE) from None

    def _unusable(self, why: str) -> BadSettings:
        return BadSettings(f"kubeconfig {self._named} cannot be used: {why}; --kubeconfig FILE names another.")

    def contexts(self) -> list[str]:
        with self._naming_faults():
            return [context["name"] for context in self._files.config["contexts"].value]

    def current(self) -> str:
        """Return the name of the current context. Raises BadSettings if there is none."""
        names = (file.get("current-context") for file in self._files.config_files.values())
        found = next(filter(None, names), "")
        if not found:
            raise self._unusable("it has no current-context")
        return str(found)

    def login(self, context: str | None = None) -> "tuple[Configuration, SSLContext, Header]":
        """Return where a context leads, the current one if none is named, with what checks it and shows who asks.

        Raises BadSettings: it is not there, or incomplete. Retryable: its credential plugin gives no credentials; the
        sentence names the command to run.
        """
        name = context or self.current()
        if name not in self.contexts():
            raise self._unusable(f"it has no context {name!r}; there are {', '.join(self.contexts()) or 'none'}")
        with self._naming_faults():
            return self._log_in(name)

    def _log_in(self, context: str) -> "tuple[Configuration, SSLContext, Header]":
        from kubernetes.client import Configuration
        from kubernetes.config import load_kube_config_from_dict

        config, configuration = self._files.config, Configuration()
        chosen = config["contexts"].get_with_name(context)["context"]
        cluster, expires = self._cluster(chosen["cluster"]), None
        if chosen.safe_get("user"):
            expires = self._resolve_credentials(self._part("user", chosen["user"]), cluster)
        # OpenSSL reads a key from a file alone; the client shares its files among threads.
        with _one_at_a_time, TemporaryDirectory(prefix="ebb-") as folder:
            load_kube_config_from_dict(config, context, configuration, persist_config=False, temp_file_path=folder)
            tls = take_trust(configuration)
        if cluster.safe_get("proxy-url"):
            configuration.no_proxy = None  # that is about the proxy of the environment
        return configuration, tls, (configuration.api_key.get("BearerToken", "").strip(), expires)

    def _part(self, kind: str, name: str) -> "ConfigNode":
        found = self._files.config[f"{kind}s"].get_with_name(name, safe=True)
        if found is None:
            raise self._unusable(f"it has no {kind} {name!r}")
        return found[kind]

    def _cluster(self, name: str) -> "ConfigNode":
        cluster = self._part("cluster", name)
        if not cluster.safe_get("server"):
            raise self._unusable(f"the cluster {name!r} has no server")
        if not (cluster.safe_get("proxy-url") or "http://").startswith(("http://", "https://")):
            raise self._unusable("a proxy-url has to be of http or https")
        return cluster

    def _resolve_credentials(self, user: "ConfigNode", cluster: "ConfigNode") -> datetime | None:
        """Replace what the client would get from elsewhere by what it gets; return when that expires."""
        own = user.value
        plugin = user["exec"] if own.get("exec") else None
        provider = own.pop("auth-provider", None)
        own.pop("exec", None)
        if own.get("token") or own.get("tokenFile"):
            return None
        if provider:
            own["token"] = (provider.get("config") or {}).get("id-token", "")
            if not own["token"]:  # a call without credentials would follow
                raise self._unusable("its auth-provider holds no id-token, and kubectl knows no other kind")
        elif plugin:
            status = _run(plugin, cluster)
            own["token"] = status.token
            own["client-certificate-data"] = _in_base64(status.client_certificate_data)
            own["client-key-data"] = _in_base64(status.client_key_data)
            return status.expiration_timestamp
        return None


class _ExecStatus(msgspec.Struct, rename="camel", frozen=True):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


def _run(plugin: "ConfigNode", cluster: "ConfigNode") -> _ExecStatus:
    """Run a credential plugin in the folder of its file. Raises Retryable if it gives nothing."""
    from kubernetes.config import ConfigException
    from kubernetes.config.exec_provider import ExecProvider

    provider = ExecProvider(plugin, str(Path(plugin.path).absolute().parent), cluster)
    try:
        status = msgspec.convert(provider.run(), _ExecStatus)
    except OSError as fault:
        raise _not_installed(plugin) from fault
    except AttributeError:  # the client's own fault: what failed has shown on the terminal why
        raise _no_credentials(plugin, "") from None
    except ConfigException as fault:
        failed = _EXIT.match(str(fault))
        why = _complaint(str(fault)[failed.end() :]) if failed else _UNREADABLE
        raise _no_credentials(plugin, why) from None
    except (msgspec.ValidationError, TypeError):
        raise _no_credentials(plugin, _UNREADABLE) from None
    if not (status.token or status.client_certificate_data):
        raise _no_credentials(plugin, "its answer holds none")
    return status


def _not_installed(plugin: "ConfigNode") -> Retryable:
    hint = " ".join((plugin.safe_get("installHint") or "").split()).rstrip(".")
    how = _INSTALL_GKE if _is_gke(plugin) else hint or "install it, or put its folder on PATH"
    return Retryable(f"credential plugin {plugin['command']}", f"it is not installed; {how}")


def _no_credentials(plugin: "ConfigNode", why: str) -> Retryable:
    command = " ".join([plugin["command"], *(plugin.safe_get("args") or ())])
    again = _LOG_IN if _is_gke(plugin) else f"run `{command}` to see why"
    return Retryable(f"credential plugin {plugin['command']}", f"it gave no credentials{why and f' ({why})'}; {again}")


def _is_gke(plugin: "ConfigNode") -> bool:
    return os.path.basename(str(plugin["command"])).removesuffix(".exe") == _GKE  # noqa: PTH119 - a Windows path on any system


def _complaint(logged: str) -> str:
    """Return the plugin's own complaint, as far as one sentence can hold it."""
    lines = logged.strip().splitlines() or [""]
    own = next((line for line in lines if "ERROR: " in line), lines[0])
    short = _GCLOUDS_MODULE.sub("", own.rpartition("ERROR: ")[2].strip()).rstrip(".")
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def _in_base64(pem: str) -> str:
    return base64.b64encode(pem.encode()).decode()
