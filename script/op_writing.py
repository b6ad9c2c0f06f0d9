# SPDX-License-Identifier: MIT
"""Pages of docs/embed/ops for operators that write, and for embedding bags (include/gather/scatter.h): what differs from one to the next is in
the classes, one per family, named like its ENUM in include/gather/family.def."""

from op_tables import Op

ROWS = "| name | from | range | default |\n| --- | --- | --- | --- |\n"
DATA = [[1, 2, 3], [4, 5, 6]]

# What an attribute "reduction" may be. Operators that are not here replace, and have no such attribute.
REDUCTIONS = {
    "ONNX ScatterElements-16": "none, add, mul",
    "ONNX ScatterElements-18": "none, add, mul, max, min",
    "ONNX ScatterND-16": "none, add, mul",
    "ONNX ScatterND-18": "none, add, mul, max, min",
    "OpenVINO ScatterElementsUpdate-12": "none, sum, prod, min, max, mean",
    "OpenVINO ScatterNDUpdate-15": "none, sum, sub, prod, min, max",
    "OpenVINO EmbeddingBagOffsets-15": "sum, mean",
    "OpenVINO EmbeddingBagPacked-15": "sum, mean",
}


def c_list(values) -> str:
    return str(values).replace("[", "{").replace("]", "}")


def shape_of(values) -> list[int]:
    return [len(values)] + (shape_of(values[0]) if isinstance(values[0], list) else [])


def bracket(shape) -> str:
    return "".join(f"[{length}]" for length in shape)


def lines_of(rows) -> str:
    return "\n".join(" ".join(map(str, row)) for row in rows)


class Writing:
    """What the operators have in common whose updates are written by index."""

    head = "`{name}` of {dialect}, opset {opsets}; here `gather_scatter_apply` (`gather/scatter.h`) with `gather_op_find(\"{name}\", \"{rules}\")`."
    instead = ""  # of an example

    @classmethod
    def attributes(cls, op: Op) -> str:
        source = "input 4, a tensor of one element (`gather_axis_read`)" if op.axis == "INPUT" else "attribute"
        rows = f"| axis, *a* | {source} | [-r, r-1]; a negative axis counts from the end | 0 |\n" if op.axis != "NONE" else ""
        if op.document in REDUCTIONS:
            rows += f"| reduction | attribute | {REDUCTIONS[op.document]} | none |\n"
        if op.document == "OpenVINO ScatterElementsUpdate-12":
            rows += "| use_init_val | attribute | true or false | true |\n"
        return (ROWS + rows).rstrip("\n") if rows else "No attributes."

    @classmethod
    def rule(cls, op: Op) -> str:
        text = f"""{cls.letters}.

```
out = copy of data
for each update, in row-major order:
{cls.formula}
```

{cls.attributes(op)}

**Shapes.** {cls.shapes}

**Output.** Shape, type and byte order of data. It may be data itself.

**Repeated indices.** {cls.repeated(op)} `gather_scatter_options.unique` makes a repeated index an error (`index_repeated`).
"""
        if op.document in REDUCTIONS:
            text += f"\n{cls.reductions(op)}\n"
        return text

    @staticmethod
    def repeated(op: Op) -> str:
        if op.dialect == "onnx" and op.document in REDUCTIONS:
            return "Without a reduction the document forbids them; here the last update is left."
        return "The last update is left." if op.document not in REDUCTIONS else "Without a reduction the last update is left."

    @staticmethod
    def reductions(op: Op) -> str:
        rounds = "at each step" if op.dialect == "onnx" else "once, at the end, if the type is float16 or bfloat16, else at each step"
        text = (
            "**Reductions.** The updates of one element are added (multiplied ...) to it in their order, and rounded to the element's type "
            f"{rounds}; `gather_scatter_options.accumulate` chooses. Integers wrap around. A NaN is the minimum and the maximum of anything "
            "with it. Of bool, a sum and a maximum are \"or\", a product and a minimum \"and\"."
        )
        if "mean" in REDUCTIONS[op.document]:
            text += " A mean of integers is rounded down. bool has no mean."
        if op.document == "OpenVINO ScatterElementsUpdate-12":
            text += (
                " Without use_init_val, elements with an update start at 0, 1, the lowest or the largest finite number, and a mean is that of "
                "the updates."
            )
        return text

    @staticmethod
    def indices(op: Op) -> str:
        low, negative = ("-n", "Negative indices count from the end.") if op.negative else ("0", "Negative indices are out of range.")
        return (
            f"The valid range is [{low}, n-1], n = the length of the axis{' that the component selects on' if op.tuples != 'NONE' else ''}. {negative}\n"
            "An index out of range is an error (`index_out_of_range`), found before anything is written.\n"
            f"This corresponds to `--negative {'on' if op.negative else 'off'} --on-bad error`. Callers can override it with "
            "`gather_scatter_options.negative` and\n`gather_scatter_options.on_bad`: clamp, wrap, or skip, which leaves the update out."
        )

    @classmethod
    def example(cls, op: Op) -> str:
        """Text, a program and what it prints, and a command."""
        indices, updates, result, bad, message = cls.case(op)
        shapes = shape_of(indices), shape_of(updates)
        if op.axis == "INPUT":
            axis = """  int32_t axis_value = 1;
  gather_tensor axis = {.data = &axis_value, .type = GATHER_TYPE_INT32};
  if (gather_axis_read(&axis, &options.axis, &error) != GATHER_OK) return 1;
"""
        else:
            axis = "  options.axis = 1;\n" if op.axis == "ATTRIBUTE" else ""
        program = f"""#include <stdio.h>

#include "gather/scatter.h"

int main(void) {{
  int32_t table[2][3] = {c_list(DATA)}, values{bracket(shapes[1])} = {c_list(updates)}, result[2][3];
  int64_t ids{bracket(shapes[0])} = {c_list(indices)};
  const int64_t data_shape[] = {{2, 3}}, indices_shape[] = {c_list(shapes[0])}, updates_shape[] = {c_list(shapes[1])};
  gather_tensor data = {{.data = table, .type = GATHER_TYPE_INT32, .rank = 2, .shape = data_shape}};
  gather_tensor indices = {{.data = ids, .type = GATHER_TYPE_INT64, .rank = {len(shapes[0])}, .shape = indices_shape}};
  gather_tensor updates = {{.data = values, .type = GATHER_TYPE_INT32, .rank = {len(shapes[1])}, .shape = updates_shape}};
  gather_tensor out = {{.data = result, .type = GATHER_TYPE_INT32, .rank = 2, .shape = data_shape}};
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_error error;
{axis}  const gather_op *op = gather_op_find("{op.name}", "{op.rules}");

  if (gather_scatter_apply(op, &data, &indices, &updates, &out, &options, &error) != GATHER_OK) return 1;
  for (int i = 0; i < 2; i++) printf("%d %d %d\\n", (int)result[i][0], (int)result[i][1], (int)result[i][2]);

  ids{bracket(bad)} = 3; /* out of range */
  if (gather_scatter_apply(op, &data, &indices, &updates, &out, &options, &error) != GATHER_OK) puts(error.message);
  return 0;
}}"""
        words = " ".join([*cls.form, "--rules", op.rules, *([] if op.axis == "NONE" else ["--axis", "1"])])
        return f"""
## Example

Data `{DATA}`, indices `{indices}` and updates `{updates}`{"" if op.axis == "NONE" else " along axis 1"} give `{result}`. Then an index is set to 3, which is out of range.

```c
{program}
```

```text
{lines_of(result)}
{message}
```

The same on the command line:

```console
$ python3 -c 'import numpy as np; np.save("data.npy", np.array({DATA}, np.int32))'
$ gather scatter data.npy '{indices}' '{updates}' {words} -q -o out.npy
$ python3 -c 'import numpy as np; print(np.load("out.npy").tolist())'
{result}
```
"""

    errors = {
        "TYPE_UNSUPPORTED": "indices are not integers; the type has no such reduction",
        "TYPE_MISMATCH": "the types of updates or of the output differ from data's",
        "RANK_MISMATCH": "data is 0-D; a rank does not fit",
        "AXIS_OUT_OF_RANGE": "the axis is outside [-r, r-1]",
        "SHAPE_MISMATCH": "updates, the output or a length off the axis do not fit",
        "OVERFLOW": "a size does not fit 64 bits or memory",
        "OUT_OF_MEMORY": "no memory for means, or for sums that are rounded once",
        "UNSUPPORTED": "a rank above 64; a reduction that the document lacks; the operator is given to `gather_apply`",
        "USAGE": "the output overlaps itself or an input in another way than as data itself, or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "an index out of range; also with clamp or wrap, on an axis of length 0",
        "INDEX_REPEATED": "with `unique`, an index that selects the same place as an earlier one",
    }


class Scatter(Writing):
    """SCATTER"""

    form = ()  # options of `gather scatter`

    @staticmethod
    def case(op: Op):
        return [2, 0], [[7, 8], [9, 10]], [[8, 2, 7], [10, 5, 9]], (0,), f"indices[0] = 3 is outside [0, 2] of axis 1 ({op.name} {op.rules}); 1 of 2 indices is bad"

    what = "It writes whole rows of data by index; it is the inverse of Gather."
    letters = "r is the rank of data, q that of indices, a the axis counted from 0"
    formula = (
        "    out[p_0, ..., p_{a-1}, k, p_{a+1}, ..., p_{r-1}] = updates[p_0, ..., p_{a-1}, i_0, ..., i_{q-1}, p_{a+1}, ..., p_{r-1}]\n"
        "    with k = indices[i_0, ..., i_{q-1}]"
    )
    shapes = "r is at least 1, q is any. updates have `data.shape[:a] + indices.shape + data.shape[a+1:]`."


class Elements(Writing):
    """SCATTER_ELEMENTS"""

    form = ("--elements",)

    @staticmethod
    def case(op: Op):
        low = -3 if op.negative else 0
        message = f"indices[0, 0] = 3 is outside [{low}, 2] of axis 1 ({op.name} {op.rules}); 1 of 4 indices is bad"
        return [[2, 0], [1, 0]], [[7, 8], [9, 10]], [[8, 2, 7], [10, 9, 6]], (0, 0), message

    what = "It writes one element of data per index; it is the inverse of GatherElements."
    letters = "r is the rank of data and of indices, a the axis counted from 0"
    formula = (
        "    out[i_0, ..., i_{a-1}, k, i_{a+1}, ..., i_{r-1}] = reduce(that, updates[i_0, ..., i_{r-1}])\n"
        "    with k = indices[i_0, ..., i_{r-1}]; without a reduction, reduce(that, update) = update"
    )
    shapes = (
        "The ranks of data, indices and updates are equal and at least 1. updates have the shape of indices. Off the axis, indices are not "
        "longer than data; along the axis any length is valid."
    )


class ND(Writing):
    """SCATTER_ND"""

    form = ("--nd",)

    @staticmethod
    def case(op: Op):
        message = f"indices[1, 1] = 3, component 1 of tuple [1], is outside [-3, 2] of axis 1 ({op.name} {op.rules}); 1 of 4 indices is bad"
        return [[0, 2], [1, 0]], [7, 8], [[1, 2, 7], [8, 5, 6]], (1, 1), message

    what = "It writes slices or elements of data by tuples of indices; it is the inverse of GatherND without batch dimensions."
    letters = "r is the rank of data, q that of indices, k the last length of indices: the numbers of a tuple"
    formula = (
        "    out[t_0, ..., t_{k-1}, p_k, ..., p_{r-1}] = reduce(that, updates[i_0, ..., i_{q-2}, p_k, ..., p_{r-1}])\n"
        "    with t_c = indices[i_0, ..., i_{q-2}, c]; without a reduction, reduce(that, update) = update"
    )
    shapes = "r and q are at least 1, k is at most r. updates have `indices.shape[:-1] + data.shape[k:]`."
    errors = {**Writing.errors, "AXIS_OUT_OF_RANGE": "an axis is given, which the operator has not"}


class Windows(Writing):
    """SCATTER_STABLEHLO"""

    instead = "\nThe command has no such operator.\n"
    what = "It writes a window of data per tuple of indices, by dimension numbers; it is the inverse of StableHLO's gather."
    head = "`scatter` of StableHLO; here `gather_scatter_apply` (`gather/scatter.h`) with `gather_op_find(\"scatter\", \"stablehlo-1\")` and `gather_scatter_options.numbers`."

    @classmethod
    def rule(cls, op: Op) -> str:
        return """StableHLO's names for data and indices are inputs and scatter_indices; here there is one input. Its attributes have the names of its
gather in `gather_dimension_numbers`: offset_dims are update_window_dims, collapsed_slice_dims inserted_window_dims,
operand_batching_dims input_batching_dims, start_index_map scatter_dims_to_operand_dims. slice_sizes are not read: the updates have them.

```
out = copy of data
for each place u of updates, in row-major order:
    out[start + batch + window] = reduce(that, updates[u])     if that place is in out; else nothing is written
    start[d]  = tuple[j]   if d = start_index_map[j], else 0
    batch[d]  = the coordinate of u along the dimension of indices that is paired with d   if d is in operand_batching_dims, else 0
    window    = u[offset_dims...], with 0 at collapsed_slice_dims and operand_batching_dims
    tuple     = the numbers along index_vector_dim of indices, at the other coordinates of u
```

The update computation is one operation: `gather_scatter_options.reduction`, none, add, sub, mul, min or max. `whole_windows` skips an update
window that does not fit as a whole, as XLA does.

**Output.** Shape and type of data. It may be data itself.

**Repeated indices.** The document leaves the order of the updates to the implementation. Here it is that of the loop: without a reduction
the last update is left. `gather_scatter_options.unique` makes a repeated index an error (`index_repeated`). unique_indices and
indices_are_sorted are promises that nothing here needs.
"""

    @staticmethod
    def indices(op: Op) -> str:
        return (
            "An element of an update whose place is outside data is skipped, and counted.\n"
            "This corresponds to `GATHER_NEGATIVE_OFF` and `GATHER_ON_BAD_SKIP`. Callers can override it with `gather_scatter_options.negative` and\n"
            "`gather_scatter_options.on_bad`."
        )

    errors = {
        **Writing.errors,
        "RANK_MISMATCH": "the dimension numbers are for another rank of data",
        "AXIS_OUT_OF_RANGE": "a dimension outside the rank; options.axis is not 0",
        "SHAPE_MISMATCH": "a constraint of the document does not hold; the shape of the output differs from data's",
        "USAGE": "options.numbers is NULL or invalid; the output overlaps an input, or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "never under these rules; an index out of range, if the caller chose error",
    }


class Cache(Writing):
    """TENSOR_SCATTER"""

    instead = "\n[Scatters, gradients and embedding bags](../scatter.md#embedding-bags-and-caches) has a program.\n"
    head = "`{name}` of {dialect}, opset {opsets}; here `gather_tensor_scatter` (`gather/scatter.h`), and `gather_op_find(\"{name}\", \"{rules}\")`."
    what = "It writes a run of rows into each batch of a cache of keys or values."

    @classmethod
    def rule(cls, op: Op) -> str:
        return f"""data (past_cache in the document) is [B, .., S at the axis, ..], updates (update) the same with L at the axis, write_indices [B] or left out:
zeros.

```
out = copy of data
for each update, in row-major order:
    out[b, .., p, ..] = updates[b, .., s, ..]     with p = write_indices[b] + s; mode circular: that modulo S
```

{ROWS}| axis | attribute | [-r, r-1], not the first one | -2 |
| mode | attribute | linear, circular | linear |

**Shapes.** r is at least 2. L is at most S. The other lengths of data and updates are equal.

**Output.** Shape, type and byte order of data. It may be data itself.
"""

    @staticmethod
    def indices(op: Op) -> str:
        return (
            "The valid range is [0, S - L] in the mode linear; in the mode circular no index of 0 or more is out of range.\n"
            "An index out of range is an error (`index_out_of_range`), found before anything is written."
        )

    errors = {
        "TYPE_UNSUPPORTED": "write_indices are not integers",
        "TYPE_MISMATCH": "the types of updates or of the output differ from data's",
        "RANK_MISMATCH": "the ranks of data and updates differ or are below 2; write_indices are not 1-D",
        "AXIS_OUT_OF_RANGE": "the axis is outside [-r, r-1], or the first one",
        "SHAPE_MISMATCH": "L is above S; another length differs",
        "OVERFLOW": "a size does not fit 64 bits or memory",
        "UNSUPPORTED": "the operator is given to `gather_apply` or `gather_scatter_apply`",
        "USAGE": "the output overlaps itself or an input in another way than as data itself, or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "a write index out of range",
    }


class Bags(Writing):
    """EMBEDDING_BAG"""

    instead = "\n[Scatters, gradients and embedding bags](../scatter.md#embedding-bags-and-caches) has a program; `gather bag` is the command.\n"
    head = "`{name}` of {dialect}, opset {opsets}; here `gather_embedding_bag` (`gather/scatter.h`) with `gather_op_find(\"{name}\", \"{rules}\")`."
    what = "It sums rows of a table, bag by bag."
    forms = {
        "EmbeddingBagOffsets": (
            "indices [n], offsets [b]. Bag i has the indices from offsets[i] up to offsets[i + 1], the last one up to the end.\n"
            "The first offset may be above 0: the indices before it are in no bag.",
            "| default_index | input 4, 0-D | a row, or -1: zeros | -1 |\n| per_sample_weights | input 5, [n] | the type of the table{} | none |",
        ),
        "EmbeddingBagPacked": (
            "indices [b, n]. Bag i has the indices of row i.",
            "| per_sample_weights | input 3, [b, n] | the type of the table{} | none |",
        ),
        "EmbeddingSegments": (
            "indices [n], segment_ids [n] ascending. Bag segment_ids[j] has indices[j]. There are num_segments bags.",
            "| num_segments | input 4, 0-D | at least 0 | - |\n| default_index | input 5, 0-D | a row, or -1: zeros | -1 |\n"
            "| per_sample_weights | input 6, [n] | the type of the table | none |",
        ),
    }

    @classmethod
    def rule(cls, op: Op) -> str:
        form, rows = cls.forms[op.name.removesuffix("Sum")]
        rows = rows.format("; with the reduction sum only" if op.document in REDUCTIONS else "")
        if op.document in REDUCTIONS:
            rows += f"\n| reduction | attribute | {REDUCTIONS[op.document]} | sum |"
        mean = ", divided by their number with the reduction mean" if op.document in REDUCTIONS else ""
        return f"""{form}

```
out[i] = the sum of weight[j] * table[indices[j]] over the indices j of bag i, in their order{mean}
```

{ROWS}{rows}

**Output.** `[bags] + table.shape[1:]`, of the table's type. An empty bag is zeros, or the row default_index.

Sums of float16 and bfloat16 are computed in float32 and rounded once; `gather_scatter_options.accumulate` chooses. Integers wrap around.
"""

    @staticmethod
    def indices(op: Op) -> str:
        text = (
            "The valid range is [0, n-1], n = the number of rows. An index out of range is an error (`index_out_of_range`), found before\n"
            "anything is written. Callers can override it with `gather_scatter_options.on_bad`: clamp, wrap, or skip, which leaves the row out.\n"
        )
        if "Offsets" in op.name:
            return text + "An offset out of [0, n], n = the number of indices, or below the one before it, is such an error too, and so is a default_index."
        if "Segments" in op.name:
            return text + "A segment id out of [0, num_segments - 1], or below the one before it, is such an error too, and so is a default_index."
        return text.rstrip("\n")

    errors = {
        "TYPE_UNSUPPORTED": "indices are not integers; the table is not of numbers of whole bytes",
        "TYPE_MISMATCH": "the types of weights or of the output differ from the table's",
        "RANK_MISMATCH": "the table is 0-D; another rank does not fit",
        "SHAPE_MISMATCH": "weights or segment_ids have another length than indices; the output's shape differs",
        "OVERFLOW": "a size does not fit 64 bits or memory",
        "UNSUPPORTED": "a reduction that the document lacks; weights with mean or max; the operator is given to `gather_apply`",
        "USAGE": "not exactly one form of bags is given; the output overlaps an input or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "an index, offset, segment id or default_index out of range",
    }


WRITING = {words.__doc__: words for words in (Scatter, Elements, ND, Windows, Cache, Bags)}


def page(op: Op, note: str, dialect: str, opsets: str, types: dict[str, list[str]], statuses: dict[str, tuple[str, str]], readings: str) -> str:
    words = WRITING[op.family]
    table = "\n".join(f"| `{statuses[name][1]}` | {statuses[name][0]} | {when} |" for name, when in words.errors.items())
    head = words.head.format(name=op.name, rules=op.rules, dialect=dialect, opsets=opsets)
    return f"""{note}
# {op.document}

{head}
{words.what}

## Rule

{words.rule(op)}
**Indices.** {words.indices(op)}

## Types

Types listed by the document for data: {", ".join(types[op.types])}.
For indices: {", ".join(types[op.index_types])}.
{"Numbers of whole bytes work" if words is Bags else "Every other element type can be replaced"}, and every integer type works for indices.
{words.example(op) if not words.instead else words.instead}
## Errors

| status | number | when |
| --- | --- | --- |
{table}

## Errors and ambiguities in the document

{readings}
"""
