# SPDX-License-Identifier: MIT
"""script/plugins onnxruntime --memory: a model in the shape of a language model, whose token table is larger than the memory that it
may use. Cold rows through ONNX Runtime's own Gather and through both doors of the plug-in: time and bytes read per row.

Each case is a separate process in a memory cgroup (bench/tables_limit.py), which begins with nothing of the table in memory. The
table is written once, and removed at the end. --read-ahead sets the disk's read-ahead, if the system permits that; it is restored
at the end."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import plugin_file  # bench/ is in the path

HERE = Path(__file__).resolve().parent
UNIT = 512  # bytes: the rows of the table begin at multiples of it, and each such piece tells its number
GIB = 1 << 30
WAYS = ("built-in", "custom operators", "execution provider")
FILE, HIDDEN, OUT = "embedding.data", 64, 32


def units(first: int, count: int):
    """Pieces of the table: floats in [1, 2) whose bits are those of their number."""
    import numpy as np

    number = np.arange(first, first + count, dtype=np.uint64)[:, None]
    column = np.arange(UNIT // 4, dtype=np.uint64)[None, :]
    mixed = (number * np.uint64(0x9E3779B97F4A7C15) + column * np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(41)
    return (mixed | np.uint64(0x3F800000)).astype(np.uint32).view(np.float32)


def write_table(path: Path, bytes_: int) -> None:
    with path.open("wb") as file:
        for first in range(0, bytes_ // UNIT, 1 << 17):
            file.write(units(first, min(1 << 17, bytes_ // UNIT - first)).tobytes())
        file.flush()
        os.fsync(file.fileno())


def write_model(path: Path, bytes_: int, row_bytes: int) -> None:
    """ids -> Gather -> MatMul -> Relu -> MatMul -> logits; the rows are an output too, so that they can be compared."""
    import numpy as np
    from onnx import TensorProto, helper

    width = row_bytes // 4
    table = TensorProto(name="embedding", data_type=TensorProto.FLOAT, dims=[bytes_ // row_bytes, width])
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", FILE), ("offset", "0"), ("length", str(bytes_ // row_bytes * row_bytes))):
        table.external_data.add(key=key, value=value)
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, np.full(shape, 0.01, np.float32).ravel())
        for name, shape in (("up", (width, HIDDEN)), ("down", (HIDDEN, OUT)))
    ]
    nodes = [
        helper.make_node("Gather", ["embedding", "ids"], ["rows"], name="embed"),
        helper.make_node("MatMul", ["rows", "up"], ["hidden"], name="mlp_up"),
        helper.make_node("Relu", ["hidden"], ["active"], name="act"),
        helper.make_node("MatMul", ["active", "down"], ["logits"], name="mlp_down"),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("logits", "rows")]
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch"])]
    graph = helper.make_graph(nodes, "llm", inputs, outputs, [table, *weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())


# ---- a case, in a process of its own ----------------------------------------------------------------------------------------


def counts() -> tuple[int, int]:
    """Bytes that this process had read from the disk; its page faults that waited for the disk."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"]), resource.getrusage(resource.RUSAGE_SELF).ru_majflt


def session_of(way: str, model: str):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if way == "built-in":
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    import libgather.onnxruntime as plugin

    if way == "custom operators":
        options.register_custom_ops_library(plugin.library_path())
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return onnxruntime.InferenceSession(model, plugin.add_to(options))


def wrong_rows(rows, ids, row_bytes: int) -> int:
    import numpy as np

    pieces = row_bytes // UNIT
    wanted = np.concatenate([units(int(i) * pieces, pieces).ravel() for i in ids]).reshape(len(ids), -1)
    return int((rows.view(np.uint32) != wanted.view(np.uint32)).any(axis=1).sum())


def case(wanted: dict) -> dict:
    import numpy as np
    import tables_limit

    limit = tables_limit.enter(wanted["limit"], wanted["bytes"]) if wanted["limit"] else tables_limit.Nothing()
    try:
        start = time.perf_counter()
        session = session_of(wanted["way"], wanted["model"])
        load = time.perf_counter() - start
        session.run(None, {"ids": np.array([0])})
        rows = wanted["bytes"] // wanted["row_bytes"]
        random = np.random.default_rng(wanted["batch"])
        taken = seconds = wrong = calls = 0
        before = counts()
        while seconds < wanted["seconds"] and calls < wanted["calls"]:
            ids = random.integers(1, rows, wanted["batch"])
            start = time.perf_counter()
            got = session.run(None, {"ids": ids})[1]
            seconds += time.perf_counter() - start
            taken, calls = taken + len(ids), calls + 1
            wrong += wrong_rows(got, ids, wanted["row_bytes"])
        after = counts()
        found = {
            "rows": taken,
            "wrong": wrong,
            "us_per_row": seconds / taken * 1e6,
            "bytes_read": after[0] - before[0],
            "read_per_useful": (after[0] - before[0]) / (taken * wanted["row_bytes"]),
            "faults": after[1] - before[1],
            "load_seconds": load,
            "memory_peak": limit.number("peak"),
            "limit_what": limit.what,
            "providers": session.get_providers(),
        }
        if wanted["way"] == "execution provider":
            import libgather.onnxruntime as plugin

            found["report"] = plugin.report(session)
        return found
    finally:
        with contextlib.suppress(OSError):
            limit.leave()


# ---- all of them ------------------------------------------------------------------------------------------------------------


def drop(path: Path) -> None:
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class ReadAhead:
    """The read-ahead of the disk that a folder is on, in KiB. It is restored at the end."""

    def __init__(self, folder: Path):
        device = os.stat(folder).st_dev
        self.path = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
        self.own = int(self.path.read_text(encoding="ascii")) if self.path.is_file() else 0

    def set(self, kib: int) -> bool:
        """Sets it to this many KiB (0 = the original value), and returns whether it has it."""
        wanted = kib or self.own
        try:
            if int(self.path.read_text(encoding="ascii")) != wanted:
                self.path.write_text(str(wanted), encoding="ascii")
            return int(self.path.read_text(encoding="ascii")) == wanted
        except OSError:
            return False


def run_case(wanted: dict) -> dict:
    drop(Path(wanted["model"]).parent / FILE)
    path = os.pathsep.join(entry for entry in (os.environ.get("PYTHONPATH", ""), str(HERE.parents[1] / "bench")) if entry)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(HERE)!r}); import onnxruntime_memory as m; m.child()", json.dumps(wanted)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        timeout=900,
    )
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def child() -> None:
    print(json.dumps(case(json.loads(sys.argv[1]))))


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/plugins onnxruntime --memory", description=__doc__)
    parser.add_argument("--gib", type=float, default=12, help="size of the table (default 12)")
    parser.add_argument("--limit-gib", type=float, default=3, help="memory that a case may use (default 3); 0 = no limit")
    parser.add_argument("--row-bytes", type=int, nargs="+", default=[512, 4096], help="multiples of 512 (default 512 4096)")
    parser.add_argument("--batch", type=int, nargs="+", default=[1024, 1], help="ids per run of the session (default 1024 1)")
    parser.add_argument("--read-ahead", type=int, nargs="+", default=[128, 0], help="KiB; 0 = the disk's own (default 128 0)")
    parser.add_argument("--seconds", type=float, default=8, help="at most this long for a case (default 8)")
    parser.add_argument("--warm", action="store_true", help="instead: runs on a table of 256 MiB, all of it in memory")
    parser.add_argument("--folder", type=Path, help="where the table is written (default: a temporary folder)")
    parser.add_argument("--output", type=Path, help="where the JSON goes (default: build/results)")
    return parser.parse_args(given)


def cases(options, ahead: ReadAhead, folder: Path, bytes_: int) -> list[dict]:
    found = []
    for kib in options.read_ahead:
        if not ahead.set(kib):
            found.append({"read_ahead": kib, "error": f"{ahead.path} cannot be written"})
            continue
        for row_bytes in options.row_bytes:
            for batch in options.batch:
                for way in WAYS:
                    wanted = {
                        "way": way,
                        "model": str(folder / f"rows_{row_bytes}.onnx"),
                        "bytes": bytes_,
                        "row_bytes": row_bytes,
                        "batch": batch,
                        "limit": int(options.limit_gib * GIB),
                        "seconds": options.seconds,
                        "calls": 200 if batch == 1 else 8,
                    }
                    result = {"read_ahead": kib or ahead.own, "way": way, "row_bytes": row_bytes, "batch": batch} | run_case(wanted)
                    print(json.dumps({key: value for key, value in result.items() if key != "report"}), file=sys.stderr, flush=True)
                    found.append(result)
    return found


def table(found: list[dict]) -> str:
    lines = [
        "| read-ahead | row | ids a run | Gather | µs a cold row | read / useful | faults a row |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in found:
        if "error" in line:
            lines.append(f"| {line['read_ahead']} KiB | {line.get('row_bytes', '')} | {line.get('batch', '')} | {line.get('way', '')} | {line['error']} | | |")
            continue
        lines.append(
            f"| {line['read_ahead']} KiB | {line['row_bytes']} B | {line['batch']} | {line['way']} | {line['us_per_row']:,.0f} "
            f"| {line['read_per_useful']:,.1f} | {line['faults'] / line['rows']:.2f} |"
        )
    return "\n".join(lines)


def faults_of(found: list[dict]) -> list[str]:
    """The faults: wrong rows, and doors that read more than 16 bytes for a useful one."""
    faults = []
    for line in found:
        name = f"{line.get('way')}, rows of {line.get('row_bytes')} bytes, {line.get('batch')} a run, read-ahead {line['read_ahead']} KiB"
        if "error" in line:
            faults += [f"{name}: {line['error']}"] if line.get("way") else []
        elif line["wrong"]:
            faults.append(f"{name}: {line['wrong']} of {line['rows']} rows are wrong")
        elif line["way"] != WAYS[0] and line["read_per_useful"] > 16:
            faults.append(f"{name}: {line['read_per_useful']:.1f} bytes read for a useful one")
    return faults


def main(given: list[str]) -> list[str]:
    """Returns what went wrong."""
    import onnxruntime

    options = arguments(given)
    if options.warm:
        import onnxruntime_warm

        onnxruntime_warm.main(options.row_bytes)
        return []
    bytes_ = int(options.gib * GIB) // 4096 * 4096
    folder = Path(tempfile.mkdtemp(prefix="gather-onnxruntime-memory-", dir=options.folder))
    ahead = ReadAhead(folder)
    try:
        if shutil.disk_usage(folder).free < bytes_ + 4 * GIB:
            return [f"--memory: {folder} has no room for {options.gib} GiB and 4 GiB to spare"]
        write_table(folder / FILE, bytes_)
        for row_bytes in options.row_bytes:
            write_model(folder / f"rows_{row_bytes}.onnx", bytes_, row_bytes)
        found = cases(options, ahead, folder, bytes_)
    finally:
        ahead.set(0)
        shutil.rmtree(folder)
    output = options.output or plugin_file("onnxruntime-memory")
    said = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "cpus": len(os.sched_getaffinity(0)),
        "onnxruntime": onnxruntime.__version__,
        "table_bytes": bytes_,
        "limit_bytes": int(options.limit_gib * GIB),
        "own_read_ahead_kib": ahead.own,
        "load": os.getloadavg()[0],
        "cases": found,
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(said, indent=1), encoding="utf-8")
    print(table(found), f"written: {output}", sep="\n\n")
    return faults_of(found)


if __name__ == "__main__":
    bad = main(sys.argv[1:])
    print(*bad, sep="\n", file=sys.stderr)
    sys.exit(1 if bad else 0)
