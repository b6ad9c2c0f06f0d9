# SPDX-License-Identifier: MIT
"""Calls at the same time."""
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def together(call: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """A thread for each argument; what the calls return. What one of them raises is raised here, when all have ended."""
    arguments = list(arguments)
    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))
