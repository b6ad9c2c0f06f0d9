# SPDX-License-Identifier: MIT
"""A call that must raise, in one line."""
from collections.abc import Callable
from typing import Any

import pytest


def refuses(kind: type[BaseException] | tuple, call: Callable, *arguments: Any, says: str = "", **keywords: Any) -> Any:
    """What the call raises: of that kind, and its message has what `says` looks for (re.search)."""
    with pytest.raises(kind, match=says) as caught:
        call(*arguments, **keywords)
    return caught.value
