/* SPDX-License-Identifier: MIT
 *
 * dequantized.h: a value that a run has not computed: constants and how they are dequantised.
 */
#ifndef GATHER_MODEL_DEQUANTIZED_H
#define GATHER_MODEL_DEQUANTIZED_H

#include "gather/codec.h"
#include "model/model_run.h"

/* The codec is GATHER_CODEC_NONE if the data is numbers of 16 bits or more, which only become another type. The tensors that `as`
 * refers to are those beside it; their types are GATHER_TYPE_NONE where there is none. */
struct gather_dequantized {
  gather_quantized as;
  gather_tensor data, scale, zero_point, table;
  int64_t groups[GATHER_MAX_RANK]; /* along each dimension of data */
};

#endif
