# SPDX-License-Identifier: MIT
"""What the tests of tables in external data share: a session that reads them by the table engine, and processes of their own."""

import json
import subprocess
import sys
from pathlib import Path

import provider_models as models
import pytest
from support.skip import skip_test

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

ROWS = 10000


@pytest.fixture(scope="module")
def provider():
    """libgather.onnxruntime, registered; unregistered when the module's tests are over."""
    if onnxruntime is None:
        skip_test("onnxruntime", "ONNX Runtime is not installed")
    import libgather.onnxruntime as provider

    provider.register()
    yield provider
    provider.unregister()


@pytest.fixture
def folder(tmp_path):
    """A folder with a model and its table of 5 MB."""
    table = models.rows(ROWS, 128)
    models.write_table(tmp_path, table)
    (tmp_path / "model.onnx").write_bytes(models.table_model(table))
    return tmp_path


def opened(provider, model, settings=None, **options):
    settings = settings or onnxruntime.SessionOptions()
    model = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(model, provider.add_to(settings, **({"table": "always"} | options)))


def ways(provider, session):
    return [node["way"] for node in provider.report(session)["nodes"]]


def in_child(name: str, folder: Path) -> dict:
    if onnxruntime is None:
        skip_test("onnxruntime", "ONNX Runtime is not installed")
    done = subprocess.run([sys.executable, Path(__file__).with_name("provider_child.py"), name, folder], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout)
