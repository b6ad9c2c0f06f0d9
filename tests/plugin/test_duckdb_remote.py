# SPDX-License-Identifier: MIT
"""Rows by URL in SQL: from servers of the tests on this machine."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from duckdb_data import connection, host, save_safetensors  # noqa: F401
from support.http_faults import stall
from support.http_server import HttpServer
from support.s3_server import KEY_ID, SECRET, S3Server

TABLE = np.arange(4000, dtype=np.float32).reshape(1000, 4)
NO_CREDENTIALS = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION", "HF_TOKEN")


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    for name in NO_CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


@pytest.fixture
def server(tmp_path, no_credentials):
    np.save(tmp_path / "x.npy", TABLE)
    save_safetensors(tmp_path / "m.safetensors", {"emb": ("F32", TABLE), "ids": ("I32", TABLE.astype(np.int32))})
    files = {f"/{name}": (tmp_path / name).read_bytes() for name in ("x.npy", "m.safetensors")}
    with HttpServer(files) as running:
        yield running


def knows_settings() -> bool:
    """Whether this DuckDB tells an extension its settings, and what the arguments are."""
    return tuple(map(int, host().__version__.split(".")[:3])) >= (1, 5, 6)


def refused(connection, sql: str, parameters=None) -> str:
    with pytest.raises(host().Error) as caught:
        connection.execute(sql, parameters).fetchall()
    return str(caught.value)


OPT = "" if knows_settings() else ", 'remote=true'"


def test_every_function_takes_rows(connection, server):
    url = server.url("/m.safetensors")
    assert connection.execute(f"SELECT take_row('{url}:emb', 7{OPT})").fetchone() == (TABLE[7].tolist(),)
    assert connection.execute(f"SELECT take_row('{url}', 'emb', 8{OPT})").fetchone() == (TABLE[8].tolist(),)
    assert connection.execute(f"SELECT take_row_bigint('{url}:ids', 9{OPT})").fetchone() == (TABLE[9].astype(int).tolist(),)
    assert connection.execute(f"SELECT take_row_blob('{url}:emb', 3{OPT})").fetchone() == (TABLE[3].tobytes(),)
    rows = connection.execute(f"SELECT id, row FROM rows('{url}', 'emb', [999, 0, 999])").fetchall()
    assert rows == [(i, tuple(TABLE[i].tolist())) for i in (999, 0, 999)]
    found = connection.execute(f"SELECT name, shape, problem FROM tensors('{url}') ORDER BY name").fetchall()
    assert found == [("emb", [1000, 4], None), ("ids", [1000, 4], None)]


def test_the_sql_of_tensors_takes_rows(connection, server):
    if not knows_settings():
        pytest.skip("this DuckDB cannot tell a constant from a column")
    sql = connection.execute(f"SELECT take FROM tensors('{server.url('/m.safetensors')}') WHERE name = 'emb'").fetchone()[0]
    assert connection.execute(f"SELECT {sql.replace('id)', '5)', 1)}").fetchone() == (tuple(TABLE[5].tolist()),)


def test_one_vector_is_one_take(connection, server):
    """2000 ids are a few requests, not 2000; a table that is open needs no header."""
    url = server.url("/x.npy")
    sql = f"SELECT take_row('{url}', id{OPT}) FROM (SELECT (i * 7919) % 1000 AS id FROM range(2000) t(i))"
    found = connection.execute(sql).fetchall()
    assert [row[0] for row in found] == TABLE[np.arange(2000) * 7919 % 1000].tolist()
    first = server.requests
    assert first <= 80
    assert connection.execute(f"SELECT take_row('{url}', 5{OPT})").fetchone() == (TABLE[5].tolist(),)
    assert server.requests - first <= 2


def test_a_column_of_urls_needs_the_option(connection, server):
    """Data that names a URL makes no request."""
    url = server.url("/x.npy")
    connection.execute("CREATE TABLE meta AS SELECT $1 AS file, 4 AS id", [url])
    said = refused(connection, "SELECT take_row(file, id) FROM meta")
    assert "remote=true" in said and server.requests == 0
    assert "remote=true" in refused(connection, "SELECT take_row(upper(file), id) FROM meta") and server.requests == 0
    assert "remote=true" in refused(connection, "SELECT take_row(file, id, 'remote=false') FROM meta")
    assert connection.execute("SELECT take_row(file, id, 'remote=true') FROM meta").fetchone() == (TABLE[4].tolist(),)


def test_parameters_and_variables_are_of_the_query(connection, server):
    if not knows_settings():
        pytest.skip("this DuckDB cannot tell a constant from a column")
    url = server.url("/x.npy")
    assert connection.execute("SELECT take_row($1, $2)", [url, 6]).fetchone() == (TABLE[6].tolist(),)
    connection.execute("SET VARIABLE file = $1", [url])
    assert connection.execute("SELECT take_row(getvariable('file'), 6)").fetchone() == (TABLE[6].tolist(),)
    assert connection.execute(f"SELECT take_row('{url[:-4]}' || '.npy', i) FROM range(3) t(i)").fetchall() == [(row,) for row in TABLE[:3].tolist()]


def test_a_setting_forbids(connection, server):
    if not knows_settings():
        pytest.skip("this DuckDB does not tell an extension its settings")
    url = server.url("/x.npy")
    connection.execute("SET enable_external_access = false")
    for sql in ("SELECT take_row('{}', 1)", "SELECT take_row('{}', 1, 'remote=true')", "FROM rows('{}', '', [1])", "FROM tensors('{}')"):
        assert "enable_external_access = false forbids" in refused(connection, sql.format(url))
    assert server.requests == 0


def test_the_file_as_a_subquery(connection, server):
    """DuckDB cannot show it to an extension: the message says what to write."""
    if not knows_settings():
        pytest.skip("this DuckDB shows no arguments to an extension")
    url = server.url("/x.npy")
    said = refused(connection, f"SELECT take_row((SELECT '{url}'), 1)")
    assert "SET VARIABLE" in said and "exception" not in said
    assert connection.execute(f"SELECT take_row('{url}', (SELECT 1))").fetchone() == (TABLE[1].tolist(),)


def test_options(connection, server, tmp_path):
    url = server.url("/x.npy")
    options = f"connections=2, timeout=9, gap=1KiB, disk_cache={tmp_path}/cache, disk_cache_bytes=4MiB, remote=true"
    for turn in range(2):
        assert connection.execute(f"SELECT take_row('{url}', 5, '{options}')").fetchone() == (TABLE[5].tolist(),)
    assert (tmp_path / "cache" / "gather-blocks").exists()
    for text, said in (("connections=0", "from 1 to 1024"), ("timeout=x", "from 1 to 86400"), ("gap=x", "not an amount"),
                       ("disk_cache_bytes=4MiB", "needs disk_cache"), ("connection=4", "disk_cache_bytes, endpoint, region, remote")):  # fmt: skip
        assert said in refused(connection, f"SELECT take_row('{url}', 5, '{text}, remote=true')")
    assert "options of URLs" in refused(connection, f"SELECT take_row('{tmp_path}/x.npy', 5, 'connections=3')")


def test_s3_and_its_credentials(connection, no_credentials, tmp_path):
    """By the environment, as the command reads it; an endpoint of the options wins. No message has the secret."""
    content = (np.save(tmp_path / "x.npy", TABLE), (tmp_path / "x.npy").read_bytes())[1]
    with S3Server({"bucket": {"x.npy": content}}) as server:
        call = "SELECT take_row('s3://bucket/x.npy', 5, 'remote=true, endpoint={}')"
        no_credentials.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
        no_credentials.setenv("AWS_SECRET_ACCESS_KEY", SECRET[::-1])
        said = refused(connection, call.format(server.url))
        assert "SignatureDoesNotMatch" in said and SECRET not in said and SECRET[::-1] not in said
        no_credentials.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        no_credentials.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        assert connection.execute(call.format(server.url)).fetchone() == (TABLE[5].tolist(),)
        no_credentials.setenv("AWS_ENDPOINT_URL", server.url)
        assert connection.execute("FROM rows('s3://bucket/x.npy', '', [2])").fetchone() == (2, tuple(TABLE[2].tolist()))


def test_messages_have_no_query(connection, server, tmp_path):
    plain = server.url("/x.npy").replace("//", "//user:secret1@")
    url = plain + "?X-Amz-Signature=secret2"
    for sql in (f"SELECT take_row('{url}', 1000, 'remote=true')", f"SELECT take_row_bigint('{url}', 1, 'remote=true')",
                f"FROM rows('{url}', '', [1000])", f"SELECT take_row('{plain}:no?X-Amz-Signature=secret2:secret3', 1, 'remote=true')"):  # fmt: skip
        said = refused(connection, sql)
        assert "secret" not in said and "/x.npy" in said, said
    assert server.requests > 0


def test_another_version_is_an_error_and_then_opened_again(connection, server, tmp_path):
    url = server.url("/x.npy")
    sql = f"SELECT take_row('{url}', id, 'remote=true') FROM (SELECT unnest([3, 900]) AS id)"
    assert connection.execute(sql).fetchall() == [(TABLE[3].tolist(),), (TABLE[900].tolist(),)]
    np.save(tmp_path / "y.npy", TABLE + 1)
    server.put("/x.npy", (tmp_path / "y.npy").read_bytes(), etag='"other"')
    said = refused(connection, sql.replace("900", "400"))
    assert "changed" in said and url in said
    assert connection.execute(sql).fetchall() == [((TABLE + 1)[3].tolist(),), ((TABLE + 1)[900].tolist(),)]


def test_a_silent_server_stops_only_its_own_queries(connection, server, tmp_path):
    """Another table can be opened while a server does not answer; two queries that wait for it get one error."""
    server.fault(stall(600), path="/x.npy")
    sql, said = f"SELECT take_row('{server.url('/x.npy')}', 0, 'remote=true, timeout=6')", []
    threads = [threading.Thread(target=lambda: said.append(refused(connection.cursor(), sql))) for _ in range(2)]
    for thread in threads:
        thread.start()
    while not server.requests:
        time.sleep(0.01)
    np.save(tmp_path / "local.npy", TABLE)
    assert connection.execute(f"SELECT take_row('{tmp_path}/local.npy', 1)").fetchone() == (TABLE[1].tolist(),)
    assert not said
    for thread in threads:
        thread.join(120)
    assert len(said) == 2 and said[0] == said[1] and "/x.npy" in said[0], said
    assert server.requests == 3, "DuckDB tries constants several times, but the server is asked once, in three tries"
