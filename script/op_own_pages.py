# SPDX-License-Identifier: MIT
"""Pages of docs/embed/ops for operators that are no gather along an axis: their text is written here as a whole. One class per family,
named like its ENUM in include/gather/family.def."""

from op_tables import Op


class Tree:
    """TREE"""

    head = "`GatherTree` of OpenVINO, opset {opsets}; here `gather_tree` (`gather/tree.h`), and `gather_op_find(\"GatherTree\", \"openvino-1\")`."
    text = """It completes the sequences of a beam search: each step noted, for each beam, a token and the beam of the step before that it
continues; the operator follows these parents from the last step back to the first.

## Rule

step_ids and parent_ids have the shape [time, batch, width], max_seq_len [batch]; end_token is 0-D.

```
last = min(time, max_seq_len[b])
beam[last-1] = w;   beam[t-1] = parent_ids[t, b, beam[t]]
out[t, b, w] = step_ids[t, b, beam[t]]   for t < last, up to the first end_token; behind it, and for t >= last, end_token
```

The operator has no attributes.

**Output.** Shape, type and byte order of step_ids.

**Parents.** The valid range is [0, width-1]. Only parents that a sequence follows matter. One that is out of range is an error
(`index_out_of_range`), and the output is unchanged.
This corresponds to `--negative off --on-bad error`. Callers can override it with `gather_options.negative` and
`gather_options.on_bad`: clamp and wrap continue at another beam; with zero and fill, the earlier steps are 0 or the fill element.

## Types

All four tensors have one type. The document lists every numeric type; of these, those of whole bytes are supported:
{types}.
The numbers are integers, in a float type too.

## Example

Two beams, three steps. At the last step beam 0 continues beam 1, and beam 1 continues beam 0. Then a parent is set to 2, which is
out of range.

```c
#include <stdio.h>

#include "gather/tree.h"

int main(void) {{
  int32_t tokens[3][1][2] = {{{{{{1, 2}}}}, {{{{3, 4}}}}, {{{{5, 6}}}}}}, beams[3][1][2] = {{{{{{0, 0}}}}, {{{{0, 1}}}}, {{{{1, 0}}}}}};
  int32_t steps[1] = {{3}}, token = 9, result[3][1][2];
  const int64_t shape[] = {{3, 1, 2}}, batch[] = {{1}};
  gather_tensor step_ids = {{.data = tokens, .type = GATHER_TYPE_INT32, .rank = 3, .shape = shape}};
  gather_tensor parent_ids = {{.data = beams, .type = GATHER_TYPE_INT32, .rank = 3, .shape = shape}};
  gather_tensor max_seq_len = {{.data = steps, .type = GATHER_TYPE_INT32, .rank = 1, .shape = batch}};
  gather_tensor end_token = {{.data = &token, .type = GATHER_TYPE_INT32}};
  gather_tensor out = {{.data = result, .type = GATHER_TYPE_INT32, .rank = 3, .shape = shape}};
  gather_error error;

  if (gather_tree(&step_ids, &parent_ids, &max_seq_len, &end_token, &out, NULL, &error) != GATHER_OK) return 1;
  for (int t = 0; t < 3; t++) printf("%d %d\\n", (int)result[t][0][0], (int)result[t][0][1]);

  beams[2][0][1] = 2; /* there is no beam 2 */
  if (gather_tree(&step_ids, &parent_ids, &max_seq_len, &end_token, &out, NULL, &error) != GATHER_OK) puts(error.message);
  return 0;
}}
```

```text
2 1
4 3
5 6
parent_ids[2, 0, 1] = 2 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 6 parents is bad
```

The same on the command line:

```console
$ gather tree '[[[1, 2]], [[3, 4]], [[5, 6]]]' '[[[0, 0]], [[0, 1]], [[1, 0]]]' '[3]' 9 -q -o out.npy
$ python3 -c 'import numpy as np; print(np.load("out.npy").tolist())'
[[[2, 1]], [[4, 3]], [[5, 6]]]
```
"""
    errors = {
        "TYPE_UNSUPPORTED": "a type that is not an integer or float of whole bytes",
        "TYPE_MISMATCH": "the inputs have different types; the output's differs from step_ids'",
        "RANK_MISMATCH": "a rank other than 3, 3, 1 and 0",
        "AXIS_OUT_OF_RANGE": "options.axis is not 0",
        "BATCH_DIMS_OUT_OF_RANGE": "options.batch_dims is not 0",
        "SHAPE_MISMATCH": "the shapes of step_ids and parent_ids differ, or the batches of max_seq_len; the output's shape differs",
        "OVERFLOW": "a size does not fit 64 bits or memory",
        "OUT_OF_MEMORY": "no memory to count the parents out of range of more than 1024 beams",
        "UNSUPPORTED": "the operator is given to `gather_apply` or another function of `gather.h`",
        "USAGE": "the output overlaps itself or an input, or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "a parent out of range; a max_seq_len that is not an integer",
    }


class Stablehlo:
    """STABLEHLO"""

    head = "`gather` of StableHLO; here `gather_op_find(\"gather\", \"stablehlo-1\")` with `gather_options.numbers`."
    text = """It gathers a window of data per tuple of indices, by dimension numbers.

## Rule

StableHLO's names for data and indices are operand and start_indices. `gather_dimension_numbers` has its attributes by their names.
batch_dims are the dimensions of the output that are not in offset_dims.

```
out[r] = data[start + batch + offset]
    start[d]  = clamp(tuple[j], 0, data.shape[d] - slice_sizes[d])   if d = start_index_map[j], else 0
    batch[d]  = the coordinate of r along the dimension of indices that is paired with d   if d is in operand_batching_dims, else 0
    offset    = r[offset_dims...], with 0 at collapsed_slice_dims and operand_batching_dims
    tuple     = the numbers along index_vector_dim of indices, at r[batch_dims...]
```

**Output.** At batch_dims the lengths of indices without index_vector_dim; at offset_dims those of slice_sizes without
collapsed_slice_dims and operand_batching_dims. The constraints C1 to C22 of the document are checked.

**Indices.** Along a dimension of length n, a window of length w has n - w + 1 places: the valid range is [0, n - w]. An index out of
range gives the nearest place.
This corresponds to `GATHER_NEGATIVE_OFF` and `GATHER_ON_BAD_CLAMP`. Callers can override it with `gather_options.negative` and
`gather_options.on_bad`; with negative on, an index in [-(n - w + 1), -1] counts from the last place. indices_are_sorted is a promise
that nothing here needs.

## Types

Types listed by the document for data and output that have a name here: {types}.
For indices: {index_types}; the document also lists integers of less than a byte, which are not supported as indices.
Every other element type works too.

## Example

Windows of 1 by 2 of a table of 3 by 4. The second tuple, [2, 9], is moved to [2, 2]; then it is an error.

```c
#include <stdio.h>

#include "gather/gather.h"

int main(void) {{
  int32_t table[3][4] = {{{{0, 1, 2, 3}}, {{4, 5, 6, 7}}, {{8, 9, 10, 11}}}}, result[2][2];
  int64_t ids[2][2] = {{{{0, 1}}, {{2, 9}}}};
  const int64_t data_shape[] = {{3, 4}}, indices_shape[] = {{2, 2}}, out_shape[] = {{2, 2}};
  const int64_t offset_dims[] = {{1}}, collapsed[] = {{0}}, map[] = {{0, 1}}, window[] = {{1, 2}};
  gather_tensor data = {{.data = table, .type = GATHER_TYPE_INT32, .rank = 2, .shape = data_shape}};
  gather_tensor indices = {{.data = ids, .type = GATHER_TYPE_INT64, .rank = 2, .shape = indices_shape}};
  gather_tensor out = {{.data = result, .type = GATHER_TYPE_INT32, .rank = 2, .shape = out_shape}};
  gather_dimension_numbers numbers = GATHER_DIMENSION_NUMBERS_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error;
  const gather_op *op = gather_op_find("gather", "stablehlo-1");

  numbers.offset_dims = offset_dims, numbers.offset_dims_count = 1;
  numbers.collapsed_slice_dims = collapsed, numbers.collapsed_slice_dims_count = 1;
  numbers.start_index_map = map, numbers.start_index_map_count = 2;
  numbers.index_vector_dim = 1;
  numbers.slice_sizes = window, numbers.slice_sizes_count = 2;
  options.numbers = &numbers;
  if (gather_apply(op, &data, &indices, &out, &options, &error) != GATHER_OK) return 1;
  for (int i = 0; i < 2; i++) printf("%d %d\\n", (int)result[i][0], (int)result[i][1]);

  options.on_bad = GATHER_ON_BAD_ERROR;
  if (gather_apply(op, &data, &indices, &out, &options, &error) != GATHER_OK) puts(error.message);
  return 0;
}}
```

```text
1 2
10 11
indices[1, 1] = 9, component 1 of tuple [1], is outside [0, 2] of axis 1 (gather stablehlo-1); 1 of 4 indices is bad
```

The command has no such operator.
"""
    errors = {
        "TYPE_UNSUPPORTED": "indices are not integers of whole bytes",
        "TYPE_MISMATCH": "the output's type differs from data's (C23)",
        "RANK_MISMATCH": "the dimension numbers are for another rank of data (C1, C20)",
        "AXIS_OUT_OF_RANGE": "a dimension outside the rank (C2, C5, C8, C11, C14, C19); options.axis is not 0",
        "BATCH_DIMS_OUT_OF_RANGE": "options.batch_dims is not 0",
        "SHAPE_MISMATCH": "another constraint does not hold; the output's shape differs from the rule",
        "OVERFLOW": "a size does not fit 64 bits or memory",
        "UNSUPPORTED": "a rank above 64; the rank of the output and the length of a tuple are above 64 together",
        "USAGE": "options.numbers is NULL or invalid; the output overlaps itself or an input, or is read-only; an option is invalid",
        "INDEX_OUT_OF_RANGE": "never under these rules; an index out of range, if the caller chose error",
    }


OWN = {words.__doc__: words for words in (Tree, Stablehlo)}


def own_page(op: Op, note: str, opsets: str, types: dict[str, list[str]], statuses: dict[str, tuple[str, str]], readings: str) -> str:
    words = OWN[op.family]
    table = "\n".join(f"| `{statuses[name][1]}` | {statuses[name][0]} | {when} |" for name, when in words.errors.items())
    text = words.text.format(types=", ".join(types[op.types]), index_types=", ".join(types[op.index_types]))
    return f"""{note}
# {op.document}

{words.head.format(opsets=opsets)}
{text}
## Errors

| status | number | when |
| --- | --- | --- |
{table}

## Errors and ambiguities in the document

{readings}
"""
