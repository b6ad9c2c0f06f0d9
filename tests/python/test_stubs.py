# SPDX-License-Identifier: MIT
#
# test_stubs.py: what type checkers and help() are told is what there is. The stubs of the extension are compared with it name by name.
"""Stubs, signatures, docstrings."""
from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import libgather
from libgather import _core, _fallback
from support.refusal import refuses

FOLDER = Path(libgather.__file__).parent
STUB = ast.parse((FOLDER / "_core.pyi").read_text(encoding="utf-8"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def definitions(body: list) -> dict[str, list]:
    """Functions by name, each with all its overloads."""
    found: dict[str, list] = {}
    for node in body:
        if isinstance(node, FUNCTIONS):
            found.setdefault(node.name, []).append(node)
    return found


def classes() -> dict[str, ast.ClassDef]:
    return {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def parameters(node: ast.FunctionDef) -> list[tuple[str, str, object]]:
    """(name, kind, default) of each parameter but self and cls; `...` where there is no default."""
    a = node.args
    positional = [(arg.arg, "positional" if arg in a.posonlyargs else "any") for arg in a.posonlyargs + a.args]
    defaults = [...] * (len(positional) - len(a.defaults)) + [ast.literal_eval(d) for d in a.defaults]
    found = [(*pair, default) for pair, default in zip(positional, defaults)]
    found += [(arg.arg, "keyword", ... if d is None else ast.literal_eval(d)) for arg, d in zip(a.kwonlyargs, a.kw_defaults)]
    return [p for p in found if p[0] not in ("self", "cls")]


def with_default_out(told: list) -> list:
    """out is required in the overload that says what it gives, and axis and op in those of infer_shape."""
    defaults = {"out": None, "axis": None, "op": "take"}
    return [(name, kind, defaults.get(name, ...) if default is ... else default) for name, kind, default in told]


def real_parameters(function) -> list[tuple[str, str, object]]:
    kinds = {inspect.Parameter.POSITIONAL_ONLY: "positional", inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
             inspect.Parameter.KEYWORD_ONLY: "keyword"}
    found = [(p.name, kinds[p.kind], ... if p.default is p.empty else p.default) for p in inspect.signature(function).parameters.values()]
    return [p for p in found if p[0] not in ("self", "cls", "type")]


def has_base(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(base, ast.Name) and base.id == name for base in node.bases)


def is_typed_dict(node: ast.ClassDef) -> bool:
    return has_base(node, "TypedDict")


def is_real(node: ast.ClassDef) -> bool:
    """Whether the extension has the class; the others are for type checkers alone."""
    return not is_typed_dict(node) and not has_base(node, "Protocol")


def public(thing) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("__")}


def test_names():
    """The stub names everything that the extension has, and nothing else."""
    told = set(definitions(STUB.body)) | {name for name, node in classes().items() if is_real(node)}
    assert told == public(_core)
    assert "__version__" in {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)} and _core.__version__


def test_calls_fall_back():
    """What the extension cannot read (lists, objects, tensors elsewhere) is for the function of the same name in _fallback."""
    calls = {name for name, nodes in definitions(STUB.body).items() if [p[0] for p in parameters(nodes[0])][:2] == ["x", "indices"]}
    assert calls - {"infer_shape"} <= set(_fallback.__all__) and calls <= set(libgather.__all__) and len(calls) > 4


@pytest.mark.parametrize("name", sorted(definitions(STUB.body)))
def test_functions(name):
    """Parameters, their order, kind and defaults, in every overload."""
    real = real_parameters(getattr(_core, name))
    for node in definitions(STUB.body)[name]:
        told = with_default_out(parameters(node))
        assert told == real or [p[:1] for p in told] == [p[:1] for p in real] and name.startswith("_")
        assert node.returns is not None and all(arg.annotation for arg in node.args.posonlyargs + node.args.kwonlyargs)


@pytest.mark.parametrize("name", [name for name, node in classes().items() if is_real(node)])
def test_classes(name):
    kind, node = getattr(_core, name), classes()[name]
    told = definitions(node.body)
    assert {method for method in told if not method.startswith("__")} == public(kind)
    assert all(hasattr(kind, method) for method in told)
    for method, overloads in told.items():
        for overload in overloads:
            properties = [d.id for d in overload.decorator_list if isinstance(d, ast.Name)]
            if "property" in properties:
                assert inspect.isgetsetdescriptor(getattr(kind, method))
            elif not method.startswith("__") and (name != "Model" or vars(kind)[method].__text_signature__):
                shown, real = with_default_out(parameters(overload)), real_parameters(getattr(kind, method))
                assert shown == real or [p[:1] for p in shown] == [p[:1] for p in real] and method.startswith("_"), method
                assert ("classmethod" in properties) == isinstance(vars(kind)[method], type(vars(dict)["fromkeys"]))


def test_tables():
    """The keys of the dicts."""
    told = {name: [item.target.id for item in node.body] for name, node in classes().items() if is_typed_dict(node)}
    assert told == {"Op": list(libgather.ops()[0]), "Codec": list(libgather.codecs()[0]), "Info": list(libgather.info())}


def literal(name: str) -> list[str]:
    """The words of an alias like Mode."""
    alias = next(node.value for node in STUB.body if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name)
    return list(ast.literal_eval(alias.slice))


def test_words():
    """The words that the stub allows are those that calls take."""
    for name, op, function in (("TakeRules", "Gather", libgather.take), ("ElementsRules", "GatherElements", libgather.gather_elements),
                               ("NdRules", "GatherND", libgather.gather_nd)):
        rules = [row["rules"] for row in libgather.ops() if row["name"] == op]
        assert literal(name) == rules, f"_core.pyi, {name}"
        told = inspect.getdoc(function).split("\nrules : ")[1].split("\nthreads")[0]
        assert re.findall(r"'([a-z]+-\d+)'", told) == rules, f"docs.h, {function.__name__}"
    for mode in literal("Mode"):
        libgather.take([1], [0], mode=mode, fill_value=0 if mode == "fill" else None)
    error = refuses(ValueError, libgather.take, [1], [0], mode="?")
    words = [word for word in str(error).split("'")[1::2] if word != "?"]
    assert sorted(literal("Mode")) == sorted([*words, "clamp", "error"])  # the command's names of two of them


@pytest.mark.in_full
def test_types_of_results(tmp_path):
    """What a type checker shows of results: arrays, and tensors of the argument's kind, but not Any."""
    lines = {
        "table[[1, 2]]": "ndarray", "table[1:3]": "ndarray", "table.take([1])": "ndarray", "table.gather_nd([[1]])": "ndarray",
        "table.submit([1]).wait()": "ndarray", "next(iter(table))": "ndarray", "libgather.take(table, [0], axis=0)": "ndarray",
        "libgather.take([1, 2], [0])": "ndarray", "libgather.take(x, [0])": "ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]",
        "libgather.take(tensor, [0])": "Tensor", "libgather.take_along_axis(x, [0])": "ndarray", "libgather.gather_nd(tensor, [[0]])": "Tensor",
        "libgather.gather_elements([[1]], [[0]])": "ndarray", "libgather.index(x, [0])": "ndarray", "plan(x, [0])": "ndarray",
        "plan(tensor, [0])": "Tensor", "libgather.take(x, [0], out=tensor)": "Tensor", "quantized.take([0])": "ndarray",
        "quantized[[0]]": "ndarray", "quantized.dequantize(out=tensor)": "Tensor", "libgather.read_ids('ids.txt')": "ndarray",
        "libgather.scatter(x, [0], 1.0)": "ndarray[tuple[int], numpy.dtype[numpy.float64]]", "libgather.scatter(tensor, [0], tensor)": "Tensor",
        "libgather.scatter([1, 2], [0], 3)": "ndarray", "libgather.scatter_nd(x, [[0]], [1], out=tensor, reduction='add')": "Tensor",
        "libgather.scatter_add(x, [0], 1.0, axis=0)": "ndarray", "libgather.put_along_axis(tensor, [0], tensor, axis=None)": "Tensor",
        "libgather.scatter_reduce(tensor, [0], 1, 'min')": "Tensor", "libgather.gather_backward(tensor, [0], 3)": "Tensor",
        "libgather.gather_backward(x, [0], 3, sparse=True)[0]": "ndarray", "libgather.embedding_bag(table, [0], [0])": "ndarray",
        "libgather.embedding_bag(tensor, [0], [0], reduction='mean')": "Tensor",
    }  # fmt: skip
    head = [
        "import numpy as np, libgather", "class Tensor:", "    def __dlpack_device__(self) -> tuple[int, int]: return (1, 0)",
        "x, tensor, table = np.zeros(3), Tensor(), libgather.open('table.npy')", "plan = libgather.Plan.take(x, [0])",
        "quantized = libgather.Quantized('Q8_0', np.zeros((2, 34), np.uint8))",
    ]  # fmt: skip
    (tmp_path / "typed.py").write_text("\n".join([*head, *(f"reveal_type({line})" for line in lines)]))
    told = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "typed.py"], cwd=tmp_path,
                          env={**os.environ, "MYPYPATH": str(FOLDER.parent)}, capture_output=True, text=True, check=False)  # fmt: skip
    shown = dict(re.findall(r'typed\.py:(\d+): note: Revealed type is "(.*)"', told.stdout))
    assert len(shown) == len(lines), told.stdout
    for number, (line, kind) in enumerate(lines.items(), len(head) + 1):
        assert kind in shown[str(number)] and not shown[str(number)].startswith("Any"), (line, shown[str(number)])


def test_dir_shows_public_names():
    shown = {name for name in dir(libgather) if not name.startswith("__")}
    assert shown == (set(libgather.__all__) - {"__version__"}) | {"jax", "torch"}
    assert "libgather.open(" in libgather.__doc__.split("libgather.take(")[0]


def test_all():
    """__all__ is what there is, sorted."""
    assert list(libgather.__all__) == sorted(libgather.__all__)
    modules = {name for _, name, _ in pkgutil.iter_modules(libgather.__path__)}
    assert {n for n in vars(libgather) if not n.startswith("_")} - modules <= set(libgather.__all__)
    for name in libgather.__all__:
        assert getattr(libgather, name) is not None


@pytest.mark.parametrize("name", [n for n in libgather.__all__ if n != "__version__"])
def test_docstrings(name):
    text = inspect.getdoc(getattr(libgather, name))
    assert text and len(text) > 10


@pytest.mark.parametrize("name", ["take", "take_along_axis", "gather_elements", "gather_nd", "index"])
def test_docstrings_name_every_parameter(name):
    text = inspect.getdoc(getattr(libgather, name))
    for parameter, _, _ in real_parameters(getattr(libgather, name)):
        assert f"\n{parameter} : " in text or f"{parameter}, " in text or f", {parameter} : " in text, parameter
    for section in ("Parameters", "Returns", "Raises", "Notes"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_python_files_are_typed(path):
    """py.typed is a promise: every function says what it takes and gives."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            bare = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs] if not a.annotation]
            assert set(bare) <= {"self", "cls"} and node.returns is not None, f"{path.name}:{node.lineno} {node.name} {bare}"
    assert (FOLDER / "py.typed").exists()


def test_annotations_can_be_read():
    """Nothing in them is misspelt: documentation tools evaluate them. What is imported for type checkers alone is in another module."""
    missing = {host for host in ("torch", "jax") if importlib.util.find_spec(host) is None}
    modules = [importlib.import_module(f"libgather.{name}") for _, name, _ in pkgutil.iter_modules(libgather.__path__)
               if name not in {"_core", "onnx_backend"} and name.lstrip("_").partition("_")[0] not in missing]
    names = {name: value for module in modules for name, value in vars(module).items()}
    for module in modules:
        for thing in vars(module).values():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                typing.get_type_hints(thing, {**names, **vars(module)})
