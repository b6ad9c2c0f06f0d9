/* SPDX-License-Identifier: MIT
 *
 * test_infer_layers.c: shapes and types of layers of one node: convolutions, pools, paddings, products, recurrent layers, reductions,
 * parts, shapes that change or are stretched. Each case is written as text: attributes that are missing, of a wrong kind or length,
 * lengths that are unknown, and lists of other lengths leave what they decide unknown, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "support/fail_each.h"
#include "support/graph_text.h"

enum { MOST = 6, ROOM = 1000, OUTPUTS = 3 };

/* opset: of ONNX, or -N: opsetN of OpenVINO. inputs, one word each: a shape "2x?x4" ("?": any length, "?9": at most 9, "s": a
 * scalar), "*": of unknown rank, "-": omitted, ":1,2": int64 elements, ".1,2": float32 elements. attributes: "name=3", "name=[1,2]",
 * "name='text'", one word each. wanted: the outputs' shapes, with "none" for an unknown one, and " | " between them. */
typedef struct {
  int opset;
  const char *op, *inputs, *attributes, *wanted;
} layer_case;

static const layer_case CASES[] = {
    /* convolutions: each number of the window, and what makes it unreadable */
    {13, "Conv", "1x4x5 6x4x3", "", "[1,6,3]"},
    {13, "Conv", "1x4x5 6x4x3", "pads=[1,1]", "[1,6,5]"},
    {13, "Conv", "1x4x? 6x4x3", "pads=[1,1]", "[1,6,?]"},
    {13, "Conv", "1x4x?9 6x4x3", "pads=[1,1]", "[1,6,0..9]"},
    {13, "Conv", "1x4x?9 6x4x3", "pads=[1,1] strides=[2]", "[1,6,?]"},
    {13, "Conv", "1x4x?9 6x4x3", "pads=[2,2]", "[1,6,?]"},
    {13, "Conv", "1x4x1073741824 6x4x3", "", "[1,6,1073741822]"},
    {13, "Conv", "1x4x9 6x4x3", "strides=[2]", "[1,6,4]"},
    {13, "Conv", "1x4x9 6x4x3", "dilations=[2]", "[1,6,5]"},
    {13, "Conv", "1x4x9 6x4x3", "strides=[2] dilations=[2] pads=[1,0]", "[1,6,3]"},
    {13, "Conv", "1x4x9 6x4x?", "kernel_shape=[3]", "[1,6,7]"},
    {13, "Conv", "1x4x9 6x4x?", "", "[1,6,?]"},
    {13, "Conv", "1x4x9 6x4x0", "", "[1,6,?]"},
    {13, "Conv", "1x4x9 6x4x1073741825", "", "[1,6,?]"},
    {13, "Conv", "1x4x2 6x4x3", "", "[1,6,?]"},
    {13, "Conv", "1x4x3 6x4x3", "", "[1,6,1]"},
    {13, "Conv", "1x4x1073741825 6x4x3", "", "[1,6,?]"},
    {13, "Conv", "1x4x9x9 6x4x3x2", "strides=[2,1] pads=[1,0,0,1]", "[1,6,4,9]"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad='VALID' pads=[1,1]", "[1,6,7]"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad='SAME_UPPER' strides=[2]", "[1,6,5]"},
    {13, "Conv", "1x4x8 6x4x3", "auto_pad='SAME_LOWER' strides=[2]", "[1,6,4]"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad='SAME_LOWER' dilations=[2]", "[1,6,?]"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad='NOTSET'", "[1,6,7]"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad='OTHER'", "none"},
    {13, "Conv", "1x4x9 6x4x3", "auto_pad=1", "none"},
    {13, "Conv", "1x4x9 6x4x3", "pads=[1]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "pads=[1,1,1]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "pads=[1,-1073741825]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "pads=[-1,0]", "[1,6,6]"},
    {13, "Conv", "1x4x9 6x4x3", "strides=[0]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "dilations=[0]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "strides=[1,1]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "strides='2'", "none"},
    {13, "Conv", "1x4x9 6x4x3", "dilations=[1073741825]", "none"},
    {13, "Conv", "1x4x9 6x4x3", "kernel_shape=[0]", "none"},
    {13, "Conv", "* 6x4x3", "", "[?,6,?]"},
    {13, "Conv", "1x4x9 *", "", "none"},
    {13, "Conv", "1x4x9 6x4", "", "none"},
    {13, "Conv", "1x4x9 6x4x3x3", "", "none"},
    {-1, "Convolution", "1x4x9 6x4x3", "strides='2' pads_begin='1' pads_end='0' dilations='1'", "[1,6,4]"},
    {-1, "Convolution", "1x4x9 6x4x3", "strides='1' pads_begin='1' pads_end='1' dilations='1'", "[1,6,9]"},
    {-1, "Convolution", "1x4x9 6x4x3", "strides='2' pads_begin='1,1'", "none"},
    {-1, "Convolution", "1x4x9 6x4x3", "pads_begin='1' pads_end='x'", "none"},
    {-1, "Convolution", "1x4x9 6x4x3", "auto_pad='explicit' pads_begin='2' pads_end='1'", "[1,6,10]"},
    {-1, "GroupConvolution", "1x4x9 2x3x2x3", "", "[1,6,7]"},
    {-1, "GroupConvolution", "1x4x9 ?x3x2x3", "", "[1,?,7]"},
    {-1, "GroupConvolution", "1x4x9 2x?x2x3", "", "[1,?,7]"},
    {-1, "GroupConvolution", "1x4x9 4611686018427387904x3x2x3", "", "[1,?,7]"},
    {-1, "GroupConvolution", "* 2x3x2x3", "", "[?,6,?]"},
    {-1, "GroupConvolution", "1x4x9 6x4x3", "", "none"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "", "[1,6,7]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "strides=[2]", "[1,6,11]"},
    {13, "ConvTranspose", "1x4x5x5 4x6x3x2", "", "[1,6,7,6]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "strides=[2] pads=[1,0] output_padding=[1]", "[1,6,11]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "dilations=[2]", "[1,6,9]"},
    {13, "ConvTranspose", "1x4x5 4x6x?", "", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x5 4x6x?", "kernel_shape=[3]", "[1,6,7]"},
    {13, "ConvTranspose", "1x4x5 4x6x0", "", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x? 4x6x3", "", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x1073741825 4x6x3", "", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x5 4x6x1073741825", "", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x1 4x6x3", "pads=[2,2]", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x1 4x6x3", "pads=[2,1]", "[1,6,0]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "group=2", "[1,12,7]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "group=0", "[1,?,7]"},
    {13, "ConvTranspose", "1x4x5 4x?x3", "group=2", "[1,?,7]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "group='2'", "none"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "output_shape=[12]", "[1,6,12]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "output_shape=[0]", "none"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "output_padding=[-1]", "none"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "auto_pad='SAME_UPPER'", "[1,6,?]"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "auto_pad='VALID' pads=[1,1]", "[1,6,7]"},
    {13, "ConvTranspose", "* 4x6x3", "", "none"},
    {13, "ConvTranspose", "1x4 4x6", "", "none"},
    {13, "ConvTranspose", "1x4x5 4x6x3x3", "", "none"},
    /* pools */
    {13, "MaxPool", "1x4x9", "kernel_shape=[3] strides=[2]", "[1,4,4]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[3] strides=[2]", "[1,4,3]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[3] strides=[2] ceil_mode=1", "[1,4,4]"},
    {13, "MaxPool", "1x4x9", "kernel_shape=[3] strides=[2] ceil_mode=1", "[1,4,4]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[1] strides=[8] ceil_mode=1", "[1,4,?]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[3] strides=[2] ceil_mode=1 auto_pad='VALID'", "[1,4,?]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[3] strides=[2] ceil_mode=1 auto_pad='SAME_UPPER'", "[1,4,?]"},
    {13, "MaxPool", "1x4x8", "kernel_shape=[3] ceil_mode='x'", "none"},
    {13, "MaxPool", "1x4x?", "kernel_shape=[1]", "[1,4,?]"},
    {13, "MaxPool", "1x4x8", "", "none"},
    {13, "MaxPool", "1x4", "kernel_shape=[1]", "none"},
    {13, "MaxPool", "*", "kernel_shape=[1]", "none"},
    {13, "MaxPool", "?x?x8", "kernel_shape=[2]", "[?,?,7] | [?,?,7]"},
    {13, "MaxPool", "1x4", "kernel_shape=[2]", "none | none"},
    {13, "AveragePool", "1x4x8x6", "kernel_shape=[2,3]", "[1,4,7,4]"},
    {-8, "MaxPool", "1x4x8", "kernel='3' strides='2' rounding_type='ceil'", "[1,4,4]"},
    {-8, "MaxPool", "1x4x8", "kernel='3' strides='2' rounding_type='floor'", "[1,4,3] | [1,4,3]"},
    {-8, "MaxPool", "1x4x8", "kernel='3' strides='2'", "[1,4,3]"},
    {13, "GlobalAveragePool", "1x?x8x6", "", "[1,?,1,1]"},
    {13, "GlobalMaxPool", "1x4", "", "[1,4]"},
    {13, "GlobalMaxPool", "4", "", "none"},
    /* paddings */
    {13, "Pad", "2x? :1,0,1,0", "", "[4,?]"},
    {13, "Pad", "2x? :0,1,0,0", "", "[2,?]"},
    {13, "Pad", "?9x3 :0,1,0,0", "", "[0..9,4]"},
    {13, "Pad", "?9x3 :1,1,-1,0", "", "[0..9,4]"},
    {13, "Pad", "2x? :0,1,0,-1", "", "[2,?]"},
    {13, "Pad", "2x3 :-1,0,-1,0", "", "[0,3]"},
    {13, "Pad", "2x3 :-2,0,-1,0", "", "none"},
    {13, "Pad", "2x3 :1,0,1", "", "[?,?]"},
    {13, "Pad", "2x3 :1,1", "", "[?,?]"},
    {13, "Pad", "2x3 4", "", "[?,?]"},
    {13, "Pad", "2x3 :9223372036854775807,0,1,0", "", "none"},
    {13, "Pad", "2x3 :9223372036854775807,0,0,0", "", "none"},
    {13, "Pad", "* :1,1", "", "none"},
    {18, "Pad", "2x3 :1,2 - :1", "", "[2,6]"},
    {18, "Pad", "2x3 :1,2 - :-2", "", "[5,3]"},
    {18, "Pad", "2x3 :1,2 - :2", "", "none"},
    {18, "Pad", "2x3 :1,2 - :0,1", "", "[?,?]"},
    {18, "Pad", "2x3 :1,2 - 1", "", "[?,?]"},
    {2, "Pad", "2x3", "pads=[1,0,1,0]", "[4,3]"},
    {-1, "Pad", "2x3 :1,0 :1,2", "pad_mode='constant'", "[4,5]"},
    {-1, "Pad", "2x3 :1,0 :1", "pad_mode='constant'", "[?,?]"},
    {-1, "Pad", "2x3 :1,0 2", "pad_mode='constant'", "[?,?]"},
    /* sizes and scales */
    {13, "Resize", "1x2x4 - - :1,2,7", "", "[1,2,7]"},
    {13, "Resize", "1x2x4 - - :1,2,-7", "", "[1,2,?]"},
    {13, "Resize", "1x2x4 - - :1,7", "", "[?,?,?]"},
    {13, "Resize", "1x2x4 - - 3", "", "[?,?,?]"},
    {13, "Resize", "1x2x4 - .1,1,2.5", "", "[1,2,10]"},
    {13, "Resize", "1x2x4 - .1,1,0.3", "", "[1,2,?]"},
    {13, "Resize", "1x?x4 - .1,1,0", "", "[1,?,?]"},
    {13, "Resize", "1x?x4 - .1,2,0.5", "", "[1,?,2]"},
    {13, "Resize", "1x?9x4 - .1,1,2", "", "[1,0..9,8]"},
    {13, "Resize", "1x2x1048576 - .1,1,2", "", "[1,2,2097152]"},
    {13, "Resize", "1x2x1048577 - .1,1,2", "", "[1,2,?]"},
    {13, "Resize", "1x2x4 - .1,1,1048576", "", "[1,2,?]"},
    {13, "Resize", "1x2x4 - :1,1,2", "", "[?,?,?]"},
    {13, "Resize", "1x2x4 - .1,2", "", "[?,?,?]"},
    {13, "Resize", "1x2x4 - 3", "", "[?,?,?]"},
    {18, "Resize", "1x2x4 - - :7", "axes=[2]", "[1,2,7]"},
    {18, "Resize", "1x2x4 - - :7", "axes=[-2]", "[1,7,4]"},
    {18, "Resize", "1x2x4 - - :7", "axes=[3]", "[?,?,?]"},
    {18, "Resize", "1x2x4 - - :7", "axes='2'", "[?,?,?]"},
    {18, "Resize", "1x2x4 - .2", "axes=[2]", "[1,2,8]"},
    {18, "Resize", "1x2x4 - - :7", "axes=[2] keep_aspect_ratio_policy='stretch'", "[1,2,7]"},
    {18, "Resize", "1x2x4 - - :7", "axes=[2] keep_aspect_ratio_policy='not_larger'", "[?,?,?]"},
    {10, "Resize", "1x2x4 .1,1,2", "", "[1,2,8]"},
    {9, "Upsample", "1x2x4 .1,1,2", "", "[1,2,8]"},
    {13, "Resize", "* - - :1,2,7", "", "none"},
    {13, "Resize", "s - - :7", "", "none"},
    {13, "DepthToSpace", "1x8x2x3", "blocksize=2", "[1,2,4,6]"},
    {13, "DepthToSpace", "1x9x2x?", "blocksize=2", "[1,?,4,?]"},
    {13, "DepthToSpace", "1x?x2x3", "blocksize=1", "[1,?,2,3]"},
    {13, "DepthToSpace", "1x8x2x3", "blocksize=0", "none"},
    {13, "DepthToSpace", "1x8x2x3", "blocksize='2'", "none"},
    {13, "DepthToSpace", "1x8x2x3", "blocksize=4294967296", "none"},
    {13, "DepthToSpace", "1x8x4611686018427387904x3", "blocksize=2", "[1,2,?,6]"},
    {13, "DepthToSpace", "*", "blocksize=2", "none"},
    {13, "SpaceToDepth", "1x2x4x6", "blocksize=2", "[1,8,2,3]"},
    {13, "SpaceToDepth", "1x2x5x6", "blocksize=2", "[1,8,?,3]"},
    /* products */
    {13, "MatMul", "2x3 3x4", "", "[2,4]"},
    {13, "MatMul", "3 3x4", "", "[4]"},
    {13, "MatMul", "2x3 3", "", "[2]"},
    {13, "MatMul", "5x2x3 3", "", "[5,2]"},
    {13, "MatMul", "3 5x3x4", "", "[5,4]"},
    {13, "MatMul", "3 3", "", "[]"},
    {13, "MatMul", "5x1x2x3 6x3x4", "", "[5,6,2,4]"},
    {13, "MatMul", "7x3 5x3x4", "", "[5,7,4]"},
    {13, "MatMul", "s 3x4", "", "none"},
    {13, "MatMul", "2x3 s", "", "none"},
    {13, "MatMul", "2x3 *", "", "none"},
    {-1, "MatMul", "3x2 4x3", "transpose_a='true' transpose_b='true'", "[2,4]"},
    {-1, "MatMul", "3 4x3", "transpose_a='true' transpose_b='true'", "[4]"},
    {-1, "MatMul", "3x2 3", "transpose_a='true' transpose_b='true'", "[2]"},
    {-1, "MatMul", "3x2 4x3", "transpose_a='x'", "none"},
    {-1, "MatMul", "3x2 4x3", "transpose_b='x'", "none"},
    {13, "Gemm", "2x3 3x4", "", "[2,4]"},
    {13, "Gemm", "3x2 4x3", "transA=1 transB=1", "[2,4]"},
    {13, "Gemm", "* 4x3", "transB=1", "[?,4]"},
    {13, "Gemm", "3x2 2", "transA=1", "[2,?]"},
    {13, "Gemm", "3x2 2x3", "transA='1'", "none"},
    {13, "Gemm", "3x2 2x3", "transB='1'", "none"},
    {13, "Einsum", "2x3 3x4", "equation='ij,jk->ik'", "[2,4]"},
    {13, "Einsum", "2x3", "equation='iJ->Ji'", "[3,2]"},
    {13, "Einsum", "2x? 3x4", "equation='ij,jk->jik'", "[3,2,4]"},
    {13, "Einsum", "2x3 ?x4", "equation='ij,jk->jik'", "[3,2,4]"},
    {13, "Einsum", "2x1 3x4", "equation='ij,jk->jik'", "[3,2,4]"},
    {13, "Einsum", "2x3", "equation='ij->'", "[]"},
    {13, "Einsum", "2x3", "equation='ij'", "none"},
    {13, "Einsum", "2x3", "equation='ij-'", "none"},
    {13, "Einsum", "2x3", "equation='ij->ik'", "none"},
    {13, "Einsum", "2x3", "equation='ij->i.'", "none"},
    {13, "Einsum", "2x3", "equation='...j->j'", "none"},
    {13, "Einsum", "2x3", "equation='i->i'", "none"},
    {13, "Einsum", "2x3", "equation='ijk->i'", "none"},
    {13, "Einsum", "2x3 3x4", "equation='ij->i'", "none"},
    {13, "Einsum", "2x3", "equation=1", "none"},
    {13, "Einsum", "2x3", "", "none"},
    {23, "Attention", "1x2x3x4 1x2x5x4 1x2x5x6", "", "[1,2,3,6]"},
    {23, "Attention", "1x3x4 1x5x4 1x5x6", "", "none"},
    {-13, "ScaledDotProductAttention", "1x2x3x4 1x2x5x4 1x2x5x6", "", "[1,2,3,6]"},
    {-13, "ScaledDotProductAttention", "1x2x3x4 1x2x5x4 1x1x5x6", "", "[1,?,3,6]"},
    {-13, "ScaledDotProductAttention", "1x?x3x4 1x2x5x4 1x2x5x6", "", "[1,?,3,6]"},
    {-13, "ScaledDotProductAttention", "1x2x3x4 1x2x5x4 5x6", "", "none"},
    {-13, "ScaledDotProductAttention", "4 4 6", "", "none"},
    /* recurrent layers */
    {14, "LSTM", "5x2x3 1x16x3 1x16x4", "hidden_size=4", "[5,1,2,4] | [1,2,4] | [1,2,4]"},
    {14, "GRU", "5x2x3 2x12x3 2x12x4", "direction='bidirectional'", "[5,2,2,4] | [2,2,4]"},
    {14, "RNN", "2x5x3 1x4x3 1x4x4", "layout=1 direction='reverse'", "[2,5,1,4] | [2,1,4]"},
    {14, "RNN", "* 1x4x3 *", "", "[?,1,?,?]"},
    {14, "RNN", "* 1x4x3 *", "layout=1 hidden_size=4", "[?,?,1,4]"},
    {14, "RNN", "5x2x3 1x4x3 1x4x4", "hidden_size=0", "[5,1,2,?]"},
    {14, "RNN", "5x2x3 1x4x3 1x4x4", "hidden_size='4'", "[5,1,2,?]"},
    {14, "RNN", "5x2x3 1x4x3 1x4x4", "direction='both'", "none"},
    {14, "RNN", "5x2x3 1x4x3 1x4x4", "layout='1'", "none"},
    {14, "RNN", "5x2 1x4x3 1x4x4", "", "none"},
    {-5, "GRUSequence", "2x5x3 2x1x4 2", "hidden_size='4' direction='forward'", "[2,1,5,4] | [2,1,4]"},
    {-5, "GRUSequence", "2x5x3 2x1x4 2x3x4", "direction='bidirectional'", "[2,2,5,?]"},
    {-5, "GRUSequence", "2x5 2x1x4 2", "hidden_size='4'", "none"},
    {-5, "GRUSequence", "2x5x3 2x1x4 2", "direction='x'", "none"},
    /* one axis less, shorter, or more */
    {13, "ArgMax", "2x3x4", "axis=1", "[2,1,4]"},
    {13, "ArgMin", "2x3x4", "axis=-1 keepdims=0", "[2,3]"},
    {13, "ArgMax", "2x3x4", "", "[1,3,4]"},
    {13, "ArgMax", "2x3x4", "axis=3", "none"},
    {13, "ArgMax", "2x3x4", "axis='1'", "none"},
    {13, "ArgMax", "2x3x4", "keepdims='1'", "none"},
    {13, "ArgMax", "s", "", "none"},
    {13, "ReduceMax", "2x3x4", "axes=[1] keepdims=0", "[2,4]"},
    {13, "ReduceMax", "s", "", "[]"},
    {13, "ReduceMax", "2x3x4", "keepdims='0'", "none"},
    {18, "ReduceMax", "2x3x4", "noop_with_empty_axes='0'", "none"},
    {13, "ReduceMax", "*", "axes=[1]", "none"},
    {11, "TopK", "2x9 :3", "", "[2,3] | [2,3]"},
    {11, "TopK", "2x9 :1", "axis=0", "[1,9]"},
    {11, "TopK", "2x9 :10", "", "[2,?]"},
    {11, "TopK", "2x9 :9", "", "[2,9]"},
    {11, "TopK", "2x9 :-1", "", "[2,?]"},
    {11, "TopK", "2x9 :1,2", "", "[2,?]"},
    {11, "TopK", "2x9 1", "", "[2,?]"},
    {11, "TopK", "2x9 :3", "axis=2", "none"},
    {11, "TopK", "2x9 :3", "axis='1'", "none"},
    {11, "TopK", "* :3", "", "none"},
    {9, "TopK", "2x9", "k=3", "[2,3]"},
    {9, "TopK", "2x9", "k=-3", "[2,?]"},
    {9, "TopK", "2x9", "k='3'", "[2,?]"},
    {9, "TopK", "2x9", "", "[2,?]"},
    {13, "NonZero", "2x3", "", "[2,?]"},
    {13, "NonZero", "*", "", "[?,?]"},
    {13, "OneHot", "2x3 :5 2", "", "[2,3,5]"},
    {13, "OneHot", "2x3 :5 2", "axis=0", "[5,2,3]"},
    {13, "OneHot", "2x3 :5 2", "axis=-2", "[2,5,3]"},
    {13, "OneHot", "2x3 1 2", "axis=1", "[2,?,3]"},
    {13, "OneHot", "2x3 :5 2", "axis=3", "none"},
    {13, "OneHot", "2x3 :5 2", "axis='1'", "none"},
    {13, "OneHot", "* :5 2", "", "none"},
    /* parts */
    {13, "Split", "6x4", "", "[3,4] | [3,4]"},
    {13, "Split", "6x4", "axis=1", "[6,4]"},
    {13, "Split", "7x4", "", "none | none"},
    {18, "Split", "7x4", "", "[4,4] | [3,4]"},
    {18, "Split", "4", "", "[2] | [2]"},
    {18, "Split", "5", "", "[2] | [2] | [1]"},
    {18, "Split", "1", "", "none | none | none"},
    {18, "Split", "2", "", "[1] | [1] | [0]"},
    {13, "Split", "?x4", "", "[?,4] | [?,4]"},
    {13, "Split", "6x4 :2,4", "", "[2,4] | [4,4]"},
    {13, "Split", "6x4 :2,2,2", "", "none | none"},
    {13, "Split", "6x4 2", "", "[0..6,4] | [0..6,4]"},
    {13, "Split", "6x4 :2,-1", "", "[2,4] | [?,4]"},
    {13, "Split", "6x4 :3,3", "axis=2", "none | none"},
    {13, "Split", "6x4 :3,3", "axis='0'", "none | none"},
    {13, "Split", "* :3,3", "", "none | none"},
    {11, "Split", "6x4", "split=[1,5]", "[1,4] | [5,4]"},
    {11, "Split", "6x4", "split=[1,4,1]", "[0..6,4] | [0..6,4]"},
    {11, "Split", "6x4", "split='1'", "[0..6,4] | [0..6,4]"},
    {-1, "VariadicSplit", "6x4 :0 :2,-1", "", "[2,4] | [4,4]"},
    {-1, "VariadicSplit", "6x4 :-1 :-1,1", "", "[6,3] | [6,1]"},
    {-1, "VariadicSplit", "6x4 :0 :-1,7", "", "[?,4] | [7,4]"},
    {-1, "VariadicSplit", "6x4 :0,1 :2,4", "", "none | none"},
    {-1, "VariadicSplit", "6x4 1 :2,4", "", "none | none"},
    /* cuts whose lists do not agree */
    {13, "Slice", "6x4 :1 :5", "", "[4,4]"},
    {13, "Slice", "6x4 :1 :5 :1 :2", "", "[6,2]"},
    {13, "Slice", "6x4 :-1 :-7 :0 :-1", "", "[6,4]"},
    {13, "Slice", "6x4 :-1 :-7 :0 :-9223372036854775808", "", "[1,4]"},
    {13, "Slice", "6x4 :5 :1", "", "[0,4]"},
    {13, "Slice", "6x4 :1 :5 :0 :-1", "", "[0,4]"},
    {13, "Slice", "6x4 :1 :5 :0 :0", "", "none"},
    {13, "Slice", "6x4 :1 :5 :2", "", "none"},
    {13, "Slice", "6x4 :1 :5,6", "", "[0..6,0..4]"},
    {13, "Slice", "6x4 :1 :5 :0,1", "", "[0..6,0..4]"},
    {13, "Slice", "6x4 :1 :5 :0 :1,1", "", "[0..6,4]"},
    {13, "Slice", "6x4 :1 :5 :0 1", "", "[0..6,4]"},
    {13, "Slice", "6x4 :1,1,1 :5,5,5", "", "[0..6,0..4]"},
    {13, "Slice", "?x4 :0 :9223372036854775807", "", "[?,4]"},
    {13, "Slice", "?x4 :1 :5", "", "[?,4]"},
    {13, "Slice", "* :1 :5", "", "none"},
    {9, "Slice", "6x4", "starts=[1] ends=[5]", "[4,4]"},
    {9, "Slice", "6x4", "starts=[1,0] ends=[5,-1] axes=[1,0]", "[5,3]"},
    {-1, "StridedSlice", "6x4 :1 :5", "begin_mask='1' end_mask='0'", "[5,4]"},
    {-1, "StridedSlice", "6x4 :1 :5 :0", "", "none"},
    {-1, "StridedSlice", "6x4 :1 :5,6", "", "none"},
    {-1, "StridedSlice", "6x4 :1 :5 :1,1", "", "none"},
    {-1, "StridedSlice", "6x4 :1 5", "", "none"},
    {-1, "StridedSlice", "6x4 :1,1,1 :2,2,2", "", "none"},
    {-1, "StridedSlice", "6x4x2 :0,1 :0,2", "ellipsis_mask='1'", "[6,4,1]"},
    {-1, "StridedSlice", "6x4x2 :0,1 :0,2", "ellipsis_mask='1' shrink_axis_mask='0,1'", "[6,4]"},
    {-1, "StridedSlice", "6x4 :0,0 :0,0", "ellipsis_mask='1,1'", "none"},
    {-1, "StridedSlice", "6 :0,0 :0,1", "ellipsis_mask='1'", "[1]"},
    {-1, "StridedSlice", "6 :0,0,0 :0,0,1", "ellipsis_mask='1,1'", "none"},
    {-1, "StridedSlice", "6 :0,0,0 :0,1,1", "ellipsis_mask='1'", "none"},
    {-1, "StridedSlice", "6x4 :0,1 :0,2", "new_axis_mask='1'", "[1,1,4]"},
    {-1, "StridedSlice", "6x4 :5 :1 :-2", "end_mask='1'", "[3,4]"},
    {-1, "StridedSlice", "6x4 :2 :1 :-1", "begin_mask='1'", "[4,4]"},
    /* axes that come, go and trade places */
    {13, "Unsqueeze", "2x3 :0,-1", "", "[1,2,3,1]"},
    {13, "Unsqueeze", "s :0", "", "[1]"},
    {13, "Unsqueeze", "2x3 :3", "", "none"},
    {13, "Unsqueeze", "2x3 :0,0", "", "none"},
    {13, "Unsqueeze", "2x3 1", "", "none"},
    {13, "Unsqueeze", "* :0", "", "none"},
    {11, "Unsqueeze", "2x3", "axes=[1]", "[2,1,3]"},
    {11, "Unsqueeze", "2x3", "axes='1'", "none"},
    {13, "Squeeze", "1x2x1", "", "[2]"},
    {13, "Squeeze", "s", "", "[]"},
    {13, "Squeeze", "1x2x1 :-1", "", "[1,2]"},
    {13, "Squeeze", "1x2x1 :1", "", "none"},
    {13, "Squeeze", "1x0x1 :1", "", "none"},
    {13, "Squeeze", "1x?x1 :1", "", "[1,1]"},
    {13, "Squeeze", "1x?x1", "", "none"},
    {13, "Squeeze", "1x2x1 :3", "", "none"},
    {13, "Squeeze", "1x2x1 1", "", "none"},
    {13, "Squeeze", "*", "", "none"},
    {11, "Squeeze", "1x2x1", "axes=[0]", "[2,1]"},
    {13, "Flatten", "2x3x4", "", "[2,12]"},
    {13, "Flatten", "2x3x4", "axis=0", "[1,24]"},
    {13, "Flatten", "2x3x4", "axis=3", "[24,1]"},
    {13, "Flatten", "2x3x4", "axis=-1", "[6,4]"},
    {13, "Flatten", "2x3x4", "axis=-3", "[1,24]"},
    {13, "Flatten", "2x3x4", "axis=4", "none"},
    {13, "Flatten", "2x3x4", "axis=-4", "none"},
    {13, "Flatten", "2x3x4", "axis='1'", "none"},
    {13, "Flatten", "2x?9x4", "axis=1", "[2,?]"},
    {13, "Flatten", "?9x3x4", "axis=1", "[0..9,12]"},
    {13, "Flatten", "4611686018427387904x4x2", "axis=2", "[?,2]"},
    {13, "Flatten", "*", "", "none"},
    {13, "Transpose", "2x3x4", "", "[4,3,2]"},
    {13, "Transpose", "2x3x4", "perm=[1,2,0]", "[3,4,2]"},
    {13, "Transpose", "2x3x4", "perm=[1,0]", "none"},
    {13, "Transpose", "2x3x4", "perm=[1,2,3]", "none"},
    {13, "Transpose", "2x3x4", "perm=[1,2,-1]", "none"},
    {13, "Transpose", "2x3x4", "perm='1'", "none"},
    {13, "Transpose", "*", "", "none"},
    {-1, "Transpose", "2x3x4 :1,2,0", "", "[3,4,2]"},
    {-1, "Transpose", "2x3x4 0", "", "none"},
    {13, "Reshape", "2x3x4 :6,4", "", "[6,4]"},
    {13, "Reshape", "2x3x4 :0,-1", "", "[2,12]"},
    {13, "Reshape", "2x3x4 :-1,5", "", "[?,5]"},
    {13, "Reshape", "2x3x4 :-1,8", "", "[3,8]"},
    {13, "Reshape", "2x3x4 :-2,8", "", "none"},
    {13, "Reshape", "2x3x4 2", "", "[?,?]"},
    {13, "Reshape", "2x3x4 ?", "", "none"},
    {13, "Reshape", "2x3x4 *", "", "none"},
    {13, "Reshape", "?9x4 :0,2,-1", "", "[0..9,2,2]"},
    {13, "Reshape", "?9x4 :-1,4", "", "[0..9,4]"},
    {13, "Reshape", "?9x4 :-1,2", "", "[?,2]"},
    {13, "Reshape", "?9x?8 :0,-1", "", "[0..9,0..8]"},
    {13, "Reshape", "?9x?8 :-1,0", "", "[0..9,0..8]"},
    {13, "Reshape", "2x3 :1,1,0,-1", "", "[1,1,?,?]"},
    {13, "Reshape", "* :0,-1,2", "", "[?,?,2]"},
    {13, "Reshape", "2x3 :0,-1", "allowzero='1'", "none"},
    {14, "Reshape", "0x3 :0,7", "allowzero=1", "[0,7]"},
    {14, "Reshape", "2x0 :0,-1", "allowzero=1", "[0,?]"},
    {13, "Reshape", "4611686018427387904x4 :-1,4", "", "[?,4]"},
    {-1, "Reshape", "2x3x4 :0,-1", "special_zero='true'", "[2,12]"},
    {-1, "Reshape", "2x0x4 :0,3", "special_zero='false'", "[0,3]"},
    {-1, "Reshape", "2x3x4 :0,-1", "special_zero='x'", "none"},
    {13, "Concat", "2x3 4x3", "axis=0", "[6,3]"},
    {13, "Concat", "2x3 ?9x3", "axis=0", "[2..11,3]"},
    {13, "Concat", "?9x3 ?8x3 1x3", "axis=-2", "[1..18,3]"},
    {13, "Concat", "2x3 4x3", "axis=2", "none"},
    {13, "Concat", "2x3 4x3", "", "none"},
    {13, "Concat", "2x3 4x3", "axis='0'", "none"},
    {13, "Concat", "s s", "axis=0", "none"},
    {13, "Concat", "* 2x3", "axis=0", "none"},
    /* stretched */
    {13, "Add", "2x1x4 3x1", "", "[2,3,4]"},
    {13, "Add", "?9x4 1x4", "", "[0..9,4]"},
    {13, "Add", "1x4 ?9x4", "", "[0..9,4]"},
    {13, "Add", "?9x4 5x4", "", "[5,4]"},
    {13, "Add", "5x4 ?9x4", "", "[5,4]"},
    {13, "Add", "?9x4 ?8x4", "", "[?,4]"},
    {13, "Add", "0x4 ?8x4", "", "[0,4]"},
    {13, "Add", "2x4 *", "", "none"},
    {6, "Add", "2x4 4", "broadcast=1", "[2,4]"},
    {-1, "Add", "2x1 1x3", "auto_broadcast='numpy'", "[2,3]"},
    {-1, "Add", "2x3 2x3", "auto_broadcast='none'", "[2,3]"},
    {-1, "Add", "2x1 1x3", "auto_broadcast='x'", "none"},
    {13, "Expand", "2x1 :3,1,4", "", "[3,2,4]"},
    {13, "Expand", "2x1 2", "", "[2,?]"},
    {13, "Expand", "2x1 ?", "", "none"},
    {13, "Expand", "2x1 :-2,4", "", "none"},
    {13, "Expand", "* :3", "", "none"},
    {-3, "Broadcast", "2x1 :3,2,4", "mode='bidirectional'", "[3,2,4]"},
    {-3, "Broadcast", "2x1 :3,2,4", "mode='numpy'", "[3,2,4]"},
    {-3, "Broadcast", "2x1 :3,2,4", "mode='x'", "none"},
    {-3, "Broadcast", "2x1 *", "mode='numpy'", "none"},
    {13, "ConstantOfShape", ":2,3", "", "[2,3]"},
    {13, "ConstantOfShape", "2", "", "[?,?]"},
    {13, "ConstantOfShape", "*", "", "none"},
    {13, "ConstantOfShape", ":2,-3", "", "none"},
    {13, "Tile", "2x3 :2,4", "", "[4,12]"},
    {13, "Tile", "1x?9 :5,1", "", "[5,0..9]"},
    {13, "Tile", "2x?9 2", "", "[?,?]"},
    {13, "Tile", "2x3 *", "", "[?,?]"},
    {13, "Tile", "4611686018427387904 :4", "", "[?]"},
    {13, "Tile", "* :4", "", "none"},
    {5, "Tile", "2x3 :2,4", "", "none"},
    {-1, "Tile", "2x3 :4", "", "[2,12]"},
    {-1, "Tile", "3 :2,4", "", "[2,12]"},
    {-1, "Tile", "3 *", "", "none"},
    /* shapes and ranges */
    {13, "Shape", "2x3x4", "", "[3]"},
    {15, "Shape", "2x3x4", "start=1", "[2]"},
    {15, "Shape", "2x3x4", "end=-1", "[2]"},
    {15, "Shape", "2x3x4", "start=-9 end=-9", "[0]"},
    {15, "Shape", "2x3x4", "start=2 end=1", "[0]"},
    {15, "Shape", "2x3x4", "start=-1 end=9", "[1]"},
    {15, "Shape", "2x3x4", "start='1'", "[?]"},
    {15, "Shape", "2x3x4", "end='1'", "[?]"},
    {13, "Shape", "*", "", "[?]"},
    {13, "Size", "2x3", "", "[]"},
    {13, "Size", "?x3", "", "[]"},
    {13, "Cast", "2x3", "to=1", "[2,3]"},
    {13, "Cast", "2x3", "to='1'", "[2,3]"},
    {13, "Cast", "*", "", "none"},
    {13, "Gather", "2x3 4", "axis=1", "[2,4]"},
    {13, "Gather", "2x3 s", "axis=-2", "[3]"},
    {13, "Gather", "2x3 4", "axis=2", "none"},
    {13, "Gather", "2x3 4", "axis='1'", "none"},
    {13, "Gather", "2x3 4", "batch_dims=1", "none"},
    {13, "Gather", "2x3 4 5", "", "none"},
    {13, "GatherElements", "2x3 2x1", "axis=1", "[2,1]"},
    {13, "GatherND", "2x3 5x1", "", "[5,3]"},
    {13, "GatherND", "2x3 2x1", "batch_dims=1", "[2]"},
    {13, "GatherND", "2x3 5x3", "", "none"},
    {-8, "Gather", "2x3 4 :1", "batch_dims='0'", "[2,4]"},
    {-8, "Gather", "2x3 4 s", "batch_dims='0'", "[?,?]"},
    {-8, "Gather", "2x3 2x4 :1", "batch_dims='1'", "[2,4]"},
    {-8, "Gather", "2x3 2x4 :1", "batch_dims='x'", "none"},
};

/* The outputs' types; the inputs have those of TYPES, and "none" is an unknown one. */
static const gather_type TYPES[MOST] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_INT32, GATHER_TYPE_FLOAT16,
                                        GATHER_TYPE_INT8,    GATHER_TYPE_UINT8, GATHER_TYPE_BOOL};
static const layer_case KINDS[] = {
    {13, "Conv", "1x4x5 6x4x3", "", "float32"},
    {13, "ConvTranspose", "1x4x5 4x6x3", "", "float32"},
    {13, "MaxPool", "1x4x5", "kernel_shape=[2]", "float32 | int64"},
    {-8, "MaxPool", "1x4x5", "kernel='2'", "float32 | none"},
    {13, "GlobalMaxPool", "1x4x5", "", "float32"},
    {13, "Pad", "2x3 :1,0,1,0", "", "float32"},
    {13, "Resize", "1x2x4 - - :1,2,7", "", "float32"},
    {13, "DepthToSpace", "1x8x2x3", "blocksize=2", "float32"},
    {13, "MatMul", "2x3 3x4", "", "float32"},
    {13, "Gemm", "2x3 3x4", "", "float32"},
    {13, "Einsum", "2x3 3x4", "equation='ij,jk->ik'", "float32"},
    {23, "Attention", "1x2x3x4 1x2x5x4 1x2x5x6", "", "float32"},
    {14, "LSTM", "5x2x3 1x16x3 1x16x4", "hidden_size=4", "float32 | float32 | float32"},
    {-5, "GRUSequence", "2x5x3 2x1x4 2", "hidden_size='4'", "float32 | float32"},
    {13, "ReduceMax", "2x3", "", "float32"},
    {13, "ArgMax", "2x3", "", "int64"},
    {11, "TopK", "2x9 :3", "", "float32 | int64"},
    {-3, "TopK", "2x9 :3", "axis='1'", "float32 | int32"},
    {-3, "TopK", "2x9 :3", "axis='1' index_element_type='i64'", "float32 | int64"},
    {13, "NonZero", "2x3", "", "int64"},
    {-3, "NonZero", "2x3", "output_type='i32'", "int32"},
    {-3, "NonZero", "2x3", "", "int64"},
    {13, "OneHot", "2x3 :5 2", "", "float16"},
    {13, "Split", "6x4", "", "float32 | float32"},
    {13, "Slice", "6x4 :1 :5", "", "float32"},
    {-1, "StridedSlice", "6x4 :1 :5", "", "float32"},
    {13, "Unsqueeze", "2 :0", "", "float32"},
    {13, "Squeeze", "2x1", "", "float32"},
    {13, "Flatten", "2x3", "", "float32"},
    {13, "Transpose", "2x3", "", "float32"},
    {13, "Reshape", "2x3 :6", "", "float32"},
    {13, "Concat", "2x3 2x3", "axis=0", "float32"},
    {13, "Expand", "2x1 :3,1,4", "", "float32"},
    {-3, "Broadcast", "2x1 :3,2,4", "mode='numpy'", "float32"},
    {13, "ConstantOfShape", ":2,3", "", "float32"},
    {13, "Tile", "2x3 :2,4", "", "float32"},
    {13, "Shape", "2x3", "", "int64"},
    {-3, "ShapeOf", "2x3", "output_type='i32'", "int32"},
    {13, "Size", "2x3", "", "int64"},
    {13, "Cast", "2x3", "to=7", "int64"},
    {13, "Cast", "2x3", "to=99", "none"},
    {13, "Cast", "2x3", "", "none"},
    {-1, "Convert", "2x3", "destination_type='f16'", "float16"},
    {13, "Gather", "2x3 4", "", "float32"},
    {13, "Less", "2x3 2x3", "", "bool"},
    {13, "Where", "2x3 2x3 2x3", "", "int32"},
};

/* ---- graphs */

static const char *const GATHERS[OUTPUTS] = {"g0", "g1", "g2"};

static char *next_word(char **text) {
  char *from = *text + strspn(*text, " "), *end = from + strcspn(from, " ");
  if (!*from) return NULL;
  *text = *end ? end + 1 : end;
  *end = 0;
  return from;
}

/* The declaration of an input behind `text`, and what the node has for it behind `node`. */
static void add_input(char *text, char *node, int i, const char *word) {
  (void)strcat(node, i ? ", " : "");
  node += strlen(node);
  if (*word == '-') (void)strcpy(node, "_");
  if (*word == ':' || *word == '.') (void)sprintf(node, "%s[%s]", *word == '.' ? "float32" : "", word + 1);
  if (strchr("-:.", *word)) return;
  (void)sprintf(node, "in%d", i);
  text += strlen(text);
  text += sprintf(text, "in in%d %s%s", i, gather_type_get(TYPES[i])->name, *word == '*' ? "*" : "[");
  for (; *word && !strchr("*s", *word); word++) {
    const bool bounded = *word == '?' && word[1] >= '0' && word[1] <= '9';
    text += sprintf(text, "%.*s", bounded ? 3 : 1, bounded ? "0.." : *word == 'x' ? "," : word);
  }
  (void)strcpy(text, *word == '*' ? "; " : "]; ");
}

/* The layer, and a Gather of each of its outputs. */
static void write_graph(char *text, const layer_case *c, int outputs) {
  char words[ROOM], node[ROOM] = "", *inputs = strcpy(words, c->inputs);
  *text = 0;
  for (int i = 0; true; i++) {
    const char *word = next_word(&inputs);
    if (!word) break;
    add_input(text, node, i, word);
  }
  for (int k = 0; k < outputs; k++) (void)sprintf(text + strlen(text), "%sy%d", k ? ", " : "", k);
  (void)snprintf(text + strlen(text), 2 * ROOM - strlen(text), " = %s/%d(%s) %s", c->op, abs(c->opset), node, c->attributes);
  for (int k = 0; k < outputs; k++) (void)sprintf(text + strlen(text), "; g%d: _ = Gather(y%d, 0%s)", k, k, c->opset < 0 ? ", 0" : "");
}

/* A case as it is checked: the types of its outputs, or their shapes. */
typedef struct {
  const layer_case *layer;
  bool types;
} look;

/* Checks a case; once there is memory for it, it must be as wanted. */
static gather_status use_layer(const void *context, gather_error *error) {
  static graph_text t;
  const look *looked = context;
  const layer_case *c = looked->layer;
  gather_model *model = NULL;
  gather_check *check = NULL;
  const gather_model_node *node;
  char text[2 * ROOM], *at = text;
  int outputs = 1;
  for (const char *bar = c->wanted; (bar = strchr(bar, '|')); bar++) outputs++;
  write_graph(text, c, outputs);
  graph_text_read(&t, c->opset < 0, text);
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, NULL, &check, error);
  for (int k = 0; status == GATHER_OK && k < outputs; k++) {
    assert_status(gather_check_find(check, GATHERS[k], &node, error), GATHER_OK);
    const gather_type type = node->data.type;
    if (k > 0) at += sprintf(at, " | ");
    at = looked->types ? at + sprintf(at, "%s", type ? gather_type_get(type)->name : "none") : graph_text_print_operand(at, &node->data);
  }
  gather_check_destroy(check);
  gather_model_close(model);
  if (status != GATHER_OK || strcmp(text, c->wanted) == 0) return status;
  print_error("%s %d, \"%s\", \"%s\": '%s', not '%s'\n", c->op, c->opset, c->inputs, c->attributes, text, c->wanted);
  return gather_fail(error, GATHER_USAGE, "not as wanted");
}

static bool is_as_wanted(const layer_case *c, bool types) {
  const look looked = {c, types};
  gather_error error = dirty_error();
  const gather_status status = use_layer(&looked, &error);
  if (status != GATHER_OK && status != GATHER_USAGE) fail_msg("%s", error.message);
  return status == GATHER_OK;
}

static void shapes_of_layers(void **state) {
  int wrong = 0;
  for (size_t i = 0; i < COUNT(CASES); i++) wrong += !is_as_wanted(&CASES[i], false);
  assert_int_equal(wrong, 0);
}

static void types_of_layers(void **state) {
  int wrong = 0;
  for (size_t i = 0; i < COUNT(KINDS); i++) wrong += !is_as_wanted(&KINDS[i], true);
  assert_int_equal(wrong, 0);
}

/* No result is made of what could not be followed for lack of memory. */
static void layers_without_memory(void **state) {
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const look looked = {&CASES[i], false};
    assert_true(fail_each(use_layer, &looked, GATHER_OK) > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_of_layers), cmocka_unit_test(types_of_layers),
                                     cmocka_unit_test(layers_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
