# SPDX-License-Identifier: MIT
"""hf:// against a hub that redirects to signed addresses of a storage (support/hub_server.py)."""
import json

import numpy
import pytest
from conftest import Gather
from support.hub_server import TOKEN, HubServer
from support.numpy_files import npy

TABLE = numpy.arange(50000 * 32, dtype="f4").reshape(50000, 32)
DATA, OTHER = npy(TABLE), npy(-TABLE)
FIRST, SECOND = "0123456789abcdef0123456789abcdef01234567", "76543210fedcba9876543210fedcba9876543210"
IDS = [0, 49999, 30000, 17]


def hub_of(repository: str = "owner/repo", **more) -> HubServer:
    files = {FIRST: {"t.npy": DATA, "deep/a b.npy": DATA}, SECOND: {"t.npy": OTHER}}
    return HubServer({repository: files}, branches={f"{repository}@main": FIRST, f"{repository}@next": SECOND}, **more)


def safetensors_shards(value: float) -> dict[str, bytes]:
    """A model in two files and its index."""
    files, names = {}, {}
    for number in (1, 2):
        name = f"model-{number:05}-of-00002.safetensors"
        rows = numpy.full((20000, 16), value * number, dtype="f4")
        header = json.dumps({f"t{number}": {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.nbytes]}}).encode()
        files[name] = len(header).to_bytes(8, "little") + header + rows.tobytes()
        names[f"t{number}"] = name
    files["model.safetensors.index.json"] = json.dumps({"metadata": {}, "weight_map": names}).encode()
    return files


@pytest.mark.parametrize(
    ("repository", "url"),
    [("owner/repo", "hf://owner/repo/t.npy"), ("datasets/o/r", "hf://datasets/o/r/t.npy"), ("spaces/o/r", "hf://spaces/o/r/t.npy"),
     ("owner/repo", "hf://owner/repo@main/deep/a b.npy"), ("owner/repo", f"hf://owner/repo@{FIRST}/t.npy")],
)  # fmt: skip
def test_rows(gather: Gather, repository: str, url: str) -> None:
    with hub_of(repository) as hub:
        rows, remote = gather.take(url, IDS, HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
        assert numpy.array_equal(rows, TABLE[IDS])
        assert len(hub.asked) == 1 and remote["requests"] == len(hub.asked) + len(hub.stored)
        assert {proof for _, proof in hub.asked} == {f"Bearer {TOKEN}"}
        assert {proof for _, proof in hub.stored} == {None}  # the token is for the hub alone


def test_revision(gather: Gather) -> None:
    with hub_of() as hub:
        rows, _ = gather.take("hf://owner/repo@next/t.npy", IDS, HF_ENDPOINT=hub.url)
        assert numpy.array_equal(rows, -TABLE[IDS])
        error = gather.fail_take("hf://owner/repo@none/t.npy", HF_ENDPOINT=hub.url)
        assert error["status"] == "file_not_found" and "no revision 'none'" in error["message"]


def moves(hub: HubServer, branch: str) -> None:
    """From the first answer on the branch is at the second commit."""
    real = hub.answer_hub

    def moving(handler):
        answer = real(handler)
        hub.branches[branch] = SECOND
        return answer

    hub.answer_hub = moving


def test_files_of_one_commit(gather: Gather) -> None:
    """A branch that moves while a model is opened: all its files are those of the commit of the first."""
    repository = {FIRST: safetensors_shards(1.0), SECOND: safetensors_shards(100.0)}
    with HubServer({"o/r": repository}, branches={"o/r@main": FIRST}) as hub:
        moves(hub, "o/r@main")
        rows, _ = gather.take("hf://o/r/model.safetensors.index.json:t2", [5], HF_ENDPOINT=hub.url)
        assert (rows == 2.0).all(), rows
        assert f"/resolve/{FIRST}/" in hub.asked[-1][0] and len(hub.asked) >= 2


def test_signed_addresses_expire(gather: Gather) -> None:
    """Renewed, at the commit that was opened; the token goes to the hub again, and nowhere else."""
    with hub_of(uses=2) as hub:
        moves(hub, "owner/repo@main")
        rows, _ = gather.take("hf://owner/repo/t.npy", IDS, "--connections", "1", "--gap", "0", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
        assert numpy.array_equal(rows, TABLE[IDS])
        assert len(hub.asked) >= 2 and all(f"/resolve/{FIRST}/" in path for path, _ in hub.asked[1:])
        assert {proof for _, proof in hub.stored} == {None}


def test_hub_that_moves_without_commits(gather: Gather) -> None:
    """A mirror that names no commits: then the content that it names must stay."""
    with hub_of(uses=2, say_commit=False) as hub:
        moves(hub, "owner/repo@main")
        error = gather.fail("take", "hf://owner/repo/t.npy", json.dumps(IDS), "-o", str(gather.folder / "no.npy"), "--connections", "1", "--gap", "0",
                            HF_ENDPOINT=hub.url)  # fmt: skip
        assert error["status"] == "io_error" and "changed" in error["message"], error


def test_hub_that_lies(gather: Gather) -> None:
    with hub_of(lie={"X-Linked-Size": "17"}) as hub:
        error = gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url)
        assert "different sizes" in error["message"]
    with hub_of(lie={"X-Repo-Commit": "../../x"}) as hub:
        rows, _ = gather.take("hf://owner/repo/t.npy", [3], HF_ENDPOINT=hub.url)
        assert numpy.array_equal(rows, TABLE[[3]])


def test_refused(gather: Gather) -> None:
    with hub_of(gated={"owner/repo"}) as hub:
        error = gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url)
        assert "access to owner/repo is granted on request on its page; then set HF_TOKEN" in error["message"]
        error = gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url, HF_TOKEN="hf_other")
        assert "the account of this token (HF_TOKEN) has no access yet" in error["message"]
        assert len(hub.asked) == 2 and not hub.stored
        rows, _ = gather.take("hf://owner/repo/t.npy", [3], HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
        assert numpy.array_equal(rows, TABLE[[3]])
    with hub_of(private={"owner/repo"}) as hub:
        error = gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url)
        assert "no such repository, or it is private: set HF_TOKEN" in error["message"]
    with hub_of() as hub:
        error = gather.fail_take("hf://owner/repo/none.npy", HF_ENDPOINT=hub.url)
        assert error["status"] == "file_not_found" and "no such file in the repository" in error["message"]
        assert gather.fail_take("hf://owner", HF_ENDPOINT=hub.url)["status"] == "usage"


def test_token_files(gather: Gather) -> None:
    """HF_TOKEN, the file of HF_TOKEN_PATH, that of HF_HOME, that of the home folder."""
    with hub_of(private={"owner/repo"}) as hub:
        folder = gather.home / ".cache/huggingface"
        folder.mkdir(parents=True)
        (folder / "token").write_text(TOKEN + "\n")
        rows, _ = gather.take("hf://owner/repo/t.npy", [3], HF_ENDPOINT=hub.url)
        assert numpy.array_equal(rows, TABLE[[3]])
        other = gather.folder / "other"
        other.mkdir()
        (other / "token").write_text("hf_other")
        assert "HF_TOKEN" in gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url, HF_HOME=str(other))["message"]
        gather.take("hf://owner/repo/t.npy", [3], HF_ENDPOINT=hub.url, HF_HOME=str(other), HF_TOKEN_PATH=str(folder / "token"))
        gather.take("hf://owner/repo/t.npy", [3], HF_ENDPOINT=hub.url, HF_HOME=str(other), HF_TOKEN=TOKEN)
        (folder / "token").write_bytes(b"x" * (2 << 20))
        assert gather.fail_take("hf://owner/repo/t.npy", HF_ENDPOINT=hub.url)["status"] == "file_malformed"


def test_token_stays_at_the_hub(gather: Gather) -> None:
    """A URL of another host does not get it, whatever the environment says."""
    with hub_of() as hub, hub_of() as other:
        gather.run("info", f"{other.url}/owner/repo/resolve/main/t.npy", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
        assert other.asked and {proof for _, proof in other.asked + other.stored} == {None}
        gather.run("info", f"{hub.url}/owner/repo/resolve/main/t.npy", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
        assert {proof for _, proof in hub.asked} == {f"Bearer {TOKEN}"} and {proof for _, proof in hub.stored} == {None}


def test_list(gather: Gather) -> None:
    with hub_of() as hub:
        answer = json.loads(gather.run("info", "hf://owner/repo", "--json", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN).stdout)
        assert answer["entries"] == [{"name": "deep/", "folder": True}, {"name": "t.npy", "folder": False, "bytes": len(DATA)}]
        answer = json.loads(gather.run("info", "hf://owner/repo@main/deep/", "--json", HF_ENDPOINT=hub.url).stdout)
        assert answer["entries"] == [{"name": "a b.npy", "folder": False, "bytes": len(DATA)}]
        assert hub.asked[0] == ("/api/models/owner/repo/tree/main", f"Bearer {TOKEN}")
        assert gather.fail("info", "hf://owner/none", HF_ENDPOINT=hub.url)["status"] == "io_error"
