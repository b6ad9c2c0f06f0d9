/* SPDX-License-Identifier: MIT
 *
 * codec_stores.h: whether large outputs of decoded rows are written with non-temporal stores.
 */
#ifndef GATHER_CODEC_CODEC_STORES_H
#define GATHER_CODEC_CODEC_STORES_H

#include "codec/decoder.h"

/* Whether an output of so many bytes is large enough for a trial. */
bool gather_stores_are_tried(int64_t bytes);
/* Lets the decoder use non-temporal stores, after which gather_stores_fence is to be called. false: it has no kernel with them. */
bool gather_stores_nontemporal(gather_decoder *decoder);
/* By the thread that stored. */
void gather_stores_fence(void);

/* What decodes rows [first, last) of an output. */
typedef void (*gather_stores_rows)(void *argument, int64_t first, int64_t last);
/* Times both on the first rows of an output of `count` rows, and sets *faster to the better one. Returns how many rows were decoded,
 * at most an eighth. */
int64_t gather_stores_try(gather_stores_rows rows, void *ordinary, void *nontemporal, int64_t count, int64_t row_bytes,
                          void **faster);

#endif
