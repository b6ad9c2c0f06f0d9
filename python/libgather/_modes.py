# SPDX-License-Identifier: MIT
#
# _modes.py: the names of the repair policies: NumPy's, which are the main ones in Python, and the command's.
"""The names of mode=."""

from __future__ import annotations

import difflib
from typing import Any, NoReturn

# NumPy's name: the command's (--on-bad). Each may be used here.
MODES = {"raise": "error", "clip": "clamp", "wrap": "wrap", "zero": "zero", "fill": "fill", "promise": "promise"}
_NAMES = [name for pair in MODES.items() for name in dict.fromkeys(pair)]


def unknown_mode(mode: Any) -> str:
    """The message about an unknown mode, with the nearest name."""
    text = f"mode must be 'raise', 'clip', 'wrap', 'zero', 'fill' or 'promise', not {mode!r}"
    if not isinstance(mode, str):
        return text
    if mode.startswith("fill="):
        return f"{text}; pass the value as fill_value="
    near = difflib.get_close_matches(mode.strip().lower(), _NAMES, 1, 0.5)
    return f"{text}; did you mean {near[0]!r}?" if near else text


def refuse_mode(mode: Any) -> NoReturn:
    """For the extension."""
    raise ValueError(unknown_mode(mode))


def command_mode(mode: str) -> str | None:
    """The command's name of a mode; None if there is no such mode."""
    return MODES.get(mode, mode if mode in _NAMES else None)
