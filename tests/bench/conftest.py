# SPDX-License-Identifier: MIT
"""What the benchmark's tests share."""

import pytest

from benchmark import BUILD, SOURCE


@pytest.fixture
def modules(monkeypatch):
    """The benchmark's own modules, in this process."""
    monkeypatch.syspath_prepend(str(SOURCE / "bench"))
    monkeypatch.syspath_prepend(str(BUILD / "bench"))
