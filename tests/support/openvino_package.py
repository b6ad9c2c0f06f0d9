# SPDX-License-Identifier: MIT
"""OpenVINO for tests that ask it: `ov` and `op`, and a fixture that skips every test of a file that imports it where it is missing."""

from __future__ import annotations

import pytest

from support.skip import skip_test

try:
    import openvino as ov
    import openvino.opset13 as op
except ImportError:
    ov = op = None


@pytest.fixture(autouse=True)
def needs_openvino():
    if ov is None:
        skip_test("openvino", "the package is not installed")
