# SPDX-License-Identifier: MIT
"""The command as another user runs it: what was built may be in a folder that only its owner can enter, such as /root."""
import shutil
from pathlib import Path


def command_for_others(command: Path | str, folder: Path | str) -> Path:
    """A copy of the command in `folder`, which others can enter. The command is linked with the static library."""
    copy = Path(folder) / "gather"
    shutil.copy(command, copy)
    copy.chmod(0o755)
    return copy
