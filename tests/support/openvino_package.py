# SPDX-License-Identifier: MIT
"""OpenVINO for tests that ask it: `ov` and `op`, and a fixture that skips every test of a file that imports it where it is missing."""
from support.skip import needs

try:
    import openvino as ov
    import openvino.opset13 as op
except ImportError:
    ov = op = None

needs_openvino = needs("openvino", ov)
