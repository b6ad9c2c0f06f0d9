# SPDX-License-Identifier: MIT
"""libgather.build and extension_path(): what they say where something is missing. No OpenVINO is needed; a folder plays one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from libgather import build


@pytest.fixture
def release(tmp_path, monkeypatch):
    """An OpenVINO 9999.9 that consists of the files that are looked for, in front of the path."""
    package = tmp_path / "site/openvino"
    (package / "libs").mkdir(parents=True)
    (package / "include/openvino/core").mkdir(parents=True)
    (package / "include/openvino/core/op_extension.hpp").write_text("#error a header of no release\n")
    (package / "__init__.py").write_text("")
    (package / "libs/libopenvino.so.9999").write_bytes(b"cxx11")
    (tmp_path / "site/openvino-9999.9.dist-info").mkdir()
    (tmp_path / "site/openvino-9999.9.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: openvino\nVersion: 9999.9\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}{os.pathsep}{os.environ['PYTHONPATH']}")
    return package


def python(*words: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120, check=False)


def test_cache_has_the_release(release, tmp_path):
    said = python("-c", "import libgather, libgather.build; print(libgather.__version__, libgather.build.cached('openvino'))").stdout.split()
    assert Path(said[1]) == tmp_path / "cache/libgather" / said[0] / "openvino-9999.9/libgather_openvino.so"


def test_no_extension_says_what_to_run(release):
    done = python("-c", "import libgather.openvino; libgather.openvino.extension_path()")
    assert done.returncode == 1
    assert "FileNotFoundError: no extension has been built for OpenVINO 9999.9" in done.stderr
    assert "python -m libgather.build openvino" in done.stderr


def test_extension_in_the_cache_is_found(release, tmp_path):
    path = python("-c", "import libgather.build; print(libgather.build.cached('openvino'))").stdout.strip()
    Path(path).parent.mkdir(parents=True)
    find = ("-c", "import libgather.openvino; print(libgather.openvino.extension_path())")
    Path(path).write_bytes(b"ELF for libopenvino.so.99\0, another release")
    assert "FileNotFoundError" in python(*find).stderr
    Path(path).write_bytes(b"ELF for libopenvino.so.9999\0")
    assert python(*find).stdout.strip() == path
    assert python("-m", "libgather.build", "openvino").stdout.strip() == path  # it is there: nothing is compiled


def test_no_compiler(release, tmp_path):
    done = python("-m", "libgather.build", "openvino", PATH=str(tmp_path), CXX="")
    assert done.returncode == 1 and done.stderr.startswith("libgather.build: no C++17 compiler"), done.stderr
    done = python("-m", "libgather.build", "openvino", CXX="nowhere-c++ -O1")
    assert done.returncode == 1 and "CXX is 'nowhere-c++ -O1', which cannot be run" in done.stderr


def test_compiler_error_is_shown_and_nothing_is_left(release, tmp_path):
    if not (Path(os.environ["GATHER_BUILD"]) / "python/libgather/plugins/lib/link.txt").is_file():
        pytest.skip("built without GATHER_PLUGIN_OPENVINO")
    done = python("-m", "libgather.build", "openvino")
    assert done.returncode == 1 and "the compiler failed" in done.stderr, done.stderr
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file() or path.name.startswith(".build")] == []


def test_no_openvino(tmp_path):
    empty = "import sys; sys.modules['openvino'] = None\nimport importlib.util as u; u.find_spec = lambda name: None\n"
    done = python("-c", empty + "import libgather.openvino; libgather.openvino.extension_path()")
    assert "ImportError: OpenVINO is not installed: pip install 'libgather[openvino]'" in done.stderr, done.stderr


def test_other_hosts_are_refused():
    with pytest.raises(ValueError, match="builds for openvino, mpi, not for 'torch'"):
        build.cached("torch")
    assert python("-m", "libgather.build", "torch").returncode == 2
    assert "--force" in python("-m", "libgather.build", "--help").stdout


def test_wheel_without_headers(release):
    (release / "include/openvino/core/op_extension.hpp").unlink()
    done = python("-m", "libgather.build", "openvino")
    assert done.returncode == 1 and "has no libs/libopenvino.so.N or no headers" in done.stderr
