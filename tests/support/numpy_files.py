# SPDX-License-Identifier: MIT
"""The bytes of NumPy's files, for servers and pipes."""
import io

import numpy as np


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()
