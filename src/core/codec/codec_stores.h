/* SPDX-License-Identifier: MIT
 *
 * codec_stores.h: whether large outputs of decoded rows are written with non-temporal stores.
 */
#ifndef GATHER_CODEC_CODEC_STORES_H
#define GATHER_CODEC_CODEC_STORES_H

#include "core/codec/decoder.h"

/* Whether an output of so many bytes is large enough for a trial. */
bool gather_stores_are_tried(int64_t bytes);
/* Lets the decoder use non-temporal stores, after which gather_stores_fence is to be called. false: it has no kernel with them. */
bool gather_stores_nontemporal(gather_decoder *decoder);
/* By the thread that stored. */
void gather_stores_fence(void);

/* Decodes rows [first, first + count) of an output on all threads, in one of the two ways. */
typedef void (*gather_stores_run)(void *way, int64_t first, int64_t count);
/* Times both ways on the first rows of an output of `count` rows of row_bytes, and sets *faster to the better one: the first where the
 * output is too short for that. Returns how many rows were decoded, at most an eighth. */
int64_t gather_stores_try(gather_stores_run run, void *ordinary, void *nontemporal, int64_t count, int64_t row_bytes,
                          int32_t threads, void **faster);

#endif
