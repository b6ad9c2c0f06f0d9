# SPDX-License-Identifier: MIT
"""The installed OpenVINO, as far as an extension must be built for it. CMake runs this file, so it imports nothing of libgather."""

import importlib.metadata
import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wheel:
    """The paths of the headers and libraries of one release."""

    release: str  # "2026.4.1"
    number: str  # "2641", of libopenvino.so.2641: an extension works with this number alone
    include: str
    library: str
    tbb: str  # the thread library it uses; "" = none found
    abi: int  # of libstdc++'s strings: 1 is the new one, 0 that of 2011


def find() -> Wheel:
    """The OpenVINO of this interpreter, without importing it.

    Raises ImportError if there is none, or none that an extension can be built for.
    """
    spec = importlib.util.find_spec("openvino")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("OpenVINO is not installed: pip install 'libgather[openvino]'")
    folder = Path(next(iter(spec.submodule_search_locations)))
    libraries = sorted((folder / "libs").glob("libopenvino.so.*"))
    include = folder / "include"
    if len(libraries) != 1 or not (include / "openvino" / "core" / "op_extension.hpp").is_file():
        raise ImportError(f"the OpenVINO in {folder} has no libs/libopenvino.so.N or no headers; the wheel from PyPI for Linux has both")
    tbb = folder / "libs" / "libtbb.so.12"
    headers = (include / "tbb" / "parallel_for.h").is_file()
    return Wheel(
        release=importlib.metadata.version("openvino"),
        number=re.sub(r".*\.so\.", "", libraries[0].name),
        include=str(include),
        library=str(libraries[0]),
        tbb=str(tbb) if tbb.is_file() and headers else "",
        abi=int(b"cxx11" in libraries[0].read_bytes()),
    )


if __name__ == "__main__":
    # This folder, which comes first in the path of a script, has an openvino.py of its own.
    sys.path = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).resolve().parent]
    try:
        wheel = find()
    except ImportError as error:
        sys.exit(str(error))
    print(wheel.release, wheel.number, wheel.include, wheel.library, wheel.tbb, wheel.abi, sep=";")
