# SPDX-License-Identifier: MIT
"""What the tests of the execution provider do in a process of its own: python provider_child.py NAME FOLDER. It prints JSON."""

import gc
import json
import os
import sys
import threading
from pathlib import Path

import numpy as np
import onnxruntime
import provider_models as models
from onnx import helper

import libgather.onnxruntime as provider

FOLDER = Path(sys.argv[2])
MODEL = FOLDER / "model.onnx"
TABLE = FOLDER / "table.data"


def session(**options):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(MODEL), provider.add_to(settings, **({"table": "always"} | options)))


def bytes_from_disk() -> int:
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def drop(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold() -> dict:
    """Rows of a table that is not in memory, and how much of the disk is read for them."""
    made, width = np.memmap(TABLE, np.float32, "r"), 128
    count = made.size // width
    opened = session(memory="64MiB")
    opened.run(None, {"ids": np.array([0])})
    ids = np.random.default_rng(1).permutation(count)[:64]
    drop(TABLE)
    before = bytes_from_disk()
    got = opened.run(None, {"ids": ids})[0]
    read = bytes_from_disk() - before
    table = provider.report(opened)["tables"][0]
    wanted = np.arange(count * width, dtype=np.int64).astype(np.float32).reshape(count, width)[ids]
    return {"equal": got.tobytes() == wanted.tobytes(), "read": read, "useful": got.nbytes, "table": table}


def truncated() -> dict:
    """The file is cut short while the session lives."""
    opened = session()
    opened.run(None, {"ids": np.array([0, 1])})
    drop(TABLE)
    os.truncate(TABLE, 4096)
    try:
        opened.run(None, {"ids": np.array([5000])})
    except Exception as error:
        return {"error": str(error), "kind": type(error).__name__}
    return {}


SMALL = (3000, 64)  # of the tables in truncated_small()


def small_models() -> dict[str, tuple[bytes, bytes, np.ndarray]]:
    """Nodes that take no rows from a table: the model, its external file, and indices of rows at the end."""
    table = models.rows(*SMALL)
    last, wide = np.array([2999, 5]), np.full((4, 64), 2999)
    many = np.full(40000, 2999)  # in tasks on the session's threads
    codes, scales = np.ones(SMALL, np.uint8), np.ones((SMALL[0], 4), np.float32)

    def node(op, **attributes):
        return models.table_model(table, nodes=[helper.make_node(op, ["table", "ids"], ["y"], name="lookup", **attributes)])

    plain = {
        "Gather": (node("Gather"), last),
        "Gather of many": (node("Gather"), many),
        "Gather, axis 1": (node("Gather", axis=1), np.array([1])),
        "GatherElements": (node("GatherElements"), wide),
        "GatherElements of many": (node("GatherElements"), np.full((20000, 64), 2999)),
        "GatherND": (node("GatherND"), np.array([[2999, 3]])),
        "GatherND, batch_dims 1": (node("GatherND", batch_dims=1), np.zeros((3000, 1), np.int64)),
    }
    if tuple(int(part) for part in onnxruntime.__version__.split(".")[:2]) >= (1, 29):  # before, it does not tell that the table is constant
        plain["Gather in a branch"] = models.in_a_branch(node("Gather")), last
    found = {name: (model, table.tobytes(), ids) for name, (model, ids) in plain.items()}
    stored = codes.tobytes() + scales.tobytes()
    for name, ids in (("GatherBlockQuantized", last), ("GatherBlockQuantized of many", many)):
        found[name] = models.quantised_model(codes, scales), stored, ids
    return found


def truncated_small() -> dict:
    """Files below the least size of a table are cut short while sessions read them through the host's mapping, by both doors."""
    found = {}
    for door in ("operators", "provider"):
        for name, (model, stored, ids) in small_models().items():
            TABLE.unlink(missing_ok=True)
            TABLE.write_bytes(stored)
            MODEL.write_bytes(model)
            entries = {"operators": "Gather,GatherElements,GatherND,GatherBlockQuantized"}
            settings = provider.session_options(**entries) if door == "operators" else provider.add_to(onnxruntime.SessionOptions())
            settings.intra_op_num_threads = 2
            kept = ["CPUExecutionProvider"] if door == "operators" else None
            opened = onnxruntime.InferenceSession(str(MODEL), settings, providers=kept)
            opened.run(None, {"ids": ids})
            os.truncate(TABLE, 4096)
            said = set()
            for _ in range(3):  # without a plan, making one, with it
                try:
                    opened.run(None, {"ids": ids})
                    said.add("no error")
                except Exception as error:
                    said.add(str(error))
            print(door, name, file=sys.stderr, flush=True)  # the last one is that of a crash
            found[f"{door}: {name}"] = sorted(said)
    return found


def again_and_again() -> dict:
    """Registered, used and unregistered many times."""
    outputs = set()
    for _ in range(25):
        opened = session()
        outputs.add(opened.run(None, {"ids": np.array([7, -1])})[0].tobytes())
        del opened
        gc.collect()
        provider.unregister()
    threads = len(os.listdir("/proc/self/task"))
    handles = len(os.listdir("/proc/self/fd"))
    provider.register()
    opened = session()
    opened.run(None, {"ids": np.array([7])})
    del opened
    gc.collect()
    provider.unregister()
    return {
        "outputs": len(outputs),
        "threads": threads == len(os.listdir("/proc/self/task")),
        "handles": handles == len(os.listdir("/proc/self/fd")),
    }


def threads() -> dict:
    """Eight threads on one session, some of them with ids out of range."""
    table = np.fromfile(TABLE, np.float32).reshape(-1, 128)
    opened, wrong, errors = session(memory="4MiB"), [], []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for i in range(40):
            ids = random.integers(-len(table), len(table), int(random.integers(1, 300)))
            if i % 10 == 9:
                ids[0] = len(table)
                try:
                    opened.run(None, {"ids": ids})
                except Exception as error:
                    errors.append(str(error))
                continue
            if not np.array_equal(opened.run(None, {"ids": ids})[0], table[ids]):
                wrong.append((seed, i))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    exact = sum(f"indices[0] = {len(table)} is outside" in error for error in errors)
    return {"wrong": wrong, "errors": len(errors), "exact": exact, "runs": provider.report(opened)["nodes"][0]["runs"]}


def crowded() -> dict:
    """As threads(), with what a big model brings: many sessions that begin and end at once."""
    table = np.fromfile(TABLE, np.float32).reshape(-1, 128)
    wrong = []

    def work(seed: int) -> None:
        for i in range(6):
            ids = np.random.default_rng(seed * 100 + i).integers(0, len(table), 50)
            if not np.array_equal(session().run(None, {"ids": ids})[0], table[ids]):
                wrong.append((seed, i))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    gc.collect()
    return {"wrong": wrong, "left": provider.statistics()["sessions"]}


def limited() -> list[str] | None:
    """How a table of 5 MB is read before and after the process has been limited to 36 MiB."""
    sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
    import tables_limit

    before = provider.report(session(table="auto"))["nodes"][0]["way"]
    groups = tables_limit.by_version_1, tables_limit.by_version_2
    for make in groups:
        try:
            limit = make(36 << 20)
        except OSError:
            continue
        try:
            return [before, provider.report(session(table="auto"))["nodes"][0]["way"]]
        finally:
            limit.leave()
    return None


def forked() -> dict:
    """A child of fork() runs a session that its parent made."""
    table = np.fromfile(TABLE, np.float32).reshape(-1, 128)
    settings = provider.add_to(onnxruntime.SessionOptions(), table="always")
    settings.intra_op_num_threads = 1
    opened = onnxruntime.InferenceSession(str(MODEL), settings)
    opened.run(None, {"ids": np.array([1])})
    ids = np.arange(0, len(table), 7)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(opened.run(None, {"ids": ids})[0], table[ids]) else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"child": status, "parent": bool(np.array_equal(opened.run(None, {"ids": ids})[0], table[ids]))}


if __name__ == "__main__":
    assert models
    print(json.dumps(globals()[sys.argv[1]]()))
