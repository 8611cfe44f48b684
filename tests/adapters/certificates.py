"""A certificate authority of a test, and what a server on loopback shows of it."""

import ssl
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.adapters.process import system_time

DAY = timedelta(days=1)


class Authority:
    """A CA of its own: `pem` is its certificate, `server` speaks TLS in its name."""

    def __init__(self, folder: Path, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._identified(self._certificate(self._name, self._key, DAY), self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.pem = _pem(self._signed(builder.add_extension(_SIGNS, critical=True)))
        self._folder = folder / name
        self._folder.mkdir()

    def server(
        self, address: str = "127.0.0.1", ends_in: timedelta = DAY, *, identifies_keys: bool = True
    ) -> ssl.SSLContext:
        """Return what shows a certificate of that address and end; without key identifiers it is of an old cluster."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "control plane")])
        builder = self._certificate(subject, key, ends_in)
        builder = self._identified(builder, key) if identifies_keys else builder
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        shown = _pem(self._signed(builder.add_extension(names, critical=False)))
        (self._folder / "shown.pem").write_text(shown, encoding="ascii")
        (self._folder / "key.pem").write_bytes(private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "shown.pem", self._folder / "key.pem")
        return context

    def _certificate(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, ends_in: timedelta
    ) -> x509.CertificateBuilder:
        now = system_time()
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 2 * DAY)
            .not_valid_after(now + ends_in)
        )

    def _identified(self, builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuer = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        return builder.add_extension(own, critical=False).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), critical=False
        )

    def _signed(self, builder: x509.CertificateBuilder) -> x509.Certificate:
        return builder.sign(self._key, hashes.SHA256())


_SIGNS: Final = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
