# SPDX-License-Identifier: MIT
"""A certificate authority for tests, made by the command openssl: no keys in the repository, and none that anybody trusts."""
import ipaddress
import shutil
import ssl
import subprocess
from pathlib import Path

from support.absent import absent


class Authority:
    """`certificate` is what clients are given as the authority. Server certificates are made when they are asked for."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("openssl") is None:
            absent("openssl", "the command openssl is not installed")
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.key, self.certificate = folder / "ca.key", folder / "ca.pem"
        self.run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-keyout", self.key, "-out", self.certificate, "-subj", "/CN=libgather test authority",
                 "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")  # fmt: skip

    def run(self, *words: object) -> None:
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)

    def server_files(self, *names: str, days: int = 1) -> tuple[Path, Path]:
        """(certificate, key) for these host names and addresses. days=0: one that has expired when it is used."""
        stem = self.folder / ("-".join(names).replace(":", "_").replace("*", "any") + f"-{days}")
        key, request, certificate = (stem.with_name(stem.name + end) for end in (".key", ".csr", ".pem"))
        if not certificate.exists():
            extension = stem.with_name(stem.name + ".cnf")
            extension.write_text("subjectAltName=" + ",".join(map(alternative, names)) + "\nextendedKeyUsage=serverAuth\n")
            self.run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                     "-out", request, "-subj", "/CN=libgather test server")  # fmt: skip
            self.run("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                     "-days", days, "-extfile", extension, "-out", certificate)  # fmt: skip
        return certificate, key

    def server_context(self, *names: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.server_files(*names))
        return context


def alternative(name: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        return f"DNS:{name}"
