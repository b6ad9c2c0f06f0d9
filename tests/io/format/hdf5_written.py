# SPDX-License-Identifier: MIT
"""HDF5 files that h5py writes, for the tests of their reader."""
import numpy as np
from gather_files import content
from many import assert_within, complaints
from support.skip import needs
from tensor_files import opened

try:
    import h5py
except ImportError:
    h5py = None

needs_h5py = needs("h5py", h5py)

LIBVERS = ["earliest", "v108", "v110", "latest"]
NUMBERS = np.arange(24, dtype="<i4").reshape(6, 4)


def version(name: str) -> tuple[str, str]:
    return (name, "latest" if name == "earliest" else name)


def written(folder, fill, libver: str = "earliest", **options) -> bytes:
    """The bytes of a file that `fill` puts datasets into."""
    path = folder / "made.h5"
    with h5py.File(path, "w", libver=version(libver), **options) as file:
        fill(file)
    return path.read_bytes()


def low_level(folder, fill, sizes: tuple[int, int], user: int = 0, libver: str = "earliest") -> bytes:
    """The same, with sizes of offsets and lengths, which h5py.File has no argument for."""
    path = folder / "made.h5"
    create, access = h5py.h5p.create(h5py.h5p.FILE_CREATE), h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    create.set_sizes(*sizes)
    create.set_userblock(user)
    bounds = {"earliest": h5py.h5f.LIBVER_EARLIEST, "latest": h5py.h5f.LIBVER_LATEST}
    access.set_libver_bounds(bounds[libver], h5py.h5f.LIBVER_LATEST)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    with h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, create, access)) as file:
        fill(file)
    return path.read_bytes()


def compact(file, name: str, array: np.ndarray) -> None:
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_layout(h5py.h5d.COMPACT)
    create.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    space = h5py.h5s.create_simple(array.shape) if array.shape else h5py.h5s.create(h5py.h5s.SCALAR)
    made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(array.dtype, logical=True), space, create, links)
    if array.size:
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, array)


def same(source: bytes, arrays: dict[str, np.ndarray]) -> None:
    """A file lists exactly these datasets, with these elements at the places it says."""
    with opened(source) as file:
        assert file.format == "hdf5" and not complaints(file)
        assert sorted(file.names) == sorted(arrays)
        assert_within(file, len(source))
        for name, tensor in zip(file.names, file.all, strict=True):
            array = arrays[name]
            assert (tensor.shape, tensor.bytes) == (array.shape, array.nbytes), name
            assert content(tensor) == array.tobytes(), name
            assert tensor.bytes == 0 or source[tensor.offset:tensor.offset + tensor.bytes] == array.tobytes()
