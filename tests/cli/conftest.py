# SPDX-License-Identifier: MIT
"""The command in an empty folder, for every test."""

import pytest
from command import Gather


@pytest.fixture
def gather(gather_exe, tmp_path) -> Gather:
    return Gather(gather_exe, tmp_path)


@pytest.fixture
def table(gather) -> str:
    """A file with 3 x 4 numbers."""
    import numpy as np

    return gather.save("x.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
