# SPDX-License-Identifier: MIT
"""What docs/ops says of each operator family: one class per row of include/gather/family.def, named like its ENUM.

In the formulas r is the rank of data, q that of indices, a the axis counted from 0, b batch_dims.
"""

from op_tables import Op

DATA = [[1, 2, 3], [4, 5, 6]]
ROWS = "| name | from | range | default |\n| --- | --- | --- | --- |\n"


class AlongAnAxis:
    """What operators with an axis have in common. Their example is along axis 1, with batch_dims 1 where the operator has it."""

    letters = "r is the rank of data, q that of indices, a the axis counted from 0"
    axis_error = "the axis is outside [-r, r-1]"
    batch_error = "batch_dims is outside its range, or above the axis"
    of_axis = "n = the length of the axis"
    high_rank = "a rank above 64"

    @staticmethod
    def attributes(op: Op) -> str:
        source = "input 3, a tensor of one element (`gather_axis_read`)" if op.axis == "INPUT" else "attribute"
        text = ROWS + f"| axis, *a* | {source} | [-r, r-1]; a negative axis counts from the end | 0 |"
        if op.batch_dims:
            text += (
                "\n| batch_dims, *b* | attribute | [-m, m], m = min(r, q); a negative value counts from the rank of indices; "
                "the result is at most the axis | 0 |"
            )
        return text

    @staticmethod
    def gathered(op: Op, data, indices):
        """The example's output. A bad index gives 0."""

        def pick(row, k):
            return row[k] if -3 <= k < 3 else 0

        per_row = indices if isinstance(indices[0], list) else [indices, indices]
        return [[pick(row, k) for k in picked] for row, picked in zip(data, per_row, strict=True)]

    @staticmethod
    def place(bad) -> tuple:
        """Where the bad index of the example is."""
        return (1,) if isinstance(bad[0], int) else (1, 0)

    @staticmethod
    def component(place: tuple) -> str:
        """What the message says of it."""
        return ""

    @staticmethod
    def c_options(op: Op) -> list[str]:
        if op.axis == "INPUT":
            return [
                "  int32_t axis_value = 1;",
                "  gather_tensor axis = {.data = &axis_value, .type = GATHER_TYPE_INT32};",
                "  gather_options options = GATHER_OPTIONS_INIT;",
                "  if (gather_axis_read(&axis, &options.axis, &error) != GATHER_OK) return 1;",
            ]
        return ["  gather_options options = GATHER_OPTIONS_INIT;", "  options.axis = 1;"]

    command_options = " --axis 1"

    @staticmethod
    def example_head(op: Op) -> str:
        return "Axis 1, batch_dims 1" if op.batch_dims else "Axis 1"


class Gather(AlongAnAxis):
    """GATHER"""

    command = "take"
    picks = "whole rows of data by index"
    one = "row"  # what one index selects
    ranks = "r is at least 1, q is any."
    rank_mismatch = "data is 0-D"

    @staticmethod
    def formula(op: Op) -> str:
        if op.batch_dims:
            return (
                "out[p_0, ..., p_{a-1}, i_b, ..., i_{q-1}, p_{a+1}, ..., p_{r-1}] = data[p_0, ..., p_{a-1}, k, p_{a+1}, ..., p_{r-1}]\n"
                "    with k = indices[p_0, ..., p_{b-1}, i_b, ..., i_{q-1}]"
            )
        return (
            "out[p_0, ..., p_{a-1}, i_0, ..., i_{q-1}, p_{a+1}, ..., p_{r-1}] = data[p_0, ..., p_{a-1}, k, p_{a+1}, ..., p_{r-1}]\n"
            "    with k = indices[i_0, ..., i_{q-1}]"
        )

    @staticmethod
    def shape_rule(op: Op) -> str:
        if op.batch_dims:
            return (
                "`data.shape[:a] + indices.shape[b:] + data.shape[a+1:]`, of rank r + q - 1 - b. The first *b* lengths of data and "
                "indices are equal."
            )
        return "`data.shape[:a] + indices.shape + data.shape[a+1:]`, of rank r + q - 1."

    @staticmethod
    def shape_mismatch(op: Op) -> str:
        return "the batch dimensions differ" if op.batch_dims else ""

    @staticmethod
    def example(op: Op, last: int):
        """data, indices and a copy of the indices with one that is out of range; `last` is a valid index along axis 1."""
        if not op.batch_dims:
            return DATA, [last, 0], [last, 3]
        return DATA, [[last, 0], [1, 1]], [[last, 0], [3, 1]]


class Elements(AlongAnAxis):
    """ELEMENTS"""

    command = "elements"
    picks = "one element of data per index"
    one = "element"
    ranks = "r and q are equal and at least 1."
    rank_mismatch = "data or indices are 0-D, or their ranks differ"

    @staticmethod
    def formula(op: Op) -> str:
        return "out[i_0, ..., i_{r-1}] = data[i_0, ..., i_{a-1}, k, i_{a+1}, ..., i_{r-1}]   with k = indices[i_0, ..., i_{r-1}]"

    @staticmethod
    def shape_rule(op: Op) -> str:
        off = {
            "EQUAL": "Off the axis, indices and data have equal lengths; along the axis any length is valid.",
            "AT_MOST": "Off the axis, indices are not longer than data; along the axis any length is valid.",
        }[op.off_axis]
        return f"`indices.shape`. r = q. {off}"

    @staticmethod
    def shape_mismatch(op: Op) -> str:
        return "a length off the axis does not fit"

    @staticmethod
    def example(op: Op, last: int):
        return DATA, [[last, 0], [1, 1]], [[last, 0], [3, 1]]


class ND:
    """ND"""

    command = "nd"
    picks = "slices or elements of data by tuples of indices"
    one = "slice"
    letters = "r is the rank of data, q that of indices, k the last length of indices: the numbers of a tuple"
    ranks = "r and q are at least 1."
    rank_mismatch = "data or indices are 0-D"
    axis_error = "an axis is given, which the operator has not"
    batch_error = "batch_dims is outside its range"
    of_axis = "n = the length of the axis that the component selects on"
    high_rank = "a rank above 64; with k above 1 also r + q above 65 + batch_dims"
    command_options = ""

    @staticmethod
    def attributes(op: Op) -> str:
        if not op.batch_dims:
            return "No attributes."
        return ROWS + "| batch_dims, *b* | attribute | [0, m - 1], m = min(r, q) | 0 |"

    @staticmethod
    def formula(op: Op) -> str:
        if not op.batch_dims:
            return (
                "out[i_0, ..., i_{q-2}, p_k, ..., p_{r-1}] = data[t_0, ..., t_{k-1}, p_k, ..., p_{r-1}]\n"
                "    with t_c = indices[i_0, ..., i_{q-2}, c]"
            )
        out = "out[o, i_b, ..., i_{q-2}, p_{b+k}, ..., p_{r-1}]" if op.fused else "out[i_0, ..., i_{q-2}, p_{b+k}, ..., p_{r-1}]"
        text = (
            f"{out} = data[i_0, ..., i_{{b-1}}, t_0, ..., t_{{k-1}}, p_{{b+k}}, ..., p_{{r-1}}]\n"
            "    with t_c = indices[i_0, ..., i_{q-2}, c]"
        )
        if op.fused:
            text += "\n    and o = the number of the batch i_0, ..., i_{b-1} in row-major order; without o where b is 0"
        return text

    @staticmethod
    def shape_rule(op: Op) -> str:
        tuples = "k is from {} to {}.".format("0" if op.tuples == "ANY" else "1", "r - b" if op.batch_dims else "r")
        if not op.batch_dims:
            return f"`indices.shape[:-1] + data.shape[k:]`, of rank q - 1 + r - k. {tuples}"
        equal = "The first *b* lengths of data and indices are equal."
        if op.fused:
            return (
                "`[product of indices.shape[:b]] + indices.shape[b:-1] + data.shape[b+k:]`, of rank q + r - k - 2b; where b is 0 "
                f"`indices.shape[:-1] + data.shape[k:]`. {tuples} {equal}"
            )
        return f"`indices.shape[:-1] + data.shape[b+k:]`, of rank q - 1 + r - k - b. {tuples} {equal}"

    @staticmethod
    def shape_mismatch(op: Op) -> str:
        return "k is out of its range" + ("; the batch dimensions differ" if op.batch_dims else "")

    @staticmethod
    def example(op: Op, last: int):
        if op.batch_dims:
            return DATA, [[[last], [0]], [[1], [1]]], [[[last], [0]], [[3], [1]]]
        return DATA, [[[0, last], [0, 0]], [[1, 1], [1, 1]]], [[[0, last], [0, 0]], [[1, 3], [1, 1]]]

    @staticmethod
    def gathered(op: Op, data, indices):
        def pick(row, k):
            return row[k] if -3 <= k < 3 else 0

        if op.batch_dims:
            return [[pick(data[n], t[0]) for t in tuples] for n, tuples in enumerate(indices)]
        return [[pick(data[t[0]], t[1]) for t in tuples] for tuples in indices]

    @staticmethod
    def place(bad) -> tuple:
        return 1, 0, len(bad[0][0]) - 1

    @staticmethod
    def component(place: tuple) -> str:
        return f", component {place[-1]} of tuple {list(place[:-1])},"

    @staticmethod
    def c_options(op: Op) -> list[str]:
        return ["  gather_options options = GATHER_OPTIONS_INIT;"]

    @staticmethod
    def example_head(op: Op) -> str:
        return "Tuples of one number, batch_dims 1" if op.batch_dims else "Tuples of two numbers"


FAMILIES = {words.__doc__: words for words in (Gather, Elements, ND)}
