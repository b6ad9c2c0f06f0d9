# SPDX-License-Identifier: MIT
"""PyTorch and libgather's operators in it, for tests that use them: `torch` and `lt`, and fixtures that skip every test of a file that
imports them where PyTorch, or the library with the operators, is missing."""
import pytest

from support.skip import needs, skip_test

try:
    import torch
    import libgather.torch as lt
    from libgather.torch import loading
except ImportError:
    torch = lt = loading = None

needs_torch = needs("torch", torch)


@pytest.fixture(autouse=True)
def needs_operators(needs_torch):
    if loading.failure():
        skip_test("torch operators", loading.failure())
