# SPDX-License-Identifier: MIT
"""Groups of HDF5 files that h5py writes: of every kind, nested, in circles, with links, and in files of every superblock."""
import numpy as np
import pytest
from gather_files import GatherError, content
from hdf5_written import LIBVERS, NUMBERS, h5py, low_level, needs_h5py, same, written  # noqa: F401
from many import complaints
from support.refusal import refuses
from tensor_files import opened

def members(count: int) -> dict[str, np.ndarray]:
    return {f"g/{'é' * (i % 3)}{i * 7919 % 10007}": np.array([i, -i]) for i in range(count)}


@pytest.mark.parametrize("track_order", [False, True])
@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("count", [0, 1, 8, 9, 300, 3000])
def test_groups_of_many_members(count, libver, track_order, tmp_path) -> None:
    """Symbol tables of several levels; link messages; heaps with indirect blocks, indexes of several levels."""
    def fill(file) -> None:
        group = file.create_group("g", track_order=track_order)
        for name, array in members(count).items():
            group.create_dataset(name[2:], data=array)

    same(written(tmp_path, fill, libver, track_order=track_order), members(count))


NAMES = ["a", ".hidden", "a b", "größe", "表", "x" * 255, "x" * 256, "y" * 300, "z" * 5000, "w" * 60_000, "a:b", "1", "-", "\t"]


@pytest.mark.parametrize("more", [0, 20])
@pytest.mark.parametrize("libver", LIBVERS)
def test_names(libver, more, tmp_path) -> None:
    """Long ones are in fractal heaps as objects of their own."""
    names = NAMES + [f"more{i}" for i in range(more)]

    def fill(file) -> None:
        for i, name in enumerate(names):
            file.create_dataset(name, data=np.array([i]))

    same(written(tmp_path, fill, libver), {name: np.array([i]) for i, name in enumerate(names)})


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_heap_with_blocks_below_blocks(libver, tmp_path) -> None:
    names = [f"{i:05}" + "n" * 500 for i in range(1500)]

    def fill(file) -> None:
        for i, name in enumerate(names):
            file.create_dataset(name, data=np.array([i], "i2"))

    same(written(tmp_path, fill, libver), {name: np.array([i], "i2") for i, name in enumerate(names)})


@pytest.mark.parametrize("libver", LIBVERS)
def test_nested_groups(libver, tmp_path) -> None:
    arrays = {"/".join(f"level{k}" for k in range(depth)) + "/rows": np.array([depth]) for depth in (1, 2, 5, 20, 60)}
    arrays |= {f"wide/{i}/{k}": np.array([i, k]) for i in range(12) for k in range(12)}

    def fill(file) -> None:
        for name, array in arrays.items():
            file[name] = array
        file.create_group("nothing/in/it")

    same(written(tmp_path, fill, libver), arrays)


@pytest.mark.parametrize("libver", LIBVERS)
def test_groups_that_were_changed(libver, tmp_path) -> None:
    """Links that were deleted leave holes in tables and heaps."""
    kept = {name: array for i, (name, array) in enumerate(members(400).items()) if i % 3 == 0}

    def fill(file) -> None:
        for name, array in members(400).items():
            file[name] = array
        for name in members(400):
            if name not in kept:
                del file[name]
        file.move(next(iter(kept)), "moved/here")

    expected = dict(list(kept.items())[1:]) | {"moved/here": next(iter(kept.values()))}
    same(written(tmp_path, fill, libver), expected)


@pytest.mark.parametrize("libver", LIBVERS)
def test_attributes_do_not_disturb(libver, tmp_path) -> None:
    """Headers are continued in other blocks; more than eight attributes are in a heap."""
    def fill(file) -> None:
        for name in ("few", "many", "group/late"):
            made = file.create_dataset(name, data=NUMBERS)
            for i in range(3 if name == "few" else 60):
                made.attrs[f"attribute {i}"] = "text" * i
        for i in range(40):
            file.attrs[f"of root {i}"] = np.arange(i)
            file["group"].attrs[f"of group {i}"] = [1.0] * 40

    same(written(tmp_path, fill, libver), {"few": NUMBERS, "many": NUMBERS, "group/late": NUMBERS})


@pytest.mark.parametrize("libver", LIBVERS)
def test_links(libver, tmp_path) -> None:
    def fill(file) -> None:
        file["g/rows"] = NUMBERS
        file["second"] = file["g/rows"]
        file["soft"] = h5py.SoftLink("/g/rows")
        file["g/relative"] = h5py.SoftLink("rows")
        file["chain0"] = h5py.SoftLink("/soft")
        for i in range(1, 10):
            file[f"chain{i}"] = h5py.SoftLink(f"chain{i - 1}")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["circle"] = h5py.SoftLink("/circle")
        file["other file"] = h5py.ExternalLink("other.h5", "/rows")

    with opened(written(tmp_path, fill, libver)) as file:
        assert file.names == ["g/rows"] and not complaints(file)
        for name in ("g/rows", "second", "soft", "g/relative", "chain0", "chain9", "//g/./rows"):
            assert content(file[name]) == content(file["/" + name]) == NUMBERS.tobytes()
        for name, words in (("dangling", "/nowhere"), ("circle", "more than 16"), ("other file", "other.h5")):
            assert words in refuses(GatherError, file.find, name).message


@pytest.mark.parametrize("libver", LIBVERS)
def test_groups_in_circles_end(libver, tmp_path) -> None:
    def fill(file) -> None:
        file["a/b/rows"] = NUMBERS
        file["a/b/up"] = file["a"]
        file["a/b/root"] = file["/"]
        file["a/soft"] = h5py.SoftLink("/a")

    with opened(written(tmp_path, fill, libver)) as file:
        assert file.names == ["a/b/rows"]
        for name in ("a/b/rows", "a/b/up/b/rows", "a/b/root/a/b/root/a/b/rows", "a/soft/soft/b/up/soft/b/rows"):
            assert content(file[name]) == NUMBERS.tobytes()


# ---- files


@pytest.mark.parametrize("user", [0, 512, 1024, 2048, 65536])
@pytest.mark.parametrize("libver", LIBVERS)
def test_user_blocks(libver, user, tmp_path) -> None:
    source = bytearray(written(tmp_path, lambda file: file.__setitem__("g/rows", NUMBERS), libver, userblock_size=user))
    if user:
        source[:20] = b"MATLAB 7.3 MAT-file,"
    same(bytes(source), {"g/rows": NUMBERS})


SIZES = [(2, 2), (2, 4), (4, 2), (4, 4), (4, 8), (8, 4), (8, 8)]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_sizes_of_offsets_and_lengths(sizes, libver, tmp_path) -> None:
    """With lengths of 2, libhdf5 writes the 65536 of heaps as 0."""
    arrays = {f"g/{i}": np.array([i]) for i in range(30)} | {"rows": NUMBERS, "a/b/c": NUMBERS}

    def fill(file) -> None:
        for name, array in arrays.items():
            file[name] = array

    for user in (0, 512):
        same(low_level(tmp_path, fill, sizes, user=user, libver=libver), arrays)


def test_superblocks(tmp_path) -> None:
    found = {written(tmp_path, lambda file: file.__setitem__("a", NUMBERS), libver)[8] for libver in LIBVERS}
    assert found >= {0, 2, 3}
