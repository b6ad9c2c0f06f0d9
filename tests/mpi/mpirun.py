# SPDX-License-Identifier: MIT
"""Runs the programs of this folder under each MPI that they were built for."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("GATHER_BUILD", "."))
NAMES = [name for name in ("openmpi", "mpich") if (BUILD / "tests/mpi" / name / "mpi_cases").is_file() and shutil.which(f"mpirun.{name}")]

# The tests run each behaviour under the first MPI, and a few under the other; GATHER_TEST_MPI=all (script/mpi --tests): each under both.
FIRST = NAMES[0] if NAMES else "openmpi"
OTHER = "openmpi" if FIRST == "mpich" else "mpich"
EACH = os.environ.get("GATHER_TEST_MPI") == "all"

# As root, with more ranks than CPUs, which must yield.
OPENMPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_plm_rsh_agent": "false",
    "PMIX_MCA_gds": "hash",
}


def environment() -> dict[str, str]:
    asan = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=1".lstrip(":")
    return os.environ | OPENMPI | {"ASAN_OPTIONS": asan, "LSAN_OPTIONS": "exitcode=0", "LD_PRELOAD": ""}


def command(name: str, ranks: int, *options: str) -> list[str]:
    if name == "openmpi":
        return ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", *options, "-np", str(ranks)]
    return ["mpirun.mpich", "-np", str(ranks), *options]


def separately(folder: Path | str) -> list[str]:
    """In front of a program and its arguments: what a rank prints goes to a file of its own, where printed() finds it. What ranks print into
    mpirun's pipe may arrive in pieces of a line, between pieces of others."""
    return ["sh", "-c", 'exec "$@" >"$0/printed.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"', str(folder)]


def printed(folder: Path | str) -> str:
    """What the ranks printed, in their order."""
    files = sorted(Path(folder).glob("printed.*"), key=lambda file: int(file.suffix[1:]))
    return "".join(file.read_text(encoding="utf-8") for file in files)


def mpirun(name: str, ranks: int, program: str, *arguments: object, options: tuple[str, ...] = (), timeout: float = 300) -> subprocess.CompletedProcess:
    """Runs build/.../NAME/PROGRAM on so many ranks. A run that takes longer is ended with its ranks, and raises TimeoutExpired. Its stdout is what
    mpirun says, and then what each rank printed."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*command(name, ranks, *options), *separately(folder), str(BUILD / "tests/mpi" / name / program), *map(str, arguments)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True) as process:
            try:
                out, complaints = process.communicate(timeout=timeout)
            except BaseException:
                os.killpg(process.pid, 15)
                try:
                    process.communicate(timeout=10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, 9)
                raise
        out += printed(folder)
    # The MPIs leave memory behind at their end, from parts that are unloaded by then; a leak of the library has its functions in it.
    assert not re.search(r"^ +#\d+ .* in gather_mpi_", complaints, re.M) or "LeakSanitizer" not in complaints, complaints
    return subprocess.CompletedProcess(words, process.returncode, out, complaints)
