# SPDX-License-Identifier: MIT
"""Credentials from ~/.aws, by the command and by the package, which must agree; and that nobody prints them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy
import pytest
from conftest import Gather
from support.hub_server import TOKEN, HubServer
from support.numpy_files import npy
from support.s3_server import KEY_ID, SECRET, Refusal, S3Server
from support.sample import STEP

TABLE = numpy.arange(3000 * 32, dtype="f4").reshape(3000, 32)
DATA = npy(TABLE)
SESSION = "sessions3cretSESSIONs3cret=="
KEYS = f"aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"

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
    "plain": (f"[default]\n{KEYS}", "", {}),
    "comments, spaces, capitals": (f"# a comment\n; another\n\n  \n[ default ]\n{KEYS.upper().replace(KEY_ID.upper(), KEY_ID).replace(SECRET.upper(), SECRET)}".replace("[ default ]", "[default]"), "", {}),
    "carriage returns": (f"[default]\n{KEYS}".replace("\n", "\r\n"), "", {}),
    "colons": (f"[default]\n{KEYS}".replace(" = ", ": "), "", {}),
    "a profile": (f"[default]\naws_access_key_id = X\naws_secret_access_key = Y\n[work]\n{KEYS}", "", {"AWS_PROFILE": "work"}),
    "in config": ("", f"[profile work]\n{KEYS}", {"AWS_PROFILE": "work"}),
    "region of config": (f"[default]\n{KEYS}", "[default]\nregion = eu-west-1\n", {}),
    "nested settings": (f"[default]\n{KEYS}", "[default]\ns3 =\n  max_concurrent_requests = 20\n  addressing_style = path\nregion = eu-west-1\n", {}),
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
    "before a section": (f"{KEYS}", "", {}, "cannot be read|before the first section"),
    "no end": (f"[default\n{KEYS}", "", {}, "cannot be read|']'"),
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
