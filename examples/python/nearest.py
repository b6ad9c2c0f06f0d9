# SPDX-License-Identifier: MIT
#
# nearest.py: words near a word, by their vectors: rows by index, elements by an order, and an index that is wrong.
import numpy as np

import libgather

words = ["king", "queen", "prince", "apple", "pear", "plum"]
vectors = np.array([[9, 1, 0], [8, 2, 0], [7, 1, 1], [0, 9, 3], [1, 8, 4], [0, 8, 5]], np.float32)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

asked = np.array([0, 3], np.int32)  # king, apple
near = libgather.take(vectors, asked, axis=0) @ vectors.T
order = np.argsort(-near, axis=1)[:, :3]
for word, others, scores in zip(asked, order, libgather.take_along_axis(near, order)):
    print(words[word], "-", *(f"{words[other]} {score:.2f}" for other, score in zip(others, scores)))

try:
    libgather.take(vectors, [[0, 1], [6, -7]], axis=0)
except libgather.GatherIndexError as error:
    print(error)
    print(f"first at {error.position}: {error.value}, {error.bad_count} in all")
