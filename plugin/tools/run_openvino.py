# SPDX-License-Identifier: MIT
"""OpenVINO, beyond script/test: script/plugins openvino [--versions [RELEASE...]] [--memory [GIB]] [--bench] [--stress].

--versions  builds the extension for each release, in a separate environment in .venv-plugins, and runs the same models in it
--memory    a table of GIB (default 8) in ONNX's external data: memory, time and bytes read of compiling the model and of cold rows
--bench     bench/plugin_openvino.py: the cost of a node beside OpenVINO's own
--stress    cores and models 100 times; two builds of the extension at once
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from results import plugin_file  # bench/ is in the path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/plugin"
RELEASES = ("2024.4.0", "2025.2.0", "2026.4.1")  # the oldest and the newest that Python 3.11 installs, and one between


def child(python: str, *words: str, **environment: str) -> str:
    done = subprocess.run([python, *words], capture_output=True, text=True, env={**os.environ, **environment}, timeout=1800, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def environment_of(release: str) -> str:
    """A Python with this release of OpenVINO: this one, or that of a separate environment."""
    if importlib.metadata.version("openvino") == release:
        return sys.executable
    folder = ROOT / ".venv-plugins" / f"openvino-{release}"
    python = folder / "bin/python"
    if not python.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"openvino=={release}", "onnx", "numpy<2.2" if release < "2025.3" else "numpy"], check=True)
    return str(python)


def versions(releases: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        child(sys.executable, str(TESTS / "openvino_models.py"), folder)
        for release in releases or RELEASES:
            python = environment_of(release)
            begin = time.perf_counter()
            child(python, "-m", "libgather.build", "openvino", "--force", XDG_CACHE_HOME=f"{folder}/cache")
            built = time.perf_counter() - begin
            said = child(python, str(TESTS / "openvino_child.py"), "files", folder, XDG_CACHE_HOME=f"{folder}/cache")
            print(f"{release}: built in {built:.0f} s; {said.splitlines()[-2]}: good", flush=True)


MEMORY = '''
import os, resource, sys, time
from pathlib import Path
import numpy as np, openvino, libgather.openvino
path, ours, rows = sys.argv[1], sys.argv[2] == "ours", int(sys.argv[3])
def resident(): return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) >> 10
def read(): return int(Path("/proc/self/io").read_text().partition("read_bytes:")[2].split()[0]) >> 20
core = openvino.Core()
if ours: libgather.openvino.add_to(core, memory="256M")
begin, before = time.perf_counter(), read()
request = core.compile_model(path, "CPU").create_infer_request()
loaded = time.perf_counter() - begin
print(f"{'libgather' if ours else 'OpenVINO'}: ready after {loaded:.1f} s, {read() - before} MiB read, {resident()} MiB resident", flush=True)
before, ids = read(), np.random.default_rng(4).integers(0, rows, 4096)
begin = time.perf_counter()
request.infer({0: ids})
each = (time.perf_counter() - begin) / len(ids)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(f"  4096 rows of 512 bytes: {1e6 * each:.0f} us each, {read() - before} MiB read; peak {peak} MiB", flush=True)
'''


def memory(gib: int) -> None:
    """Rows of 512 bytes that are really on the disk, and not in the page cache."""
    sys.path.insert(0, str(TESTS))
    import openvino_models

    rows = gib << 21
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        path = openvino_models.write_table(Path(folder), "onnx", rows, 128, {})
        table = path.parent / "table.data"
        block = os.urandom(1 << 24)
        with table.open("r+b") as file:
            for _ in range(0, table.stat().st_size - len(block) + 1, len(block)):
                file.write(block)
            os.fsync(file.fileno())
            for who in ("ours", "own"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                print(child(sys.executable, "-c", MEMORY, str(path), who, str(rows)), end="", flush=True)


def stress() -> None:
    child(sys.executable, str(TESTS / "openvino_child.py"), "loading", "100")
    print("100 cores and models: good")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        builds = [subprocess.Popen([sys.executable, "-m", "libgather.build", "openvino"], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        paths = {build.communicate()[0].strip() for build in builds}
        assert all(build.returncode == 0 for build in builds) and len(paths) == 1, paths
        left = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert [str(path) for path in left] == list(paths), left
    print("two builds at once: good")


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/plugins openvino", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", nargs="*", metavar="RELEASE")
    parser.add_argument("--memory", nargs="?", type=int, const=8, metavar="GIB")
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--stress", action="store_true")
    given = parser.parse_args()
    if given.versions is None and given.memory is None and not given.bench and not given.stress:
        parser.error("nothing to do: see --help")
    if given.versions is not None:
        versions(given.versions)
    if given.memory is not None:
        memory(given.memory)
    if given.stress:
        stress()
    if given.bench:
        result = plugin_file("openvino")
        subprocess.run([sys.executable, str(ROOT / "bench/plugin_openvino.py"), "--json", str(result)], check=True)
        print(f"written: {result}")


if __name__ == "__main__":
    main()
