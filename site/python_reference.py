# SPDX-License-Identifier: MIT
"""The page of the reference that Sphinx makes from the docstrings of the Python package. What is on it comes from the package itself."""

import inspect
from pathlib import Path

# Modules for other packages: those need not be installed, autodoc takes stand-ins for them.
MODULES = {"libgather.torch": "PyTorch", "libgather.jax": "JAX", "libgather.mpi": "MPI", "libgather.duckdb": "DuckDB",
           "libgather.onnxruntime": "ONNX Runtime", "libgather.openvino": "OpenVINO", "libgather.onnx_backend": "ONNX's backend"}


def heading(text: str, mark: str) -> list[str]:
    return [text, mark * len(text), ""]


def page() -> str:
    """The page as reStructuredText."""
    import libgather

    names = [name for name in libgather.__all__ if not name.startswith("_")]
    errors = [name for name in names if inspect.isclass(getattr(libgather, name)) and issubclass(getattr(libgather, name), Exception)]
    classes = [name for name in names if inspect.isclass(getattr(libgather, name)) and name not in errors]
    functions = [name for name in names if name not in errors and name not in classes]
    made = [*heading("Python: libgather", "="), "The guide is :doc:`/docs/use/python`.", ""]
    for title, group, directive in (("Functions", functions, "autofunction"), ("Classes", classes, "autoclass"), ("Errors", errors, "autoexception")):
        made += heading(title, "-")
        for name in group:
            made += [f".. {directive}:: libgather.{name}", *(["   :members:", ""] if directive == "autoclass" else ["   :show-inheritance:", ""] if directive == "autoexception" else [""])]
    for module, host in MODULES.items():
        made += [*heading(f"{module}: {host}", "-"), f".. automodule:: {module}", "   :members:", ""]
    return "\n".join(made)


def write(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(), encoding="utf-8")
