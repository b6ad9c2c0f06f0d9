# SPDX-License-Identifier: MIT
"""The plug-in's library, for tests that give its path to processes with ONNX Runtime; without the package they are skipped."""

import importlib.util

import ort_runs
import pytest

from support.skip import skip_test


@pytest.fixture(scope="module")
def library() -> str:
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    return ort_runs.library_path()
