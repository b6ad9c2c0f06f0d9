# SPDX-License-Identifier: MIT
"""What the tests of remote tables share."""

from __future__ import annotations

import pytest
from support.http_tls import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory) -> Authority:
    """A certificate authority that no system knows."""
    return Authority(tmp_path_factory.mktemp("authority"))
