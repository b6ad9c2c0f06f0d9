/* SPDX-License-Identifier: MIT
 *
 * test_run_graphs.c: what a run of a graph gives or says, node by node: each rule of each operator that is computed, where other tests
 * have it beside a package only, and what no package writes. Each case runs again with each allocation failing once. And runs by the
 * public functions: outputs, failures, inputs, wrong calls.
 */
#include "core/base/error.h"
#include "support/fail_each.h"
#include "support/graph_text.h"
enum { ONNX, IR };

/* wanted: the outputs, or words of the error. node: the one that is run; NULL: the model. */
typedef struct {
  int dialect;
  const char *graph, *node;
  gather_status status;
  const char *wanted;
} run_case;

#define ONES_8 "1,1,1,1,1,1,1,1"
#define ONES_16 ONES_8 "," ONES_8
#define ONES_64 ONES_16 "," ONES_16 "," ONES_16 "," ONES_16

static const run_case CASES[] = {
    /* Mod: the sign is the divisor's, with fmod and in OpenVINO the dividend's */
    {ONNX, "out y; y = Mod(int8[-7,7,-7,7], int8[3,3,-3,-3])", NULL, GATHER_OK, "y int8[4] = 2,1,-1,-2"},
    {ONNX, "out y; y = Mod(int8[-7,7,-7,7], int8[3,3,-3,-3]) fmod=1", NULL, GATHER_OK, "y int8[4] = -1,1,-1,1"},
    {ONNX, "out y; y = Mod(int8[-7,7], int8[3,3]) fmod=0", NULL, GATHER_OK, "y int8[2] = 2,1"},
    {IR, "out y; y = Mod(int8[-7,7,-7,7], int8[3,3,-3,-3]) fmod='0'", NULL, GATHER_OK, "y int8[4] = -1,1,-1,1"},
    {ONNX, "out y; y = Mod(uint64[18446744073709551615,9], uint64 10)", NULL, GATHER_OK, "y uint64[2] = 5,9"},
    {ONNX, "const b int64[2,2] = 4,5,6,7; out y; y = Mod(-9, b)", NULL, GATHER_OK, "y int64[2,2] = 3,1,3,5"},
    {ONNX, "const a int64[2,2] = 1,2,3,4; const b int64[1,2] = 2,3; out y; y = Mod(a, b)", NULL, GATHER_OK, "y int64[2,2] = 1,2,1,1"},
    {ONNX, "const a int64[1,2] = 5,6; const b int64[2,1] = 4,5; out y; y = Mod(a, b)", NULL, GATHER_UNSUPPORTED,
     "it repeats elements of both inputs"},
    {ONNX, "out y; y = Mod([5,6,7], [4,5])", NULL, GATHER_SHAPE_MISMATCH, "lengths 3 and 2 of its inputs differ"},
    {ONNX, "out y; y = Mod([5,6,7], [4])", NULL, GATHER_OK, "y int64[3] = 1,2,3"},
    {ONNX, "const a int64[2] swapped = 5,-6; out y; y = Mod(a, [4])", NULL, GATHER_OK, "y int64[2] = 1,2"},
    {ONNX, "out y; y = Mod([5,6], [4,0])", NULL, GATHER_UNSUPPORTED, "element 1 is divided by 0"},
    {ONNX, "out y; y = Mod([5,6], int32[4,5])", NULL, GATHER_TYPE_MISMATCH, "its inputs are int64 and int32"},
    {ONNX, "out y; y = Mod(float32[5], float32[4]) fmod=1", NULL, GATHER_UNSUPPORTED, "Mod of float32 is not supported"},
    {ONNX, "out y; y = Mod([5], [4]) fmod='1'", NULL, GATHER_FILE_MALFORMED, "'fmod'"},
    {ONNX, "out y; y = Mod([], 4)", NULL, GATHER_OK, "y int64[0]"},
    /* shapes */
    {ONNX, "out y; y = Reshape(int8[1,2,3,4,5,6], [2,-1])", NULL, GATHER_OK, "y int8[2,3] = 1,2,3,4,5,6"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Reshape(a, [0,-1])", NULL, GATHER_OK, "y int8[2,3] = 1,2,3,4,5,6"},
    {ONNX, "const a int8[2,0] =; out y; y = Reshape(a, [0,3]) allowzero=1", NULL, GATHER_OK, "y int8[0,3]"},
    {ONNX, "const a int8[2,0] =; out y; y = Reshape(a, [0,-1]) allowzero=1", NULL, GATHER_SHAPE_MISMATCH, "0 elements do not fit"},
    {ONNX, "out y; y = Reshape(int8[1,2], [1,0])", NULL, GATHER_SHAPE_MISMATCH, "copies dimension 1, but the rank is 1"},
    {ONNX, "out y; y = Reshape(int8[1,2], [-2])", NULL, GATHER_SHAPE_MISMATCH, "a length below -1, or -1 twice"},
    {ONNX, "out y; y = Reshape(int8[1,2], [-1,-1])", NULL, GATHER_SHAPE_MISMATCH, "a length below -1, or -1 twice"},
    {ONNX, "out y; y = Reshape(int8[1,2], [4611686018427387904,4])", NULL, GATHER_OVERFLOW, "more than 2^63 elements"},
    {ONNX, "out y; y = Reshape(int8[1,2,3], [2,-1])", NULL, GATHER_SHAPE_MISMATCH, "3 elements do not fit"},
    {ONNX, "out y; y = Reshape(int8[1,2,3], [2])", NULL, GATHER_SHAPE_MISMATCH, "3 elements do not fit"},
    {ONNX, "out y; y = Reshape(int8[1,2,3])", NULL, GATHER_FILE_MALFORMED, "it has no target shape"},
    {ONNX, "out y; y = Reshape/1(int8[1,2,3]) shape=[3,1]", NULL, GATHER_OK, "y int8[3,1] = 1,2,3"},
    {ONNX, "out y; y = Reshape/1(int8[1,2,3]) shape=3", NULL, GATHER_FILE_MALFORMED, "'shape'"},
    {ONNX, "const a int8[1] = 1; out y; y = Reshape/1(a) shape=[1," ONES_64 "]", NULL, GATHER_UNSUPPORTED, "has more than 64 integers"},
    {ONNX, "const a int8[1] = 1; const s int64[65] = 1," ONES_64 "; out y; y = Reshape(a, s)", NULL, GATHER_UNSUPPORTED,
     "more than 64 numbers"},
    {ONNX, "out y; y = Reshape(int8[1], float32[1])", NULL, GATHER_TYPE_UNSUPPORTED, "the numbers are float32"},
    {ONNX, "const s int64[1,1] = 1; out y; y = Reshape(int8[1], s)", NULL, GATHER_RANK_MISMATCH, "expected a list, got rank 2"},
    {ONNX, "out y; y = Reshape(int8[1,2,3], [3]) allowzero='x'", NULL, GATHER_FILE_MALFORMED, "'allowzero'"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Reshape(a, int32[0,-1]) special_zero='true'", NULL, GATHER_OK,
     "y int8[2,3] = 1,2,3,4,5,6"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Reshape(a, int32[0,6]) special_zero='false'", NULL, GATHER_SHAPE_MISMATCH,
     "6 elements do not fit"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze(a)", NULL, GATHER_OK, "y int8[3] = 1,2,3"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze(a, [-1,2])", NULL, GATHER_OK, "y int8[1,3] = 1,2,3"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze/11(a) axes=[0,2]", NULL, GATHER_OK, "y int8[3] = 1,2,3"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze/11(a) axes=[1]", NULL, GATHER_SHAPE_MISMATCH,
     "dimension 1 has the length 3, not 1"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze/11(a) axes=[3]", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis 3 is outside [-3, 2]"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze/11(a) axes=[-4]", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis -4 is outside [-3, 2]"},
    {ONNX, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze/11(a) axes='0'", NULL, GATHER_FILE_MALFORMED, "'axes'"},
    {IR, "const a int8[1,3,1] = 1,2,3; out y; y = Squeeze(a, [0,1])", NULL, GATHER_OK, "y int8[3,1] = 1,2,3"},
    {ONNX, "out y; y = Unsqueeze(int8[1,2,3], [0,-1])", NULL, GATHER_OK, "y int8[1,3,1] = 1,2,3"},
    {ONNX, "out y; y = Unsqueeze/11(int8[1,2,3]) axes=[1]", NULL, GATHER_OK, "y int8[3,1] = 1,2,3"},
    {ONNX, "out y; y = Unsqueeze(int8[1,2,3], [0,0])", NULL, GATHER_SHAPE_MISMATCH, "an axis is given twice"},
    {ONNX, "out y; y = Unsqueeze(int8[1,2,3], [2])", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis 2 is outside [-2, 1]"},
    {ONNX, "out y; y = Unsqueeze(int8[1,2,3])", NULL, GATHER_FILE_MALFORMED, "it has no axes"},
    {ONNX, "const a int8[1] = 1; const x int64[64] = " ONES_64 "; out y; y = Unsqueeze(a, x)", NULL, GATHER_UNSUPPORTED,
     "the rank would be above 64"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Shape(a)", NULL, GATHER_OK, "y int64[2] = 2,3"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Shape/15(a) start=1 end=9", NULL, GATHER_OK, "y int64[1] = 3"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Shape/15(a) start=-9 end=-1", NULL, GATHER_OK, "y int64[1] = 2"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Shape/15(a) start=2 end=1", NULL, GATHER_OK, "y int64[0]"},
    {ONNX, "out y; y = Shape/15(int8[1]) start='x'", NULL, GATHER_FILE_MALFORMED, "'start'"},
    {ONNX, "out y; y = Shape/15(int8[1]) end=[1]", NULL, GATHER_FILE_MALFORMED, "'end'"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = ShapeOf(a)", NULL, GATHER_OK, "y int64[2] = 2,3"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = ShapeOf(a) output_type='i32'", NULL, GATHER_OK, "y int32[2] = 2,3"},
    {IR, "out y; y = ShapeOf(int8[1]) output_type='f32'", NULL, GATHER_FILE_MALFORMED, "'output_type'"},
    /* moves */
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a)", NULL, GATHER_OK, "y int8[3,2] = 1,4,2,5,3,6"},
    {ONNX, "const a int8[1,2,3] = 1,2,3,4,5,6; out y; y = Transpose(a) perm=[1,0,2]", NULL, GATHER_OK, "y int8[2,1,3] = 1,2,3,4,5,6"},
    {ONNX, "const a uint4[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a)", NULL, GATHER_OK, "y uint4[3,2] = 1,4,2,5,3,6"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a) perm=[0,0]", NULL, GATHER_SHAPE_MISMATCH, "each of the 2 axes once"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a) perm=[0,2]", NULL, GATHER_SHAPE_MISMATCH, "each of the 2 axes once"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a) perm=[-1,0]", NULL, GATHER_SHAPE_MISMATCH, "each of the 2 axes once"},
    {ONNX, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a) perm=[0]", NULL, GATHER_SHAPE_MISMATCH, "each of the 2 axes once"},
    {ONNX, "out y; y = Transpose(int8[1,2]) perm='0'", NULL, GATHER_FILE_MALFORMED, "'perm'"},
    {ONNX, "const a int8[1] = 1; out y; y = Transpose(a) perm=[1," ONES_64 "]", NULL, GATHER_UNSUPPORTED, "has more than 64 integers"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a, [1,0])", NULL, GATHER_OK, "y int8[3,2] = 1,4,2,5,3,6"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a, [])", NULL, GATHER_OK, "y int8[3,2] = 1,4,2,5,3,6"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; out y; y = Transpose(a)", NULL, GATHER_FILE_MALFORMED, "it has no order of axes"},
    {IR, "const a int8[2,3] = 1,2,3,4,5,6; const o int64[2,1] = 1,0; out y; y = Transpose(a, o)", NULL, GATHER_RANK_MISMATCH,
     "expected a list"},
    {ONNX, "out y; y = Concat(int8[1,2], int8[], int8[3]) axis=0", NULL, GATHER_OK, "y int8[3] = 1,2,3"},
    {ONNX, "const a int8[2,1] = 1,2; const b int8[2,2] = 3,4,5,6; out y; y = Concat(a, b) axis=-1", NULL, GATHER_OK,
     "y int8[2,3] = 1,3,4,2,5,6"},
    {ONNX, "const a int8[2,1] = 1,2; const b int8[2,2] = 3,4,5,6; out y; y = Concat/1(a, b)", NULL, GATHER_OK, "y int8[2,3] = 1,3,4,2,5,6"},
    {ONNX, "out y; y = Concat(uint4[1,2,3], uint4[4,5]) axis=0", NULL, GATHER_OK, "y uint4[5] = 1,2,3,4,5"},
    {ONNX, "const a int16[1] swapped = 1; const b int16[1] swapped = 4; out y; y = Concat(a, b) axis=0", NULL, GATHER_OK,
     "y int16[2] swapped = 1,4"},
    {ONNX, "const a int16[1] swapped = 1; out y; y = Concat(a, int16[4]) axis=0", NULL, GATHER_TYPE_MISMATCH,
     "differ in type or byte order"},
    {ONNX, "out y; y = Concat(int8[1], uint8[4]) axis=0", NULL, GATHER_TYPE_MISMATCH, "differ in type"},
    {ONNX, "const a int8[1,2] = 1,2; const b int8[1,1] = 4; out y; y = Concat(a, b) axis=0", NULL, GATHER_SHAPE_MISMATCH,
     "length off axis 0"},
    {ONNX, "const a int8[1,2] = 1,2; out y; y = Concat(a, int8[4]) axis=0", NULL, GATHER_SHAPE_MISMATCH, "differ in rank"},
    {ONNX, "const a int8[1] = 1; out y; y = Concat(a, a)", NULL, GATHER_FILE_MALFORMED, "it has no axis"},
    {IR, "const a int8[1] = 1; out y; y = Concat/1(a, a)", NULL, GATHER_FILE_MALFORMED, "it has no axis"},
    {ONNX, "const a int8[1] = 1; out y; y = Concat(a, a) axis=1", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis 1 is outside [-1, 0]"},
    {ONNX, "const a int8[1] = 1; out y; y = Concat(a, a) axis='x'", NULL, GATHER_FILE_MALFORMED, "'axis'"},
    {ONNX, "out y; y = Concat(int8[1], _) axis=0", NULL, GATHER_FILE_MALFORMED, "Concat lacks its input 1"},
    {ONNX, "give a int8[4611686018427387904,0] =; in a int8*; out y; y = Concat(a, a) axis=0", NULL, GATHER_OVERFLOW,
     "do not fit in 63 bits together"},
    /* casts */
    {ONNX, "out y; y = Cast(int16[-1,300]) to=2", NULL, GATHER_OK, "y uint8[2] = 255,44"},
    {ONNX, "out y; y = Cast(uint8[255,1]) to=3", NULL, GATHER_OK, "y int8[2] = -1,1"},
    {ONNX, "out y; y = Cast/1(int8[-1,1]) to='INT64'", NULL, GATHER_OK, "y int64[2] = -1,1"},
    {ONNX, "const a int32[2] swapped = -5,1; out y; y = Cast(a) to=7", NULL, GATHER_OK, "y int64[2] = -5,1"},
    {ONNX, "out y; y = Cast(float32[5]) to=1", NULL, GATHER_OK, "y float32[1] = 5"},
    {ONNX, "out y; y = Cast(float32[5]) to=7", NULL, GATHER_UNSUPPORTED, "it casts float32 to int64"},
    {ONNX, "out y; y = Cast([5]) to=1", NULL, GATHER_UNSUPPORTED, "it casts int64 to float32"},
    {ONNX, "out y; y = Cast([5]) to=99", NULL, GATHER_UNSUPPORTED, "to an unknown type"},
    {ONNX, "out y; y = Cast([5]) to=0", NULL, GATHER_UNSUPPORTED, "to an unknown type"},
    {ONNX, "out y; y = Cast([5])", NULL, GATHER_UNSUPPORTED, "to an unknown type"},
    {ONNX, "out y; y = Cast([5]) to=[7]", NULL, GATHER_FILE_MALFORMED, "'to'"},
    {IR, "out y; y = Convert([5]) destination_type='i8'", NULL, GATHER_OK, "y int8[1] = 5"},
    {IR, "out y; y = Convert(boolean[1]) destination_type='f32'", NULL, GATHER_UNSUPPORTED, "constants of type bool"},
    /* constants of nodes */
    {ONNX, "out y; y = Constant() value_ints=[4,5]", NULL, GATHER_OK, "y int64[2] = 4,5"},
    {ONNX, "out y; y = Constant() value_int=4", NULL, GATHER_OK, "y int64[] = 4"},
    {ONNX, "out y; y = Constant() value=int8[2]:4,5", NULL, GATHER_OK, "y int8[2] = 4,5"},
    {ONNX, "out y; y = Constant() value=int8[2] gone", NULL, GATHER_FILE_NOT_FOUND, "the elements are gone"},
    {ONNX, "out y; y = Constant()", NULL, GATHER_UNSUPPORTED, "this form of Constant is not supported"},
    {ONNX, "out y; y = Constant() value=?", NULL, GATHER_UNSUPPORTED, "this form of Constant is not supported"},
    {ONNX, "const k int8[1] = 3; out k; _ = Constant() value_int=4", NULL, GATHER_OK, "k int8[1] = 3"},
    {ONNX, "stored k int8[1] = 3; out k; k = Constant() value_int=4", NULL, GATHER_OK, "k int8[1] = 3"},
    {IR, "out y; y = Const()", NULL, GATHER_UNSUPPORTED, "this form of Const is not supported"},
    {IR, "stored y int8[1] = 3; out y; y = Const()", NULL, GATHER_OK, "y int8[1] = 3"},
    {IR, "in x int8[1]; out y; give x int8[1] = 3; x = Parameter(); r: y = Result(x)", NULL, GATHER_OK, "y int8[1] = 3"},
    /* gathers */
    {ONNX, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [-1]) axis=1", NULL, GATHER_OK, "y int8[2,1] = 2,4"},
    {ONNX, "const a int16[3] swapped = 1,2,3; out y; y = Gather(a, -1)", NULL, GATHER_OK, "y int16[] swapped = 3"},
    {IR, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [1], int32 1)", NULL, GATHER_OK, "y int8[2,1] = 2,4"},
    {IR, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [1])", NULL, GATHER_FILE_MALFORMED, "it has no axis"},
    {IR, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [1], float32 1)", NULL, GATHER_TYPE_UNSUPPORTED, "axis"},
    {ONNX, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [1]) axis=2", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis"},
    {ONNX, "const a int8[2,2] = 1,2,3,4; out y; y = Gather(a, [1]) axis='x'", NULL, GATHER_FILE_MALFORMED, "'axis'"},
    {ONNX, "const a int8[2,2] = 1,2,3,4; const i int64[1] = 1; out y; y = Gather(a, i, i)", NULL, GATHER_FILE_MALFORMED,
     "the node has 3 inputs, but Gather onnx-13 has 2"},
    {ONNX, "out y; g: y = Gather/0(int8[1,2], [1])", NULL, GATHER_UNSUPPORTED, "node 'g' is Gather, which cannot be run"},
    {ONNX, "out y; g: y = Gather/0(int8[1,2], [1])", "g", GATHER_UNSUPPORTED, "node 'g' is Gather, which cannot be run"},
    {ONNX, "const a int8[2] gone; out y; g: y = Gather(a, [1])", NULL, GATHER_FILE_NOT_FOUND, "node 'g': the elements are gone"},
    {ONNX, "const a int8[2] gone; out y; g: y = Gather(a, [1])", "g", GATHER_FILE_NOT_FOUND, "node 'g': the elements are gone"},
    {ONNX, "const a int8[2] gone; out y; y = Shape(a)", NULL, GATHER_OK, "y int64[1] = 2"},
    {ONNX, "const a int8[2] gone; out a", NULL, GATHER_FILE_NOT_FOUND, "gone"},
    {IR, "const s int32[2,1,2] = 1,2,3,4; const p int32[2,1,2] = 0,0,1,0; out y; y = GatherTree/1(s, p, int32[2], int32 9)", NULL,
     GATHER_OK, "y int32[2,1,2] = 2,1,3,4"},
    {IR, "const s int32[2,1,2] = 1,2,3,4; const p int32[2,1,2] = 0,0,1,0; out y; y = GatherTree/1(s, p, int32[2,2], int32 9)", NULL,
     GATHER_SHAPE_MISMATCH, ""},
    /* operators that write */
    {ONNX,
     "const x int8[2,3] = 1,2,3,4,5,6; const i int64[1,2] = 2,-3; const u int8[1,2] = 7,8; out y; "
     "y = ScatterElements/18(x, i, u) axis=1",
     NULL, GATHER_OK, "y int8[2,3] = 8,2,7,4,5,6"},
    {ONNX,
     "const x int8[2,3] = 1,2,3,4,5,6; const i int64[1,2] = 2,2; const u int8[1,2] = 7,8; out y; "
     "y = ScatterElements/18(x, i, u) axis=1 reduction='add'",
     NULL, GATHER_OK, "y int8[2,3] = 1,2,18,4,5,6"},
    {ONNX,
     "const x int8[2,3] = 1,2,3,4,5,6; const i int64[1,2] = 2,2; const u int8[1,2] = 7,8; out y; "
     "g: y = ScatterElements/18(x, i, u) axis=1 reduction='sub'",
     NULL, GATHER_UNSUPPORTED, "node 'g': ScatterElements onnx-18 has no reduction 'sub'; it has 'none', 'add', 'mul', 'min', 'max'"},
    {ONNX, "const x int8[3] = 1,2,3; const i int64[1,1] = 2; const u int8[1] = 7; out y; g: y = ScatterND/16(x, i, u) reduction='sum'",
     NULL, GATHER_UNSUPPORTED, "node 'g': ScatterND onnx-16 has no reduction 'sum'; it has 'none', 'add', 'mul'"},
    {IR, "const x int8[3] = 1,2,3; const i int32[1,1] = 2; const u int8[1] = 7; out y; g: y = ScatterNDUpdate/15(x, i, u) reduction='add'",
     NULL, GATHER_UNSUPPORTED,
     "node 'g': ScatterNDUpdate openvino-15 has no reduction 'add'; it has 'none', 'sum', 'sub', 'prod', 'min', 'max'"},
    {ONNX,
     "const x int8[2,3] = 1,2,3,4,5,6; const i int64[1,2] = 2,3; const u int8[1,2] = 7,8; out y; "
     "g: y = ScatterElements/18(x, i, u) axis=1",
     NULL, GATHER_INDEX_OUT_OF_RANGE, "node 'g': indices[0, 1] = 3 is outside [-3, 2] of axis 1"},
    {ONNX, "const x int8[2,3] = 1,2,3,4,5,6; const i int64[1,1] = -1; const u int8[1,3] = 7,8,9; out y; y = ScatterND/18(x, i, u)", NULL,
     GATHER_OK, "y int8[2,3] = 1,2,3,7,8,9"},
    {ONNX,
     "const x int8[2,4,1] = 1,2,3,4,5,6,7,8; const u int8[2,2,1] = 9,10,11,12; const i int64[2] = 1,2; out y; "
     "y = TensorScatter/24(x, u, i)",
     NULL, GATHER_OK, "y int8[2,4,1] = 1,9,10,4,5,6,11,12"},
    {ONNX,
     "const x int8[2,4,1] = 1,2,3,4,5,6,7,8; const u int8[2,2,1] = 9,10,11,12; const i int64[2] = 1,3; out y; "
     "y = TensorScatter/24(x, u, i) mode='circular' axis=1",
     NULL, GATHER_OK, "y int8[2,4,1] = 1,9,10,4,12,6,7,11"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; const u int32[1,2] = 7,8; out y; y = ScatterUpdate/3(x, [1], u, int32 0)", NULL, GATHER_OK,
     "y int32[3,2] = 1,2,7,8,5,6"},
    {IR,
     "const x int32[3] = 10,20,30; const u int32[2] = 1,4; out y; "
     "y = ScatterElementsUpdate/12(x, [1,1], u, int32 0) reduction='mean' use_init_val='false'",
     NULL, GATHER_OK, "y int32[3] = 10,2,30"},
    {IR,
     "const x int32[3] = 10,20,30; const i int32[2,1] = 2,2; const u int32[2] = 1,4; out y; "
     "y = ScatterNDUpdate/15(x, i, u) reduction='sub'",
     NULL, GATHER_OK, "y int32[3] = 10,20,25"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; const n int32[] = 1; out y; y = EmbeddingBagOffsetsSum/3(x, [0,1,2], [0,2,2], n)", NULL,
     GATHER_OK, "y int32[3,2] = 4,6,3,4,5,6"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; const i int32[2,2] = 0,1,2,2; out y; y = EmbeddingBagPacked/15(x, i) reduction='mean'", NULL,
     GATHER_OK, "y int32[2,2] = 2,3,5,6"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; const n int32[] = 3; out y; y = EmbeddingSegmentsSum/3(x, [0,1,2], [0,0,2], n)", NULL,
     GATHER_OK, "y int32[3,2] = 4,6,0,0,5,6"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; const n int32[] = 3; out y; g: y = EmbeddingSegmentsSum/3(x, [0,1,2], [0,0,3], n)", NULL,
     GATHER_INDEX_OUT_OF_RANGE, "node 'g': segment_ids[2] = 3"},
    {IR, "const x int32[3,2] = 1,2,3,4,5,6; out y; g: y = EmbeddingBagOffsetsSum/3(x, [0,1,2])", NULL, GATHER_FILE_MALFORMED,
     "node 'g': the node has no offsets"},
    /* dequantisation, OpenVINO's: codes, less zero points, times scales */
    {IR, "const a uint8[2,2] = 1,2,3,4; out y; c = Convert(a) destination_type='f32'; y = Gather(c, [1], 0)", NULL, GATHER_OK,
     "y float32[1,2] = 3,4"},
    {IR,
     "const a uint8[2,2] = 1,2,3,4; const z uint8[2,1] = 1,2; const s float32[2,1] = 0.5,2; out y; c = Convert(a) destination_type='f32'; "
     "cz = Convert(z) destination_type='f32'; d = Subtract(c, cz); e = Multiply(d, s); y = Gather(e, [1], 0)",
     NULL, GATHER_OK, "y float32[1,2] = 2,4"},
    {IR,
     "const a uint8[2,2] = 1,2,3,4; const z uint8[2,1] = 1,2; const s float32[2,1] = 0.5,2; out e; c = Convert(a) destination_type='f16'; "
     "d = Subtract(c, z); e = Multiply(s, d)",
     NULL, GATHER_OK, "e float16[2,2] = 0,0.5,2,4"},
    {IR, "const a int8[2,2] = -1,2,-3,4; out e; c = Convert(a) destination_type='bf16'; e = Multiply(c, float32 0.5)", NULL, GATHER_OK,
     "e bfloat16[2,2] = -0.5,1,-1.5,2"},
    {IR, "out y; y = Convert(uint4[1,2,15]) destination_type='f32'", NULL, GATHER_OK, "y float32[3] = 1,2,15"},
    {IR, "const a float16[2] = 0x3c00,0xc000; out y; y = Convert(a) destination_type='f32'", NULL, GATHER_OK, "y float32[2] = 1,-2"},
    {IR, "const a float64[2] swapped = 1.5,-2; out y; y = Convert(a) destination_type='f32'", NULL, GATHER_OK, "y float32[2] = 1.5,-2"},
    {IR, "out y; y = Convert([-3,4]) destination_type='f16'", NULL, GATHER_OK, "y float16[2] = -3,4"},
    {IR, "out y; y = Convert(uint64[18446744073709551615]) destination_type='f32'", NULL, GATHER_OK, "y float32[1] = 1.84467e+19"},
    {IR, "out y; y = Convert(nf4[0,7,15]) destination_type='f32'", NULL, GATHER_OK, "y float32[3] = -1,0,1"},
    {IR, "out y; c = Convert(nf4[0,15]) destination_type='f16'; d = Convert(c) destination_type='f32'; y = Multiply(d, float32[3])", NULL,
     GATHER_OK, "y float32[2] = -3,3"},
    {IR, "const a float8_e4m3fn[2] = 0x38,0xb8; out y; y = Convert(a) destination_type='f32'", NULL, GATHER_OK, "y float32[2] = 1,-1"},
    {IR, "const a float8_e4m3fn[2] = 0x38,0xb8; out y; c = Convert(a) destination_type='f32'; y = Subtract(c, float8_e4m3fn[0])", NULL,
     GATHER_UNSUPPORTED, "it subtracts from float8_e4m3fn constants"},
    {IR, "const z uint8[1] = 1; out y; c = Convert(uint8[5,6]) destination_type='f32'; d = Subtract(c, z); y = Subtract(d, z)", NULL,
     GATHER_UNSUPPORTED, "is Subtract of opset8, which cannot be run"},
    {IR, "out y; c = Convert(float16[5,6]) destination_type='f32'; y = Subtract(c, float16[1])", NULL, GATHER_UNSUPPORTED,
     "something other than the dequantisation of constants"},
    {IR, "const s float32[1] = 2; out y; c = Convert(uint8[5,6]) destination_type='f32'; d = Multiply(c, s); y = Multiply(d, s)", NULL,
     GATHER_UNSUPPORTED, "is Multiply of opset8, which cannot be run"},
    {IR, "out y; y = Multiply(uint8[5,6], float32[2])", NULL, GATHER_UNSUPPORTED, "is Multiply of opset8, which cannot be run"},
    {IR,
     "const b uint8[2] = 5,6; out y; c = Convert(uint8[5,6]) destination_type='f32'; d = Convert(b) destination_type='f32'; "
     "e = Subtract(d, b); y = Multiply(c, e)",
     NULL, GATHER_UNSUPPORTED, "it multiplies two dequantised constants"},
    {IR,
     "const b float16[1] = 0x4000; out y; c = Convert(uint8[5,6]) destination_type='f32'; d = Convert(b) destination_type='f32'; "
     "y = Multiply(d, c)",
     NULL, GATHER_OK, "y float32[2] = 10,12"},
    {IR, "const s float32[1,2] = 2,3; out y; c = Convert(uint8[5,6]) destination_type='f32'; y = Multiply(c, s)", NULL, GATHER_UNSUPPORTED,
     "the ranks 1 and 2: only the second may be broadcast"},
    {IR, "const a uint8[1,2] = 5,6; const s float32[2,1] = 2,3; out y; c = Convert(a) destination_type='f32'; y = Multiply(c, s)", NULL,
     GATHER_UNSUPPORTED, "the lengths 1 and 2 in dimension 0"},
    {IR, "out y; y = Convert(uint8[5,6]) destination_type='f64'", NULL, GATHER_UNSUPPORTED, "it dequantises constants to float64"},
    {IR, "out y; c = Convert(uint8[1,2,3,4]) destination_type='f32'; r = Reshape(c, [2,2]) special_zero='0'; y = Gather(r, [1], 0)", NULL,
     GATHER_OK, "y float32[1,2] = 3,4"},
    {IR,
     "const a uint8[2,4] = 1,2,3,4,5,6,7,8; out y; c = Convert(a) destination_type='f32'; r = Reshape(c, [2,2,2]) special_zero='0'; "
     "y = Gather(r, [1], 0)",
     NULL, GATHER_OK, "y float32[1,2,2] = 5,6,7,8"},
    {IR,
     "const a uint8[2,4] = 1,2,3,4,5,6,7,8; out y; c = Convert(a) destination_type='f32'; r = Reshape(c, [2,2,2]) special_zero='0'; "
     "y = Gather(r, [1], -3)",
     NULL, GATHER_OK, "y float32[1,2,2] = 5,6,7,8"},
    {IR,
     "const a uint8[2,4] = 1,2,3,4,5,6,7,8; out y; c = Convert(a) destination_type='f32'; r = Reshape(c, [2,2,2]) special_zero='0'; "
     "y = Gather(r, [1], 2)",
     NULL, GATHER_OK, "y float32[2,2,1] = 2,4,6,8"},
    {IR, "const a uint8[2,4] = 1,2,3,4,5,6,7,8; out y; c = Convert(a) destination_type='f32'; y = Gather(c, [1], 5)", NULL,
     GATHER_AXIS_OUT_OF_RANGE, "axis"},
    {IR, "const a float16[2,2] swapped = 0x3c00,0x4000,0x4200,0x4400; out y; c = Convert(a) destination_type='f32'; y = Gather(c, [1], 0)",
     NULL, GATHER_OK, "y float32[1,2] = 3,4"},
    {IR, "const a float16[2,2] = 0x3c00,0x4000,0x4200,0x4400; out y; c = Convert(a) destination_type='f32'; y = Gather/1(c, [7], 0)", NULL,
     GATHER_INDEX_OUT_OF_RANGE, "7"},
    {IR, "const a uint8[2] = 5,6; in a2 uint8[2]; give a2 uint8[2] = 1,2; out y; y = Convert(a2) destination_type='f32'", NULL,
     GATHER_UNSUPPORTED, "it casts uint8 to float32"},
    {IR, "out y; c = Convert(uint8[5,6]) destination_type='f32'; y = ShapeOf(c)", NULL, GATHER_OK, "y int64[1] = 2"},
    {IR, "out y; c = Convert(uint8[5,6]) destination_type='f32'; y = Transpose(c, [0])", NULL, GATHER_OK, "y float32[2] = 5,6"},
    {IR, "out y; c = Convert(uint8[5,6]) destination_type='f32'; y = Result(c)", NULL, GATHER_OK, "y float32[2] = 5,6"},
    {IR, "out y; c = Convert(uint8[5,6]) destination_type='f32'; y = Unsqueeze(c, [0])", NULL, GATHER_OK, "y float32[1,2] = 5,6"},
    /* DequantizeLinear */
    {ONNX, "const a uint8[2,2] = 1,2,3,4; out y; d = DequantizeLinear(a, float32 2); y = Gather(d, [1])", NULL, GATHER_OK,
     "y float32[1,2] = 6,8"},
    {ONNX, "const a uint8[2,2] = 1,2,3,4; out y; y = DequantizeLinear(a, float32[2,3], uint8[1,2])", NULL, GATHER_OK,
     "y float32[2,2] = 0,0,4,6"},
    {ONNX, "const a uint8[2,2] = 1,2,3,4; out y; y = DequantizeLinear(a, float32[2,3], uint8[1,2]) axis=-2", NULL, GATHER_OK,
     "y float32[2,2] = 0,2,3,6"},
    {ONNX, "const a int8[1,4] = 1,2,3,4; const s float32[1,2] = 2,3; out y; y = DequantizeLinear/21(a, s) axis=1 block_size=2", NULL,
     GATHER_OK, "y float32[1,4] = 2,4,9,12"},
    {ONNX, "out y; y = DequantizeLinear/23(int8[1,2], float32[2]) axis=0 output_dtype=10", NULL, GATHER_OK, "y float16[2] = 2,4"},
    {ONNX, "out y; y = com.microsoft.DequantizeLinear/1(int8[1,2], float32[2]) axis=0", NULL, GATHER_OK, "y float32[2] = 2,4"},
    {ONNX, "out y; y = com.example.DequantizeLinear(int8[1,2], float32[2])", NULL, GATHER_UNSUPPORTED, "of com.example"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float64[2]) axis=0", NULL, GATHER_UNSUPPORTED, "to float64"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32[2]) axis=1", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis 1 is outside [-1, 0]"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32[2]) axis=-2", NULL, GATHER_AXIS_OUT_OF_RANGE, "axis -2 is outside [-1, 0]"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32[2]) axis='0'", NULL, GATHER_FILE_MALFORMED, "'axis'"},
    {ONNX, "out y; y = DequantizeLinear/21(int8[1,2], float32[2]) axis=0 block_size='2'", NULL, GATHER_FILE_MALFORMED, "'block_size'"},
    {ONNX, "out y; y = DequantizeLinear/23(int8[1,2], float32[2]) axis=0 output_dtype='2'", NULL, GATHER_FILE_MALFORMED, "'output_dtype'"},
    {ONNX, "out y; y = DequantizeLinear/21(int8[1,2], float32[2]) axis=0 block_size=-1", NULL, GATHER_FILE_MALFORMED, "block_size is -1"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32[2,3,4]) axis=0", NULL, GATHER_SHAPE_MISMATCH,
     "x_scale of rank 1 for an axis of length 2"},
    {ONNX, "const a int8[2,2] = 1,2,3,4; const s float32[2,1] = 2,3; out y; y = DequantizeLinear(a, s) axis=0", NULL, GATHER_SHAPE_MISMATCH,
     "x_scale of rank 2 for an axis of length 2"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32 2, uint8 1)", NULL, GATHER_TYPE_MISMATCH,
     "x_zero_point of type uint8 for x of type int8"},
    {ONNX, "out y; y = DequantizeLinear(int8[1,2], float32[2,3], int8[1,2,3]) axis=0", NULL, GATHER_SHAPE_MISMATCH,
     "x_zero_point of rank 1"},
    {ONNX, "out y; y = DequantizeLinear(int32[1,2], float32 2)", NULL, GATHER_UNSUPPORTED,
     "it dequantises int32; only types of at most 8 bits"},
    {ONNX, "out y; y = DequantizeLinear(boolean[1,0], float32 2)", NULL, GATHER_UNSUPPORTED, "constants of type bool"},
    {ONNX, "const a float8_e4m3fn[1] = 0x38; out y; y = DequantizeLinear/19(a, float32 2, float8_e4m3fn 0)", NULL, GATHER_OK,
     "y float32[1] = 2"},
    {ONNX, "const a float8_e4m3fn[1] = 0x38; out y; y = DequantizeLinear/19(a, float32 2, float8_e4m3fn 1)", NULL, GATHER_UNSUPPORTED,
     "its float zero point is not 0"},
    {ONNX, "out y; y = DequantizeLinear/21(int8[1,2,3,4], float32[2,3,4]) axis=0 block_size=2", NULL, GATHER_SHAPE_MISMATCH, ""},
    {ONNX, "in x int8[2]; give x int8[2] = 1,2; out y; y = DequantizeLinear(x, float32 2)", NULL, GATHER_UNSUPPORTED,
     "is DequantizeLinear, which cannot be run"},
    {ONNX, "out y; d = DequantizeLinear(int8[1,2], float32 2); y = Identity(d)", NULL, GATHER_OK, "y float32[2] = 2,4"},
    {ONNX, "const s float32[] = 2; out s; _ = DequantizeLinear(int8[1,2], s)", NULL, GATHER_OK, "s float32[] = 2"},
    {ONNX, "give d float32[2] = 7,8; out y; d = DequantizeLinear(int8[1,2], float32 2); g: y = Gather(d, [0])", "g", GATHER_OK,
     "y float32[1] = 7"},
    /* GatherBlockQuantized */
    {ONNX,
     "const a uint4[2,32] = "
     "1,2,3,4,5,6,7,8,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,3; "
     "const s float32[2,2] = 1,2,3,4; out y; y = com.microsoft.GatherBlockQuantized/1(a, [1], "
     "s) block_size=16 gather_axis=0 quantize_axis=1",
     NULL, GATHER_OK, "y float32[1,32] = 27,27,27,27,27,27,27,27,27,27,27,27,27,27,27,27,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,12"},
    {ONNX, "const a uint4[1,2] = 1,2; const s float32[1,1] = 1; out y; y = com.microsoft.GatherBlockQuantized/1(a, [0], s) block_size='16'",
     NULL, GATHER_FILE_MALFORMED, "'block_size'"},
    {ONNX, "const a uint4[1,2] = 1,2; const s float32[1,1] = 1; out y; y = com.microsoft.GatherBlockQuantized/1(a, [0], s) block_size=3",
     NULL, GATHER_FILE_MALFORMED, ""},
    /* names and graphs */
    {ONNX,
     "in c bool[]; const a int8[3] = 1,2,3; const i int64[1] = 2; out y; f: y = If(c) then_branch={ out t; "
     "g: t = Gather(a, i) }else_branch={ out u; h: u = Gather(a, i) }",
     "g", GATHER_OK, "t int8[1] = 3"},
    {ONNX,
     "in c bool[]; const a int8[3] = 1,2,3; const i int64[1] = 2; out y; f: y = If(c) then_branch={ out t; "
     "g: t = Gather(a, i) }else_branch={ out u; h: u = Gather(a, i) }",
     "main/f/else_branch/h", GATHER_OK, "u int8[1] = 3"},
    {ONNX,
     "in c bool[]; const a int8[3] = 1,2,3; const i int64[1] = 2; out y; y = If(c) then_branch={ out t; "
     "t = Gather(a, i) }else_branch={ out u; u = Gather(a, i) }",
     "main/If_0/else_branch/Gather_0", GATHER_OK, "u int8[1] = 3"},
    {ONNX,
     "in c bool[]; in a int8[3]; const i int64[1] = 2; out y; f: y = If(c) then_branch={ out t; k = Identity(a); "
     "g: t = Gather(k, i) }else_branch={ out u; u = Gather(a, i) }; give a int8[3] = 4,5,6",
     "g", GATHER_OK, "t int8[1] = 6"},
    {ONNX,
     "in c bool[]; in a int8[3]; const i int64[1] = 2; out y; f: y = If(c) then_branch={ out t; k = Identity(a); "
     "g: t = Gather(k, i) }else_branch={ out u; u = Gather(a, i) }",
     "g", GATHER_USAGE, "missing inputs: 'a'"},
    {ONNX,
     "in a int8[3]; out y; k = Identity(a); f: y = local.F(k, [2]) axis=0; fun local.F { in p; in q; out r; "
     "g: r = Gather(p, q) axis=@axis }; give a int8[3] = 4,5,6",
     "main/f/function:F/g", GATHER_OK, "r int8[1] = 6"},
    {ONNX,
     "in a int8[2,2]; out y; f: y = local.F(a, [1]); fun local.F { in p; in q; out r; default axis=1; g: r = Gather(p, q) axis=@axis }; "
     "give a int8[2,2] = 4,5,6,7",
     "main/f/function:F/g", GATHER_OK, "r int8[2,1] = 5,7"},
    {ONNX,
     "in a int8[2,2]; out y; f: y = local.F(a, [1]); fun local.F { in p; in q; out r; g: r = Gather(p, q) axis=@axis }; "
     "give a int8[2,2] = 4,5,6,7",
     "main/f/function:F/g", GATHER_OK, "r int8[1,2] = 6,7"},
    {ONNX,
     "in a int8[2,2]; out y; f: y = local.F(a, [1]) axis=1; fun local.F { in p; in q; out r; c = Constant() value_int=@axis; "
     "g: r = Gather(p, c) axis=@axis }; give a int8[2,2] = 4,5,6,7",
     "main/f/function:F/g", GATHER_OK, "r int8[2] = 5,7"},
    {ONNX,
     "in a int8[2,2]; out y; f: y = local.F(a, [1]); fun local.F { in p; in q; out r; g: r = Gather(p, q) axis=@axis }; "
     "give p int8[2,2] = 4,5,6,7; give q int64[1] = 0",
     "function:F/g", GATHER_USAGE, "name a call of it: 'main/f/function:F/g'"},
    {ONNX, "const i int64[1] = 2; out y; g: y = Gather(i, i); g: z = Gather(i, i)", "g", GATHER_USAGE, "2 nodes are named 'g'"},
    {ONNX, "const i int64[1] = 2; out y; g: y = Gather(i, i)", "h", GATHER_NAME_NOT_FOUND, "its gather nodes are 'g'"},
    {ONNX, "const i int64[1] = 0; out y; y = Gather(i, i)", "y", GATHER_OK, "y int64[1] = 0"},
    {ONNX, "const i int64[1] = 0; out y; y = Gather(i, i)", "main/Gather_0", GATHER_OK, "y int64[1] = 0"},
    {ONNX, "out y; g: y = Relu([0])", "g", GATHER_UNSUPPORTED, "node 'g' is Relu"},
    {ONNX, "in x seq; out x", NULL, GATHER_UNSUPPORTED, "the input 'x' of the model is not a tensor"},
    {ONNX, "in x int8[1]; out x seq", NULL, GATHER_UNSUPPORTED, "the output 'x' of the model is not a tensor"},
    /* what the caller gives */
    {ONNX, "in x int8[N]; in z int8[N]; out x; give x int8[2] = 1,2; give z int8[2] = 1,2", NULL, GATHER_OK, "x int8[2] = 1,2"},
    {ONNX, "in x int8[N]; in z int8[N]; out x; give x int8[2] = 1,2; give z int8[1] = 1", NULL, GATHER_SHAPE_MISMATCH,
     "the dimension N is 1 here and 2 in the input 'x'"},
    {ONNX, "in x int8[N]; in z int8[M]; out z; give x int8[2] = 1,2; give z int8[1] = 1", NULL, GATHER_OK, "z int8[1] = 1"},
    {ONNX, "in x int8[1..3]; out x; give x int8[4] = 1,2,3,4", NULL, GATHER_SHAPE_MISMATCH,
     "the model declares 3 or less for dimension 0, got [4]"},
    {ONNX, "in x int8[1..3]; out x; give x int8[0] =", NULL, GATHER_SHAPE_MISMATCH,
     "the model declares 1 or more for dimension 0, got [0]"},
    {ONNX, "in x int8[1..3]; out x; give x int8[2] = 3,4", NULL, GATHER_OK, "x int8[2] = 3,4"},
    {ONNX, "in x int8[3]; out x; give x int8[2] = 1,2", NULL, GATHER_SHAPE_MISMATCH, "the model declares 3 for dimension 0, got [2]"},
    {ONNX, "in x int8[3]; out x; give x int8[] = 1", NULL, GATHER_RANK_MISMATCH, "the model declares rank 1, got []"},
    {ONNX, "in x int8[3]; out x; give x int16[3] = 1,2,3", NULL, GATHER_TYPE_MISMATCH, "the model declares int8, got int16"},
    {ONNX, "in x int8[2]; out x; give x int8[2] gone", NULL, GATHER_USAGE, "its data pointer is NULL"},
    {ONNX, "in x int8[0]; out x; give x int8[0] gone", NULL, GATHER_OK, "x int8[0]"},
    {ONNX, "in x any*; out x; give x int16[3] = 1,2,3", NULL, GATHER_OK, "x int16[3] = 1,2,3"},
    {ONNX, "in x int8[3]; in z int8[1]; out x", NULL, GATHER_USAGE, "missing inputs of the model: 'x', 'z'"},
    {ONNX, "in x int8[1]; out y; info k int8[2]; k = Identity(x); give x int8[1] = 1; give k int8[1] = 1", NULL, GATHER_NAME_NOT_FOUND,
     "it has 'x'"},
    {ONNX, "in x int8[1]; out y; info k int8[2]; k = Identity(x); y: y = Identity(k); give k int8[1] = 1", "y", GATHER_SHAPE_MISMATCH,
     "the model declares 2"},
    {ONNX, "in x int8[1]; out y; info k int8[2]; k = Identity(x); y: y = Identity(k); give k int8[2] = 1,6", "y", GATHER_OK,
     "y int8[2] = 1,6"},
    {ONNX, "in x int8[1]; out y; k = Identity(x); y: y = Identity(k); give k int8[2] = 1,6", "y", GATHER_OK, "y int8[2] = 1,6"},
};

static void print_outputs(char *text, const gather_model_result *result) {
  const gather_model_input *made;
  *text = 0;
  for (int64_t i = 0; (made = gather_model_result_at(result, i)); i++)
    text = graph_text_print(text + sprintf(text, "%s%s ", i ? "; " : "", made->name), &made->tensor);
}

/* Runs a case; once there is memory for it, the outputs must be as wanted. */
static gather_status use_case(const void *context, gather_error *error) {
  static graph_text t;
  const run_case *c = context;
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  gather_model *model = NULL;
  gather_model_result *result = NULL;
  char text[4000] = "";
  options.node = c->node;
  graph_text_read(&t, c->dialect == IR, c->graph);
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_run(model, t.given, t.given_count, &options, &result, error);
  if (status == GATHER_OK) print_outputs(text, result);
  if (status == GATHER_OK && strcmp(text, c->wanted) != 0) status = gather_fail(error, GATHER_USAGE, "'%s', not '%s'", text, c->wanted);
  gather_model_result_destroy(result);
  gather_model_close(model);
  return status;
}

static void results(void **state) {
  int wrong = 0;
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const run_case *c = &CASES[i];
    gather_error error = dirty_error();
    const gather_status status = use_case(c, &error);
    const bool fits = status == c->status && (status == GATHER_OK || strstr(error.message, c->wanted));
    if (!fits) print_error("%s:\n%s: %s\n", c->graph, gather_status_name(status), status ? error.message : "");
    wrong += !fits;
  }
  assert_int_equal(wrong, 0);
}

static void without_memory(void **state) {
  for (size_t i = 0; i < COUNT(CASES); i++) assert_true(fail_each(use_case, &CASES[i], CASES[i].status) > 5);
}

/* ---- runs by the public functions */
#define ROWS "const rows int64[4] = 10,11,12,13; const picked int64[2] = 3,0; const bad int64[2] = 1,4; "

typedef struct world {
  graph_text text;
  gather_model *model;
  gather_model_result *result;
  gather_error error;
  const char *failed;
} world;

static world w;

static void begin(const char *graph) {
  char text[400] = ROWS;
  graph_text_read(&w.text, false, strcat(text, graph));
  w.result = NULL;
  assert_status(gather_model_from_graph(&w.text.file, &w.model, NULL), GATHER_OK);
}

static gather_status run(const char *node, const gather_model_input *inputs, int64_t count) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  options.node = node;
  options.failed_node = &w.failed;
  w.error = dirty_error();
  w.failed = "untouched";
  return gather_model_run(w.model, inputs, count, &options, &w.result, &w.error);
}

static void end(void) {
  gather_model_result_destroy(w.result);
  gather_model_close(w.model);
}

static void gives(const char *wanted) {
  char text[400];
  for (int64_t i = 0; gather_model_result_at(w.result, i); i++)
    assert_true(gather_model_result_at(w.result, i)->tensor.flags & GATHER_TENSOR_READ_ONLY);
  print_outputs(text, w.result);
  assert_string_equal(text, wanted);
  assert_null(gather_model_result_at(w.result, -1));
}

/* Outputs in any order, graphs without nodes, and names that are left out. */
static void outputs(void **state) {
  static const char *const OUTPUTS[][2] = {
      {"out z; out rows; out y; late: z = Identity(y); g: y = Gather(rows, picked)",
       "z int64[2] = 13,10; rows int64[4] = 10,11,12,13; y int64[2] = 13,10"},
      {"out picked", "picked int64[2] = 3,0"},
      {"", ""},
      {"out rows; i: _ = Identity(rows)", "rows int64[4] = 10,11,12,13"},
      {"out y; s: y = Squeeze(rows, _)", "y int64[4] = 10,11,12,13"},
  };
  for (size_t i = 0; i < COUNT(OUTPUTS); i++) {
    begin(OUTPUTS[i][0]);
    assert_status(run(NULL, NULL, 0), GATHER_OK);
    assert_string_equal(w.failed, "");
    gives(OUTPUTS[i][1]);
    end();
  }
}

static const struct {
  const char *graph, *node; /* that is run; NULL: the model */
  gather_status status;
  const char *failed, *words; /* the node of the failure, and words of the message */
} FAILURES[] = {
    {"out nobody", NULL, GATHER_FILE_MALFORMED, "", "'nobody'"},
    {"out y; g: y = Gather(rows, y)", NULL, GATHER_FILE_MALFORMED, "g", "form a cycle"},
    {"out y; g: y = Gather(rows, y)", "g", GATHER_FILE_MALFORMED, "g", "form a cycle"},
    {"out z; a: x = Identity(z); b: y = Identity(x); c: z = Identity(y)", NULL, GATHER_FILE_MALFORMED, "b", "form a cycle"},
    {"out y; g: y = Gather(rows, nobody)", NULL, GATHER_FILE_MALFORMED, "g", "'nobody'"},
    {"out y; g: y = Gather(rows, nobody)", "g", GATHER_USAGE, "g", "'nobody'"},
    {"out y; a: y = Identity(rows); b: y = Identity(picked)", NULL, GATHER_FILE_MALFORMED, "", "two nodes produce the value 'y'"},
    /* before any work: the bad index is not reached */
    {"out y; g: m = Gather(rows, bad); y = Relu(m)", NULL, GATHER_UNSUPPORTED, "y", "Relu"},
    {"out y; g: m = Gather(rows, bad); y = Relu(m)", "y", GATHER_UNSUPPORTED, "y", "Relu"},
    {"out y; f: y = com.example.Gather(rows, picked)", NULL, GATHER_UNSUPPORTED, "f", "com.example"},
    {"out y; g: y = Gather(rows, _)", NULL, GATHER_FILE_MALFORMED, "g", "lacks its input 1"},
    {"out y; g: y = Gather(rows)", NULL, GATHER_FILE_MALFORMED, "g", "has 1 inputs"},
};

static void failures(void **state) {
  for (size_t i = 0; i < COUNT(FAILURES); i++) {
    begin(FAILURES[i].graph);
    assert_status(run(FAILURES[i].node, NULL, 0), FAILURES[i].status);
    assert_error(&w.error, FAILURES[i].status);
    assert_null(w.result);
    assert_string_equal(w.failed, FAILURES[i].failed);
    if (!strstr(w.error.message, FAILURES[i].words)) fail_msg("'%s' lacks '%s'", w.error.message, FAILURES[i].words);
    end();
  }
}

static void bad_indices(void **state) {
  begin("out y; g: y = Gather(rows, bad)");
  assert_status(run(NULL, NULL, 0), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(w.failed, "g");
  assert_int_equal(w.error.value, 4);
  assert_int_equal(w.error.position[0], 1);
  assert_non_null(strstr(w.error.message, "'g'"));
  end();
}

static gather_model_input input_of(const char *name, const int64_t *values, const int64_t *shape) {
  return (gather_model_input){name, tensor_of(GATHER_TYPE_INT64, values, 1, shape)};
}

static void inputs_of_the_caller(void **state) {
  static const int64_t threes[4] = {3, 3}, two[] = {2}, four[] = {4};
  const gather_model_input good[] = {input_of("i", threes, two), input_of("i", threes, two)};
  const gather_model_input strange = input_of("nobody", threes, two), longer = input_of("i", threes, four);
  const gather_model_input nameless = input_of(NULL, threes, two);
  begin("in i int64[2]; out y; g: y = Gather(rows, i)");
  assert_status(run(NULL, good, 1), GATHER_OK);
  gives("y int64[2] = 13,13");
  gather_model_result_destroy(w.result);
  assert_status(run(NULL, good, 2), GATHER_USAGE);
  assert_status(run(NULL, &nameless, 1), GATHER_USAGE);
  assert_status(run(NULL, &strange, 1), GATHER_NAME_NOT_FOUND);
  assert_status(run(NULL, &longer, 1), GATHER_SHAPE_MISMATCH);
  assert_int_equal(gather_model_value_type(w.model, NULL, "i"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, "g", "rows"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, NULL, "nobody"), GATHER_TYPE_NONE);
  assert_int_equal(gather_model_value_type(w.model, "nobody", "i"), GATHER_TYPE_INT64);
  assert_status(run(NULL, NULL, 0), GATHER_USAGE);
  assert_non_null(strstr(w.error.message, "'i'"));
  assert_null(w.result);
  end();
}

static void wrong_calls(void **state) {
  gather_model_run_options options = {0};
  begin("");
  assert_status(gather_model_run(w.model, NULL, 0, &options, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, 1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, -1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(NULL, NULL, 0, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_null(w.result);
  assert_status(gather_model_run(w.model, NULL, 0, NULL, &w.result, NULL), GATHER_OK);
  end();
  gather_model_result_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(results),    cmocka_unit_test(without_memory), cmocka_unit_test(outputs),
                                     cmocka_unit_test(failures),   cmocka_unit_test(bad_indices),    cmocka_unit_test(inputs_of_the_caller),
                                     cmocka_unit_test(wrong_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
