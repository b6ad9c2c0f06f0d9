# SPDX-License-Identifier: MIT
"""Addresses that lead elsewhere, for HttpServer(answer=...): signed ones that expire, as hubs and buckets give them out."""
from collections import Counter
from urllib.parse import parse_qs

from support.http_messages import Answer, Request, simple


class Signed:
    """`path` answers 302 to `target` (a path of this server, or a URL of another one whose answer= is check) with a fresh
    signature. Each signature is good for `uses` requests, then 403."""

    def __init__(self, path: str, target: str, uses: int, code: int = 302) -> None:
        self.path, self.target, self.uses, self.code = path, target, uses, code
        self.given = 0
        self.used: Counter = Counter()

    def __call__(self, request: Request) -> Answer | None:
        if request.path == self.path:
            self.given += 1
            answer = simple(self.code)
            answer.headers["Location"] = f"{self.target}?signature=secret{self.given}"
            return answer
        return self.check(request) if self.target.endswith(request.path) else None

    def check(self, request: Request) -> Answer | None:
        signature = parse_qs(request.query).get("signature", [""])[0]
        self.used[signature] += 1
        good = signature.startswith("secret") and self.used[signature] <= self.uses
        return None if good else simple(403, "expired")
