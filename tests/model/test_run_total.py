# SPDX-License-Identifier: MIT
"""Enough generated models of both dialects passed. Comes after all others (conftest.py)."""

import importlib.util

import counted

from support.sample import least
from support.skip import skip_test


def test_total(request):
    collected = {item.path.name for item in request.session.items if item.originalname == "test_models"}
    if not collected >= set(counted.DIALECTS):
        skip_test("all generated models", "part of the tests was chosen")
    print(counted.sentence())
    assert counted.PASSED["ONNX"] >= least(250)
    assert counted.PASSED["OpenVINO IR"] >= least(84 + 150 if importlib.util.find_spec("openvino") else 84)
    assert sum(counted.PASSED.values()) >= least(300)
