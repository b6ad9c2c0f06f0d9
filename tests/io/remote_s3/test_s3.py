# SPDX-License-Identifier: MIT
"""s3:// against a server that verifies every signature by its own computation (support/s3_server.py)."""

import json

import numpy
import pytest
from conftest import Gather
from support.numpy_files import npy
from support.s3_server import KEY_ID, SECRET, Refusal, S3Server

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
