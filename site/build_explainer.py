#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""build_explainer.py FOLDER: compiles the command's `explain` and `ops` with Emscripten into FOLDER/program.js, one file with the program
in it. Nothing is done if the sources have not changed."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Not needed: what only other commands use. If one of these is needed after all, the linker names it.
LEFT_OUT = ("src/table/alone/", "src/table/shuffle/", "cli/main.c", "cli/bench", "cli/cmd_bench", "cli/cmd_check", "cli/cmd_info", "cli/cmd_run", "cli/cmd_shuffle", "cli/cmd_tree",
            "cli/complete", "cli/man.c", "cli/run_", "cli/shuffle_")
SYSTEMS = {"windows", "macos", "bsd", "freebsd"}
AT_ONCE = 12  # files per call of the compiler: starting it takes longer than most of them
COMPILE = ["-std=c11", "-Os", "-D_XOPEN_SOURCE=700", "-D_DEFAULT_SOURCE", "-DGATHER_CLI_PLUGIN_FOLDER=\"\"", *(f"-I{ROOT / name}" for name in ("include", "src", "cli"))]
# A fresh instance per line, as a shell starts a fresh process. What a page may use is limited: memory to 512 MiB.
LINK = ["-Os", "-sMODULARIZE=1", "-sEXPORT_NAME=gatherProgram", "-sSINGLE_FILE=1", "-sALLOW_MEMORY_GROWTH=1", "-sMAXIMUM_MEMORY=536870912",
        "-sEXIT_RUNTIME=1", "-sENVIRONMENT=web,worker,node", "-sINVOKE_RUN=0", "-sEXPORTED_RUNTIME_METHODS=callMain,FS"]


def sources() -> list[Path]:
    found = [*sorted(path for path in ROOT.glob("src/**/*.c") if not SYSTEMS.intersection(path.parts)), *sorted(ROOT.glob("cli/*.c")), ROOT / "site/explainer.c"]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(LEFT_OUT)]


def state() -> str:
    """A number that changes with anything that is compiled."""
    made = hashlib.sha256(repr((COMPILE[:5], LINK, LEFT_OUT)).encode())
    for path in sorted([*sources(), *ROOT.glob("src/**/*.h"), *ROOT.glob("src/**/*.def"), *ROOT.glob("cli/*.h"), *ROOT.glob("cli/*.def"), *ROOT.glob("include/gather/*")]):
        made.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return made.hexdigest()


def emcc(arguments: list, folder: Path, environment: dict) -> None:
    done = subprocess.run(["emcc", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"build_explainer.py: emcc failed\n{done.stderr[-4000:]}")


def build(folder: Path) -> None:
    """Names of files are unique, so all objects are in one folder."""
    objects = folder / "objects"
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir(parents=True)
    # Debian's Emscripten needs modules of Debian's Node.js, which another Node.js finds only so.
    environment = dict(os.environ, NODE_PATH=os.pathsep.join(filter(None, [os.environ.get("NODE_PATH"), "/usr/share/nodejs"])))
    files = sources()
    parts = [files[i:i + AT_ONCE] for i in range(0, len(files), AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(lambda part: emcc([*COMPILE, "-c", *part], objects, environment), parts))
    emcc([*sorted(objects.glob("*.o")), *LINK, "-o", folder / "program.js"], folder, environment)


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    stamp = folder / "state"
    if (folder / "program.js").exists() and stamp.exists() and stamp.read_text() == state():
        return
    begin = time.monotonic()
    stamp.unlink(missing_ok=True)
    build(folder)
    stamp.write_text(state())
    print(f"explainer: {len(sources())} files compiled, {(folder / 'program.js').stat().st_size / 1e3:.0f} kB, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
