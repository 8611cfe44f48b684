"""A certificate authority of a test, and what a server on loopback shows of it."""

import ssl
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.adapters.clock import system_time

DAY = timedelta(days=1)


class Authority:
    """A CA of its own: `pem` is its certificate, `server` speaks TLS in its name for 127.0.0.1.

    It names no key usage, as the CA of many a cluster: kubectl asks for none, and Python does from 3.13 on.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        own = self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None))
        self.pem = _pem(own)
        self._folder = folder / name
        self._folder.mkdir()

    def server(self) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "control plane")])
        shown = self._signed(subject, key, x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self._folder / "shown.pem").write_text(_pem(shown), encoding="ascii")
        (self._folder / "key.pem").write_bytes(private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "shown.pem", self._folder / "key.pem")
        return context

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now, public = system_time(), key.public_key()
        issuer = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), critical=False)
        )
        return builder.sign(self._key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
