# SPDX-License-Identifier: MIT
"""Names of files: an output that is an input, and the colon of a URL."""

import libgather
import numpy as np
import pytest


def test_a_file_is_shuffled_onto_itself_only_if_asked_for(tmp_path):
    p = tmp_path / "x.npy"
    np.save(p, np.arange(100))
    before = p.read_bytes()
    with pytest.raises(OSError, match="in_place=True"):
        libgather.shuffle(p, p, replace=True)
    assert p.read_bytes() == before
    libgather.shuffle(p, p, replace=True, in_place=True, seed=3)
    assert sorted(np.load(p)) == list(range(100)) and p.read_bytes() != before


def test_a_query_is_never_split():
    from libgather.ids import _split
    for url, want in {
        "https://h/x.npy?se=05:07:10Z&sig=S": ("https://h/x.npy?se=05:07:10Z&sig=S", ""),
        "https://h/x.csv:id?sig=a:b": ("https://h/x.csv?sig=a:b", "id"),
        "https://h:80/x.csv:id": ("https://h:80/x.csv", "id"),
        "s3://b/2022-11-26T13:51:14+00:00/t.npy": ("s3://b/2022-11-26T13:51:14+00:00/t.npy", ""),
        "s3://b/x:n": ("s3://b/x", "n"), "https://h?x:y": ("https://h?x:y", ""), "https://h": ("https://h", ""),
        "https://h/m.onnx:a/b:c": ("https://h/m.onnx", "a/b:c")}.items():
        assert _split(url) == want, url
