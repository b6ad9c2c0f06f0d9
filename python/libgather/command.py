# SPDX-License-Identifier: MIT
#
# command.py: the command `gather`, which lies in the package (libgather/bin/gather).
"""The command `gather`: where it is, and the program that pip installs under that name."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from libgather.errors import GatherFileNotFoundError


def path() -> str:
    """Where the bundled command lies. Raises GatherFileNotFoundError where it is missing."""
    found = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gather")
    if not os.path.isfile(found):
        message = f"the command is not where this package keeps it: {found} is missing. Install libgather again"
        raise GatherFileNotFoundError(message, status="file_not_found", code=12, file=found)
    return found


def main() -> NoReturn:
    """Becomes the command, with the arguments of this program."""
    try:
        os.execv(path(), ["gather", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"gather: error: {error}")


if __name__ == "__main__":
    main()
