# SPDX-License-Identifier: MIT
"""Tests of permissions, which the superuser must give up for a while, since they do not hold for him."""
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

NOBODY = 65534


@contextmanager
def unprivileged_folder() -> Iterator[Path]:
    """A folder of an ordinary user's, while the program runs as that user."""
    folder = Path(tempfile.mkdtemp(prefix="gather-test-"))
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, 0)
        yield folder
    finally:
        if is_root:
            os.setresuid(0, 0, 0)
        folder.chmod(0o755)
        shutil.rmtree(folder)
