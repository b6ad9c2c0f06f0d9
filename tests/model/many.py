# SPDX-License-Identifier: MIT
"""Runs models in this process and out of it: `gather run` with all outputs in one file, and ONNX Runtime."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import ml_dtypes
import numpy as np

from support.command import asked

TYPES = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}
EXAMPLES = int(os.environ.get("GATHER_TEST_EXAMPLES", "0"))
SEED = int(os.environ.get("GATHER_TEST_SEED", "0"))


def tensors_of(path: Path) -> dict[str, np.ndarray]:
    """The float tensors of a .safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    found = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(content[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return found


def gather(*words, check: bool = True) -> dict:
    """The JSON answer of a command."""
    code, answer = asked(*words)
    assert not check or code == 0, answer
    return answer


def run(model: Path, *words) -> dict[str, np.ndarray]:
    """Every output of a model."""
    out = model.with_name("out.safetensors")
    gather("run", model, "--output", out, "--force", *words)
    return tensors_of(out)
