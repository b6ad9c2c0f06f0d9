# SPDX-License-Identifier: MIT
"""nginx as a server of the tests: a real one, which costs little of the machine. `script/bootstrap remote` unpacks it into build/nginx;
an installed one will do. Without, the test is skipped.

    with Nginx(folder) as server:
        take(server.url("table.npy"))
        assert server.log()[0].status == 206
"""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from support.absent import absent

CONFIGURATION = """
daemon off; master_process off; pid {own}/pid; error_log {own}/error.log; {user}
events {{ worker_connections 1024; }}
http {{
  log_format counts '$connection $request_method $status $body_bytes_sent "$http_range" $uri';
  access_log {log}; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 1000000; keepalive_timeout 600s; max_ranges 4096; large_client_header_buffers 4 64k;
  client_body_temp_path {own}/1; proxy_temp_path {own}/2; fastcgi_temp_path {own}/3; uwsgi_temp_path {own}/4; scgi_temp_path {own}/5;
  server {{ listen {address}:{port}{tls}; root {folder}; etag {etag}; {more} }}
}}
"""


class Line(NamedTuple):
    connection: int
    method: str
    status: int
    bytes: int
    range: str
    path: str


def find() -> str:
    root = Path(os.environ.get("GATHER_SOURCE") or Path(__file__).parents[2])
    unpacked = root / "build/nginx/usr/sbin/nginx"
    found = str(unpacked) if unpacked.exists() else shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if not found:
        absent("nginx", "nginx is not installed: script/bootstrap remote")
    return found


class Nginx:
    """Serves a folder. prefix: a command to run it with (Namespace.prefix); more: further lines of its `server` block; tls: an
    Authority; log: whether requests are logged (costs little)."""

    def __init__(self, folder: Path, *, address: str = "127.0.0.1", prefix: tuple[str, ...] = (), etag: bool = True, more: str = "",
                 tls=None, log: bool = True) -> None:  # fmt: skip
        self.folder, self.address, self.prefix, self.etag, self.more = Path(folder).resolve(), address, prefix, etag, more
        self.tls, self.logs, self.program = tls, log, find()

    def write(self) -> Path:
        values = {"own": self.own, "folder": self.folder, "address": self.address, "port": self.port,
                  "etag": "on" if self.etag else "off", "log": f"{self.own}/access.log counts" if self.logs else "off",
                  "user": "user root;" if os.geteuid() == 0 else "", "tls": " ssl" if self.tls else "",
                  "more": self.more}  # fmt: skip
        if self.tls:
            certificate, key = self.tls.server_files(self.address)
            values["more"] += f" ssl_certificate {certificate}; ssl_certificate_key {key};"
        path = Path(self.own) / "nginx.conf"
        path.write_text(CONFIGURATION.format(**values))
        return path

    def __enter__(self) -> Nginx:
        self.own = tempfile.mkdtemp(prefix="gather-nginx-")
        for _ in range(5):  # a free port may be taken by another before nginx has it
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            words = [*self.prefix, self.program, "-p", self.own, "-c", str(self.write()), "-e", f"{self.own}/error.log"]
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.answers():
                return self
            self.stop()
        message = (Path(self.own) / "error.log").read_text()
        shutil.rmtree(self.own)
        raise OSError(f"nginx does not start: {message}")

    def answers(self) -> bool:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection((self.address, self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def url(self, path: str = "") -> str:
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.port}/{path}"

    def log(self) -> list[Line]:
        """All requests that are answered; nginx writes the line when the last byte has gone."""
        found = []
        for line in (Path(self.own) / "access.log").read_text().splitlines():
            connection, method, status, count, wanted, path = line.split(" ", 5)
            found.append(Line(int(connection), method, int(status), int(count), wanted.strip('"'), path))
        return found

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait(20)

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.own, ignore_errors=True)
