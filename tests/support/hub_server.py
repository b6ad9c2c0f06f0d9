# SPDX-License-Identifier: MIT
"""The hub as far as reading needs it, in two servers: one that knows repositories and redirects, and a storage that serves ranges to
whoever has a signed address.

    with HubServer({"owner/repo": {commit: {"file": b"bytes"}}}, branches={"owner/repo@main": commit}) as hub:
        hub.url, hub.asked, hub.stored
"""
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

from support.s3_server import ManyAtOnce

TOKEN = "hf_s3cretS3CRETs3cretS3CRETs3cret"


@dataclass
class HubServer:
    repositories: dict[str, dict[str, dict[str, bytes]]]
    branches: dict[str, str]
    gated: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=lambda: {TOKEN})  # tokens that may read what is gated or private
    uses: int | None = None  # how often a signed address may be used
    say_commit: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # path of the hub, Authorization
    stored: list[tuple[str, str | None]] = field(default_factory=list)  # address of the storage, Authorization
    lie: dict[str, str] = field(default_factory=dict)  # headers of the hub's redirects
    digests: dict[int, str] = field(default_factory=dict)  # of contents, by where they are
    signed: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> "HubServer":
        owner = self
        self.servers = []
        for answer in ("answer_hub", "answer_storage"):

            class Handler(BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                function = answer

                def log_message(self, *_: object) -> None:
                    pass

                def do_GET(self) -> None:
                    status, headers, body = getattr(owner, self.function)(self)
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    try:
                        self.wfile.write(body)
                    except OSError:
                        pass

            server = ManyAtOnce(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
            self.servers.append(server)
        self.url = f"http://127.0.0.1:{self.servers[0].server_address[1]}"
        self.storage = f"http://127.0.0.1:{self.servers[1].server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def digest(self, content: bytes) -> str:
        if id(content) not in self.digests:
            self.digests[id(content)] = hashlib.sha256(content).hexdigest()
        return self.digests[id(content)]

    def refusal(self, status: int, code: str) -> tuple[int, dict[str, str], bytes]:
        return status, {"X-Error-Code": code, "X-Error-Message": "a message of the server"}, b"{}"

    def answer_hub(self, handler: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        path, given = handler.path, handler.headers.get("Authorization")
        self.asked.append((path, given))
        match = re.fullmatch(r"/((?:datasets/|spaces/)?[^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        tree = re.fullmatch(r"/api/(?:models/)?((?:datasets/|spaces/)?[^/]+/[^/]+)/tree/([^/]+)(?:/(.+))?", path)
        if not match and not tree:
            return 404, {}, b""
        repository, revision, file = (unquote(part or "") for part in (match or tree).groups())
        member = given in {f"Bearer {token}" for token in self.members}
        if repository not in self.repositories or (repository in self.private and not member):
            return self.refusal(404 if given else 401, "RepoNotFound")
        if repository in self.gated and not member:
            return self.refusal(403 if given else 401, "GatedRepo")
        commit = self.branches.get(f"{repository}@{revision}", revision)
        if commit not in self.repositories[repository]:
            return self.refusal(404, "RevisionNotFound")
        files = self.repositories[repository][commit]
        if tree:
            return self.tree(files, file)
        if file not in files:
            return self.refusal(404, "EntryNotFound")
        digest = self.digest(files[file])
        signature = f"s3cret{len(self.signed)}"
        self.signed[signature] = 0
        headers = {
            "Location": f"{self.storage}/blobs/{digest}?X-Amz-Expires=3600&X-Amz-Signature={signature}",
            "X-Linked-Etag": f'"{digest}"',
            "X-Linked-Size": str(len(files[file])),
        }
        if self.say_commit:
            headers["X-Repo-Commit"] = commit
        return 302, {**headers, **self.lie}, b""

    @staticmethod
    def tree(files: dict[str, bytes], folder: str) -> tuple[int, dict[str, str], bytes]:
        prefix, entries = folder + "/" if folder else "", {}
        for path, content in sorted(files.items()):
            if path.startswith(prefix):
                name, slash, _ = path[len(prefix) :].partition("/")
                kind = {"type": "directory", "size": 0} if slash else {"type": "file", "size": len(content)}
                entries[name] = {**kind, "path": prefix + name, "oid": "0"}
        return 200, {"Content-Type": "application/json"}, json.dumps(list(entries.values())).encode()

    def answer_storage(self, handler: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        self.stored.append((handler.path, handler.headers.get("Authorization")))
        address = urlsplit(handler.path)
        signature = parse_qs(address.query).get("X-Amz-Signature", [""])[0]
        if signature not in self.signed or (self.uses is not None and self.signed[signature] >= self.uses):
            return 403, {}, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
        self.signed[signature] += 1
        digest = address.path.removeprefix("/blobs/")
        data = next(
            content
            for commits in self.repositories.values()
            for files in commits.values()
            for content in files.values()
            if self.digest(content) == digest
        )
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers["Range"]).groups())
        last = min(last, len(data) - 1)
        return 206, {"ETag": f'"{digest}"', "Content-Range": f"bytes {first}-{last}/{len(data)}"}, data[first : last + 1]
