"""A real issuer of tokens on loopback: https with a certificate of its own, keys and tokens.

What it answers may be changed while it runs, and it counts what it was asked.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

DESCRIPTION = "/realm/.well-known/openid-configuration"
KEYS = "/realm/keys"
AUDIENCE = "trellis"


@dataclass
class Answer:
    """What the issuer says at one path."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    """How long it takes over it, a byte at a time."""


@dataclass
class Issuer:
    """A running issuer."""

    port: int
    ca_file: Path
    keys: list[Key]
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: Counter[str] = field(default_factory=Counter[str])
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/realm"

    def publish(self, **changes: Any) -> None:
        """Describe itself and its keys; ``changes`` are to the description."""
        description = {"issuer": self.url, "jwks_uri": f"https://127.0.0.1:{self.port}{KEYS}"}
        self.answers[DESCRIPTION] = Answer(json.dumps(description | changes).encode())
        listed = [key.as_dict(private=False) for key in self.keys]
        self.answers[KEYS] = Answer(json.dumps({"keys": listed}).encode())

    def token(
        self,
        key: Key | None = None,
        *,
        header: Mapping[str, Any] | None = None,
        algorithm: str = "ES256",
        **claims: Any,
    ) -> str:
        """A token that would be believed, but for what the arguments change; None leaves out."""
        key = key or self.keys[0]
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ann",
            "exp": int(time.time()) + 600,
            **claims,
        }
        kept = {name: value for name, value in said.items() if value is not None}
        head = {"alg": algorithm, "kid": key.kid, **(header or {})}
        return jwt.encode(
            {name: value for name, value in head.items() if value is not None},
            kept,
            key,
            registry=_anything(),
        )

    def settings(self) -> dict[str, str]:
        """The environment of a process that believes this issuer."""
        return {
            "TRELLIS_AUTH_ISSUER": self.url,
            "TRELLIS_AUTH_AUDIENCE": AUDIENCE,
            "TRELLIS_AUTH_CA_FILE": str(self.ca_file),
        }


def ec_key(kid: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})


def rsa_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


def ed_key(kid: str) -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": kid, "use": "sig"})


@contextmanager
def issuing(directory: Path) -> Iterator[Issuer]:
    """An issuer with one EC key, published; gone at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    ca_file = _certify(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca_file, directory / "key.pem")
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    issuer = Issuer(int(server.server_address[1]), ca_file, [ec_key("first")])
    issuer.publish()
    server.issuer = issuer  # type: ignore[attr-defined] # how a handler finds it
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield issuer
    finally:
        issuer.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        issuer: Issuer = self.server.issuer  # type: ignore[attr-defined] # set by issuing
        issuer.asked[self.path] += 1
        answer = issuer.answers.get(self.path, Answer(b"{}", 404))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        try:
            if not answer.seconds:
                self.wfile.write(answer.body)
                return
            for byte in answer.body:
                if issuer.stopping.wait(answer.seconds / len(answer.body)):
                    return
                self.wfile.write(bytes([byte]))
        except OSError:
            pass  # the other side has hung up

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _certify(directory: Path) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself; its key lies beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an issuer of tests")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    (directory / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    file = directory / "ca.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return file


def _anything() -> Any:
    """Signs with every algorithm and any header: what a liar would do."""
    from joserfc.jws import JWSRegistry

    class Anything(JWSRegistry):
        def get_alg(self, name: str) -> Any:
            return self.algorithms[name]

        def check_header(self, header: dict[str, Any]) -> None:
            pass

    return Anything(strict_check_header=False)
