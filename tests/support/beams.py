# SPDX-License-Identifier: MIT
"""GatherTree once more, from the text of OpenVINO GatherTree-1, one sequence at a time; and the cases of OpenVINO's own tests of it."""
import numpy as np


def sequences(steps, parents, lengths, end, policy="error", negative=False, fill=0):
    """The output, and the set of places of parents out of range that a sequence follows."""
    time, batch, width = steps.shape
    out, bad = np.full_like(steps, end), set()
    for b in range(batch):
        last = min(time, int(lengths[b]))
        for w in range(width):
            beam = w
            for t in reversed(range(max(last, 0))):
                out[t, b, w] = fill if beam is None else steps[t, b, beam]
                if t == 0 or beam is None:
                    continue
                spot, parent = (t, b, beam), parents[t, b, beam].item()
                if negative and -width <= parent < 0:
                    parent += width
                if not 0 <= parent < width or parent != int(parent):
                    bad.add(spot)
                    if policy == "error":
                        break
                    if policy in ("zero", "fill"):
                        parent = None
                    elif policy == "wrap":
                        parent = int(parent) % width
                    else:
                        parent = min(max(int(parent), 0), width - 1)
                beam = None if parent is None else int(parent)
            ended = False
            for t in range(max(last, 0)):
                if ended:
                    out[t, b, w] = end
                ended = ended or bool(out[t, b, w] == end)
    return out, bad


def draw(rng, dtype=np.int32, faults=0.0, time=None, batch=None, width=None):
    """Random inputs; faults: how often a parent is out of range."""
    time, batch, width = (n if n is not None else int(rng.integers(1, top)) for n, top in ((time, 8), (batch, 4), (width, 7)))
    shape = (time, batch, width)
    steps = rng.integers(0, 6, shape).astype(dtype)
    parents = rng.integers(0, width, shape).astype(dtype)
    if faults:
        wrong = rng.choice([width, width + 3, *([-1, -width - 1] if np.dtype(dtype).kind != "u" else [])], shape)
        parents = np.where(rng.random(shape) < faults, wrong, parents).astype(dtype)
    lengths = rng.integers(0 if np.dtype(dtype).kind == "u" else -1, time + 3, batch).astype(dtype)
    return steps, parents, lengths, dtype(rng.integers(0, 6))


_TEN = [1, 4, 9, 7, 9, 1, 2, 3, 9, 2]
_FIFTY = [*_TEN, 3, 1, 4, 2, 4, 4, 7, 4, 9, 5, 8, 4, 3, 7, 5, 2, 4, 8, 3, 1, 5, 7, 9, 4, 5, 6, 4, 2, 9, 2, 8, 8, 7, 9, 8, 3, 1, 7, 5, 9]
_MORE = [8, 8, 9, 8, 1, 8, 1, 3, 2, 1, 8, 7, 1, 6, 4, 7, 9, 4, 5, 2, 7, 3, 3, 2, 7, 8, 8, 4, 1, 1, 7, 6, 9, 6, 7, 3, 3, 5, 8, 2]
_TOP = [1, 1, 5, 5, 9, 1, 3, 9, 3, 2, 2, 5, 1, 1, 7, 9, 2, 9, 3, 3, 5, 6, 1, 6, 6, 6, 2, 9, 6, 3, 7, 3, 1, 5, 4, 9, 7, 5, 4, 5]
_HIGH = [1, 7, 5, 1, 6, 2, 5, 8, 9, 1, 6, 8, 9, 5, 2, 5, 2, 9, 8, 4, 4, 5, 2, 6, 9, 4, 4, 6, 7, 6, 7, 2, 8, 7, 6, 6, 7, 4, 4, 7]
_LAST = [3, 4, 9, 7, 4, 8, 9, 1, 6, 5, 6, 1, 2, 8, 9, 1, 5, 4, 6, 9, 4, 4, 3, 7, 9, 7, 6, 3, 1, 7, 9]
_TWENTY = [*_FIFTY[:-1], *_MORE, *_TOP, *_HIGH, *_LAST]  # 200 numbers

# name, shape, step_ids, parent_ids, max_seq_len, end_token, final_ids: the suite gives both inputs the same numbers.
OPENVINO_CASES = [
    ("gather_tree_1", (1, 1, 10), [*_TEN[:9], 9], [9], 9, [*_TEN[:9], 9]),
    ("gather_tree_5", (5, 1, 10), _FIFTY, [9], 9,
     [4, 4, 9, 9, 4, 9, 2, 9, 9, 9, 1, 1, 9, 9, 1, 9, 9, 9, 9, 9, 1, 1, 9, 9, 1, 9, 9, 9, 9, 9, *[9] * 20]),
    ("gather_tree_10", (20, 1, 10), _TWENTY, [9], 9,
     [9, 4, 9, 4, 4, 4, 9, 4, 9, 9, 9, 1, 9, 1, 1, 1, 9, 1, 9, 9, 9, 1, 9, 1, 1, 1, 9, 1, 9, 9, *[9] * 170]),
]
