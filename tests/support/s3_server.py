# SPDX-License-Identifier: MIT
"""A server that speaks S3's protocol as far as reading needs it, and verifies every signature by its own computation.

    with S3Server({"bucket": {"key": b"bytes"}}) as server:
        server.url, server.requests

Written from the documentation of "Signature Version 4", not from src/io/remote/signature.c: hmac and hashlib, the canonical request from the
bytes that arrived. It refuses what S3 refuses: paths and queries that are not encoded as S3 wants them, unsigned x-amz headers, a clock
that differs by more than 15 minutes, another region, an unknown key id, a missing or a wrong session token. Its refusals repeat the
string to sign and the token, as S3's do, so that tests can see that nobody prints them.
"""
import hashlib
import hmac
import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote_to_bytes
from xml.sax.saxutils import escape

KEY_ID = "AKIDGATHERTESTKEY"
SECRET = "s3cretS3CRET/s3cret+s3cretS3CRETs3cret00"
EMPTY = hashlib.sha256(b"").hexdigest()


def sign(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret: str, date: str, region: str, service: str, string: str) -> str:
    """The signature of a string to sign."""
    key = sign(b"AWS4" + secret.encode(), date)
    for text in (region, service, "aws4_request"):
        key = sign(key, text)
    return hmac.new(key, string.encode(), hashlib.sha256).hexdigest()


@dataclass
class Request:
    """One request as it arrived, and what came of it."""

    path: str
    query: str
    headers: dict[str, str]
    status: int = 0
    code: str = ""  # S3's code of a refusal
    signed: bool = False


@dataclass
class Refusal(Exception):
    status: int
    code: str
    extra: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class S3Server:
    buckets: dict[str, dict[str, bytes]]
    region: str = "us-east-1"
    keys: dict[str, tuple[str, str]] = field(default_factory=lambda: {KEY_ID: (SECRET, "")})  # id: (secret, token)
    public: set[str] = field(default_factory=set)  # buckets that need no signature
    clock_ahead: float = 0.0
    regions: dict[str, str] = field(default_factory=dict)  # of buckets in other regions
    page: int = 1000  # entries of one listing
    may_list: bool = True  # s3:ListBucket; without it nobody says what there is not
    requests: list[Request] = field(default_factory=list)
    etags: dict[str, str] = field(default_factory=dict)  # "bucket/key": what is sent in place of the content's digest
    refuse: list[Refusal] = field(default_factory=list)  # the next answers
    digests: dict[int, str] = field(default_factory=dict)  # of contents, by where they are
    body: bytes | None = None  # the next listing, whatever was asked

    def __enter__(self) -> "S3Server":
        owner = self

        class Handler(S3Handler):
            server_of_test = owner

        self.http = ManyAtOnce(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(10)

    def etag(self, bucket: str, key: str) -> str:
        data = self.buckets[bucket][key]
        digest = self.digests.get(id(data)) or hashlib.md5(data).hexdigest()
        self.digests[id(data)] = digest
        return self.etags.get(f"{bucket}/{key}") or f'"{digest}"'

    # ---- signatures

    def verify(self, request: Request, method: str) -> bool:
        """Whether a request is signed; raises a refusal if it is signed wrongly."""
        header = request.headers.get("authorization")
        if header is None:
            return False
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
            r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
            header,
        )
        if not match:
            raise Refusal(400, "AuthorizationHeaderMalformed")
        key_id, date, region, service, names, given = match.groups()
        self.check_scope(request, key_id, date, region, service)
        signed = names.split(";")
        if signed != sorted(signed) or "host" not in signed:
            raise Refusal(403, "AccessDenied", "<Message>unsigned headers</Message>")
        if any(name not in signed for name in request.headers if name.startswith("x-amz-")):
            raise Refusal(403, "AccessDenied", "<Message>unsigned headers</Message>")
        payload = request.headers.get("x-amz-content-sha256")
        if payload not in (EMPTY, "UNSIGNED-PAYLOAD"):
            raise Refusal(400, "XAmzContentSHA256Mismatch" if payload else "InvalidRequest")
        canonical = "\n".join([
            method,
            self.canonical_path(request),
            self.canonical_query(request),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed),
            "",
            names,
            payload,
        ])
        when = request.headers.get("x-amz-date", "")
        string = "\n".join([
            "AWS4-HMAC-SHA256", when, f"{date}/{region}/{service}/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()
        ])
        secret, token = self.keys[key_id]
        if not hmac.compare_digest(signature(secret, date, region, service, string), given):
            raise Refusal(403, "SignatureDoesNotMatch", self.told(key_id, canonical, string))
        if request.headers.get("x-amz-security-token", "") != token:
            raise Refusal(400, "InvalidToken", f"<Token-0>{escape(token)}</Token-0>")
        return True

    @staticmethod
    def told(key_id: str, canonical: str, string: str) -> str:
        return (
            f"<AWSAccessKeyId>{key_id}</AWSAccessKeyId><StringToSign>{escape(string)}</StringToSign>"
            f"<CanonicalRequest>{escape(canonical)}</CanonicalRequest>"
        )

    def check_scope(self, request: Request, key_id: str, date: str, region: str, service: str) -> None:
        if key_id not in self.keys:
            raise Refusal(403, "InvalidAccessKeyId", f"<AWSAccessKeyId>{key_id}</AWSAccessKeyId>")
        when = request.headers.get("x-amz-date", "")
        if not re.fullmatch(r"\d{8}T\d{6}Z", when) or not when.startswith(date) or service != "s3":
            raise Refusal(400, "AuthorizationHeaderMalformed")
        sent = datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()
        if abs(sent - time.time() - self.clock_ahead) > 900:
            raise Refusal(403, "RequestTimeTooSkewed", f"<RequestTime>{when}</RequestTime>")
        if region != self.region:
            raise Refusal(400, "AuthorizationHeaderMalformed", f"<Region>{self.region}</Region>")

    @staticmethod
    def canonical_path(request: Request) -> str:
        """As S3 computes it: from the decoded key, so a client that encodes otherwise has another signature."""
        return quote(unquote_to_bytes(request.path), safe="/-_.~")

    @staticmethod
    def canonical_query(request: Request) -> str:
        if not request.query:
            return ""
        pairs = parse_qsl(request.query.replace("+", "%2B"), keep_blank_values=True, strict_parsing=True)
        return "&".join(sorted(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs))

    # ---- what is asked for

    def locate(self, request: Request) -> tuple[str, str]:
        """Bucket and key, of a path or of a host "bucket.localhost:port"."""
        key = unquote_to_bytes(request.path[1:]).decode("utf-8", "surrogateescape")
        host = request.headers.get("host", "").rsplit(":", 1)[0]
        if host.endswith(".localhost"):
            return host[: -len(".localhost")], key
        bucket, _, key = key.partition("/")
        return bucket, key

    def answer(self, request: Request, method: str) -> tuple[int, dict[str, str], bytes]:
        if self.refuse:
            raise self.refuse.pop(0)
        signed = request.signed = self.verify(request, method)
        bucket, key = self.locate(request)
        if bucket not in self.buckets:
            raise Refusal(404, "NoSuchBucket")
        if bucket in self.regions:
            region = self.regions[bucket]
            raise Refusal(301, "PermanentRedirect", f"<Endpoint>evil.example.org</Endpoint><Bucket>{bucket}</Bucket>",
                          {"x-amz-bucket-region": region, "Location": "http://127.0.0.2:9/"})
        if not signed and bucket not in self.public:
            raise Refusal(403, "AccessDenied")
        if key == "":
            return self.list(bucket, request)
        if key not in self.buckets[bucket] and not self.may_list:
            raise Refusal(403, "AccessDenied")
        if key not in self.buckets[bucket]:
            raise Refusal(404, "NoSuchKey", f"<Key>{escape(key.encode('utf-8', 'replace').decode())}</Key>")
        return self.object(bucket, key, request)

    def object(self, bucket: str, key: str, request: Request) -> tuple[int, dict[str, str], bytes]:
        data, etag = self.buckets[bucket][key], self.etag(bucket, key)
        if request.headers.get("if-match", etag) != etag:
            raise Refusal(412, "PreconditionFailed")
        headers = {"ETag": etag, "Accept-Ranges": "bytes", "Last-Modified": formatdate(1e9, usegmt=True)}
        match = re.fullmatch(r"bytes=(?:(\d+)-(\d*)|-(\d+))", request.headers.get("range", ""))
        if not match:
            return 200, headers, data
        first = int(match[1]) if match[1] else max(0, len(data) - int(match[3]))
        last = min(int(match[2] or len(data) - 1), len(data) - 1)
        if first >= len(data):
            raise Refusal(416, "InvalidRange", headers={"Content-Range": f"bytes */{len(data)}"})
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return 206, headers, data[first : last + 1]

    def list(self, bucket: str, request: Request) -> tuple[int, dict[str, str], bytes]:
        if self.body is not None:
            return 200, {"Content-Type": "application/xml"}, self.body
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        if query.get("list-type") != "2" or query.get("encoding-type") != "url":
            raise Refusal(400, "InvalidArgument")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        names: dict[str, int | None] = {}
        for key in sorted(self.buckets[bucket], key=lambda key: key.encode("utf-8", "surrogateescape")):
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            folder = rest.partition(delimiter)[0] + delimiter if delimiter and delimiter in rest else None
            names[prefix + folder if folder else key] = None if folder else len(self.buckets[bucket][key])
        entries = list(names.items())
        first = int(query.get("continuation-token", "token/+=0").removeprefix("token/+="))
        end = first + min(self.page, int(query.get("max-keys", "1000")))
        parts = [f"<IsTruncated>{'true' if end < len(entries) else 'false'}</IsTruncated>"]
        if end < len(entries):
            parts.append(f"<NextContinuationToken>token/+={end}</NextContinuationToken>")
        for name, size in entries[first:end]:
            coded = quote(name.encode("utf-8", "surrogateescape"), safe="/").replace("%20", "+")
            if size is None:
                parts.append(f"<CommonPrefixes><Prefix>{coded}</Prefix></CommonPrefixes>")
            else:
                parts.append(f"<Contents><Key>{coded}</Key><Size>{size}</Size></Contents>")
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        return 200, {"Content-Type": "application/xml"}, f"{head}{''.join(parts)}</ListBucketResult>".encode()


class ManyAtOnce(ThreadingHTTPServer):
    """A client opens dozens of connections at once; with the usual queue of 5 the system drops some for a second."""

    request_queue_size = 512
    daemon_threads = True


class S3Handler(BaseHTTPRequestHandler):
    server_of_test: S3Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        # self.path has its first slashes joined.
        target = self.requestline.split(" ")[1]
        path, _, query = target.partition("?")
        request = Request(path, query, {name.lower(): value for name, value in self.headers.items()})
        server = self.server_of_test
        server.requests.append(request)
        try:
            status, headers, body = server.answer(request, self.command)
        except Refusal as refusal:
            status, request.code = refusal.status, refusal.code
            headers = {"Content-Type": "application/xml", **refusal.headers}
            body = (
                f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{refusal.code}</Code>{refusal.extra}'
                "<RequestId>1</RequestId></Error>"
            ).encode()
        request.status = status
        self.send_response_only(status)
        self.send_header("Date", formatdate(time.time() + server.clock_ahead, usegmt=True))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET
