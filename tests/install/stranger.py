# SPDX-License-Identifier: MIT
"""Running the tools of a stranger who uses an installed tree."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

CMAKE = os.environ.get("GATHER_CMAKE", "cmake")


def run(*command: object, cwd: Path | None = None, code: int = 0, **environment: str) -> str:
    """Runs a command, checks its exit code, and returns what it printed; the error output goes into the failure."""
    wanted = dict(os.environ, LC_ALL="C.UTF-8", **environment)
    for name in ("PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "DESTDIR"):
        if name not in environment:
            wanted.pop(name, None)
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=wanted, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass
class Tree:
    """An installed tree."""

    prefix: Path

    def find(self, name: str) -> Path:
        """The one file of that name."""
        (path,) = self.prefix.rglob(name)
        return path

    @property
    def lib(self) -> Path:
        return self.find("libgather.a").parent

    @property
    def pkg_config_path(self) -> str:
        return str(self.find("gather.pc").parent)
