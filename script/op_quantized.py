# SPDX-License-Identifier: MIT
"""The page of docs/embed/ops on com.microsoft GatherBlockQuantized-1, whose outputs are decoded: its rule and its example are its own."""

PROGRAM = """#include <stdio.h>

#include "gather/codec.h"

int main(void) {
  /* Two rows of 16 elements of 4 bits: 0, 1, 2 .. 15, and all 9. The default zero point is 8. */
  uint8_t codes[2][8] = {{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}, {0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99}};
  float scale[2][1] = {{0.5f}, {2}}, result[2][16];
  int64_t ids[2] = {-1, 0};
  const int64_t data_shape[] = {2, 8}, scale_shape[] = {2, 1}, indices_shape[] = {2}, out_shape[] = {2, 16};
  gather_tensor data = {.data = codes, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = data_shape};
  gather_tensor scales = {.data = scale, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = scale_shape};
  gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = indices_shape};
  gather_tensor out = {.data = result, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = out_shape};
  gather_block_quantized attributes = GATHER_BLOCK_QUANTIZED_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_quantized table;
  gather_error error;
  int64_t bad = 0;
  const gather_op *op = gather_op_find("GatherBlockQuantized", "microsoft-1");

  attributes.block_size = 16;
  options.bad_count = &bad;
  if (gather_block_quantized_describe(&data, &scales, NULL, &attributes, &table, &error) != GATHER_OK) return 1;
  if (gather_take_quantized(op, &table, &indices, &out, &options, &error) != GATHER_OK) return 1;
  for (int i = 0; i < 2; i++) printf("%g %g %g .. %g\\n", result[i][0], result[i][1], result[i][2], result[i][15]);

  ids[1] = 2; /* out of range */
  if (gather_take_quantized(op, &table, &indices, &out, &options, &error) != GATHER_OK) return 1;
  printf("%g %g %g .. %g; %d bad\\n", result[1][0], result[1][1], result[1][2], result[1][15], (int)bad);

  attributes.block_size = 8;
  if (gather_block_quantized_describe(&data, &scales, NULL, &attributes, &table, &error) != GATHER_OK) puts(error.message);
  return 0;
}"""

PRINTED = """2 2 2 .. 2
-4 -3.5 -3 .. 3.5
0 0 0 .. 0; 1 bad
block_size is 8, not a power of two of at least 16"""

RULE = """r is the rank of data, q that of indices, a gather_axis and b quantize_axis counted from 0, n the length of axis b in elements.

```
out[p_0, ..., p_{a-1}, i_0, ..., i_{q-1}, p_{a+1}, ..., p_{r-1}] = (data[j] - zero_points[g]) * scales[g]
    with j = (p_0, ..., p_{a-1}, k, p_{a+1}, ..., p_{r-1}), k = indices[i_0, ..., i_{q-1}], g = j with g_b = j_b / block_size, rounded down
```

| name | from | range | default |
| --- | --- | --- | --- |
| gather_axis, *a* | attribute | [-r, r-1]; 0 for uint8 data | 0 |
| quantize_axis, *b* | attribute | [-r, r-1]; the last one, and not *a*, for uint8 data | 1 |
| block_size | attribute | a power of two, at least 16; for floats also 0: one block along the whole axis | 128 |
| bits | attribute | uint8 data: 2, 4 or 8; int4 and uint4 data: 4; floats: ignored | 4 |

**Data.** int4, uint4, float4_e2m1fn and the float8 types have their logical shape. uint8 data holds 8 / bits elements in each byte along
the last dimension, the first in the lowest bits; its last length counts bytes.

**Scales.** float32, float16 or bfloat16, of rank r: lengths as data's, ceil(n / block_size) along *b*. For float data, a length of 1 off
*b* is one scale for the whole dimension.

**Zero points.** Optional, of data's type and the shape of scales; of uint8 data packed as it is, each row in bytes of its own. Without
them 0, or 2^(bits-1) for uint8 data. Float data has none.

**Output.** The type of scales; `data.shape[:a] + indices.shape + data.shape[a+1:]`, of rank r + q - 1, the last length of uint8 data
times 8 / bits. A value is computed in float32 and rounded once.

**Indices.** The valid range is [-n, n-1], n = the length of axis *a*. Negative indices count from the end.
An index out of range gives a slice of zeros and is counted."""

ERRORS = """| status | number | when |
| --- | --- | --- |
| `type_unsupported` | 6 | a type is not listed; indices are not integers |
| `type_mismatch` | 7 | zero_points are not of data's type; the output's type differs |
| `rank_mismatch` | 2 | data is 0-D; the rank of scales or zero_points is not data's |
| `axis_out_of_range` | 3 | an axis is outside its range |
| `shape_mismatch` | 1 | a length of scales, of zero_points or of the output differs from the rule |
| `overflow` | 8 | a size does not fit 64 bits or memory |
| `unsupported` | 10 | a rank above 64 |
| `usage` | 11 | bits or block_size is none of its values; there are no scales, or zero points of float data |
| `index_out_of_range` | 5 | never under these rules; an index out of range, if the caller chose error |"""


def page(op, note: str, types: dict[str, list[str]], readings: str) -> str:
    return f"""{note}
# {op.document}

`{op.name}` of com.microsoft, the domain of ONNX Runtime, opset {op.since} and later; here `gather_block_quantized_describe`, then
`gather_take_quantized` with `gather_op_find("{op.name}", "{op.rules}")`. It gathers quantised data and decodes it. `gather check` and
`gather run` know it in models; `gather_apply` moves its data as it is stored.

## Rule

{RULE}

## Types

Types listed by the document for data: {", ".join(types[op.types])}. For indices: {", ".join(types[op.index_types])}.

## Example

```c
{PROGRAM}
```

```text
{PRINTED}
```

## Errors

{ERRORS}

## Errors and ambiguities in the document

{readings}
"""
