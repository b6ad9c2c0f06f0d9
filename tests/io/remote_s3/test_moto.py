# SPDX-License-Identifier: MIT
"""s3:// against a server of others: moto's, which does not verify signatures, but has ranges, versions and listings of its own. And boto3, whose
signatures the tests' own server verifies, as those of the library."""

import json
import logging

import numpy
import pytest
from conftest import Gather
from support.numpy_files import npy
from support.refusal import refuses
from support.s3_server import KEY_ID, SECRET, S3Server
from support.skip import skip_test
from test_s3 import DATA, KEYS, TABLE

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


def test_not_there(gather: Gather, moto: Moto) -> None:
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
