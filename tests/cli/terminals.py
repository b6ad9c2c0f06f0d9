# SPDX-License-Identifier: MIT
"""The command on a pseudo-terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
import unicodedata

import numpy as np
from support.outputs import being_written


def on_terminal(
    gather, *words, columns: int = 80, stdout: bool = True, pause=None, **environment: str | None
) -> tuple[int, bytes, bytes]:
    """Exit code, what a pipe on stdout gets (stdout=False), and what the terminal gets. An environment value of None unsets it."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    changed = {"NO_COLOR": None, "COLUMNS": None, "TERM": "xterm", "LC_ALL": "C.UTF-8"} | environment
    env = {k: v for k, v in (os.environ | changed).items() if v is not None}
    process = subprocess.Popen(
        [gather.exe, *map(str, words)], cwd=gather.folder, env=env, stdin=subprocess.DEVNULL, stdout=side if stdout else subprocess.PIPE,
        stderr=side,
    )
    os.close(side)
    if pause:
        pause(gather, process)
    shown = b""
    try:
        while piece := os.read(main, 4096):
            shown += piece
    except OSError:  # the end of a terminal
        pass
    out = process.stdout.read() if process.stdout else b""
    if process.stdout:
        process.stdout.close()
    os.close(main)
    return process.wait(), out, shown


def stop_for_a_while(gather, process) -> None:
    """Stops a command for more than a second as soon as it writes: it finds then that it takes long."""
    for _ in range(4000):
        if being_written(gather.folder, process.pid) or process.poll() is not None:
            break
        time.sleep(0.0005)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.2)
    process.send_signal(signal.SIGCONT)


def shown_at_work(gather, *words, **more) -> tuple[int, bytes]:
    """Exit code and what the terminal gets of a command that is stopped while it takes rows of i.npy, which this writes: 64, or, where they
    were taken before it could be stopped, 512."""
    for rows in (64, 512):
        gather.save("i.npy", np.zeros(rows, np.int32))
        code, _, shown = on_terminal(gather, *words, "-f", stdout=False, pause=stop_for_a_while, **more)
        if shown:
            break
    return code, shown


def columns_of(text: str) -> int:
    """Columns that a terminal gives a text; escape sequences take none."""
    text = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def rewritten(shown: bytes) -> list[str]:
    """The states of a line that was rewritten by carriage returns."""
    return [line for line in shown.decode().replace("\r\n", "\n").split("\r") if line]
