/* SPDX-License-Identifier: MIT
 *
 * info_codec.h: what `info` says about quantised tensors. All are looked at before the first is printed, since running out of memory must
 * not end an answer that has begun.
 */
#ifndef GATHER_CLI_INFO_CODEC_H
#define GATHER_CLI_INFO_CODEC_H

#include "gather/table.h"
#include "json.h"

typedef struct gather_cli_codec gather_cli_codec;

/* The quantised tensors of a file, in its order. Starts as all zero. */
typedef struct gather_cli_codecs {
  gather_cli_codec *list;
  int64_t count;
} gather_cli_codecs;

/* Finds those among the first `most` tensors, or the tensor `only`, unless that is NULL. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_codecs_find(const gather_file *file, const gather_file_tensor *only, int64_t most,
                                                    gather_cli_codecs *codecs, gather_error *error);
void gather_cli_codecs_clear(gather_cli_codecs *codecs);
/* What --as of take makes of a tensor, or why it does not; nothing if it is not quantised. */
void gather_cli_codecs_json(const gather_cli_codecs *codecs, const gather_file_tensor *tensor, gather_cli_json *json);
void gather_cli_codecs_text(const gather_cli_codecs *codecs, const gather_file_tensor *tensor);

#endif
