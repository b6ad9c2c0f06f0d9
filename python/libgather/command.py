# SPDX-License-Identifier: MIT
#
# command.py: the command `gather`, which is in the package (libgather/bin/gather; gather.exe on Windows).
"""The command `gather`: its path, and the program that pip installs under that name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import NoReturn

import libgather
from libgather.errors import GatherFileNotFoundError

_NAME = "gather.exe" if os.name == "nt" else "gather"


def path() -> str:
    """The path of the bundled command. Raises GatherFileNotFoundError if it is missing."""
    # An editable install has two folders: the sources and the build.
    places = [os.path.join(folder, "bin", _NAME) for folder in libgather.__path__]
    for found in places:
        if os.path.isfile(found):
            return os.path.abspath(found)
    message = f"the bundled command {places[0]} is missing: install libgather again"
    raise GatherFileNotFoundError(message, status="file_not_found", code=12, file=places[0])


def main() -> NoReturn:
    """Replaces this process by the command, with the same arguments. On Windows, where no process can be replaced, it waits for it."""
    try:
        if os.name == "nt":
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's
            sys.exit(subprocess.run([path(), *sys.argv[1:]], check=False).returncode)
        os.execv(path(), ["gather", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"gather: error: {error}")


if __name__ == "__main__":
    main()
