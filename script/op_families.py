# SPDX-License-Identifier: MIT
"""What docs/ops says of each operator family: one class per row of include/gather/family.def, named like its ENUM.

In the formulas r is the rank of data, q that of indices, a the axis counted from 0, b batch_dims.
"""

from op_tables import Op

DATA = [[1, 2, 3], [4, 5, 6]]


class Gather:
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


class Elements:
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


FAMILIES = {words.__doc__: words for words in (Gather, Elements)}
