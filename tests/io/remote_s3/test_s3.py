# SPDX-License-Identifier: MIT
"""s3:// against a server that verifies every signature by its own computation (support/s3_server.py), and against moto's."""
import json
import logging
import subprocess
import sys
from functools import partial

import numpy
import pytest
from conftest import Gather
from support.hub_server import TOKEN, HubServer
from support.numpy_files import npy
from support.refusal import refuses
from support.sample import STEP
from support.s3_server import KEY_ID, SECRET, Refusal, S3Server
from support.skip import skip_test
from support.zarr_files import write_2, write_3

TABLE = numpy.arange(5000 * 32, dtype="f4").reshape(5000, 32)
DATA = npy(TABLE)
KEYS = ["plain.npy", "a b", "a+b", "ä/ö", "x//y", "a/../b", "a/./b", "%41", "q?r=s", "h#i", "a&b=c", "~t_-.", "semi;colon",
        "d@e,f$g!(h)'i*", "\x01\x7f", "/first", "last/x"]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_bytes(gather: Gather, key: str) -> None:
    """A key is what it is: no byte of it is taken for an escape, a query or a step up."""
    other = {other: npy(TABLE + 1) for other in KEYS if other != key}
    with S3Server({"bucket": {key: DATA, **other}}) as server:
        rows, _ = gather.s3(server).take("s3://bucket/" + key, [0, 4999, 7])
        assert numpy.array_equal(rows, TABLE[[0, 4999, 7]])
        assert server.requests and all(request.signed and request.status == 206 for request in server.requests)


def test_virtual_host(gather: Gather) -> None:
    """The bucket in the host's name, by the profile's own setting."""
    with S3Server({"bucket": {"dir/t.npy": DATA}}) as server:
        (gather.home / ".aws").mkdir()
        (gather.home / ".aws/config").write_text("[default]\nregion = us-east-1\ns3 =\n  addressing_style = virtual\n")
        gather.s3(server, AWS_ENDPOINT_URL=f"http://localhost:{server.port}")
        rows, _ = gather.take("s3://bucket/dir/t.npy", [3])
        assert numpy.array_equal(rows, TABLE[[3]])
        assert {request.headers["host"] for request in server.requests} == {f"bucket.localhost:{server.port}"}
        assert {request.path for request in server.requests} == {"/dir/t.npy"}


def test_session_token(gather: Gather) -> None:
    token = "IQoJb3JpZ2luX2VjEs3cret/+tok=="
    with S3Server({"bucket": {"t.npy": DATA}}, keys={KEY_ID: (SECRET, token)}) as server:
        rows, _ = gather.s3(server, AWS_SESSION_TOKEN=token).take("s3://bucket/t.npy", [3])
        assert numpy.array_equal(rows, TABLE[[3]])
        error = gather.fail_take("s3://bucket/t.npy", AWS_SESSION_TOKEN="other")
        assert "the session token (AWS_SESSION_TOKEN) is not valid (InvalidToken)" in error["message"]


def test_a_store_in_a_bucket_that_may_not_be_listed(gather: Gather, tmp_path) -> None:
    """S3 answers 403 for what there is not. A store of version 2 opens all the same. A chunk that was never written cannot be told from one
    that may not be read: its rows are an error, which says what to permit."""
    rows = numpy.arange(24, dtype="i4").reshape(12, 2)
    for name, write in (("two", partial(write_2, left_out=(1,))), ("three", partial(write_3, shards=(4, 2), left_out=(1,)))):
        write(tmp_path / f"{name}.zarr", rows, (2, 2) if name == "three" else (4, 2), fill_value=7)
    store = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".zarr" in str(path)}
    with S3Server({"bucket": store}) as server:
        gather.s3(server)
        for name in ("two", "three"):
            url = f"s3://bucket/{name}.zarr"
            server.may_list = True
            taken, _ = gather.take(url, [0, 5, 9])
            assert numpy.array_equal(taken, [rows[0], [7, 7], rows[9]])
            server.may_list = False
            taken, _ = gather.take(url, [0, 9])
            assert numpy.array_equal(taken, rows[[0, 9]])
            error = gather.fail("take", url, "[0, 5]", "-o", str(tmp_path / "no.npy"))
            assert error["status"] == "io_error" and "s3:ListBucket" in error["message"]
            assert "if the chunk was never written" in error["message"]
            assert "chunk of rows 4 to" in error["message"] and "(row 5 of the table)" in error["message"]
            assert url in error["message"]


def test_public_bucket(gather: Gather) -> None:
    """Without credentials nothing is signed."""
    with S3Server({"bucket": {"t.npy": DATA}}, public={"bucket"}) as server:
        gather.env["AWS_ENDPOINT_URL_S3"] = server.url
        rows, _ = gather.take("s3://bucket/t.npy", [3])
        assert numpy.array_equal(rows, TABLE[[3]])
        assert not any("authorization" in request.headers for request in server.requests)


REFUSED = {
    "secret": ({"AWS_SECRET_ACCESS_KEY": "wrongs3cret"}, "io_error", "does not belong to the key id (SignatureDoesNotMatch)"),
    "key id": ({"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, "io_error", "does not know the key id (AWS_ACCESS_KEY_ID)"),
    "region": ({"AWS_REGION": "eu-west-9"}, "io_error", "the bucket is in the region us-east-1, not eu-west-9: set AWS_REGION=us-east-1"),
    "half": ({"AWS_SECRET_ACCESS_KEY": ""}, "usage", "the secret is missing"),
    "line break": ({"AWS_SESSION_TOKEN": "a\r\nX-Other: s3cret"}, "usage", "control character"),
    "endpoint": ({"AWS_ENDPOINT_URL": "https://user:s3cret@h"}, "usage", "invalid endpoint"),
    "bad region": ({"AWS_REGION": "evil.org/"}, "usage", "invalid region"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(gather: Gather, name: str) -> None:
    env, status, words = REFUSED[name]
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        error = gather.s3(server).fail_take("s3://bucket/t.npy", **env)
        assert error["status"] == status and words in error["message"], error
        assert len(server.requests) == (status == "io_error")  # a refusal is final


def test_not_there(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        error = gather.fail_take("s3://bucket/other.npy")
        assert error["status"] == "file_not_found" and "no such object in the bucket (NoSuchKey)" in error["message"]
        error = gather.fail_take("s3://other/t.npy")
        assert error["status"] == "file_not_found" and "no such bucket (NoSuchBucket)" in error["message"]
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del gather.env[name]
        error = gather.fail_take("s3://bucket/t.npy")
        assert "access denied: the request was not signed, because there are no credentials" in error["message"]


def test_clock(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}, clock_ahead=1000) as server:
        error = gather.s3(server).fail_take("s3://bucket/t.npy")
        assert "the clock of this machine is " in error["message"] and " s behind the server's: set it" in error["message"]
        assert len(server.requests) == 1


def test_another_region_is_not_followed(gather: Gather) -> None:
    """S3 redirects to another host; a signature is for one host only."""
    with S3Server({"bucket": {"t.npy": DATA}}, regions={"bucket": "eu-west-2"}) as server:
        error = gather.s3(server).fail_take("s3://bucket/t.npy")
        assert "the bucket is in the region eu-west-2, not us-east-1: set AWS_REGION=eu-west-2" in error["message"]
        assert len(server.requests) == 1 and "evil" not in error["message"]


def test_busy_is_tried_again(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        server.refuse = [Refusal(503, "SlowDown"), Refusal(400, "RequestTimeout"), Refusal(500, "InternalError")]
        rows, remote = gather.s3(server).take("s3://bucket/t.npy", [3])
        assert numpy.array_equal(rows, TABLE[[3]]) and remote["retries"] == 3


def test_a_final_code_is_not_tried_again(gather: Gather) -> None:
    """Whatever the status: the code of the answer says that another try is of no use."""
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        server.refuse = [Refusal(503, "AllAccessDisabled")] * 9
        error = gather.s3(server).fail_take("s3://bucket/t.npy")
        assert "the owner has disabled access" in error["message"] and len(server.requests) == 1, error


def test_changed_object(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": npy(TABLE.repeat(8, axis=0))}}) as server:
        real = server.object

        def changing(bucket, key, request):
            answer = real(bucket, key, request)
            server.etags["bucket/t.npy"] = '"another"'
            return answer

        server.object = changing
        error = gather.s3(server).fail("take", "s3://bucket/t.npy", "[0, 39999]", "-o", str(gather.folder / "no.npy"))
        assert error["status"] == "io_error" and "changed" in error["message"], error


# ---- listings


def test_list(gather: Gather) -> None:
    keys = {"p/a b.npy": b"x" * 7, "p/ä+%41.bin": b"", "p/sub/one": b"1", "p/sub/two": b"2", "p/": b"", "other": b"1", "p2/x": b"1"}
    with S3Server({"bucket": keys}, page=2) as server:
        gather.s3(server)
        done = gather.run("info", "s3://bucket/p/", "--json")
        answer = json.loads(done.stdout)
        assert answer["folder"] == "s3://bucket/p/" and answer["more"] is False
        assert answer["entries"] == [
            {"name": "a b.npy", "folder": False, "bytes": 7},
            {"name": "sub/", "folder": True},
            {"name": "ä+%41.bin", "folder": False, "bytes": 0},
        ]
        assert len(server.requests) == 2 and all(request.signed for request in server.requests)
        done = gather.run("info", "s3://bucket")
        assert done.returncode == 0 and "other" in done.stdout and "folder  p/" in done.stdout
        assert gather.fail("info", "s3://none/")["status"] == "file_not_found"
        error = gather.fail_take("s3://bucket/p/")
        assert error["status"] == "usage" and "gather info" in error["message"]


HOSTILE = [
    b"", b"<html></html>", b"{}", b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    b"<!DOCTYPE a [<!ENTITY b 'p/'>]><ListBucketResult><Contents><Key>&b;</Key><Size>1</Size></Contents></ListBucketResult>",
    b"<ListBucketResult>" + b"<a>" * 1000, b"<ListBucketResult><Contents><Key>q/x</Key><Size>1</Size></Contents></ListBucketResult>",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_list(gather: Gather, number: int) -> None:
    with S3Server({"bucket": {}}) as server:
        server.body = HOSTILE[number]
        error = gather.s3(server).fail("info", "s3://bucket/p/")
        assert error["status"] == "file_malformed" and len(server.requests) == 1


def test_endless_list(gather: Gather) -> None:
    """Neither an answer without end nor answers without end."""
    with S3Server({"bucket": {}}) as server:
        server.body = b"<ListBucketResult>" + b" " * (9 << 20)
        error = gather.s3(server).fail("info", "s3://bucket/p/")
        assert "more than the 8388608 that are read" in error["message"]
        entries = b"".join(b"<Contents><Key>p/%d</Key><Size>1</Size></Contents>" % i for i in range(1000))
        server.body = b"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>%s</ListBucketResult>" % entries
        server.requests.clear()
        answer = json.loads(gather.run("info", "s3://bucket/p/", "--json").stdout)
        assert answer["more"] and len(answer["entries"]) == 10000 and len(server.requests) == 10


# ---- s3:// against a server of others: moto's, which does not verify signatures, but has ranges, versions and listings of its own. And
# boto3, whose signatures the tests' own server verifies, as those of the library.

# The others are no keys to moto, which tidies paths.
PLAIN = [key for key in KEYS if key not in ("a/../b", "\x01\x7f", "/first")]


def client_of(url: str):
    try:
        import boto3
    except ImportError:
        skip_test("moto", "boto3 is not installed")
    return boto3.client("s3", endpoint_url=url, aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET, region_name="us-east-1")


class Moto:
    """moto's server, with one bucket."""

    def __init__(self) -> None:
        try:
            from moto.server import ThreadedMotoServer
        except ImportError:
            skip_test("moto", "moto and Flask are not installed")
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        self.server.start()
        self.url = "http://{}:{}".format(*self.server.get_host_and_port())
        self.client = client_of(self.url)
        self.client.create_bucket(Bucket="bucket")

    def put(self, key: str, data: bytes) -> None:
        self.client.put_object(Bucket="bucket", Key=key, Body=data)


@pytest.fixture(scope="module")
def moto():
    found = Moto()
    for key in PLAIN:
        found.put(key, DATA)
    yield found
    found.server.stop()


@pytest.mark.parametrize("key", PLAIN)
def test_rows(gather: Gather, moto: Moto, key: str) -> None:
    rows, remote = gather.s3(moto).take("s3://bucket/" + key, [0, 4999, 7, 3000], "--gap", "0")
    assert numpy.array_equal(rows, TABLE[[0, 4999, 7, 3000]])
    assert remote["requests"] <= 5 + remote["hedges"] and remote["retries"] == 0


def test_many_rows(gather: Gather, moto: Moto) -> None:
    ids = numpy.random.default_rng(1).integers(0, 5000, 300)
    rows, _ = gather.s3(moto).take("s3://bucket/plain.npy", ids, "--connections", "8")
    assert numpy.array_equal(rows, TABLE[ids])


def test_lists(gather: Gather, moto: Moto) -> None:
    gather.s3(moto)
    names = {entry["name"]: entry.get("bytes") for entry in json.loads(gather.run("info", "s3://bucket/", "--json").stdout)["entries"]}
    assert names == {key.partition("/")[0] + "/" if "/" in key else key: None if "/" in key else len(DATA) for key in PLAIN}
    assert json.loads(gather.run("info", "s3://bucket/x/", "--json").stdout)["entries"] == [{"name": "/", "folder": True}]


def test_not_there_by_moto(gather: Gather, moto: Moto) -> None:
    gather.s3(moto)
    assert "no such object in the bucket (NoSuchKey)" in gather.fail_take("s3://bucket/other.npy")["message"]
    assert "no such bucket (NoSuchBucket)" in gather.fail_take("s3://other/plain.npy")["message"]


def test_an_object_that_is_replaced(gather: Gather, moto: Moto, monkeypatch) -> None:
    """Rows of the version that was opened, or an error: moto refuses by If-Match."""
    try:
        import libgather
    except ImportError as missing:
        skip_test("libgather", f"the Python package is not built: {missing}")
    for name, value in gather.s3(moto).env.items():
        monkeypatch.setenv(name, value)
    moto.put("replaced.npy", DATA)
    try:
        with libgather.open("s3://bucket/replaced.npy", cache=0) as table:
            assert numpy.array_equal(table.take([4000]), TABLE[[4000]])
            moto.put("replaced.npy", npy(-TABLE))
            refuses(libgather.GatherFileError, table.take, [4000], says="s3://bucket/replaced.npy.*412")
    finally:
        moto.client.delete_object(Bucket="bucket", Key="replaced.npy")


def test_signatures_of_boto3() -> None:
    """What judges our signatures accepts those of AWS's own client."""
    with S3Server({"bucket": {key: DATA for key in PLAIN}}) as server:
        client = client_of(server.url)
        for key in PLAIN:
            answer = client.get_object(Bucket="bucket", Key=key, Range="bytes=0-99")
            assert answer["Body"].read() == DATA[:100]
        assert client.list_objects_v2(Bucket="bucket", Prefix="x/")["Contents"][0]["Key"] == "x//y"
        assert server.requests and all(request.signed for request in server.requests)


# ---- Credentials from ~/.aws, by the command and by the package, which must agree; and that nobody prints them.

SESSION = "sessions3cretSESSIONs3cret=="
CREDENTIALS = f"aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"

PYTHON = """
import sys, numpy, libgather
try:
    with libgather.open(sys.argv[1]) as table:
        print(table.take([1, 2]).sum(), table.remote_stats() if hasattr(table, "remote_stats") else "")
except Exception as error:
    print(type(error).__name__, error, getattr(error, "__dict__", ""))
    sys.exit(1)
"""


def by_python(gather: Gather, url: str, **env: str) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, "-c", PYTHON, url], env={**gather.env, **env}, capture_output=True, text=True, timeout=60)
    gather.outputs += [done.stdout, done.stderr]
    return done


def write(gather: Gather, credentials: str = "", config: str = "") -> None:
    folder = gather.home / ".aws"
    folder.mkdir(exist_ok=True)
    (folder / "credentials").write_text(credentials)
    (folder / "config").write_text(config)


GOOD = {
    "plain": (f"[default]\n{CREDENTIALS}", "", {}),
    "comments, spaces, capitals": (f"# a comment\n; another\n\n  \n[ default ]\n{CREDENTIALS.upper().replace(KEY_ID.upper(), KEY_ID).replace(SECRET.upper(), SECRET)}".replace("[ default ]", "[default]"), "", {}),
    "carriage returns": (f"[default]\n{CREDENTIALS}".replace("\n", "\r\n"), "", {}),
    "colons": (f"[default]\n{CREDENTIALS}".replace(" = ", ": "), "", {}),
    "a profile": (f"[default]\naws_access_key_id = X\naws_secret_access_key = Y\n[work]\n{CREDENTIALS}", "", {"AWS_PROFILE": "work"}),
    "in config": ("", f"[profile work]\n{CREDENTIALS}", {"AWS_PROFILE": "work"}),
    "region of config": (f"[default]\n{CREDENTIALS}", "[default]\nregion = eu-west-1\n", {}),
    "nested settings": (f"[default]\n{CREDENTIALS}", "[default]\ns3 =\n  max_concurrent_requests = 20\n  addressing_style = path\nregion = eu-west-1\n", {}),
    "the environment wins": ("[default]\naws_access_key_id = X\naws_secret_access_key = Y\n", "", {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_good(gather: Gather, name: str) -> None:
    credentials, config, env = GOOD[name]
    region = "eu-west-1" if "region" in config else "us-east-1"
    with S3Server({"bucket": {"t.npy": DATA}}, region=region) as server:
        write(gather, credentials, config)
        gather.env["AWS_ENDPOINT_URL"] = server.url
        rows, _ = gather.take("s3://bucket/t.npy", [1, 2], **env)
        assert numpy.array_equal(rows, TABLE[[1, 2]])
        done = by_python(gather, "s3://bucket/t.npy", **env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert all(request.signed for request in server.requests)


BAD = {
    "no such profile": ("", "", {"AWS_PROFILE": "none"}, "no profile"),
    "another way": ("", "[default]\nsso_session = x\n", {}, "sso_session, which is not supported"),
    "before a section": (f"{CREDENTIALS}", "", {}, "cannot be read|before the first section"),
    "no end": (f"[default\n{CREDENTIALS}", "", {}, "cannot be read|']'"),
    "too large": ("[default]\n" + "#" * (2 << 20), "", {}, "larger than 1 MiB"),
    "half": (f"[default]\naws_access_key_id = {KEY_ID}\n", "", {}, "secret is missing"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad(gather: Gather, name: str) -> None:
    credentials, config, env, words = BAD[name]
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        write(gather, credentials, config)
        gather.env["AWS_ENDPOINT_URL"] = server.url
        error = gather.fail_take("s3://bucket/t.npy", **env)
        assert any(word in error["message"] for word in words.split("|")), error
        done = by_python(gather, "s3://bucket/t.npy", **env)
        assert done.returncode == 1 and any(word in done.stdout for word in words.split("|")), done.stdout
        assert not server.requests


def test_local_files_need_no_profile(gather: Gather) -> None:
    """Nobody reads the files of credentials for a local file, or for another host."""
    write(gather, "malformed")
    (gather.folder / "t.npy").write_bytes(DATA)
    assert gather.run("info", gather.folder / "t.npy").returncode == 0


# ---- secrets


SECRETS = (SECRET, TOKEN, SESSION, "s3cret", "Signature=", "Bearer hf")
WRONG = ({"AWS_SECRET_ACCESS_KEY": SECRET + "\n"}, {"AWS_SESSION_TOKEN": SESSION + "\r\nX: y"}, {"AWS_ENDPOINT_URL": f"http://u:{SECRET}@h"},
         {"AWS_ENDPOINT_URL": f"http://h/?{SECRET}"}, {"AWS_REGION": f"x/{SECRET}"}, {"AWS_SECRET_ACCESS_KEY": SECRET[:-1]})  # fmt: skip
HUBS = ({}, {"gated": {"o/r"}, "members": set()}, {"uses": 0}, {"lie": {"Location": f"http://127.0.0.1:9/?sig={SECRET}"}},
        {"lie": {"Location": f"https://u:{SECRET}@127.0.0.1:9/"}}, {"lie": {"Location": f"ftp://h/?{SECRET}"}})  # fmt: skip


def test_no_output_has_a_secret(gather: Gather) -> None:
    """Every refusal that the servers know, with credentials of all kinds, as text, as JSON, with statistics, and from Python. In a sample one
    refusal of S3 in four, and one in three from Python."""
    codes = ["AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed",
             "AuthorizationHeaderMalformed", "PermanentRedirect", "NoSuchKey", "NoSuchBucket", "InvalidObjectState", "SomethingNew"]  # fmt: skip
    told = f"<StringToSign>{SECRET} {SESSION}</StringToSign><Token-0>{SESSION}</Token-0><Message>{SECRET}</Message><Region>{SECRET}</Region>"
    failures = 0
    with S3Server({"bucket": {"t.npy": DATA}}, keys={KEY_ID: (SECRET, SESSION)}) as server:
        gather.s3(server, AWS_SESSION_TOKEN=SESSION, HF_TOKEN=TOKEN)
        for code in codes[:: min(STEP, 4)]:
            for status in (301, 400, 403, 404):
                server.refuse = [Refusal(status, code, told, {"Location": f"http://127.0.0.1:9/?sig={SECRET}", "X-Amz-Id-2": SECRET})]
                words = ["take", "s3://bucket/t.npy", "[1, 2]", "-o", str(gather.folder / "x.npy"), "-f"]
                failures += gather.run(*words, *(["--json"] if status % 2 else [])).returncode != 0
        server.refuse = [Refusal(403, "SignatureDoesNotMatch", told)]
        failures += by_python(gather, "s3://bucket/t.npy").returncode != 0
        for number, env in enumerate(WRONG):
            failures += gather.run("take", "s3://bucket/t.npy", "0", "-o", gather.folder / "x.npy", "-f", **env).returncode != 0
            if number % min(STEP, 3) == 0:
                failures += by_python(gather, "s3://bucket/t.npy", **env).returncode != 0
        gather.take("s3://bucket/t.npy", [1, 2], "--cache", str(gather.folder / "cache"))
        gather.run("bench", "s3://bucket/t.npy")
        gather.run("info", "s3://bucket/t.npy")
        write(gather, f"[default]\n{SECRET}\n = {SECRET}\n[{SECRET}")
        failures += gather.run("info", "s3://bucket/t.npy", AWS_ACCESS_KEY_ID="").returncode != 0
        failures += by_python(gather, "s3://bucket/t.npy", AWS_ACCESS_KEY_ID="").returncode != 0
    commit = "0123456789abcdef0123456789abcdef01234567"
    for number, more in enumerate(HUBS):
        with HubServer({"o/r": {commit: {"t.npy": DATA}}}, branches={"o/r@main": commit}, **more) as hub:
            env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN}
            for words in (["info", "hf://o/r/t.npy"], ["info", "hf://o/r/t.npy", "--json"], ["info", "hf://o/r"], ["info", "hf://o/r/none", "--json"]):
                failures += gather.run(*words, **env).returncode != 0
            if number % min(STEP, 3) == 0:
                failures += by_python(gather, "hf://o/r/t.npy", **env).returncode != 0
    failures += gather.run("info", f"http://user:{SECRET}@127.0.0.1:9/x?sig={SECRET}#{SECRET}", "--json").returncode != 0
    assert failures > (60 if STEP == 1 else 20)
    printed = "\n".join(gather.outputs)
    for secret in SECRETS:
        assert secret not in printed, printed[max(0, printed.index(secret) - 300) : printed.index(secret) + 100]
    assert json.dumps(SECRET)[1:-1] not in printed
