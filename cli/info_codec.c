/* SPDX-License-Identifier: MIT
 *
 * info_codec.c: what `info` says about quantised tensors, as text and JSON.
 */
#include "info_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "show.h"
#include "wrap.h"

struct gather_cli_codec {
  const gather_file_tensor *tensor;
  bool decoded; /* else `why` says why not */
  gather_file_codec found;
  char why[sizeof((gather_error *)0)->message];
};

static bool is_wanted(const gather_file *file, const gather_file_tensor *tensor, const gather_file_tensor *only) {
  return (!only || tensor == only) && (!tensor->unreadable || gather_file_is_remote(tensor)) && gather_file_is_quantised(file, tensor);
}

static gather_status look_at(const gather_file *file, const gather_file_tensor *tensor, gather_cli_codec *codec, gather_error *error) {
  const gather_status status = gather_file_codec_find(file, tensor, NULL, &codec->found, error);
  codec->tensor = tensor;
  codec->decoded = status == GATHER_OK;
  if (status != GATHER_OK) (void)snprintf(codec->why, sizeof codec->why, "%s", error->message);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

gather_status gather_cli_codecs_find(const gather_file *file, const gather_file_tensor *only, int64_t most, gather_cli_codecs *codecs,
                                     gather_error *error) {
  int64_t count = 0;
  for (int64_t i = 0; i < most; i++) count += is_wanted(file, gather_file_at(file, i), only);
  if (count == 0) return GATHER_OK;
  codecs->list = calloc((size_t)count, sizeof *codecs->list);
  if (!codecs->list) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the quantised tensors");
  for (int64_t i = 0; i < most; i++) {
    const gather_file_tensor *tensor = gather_file_at(file, i);
    if (is_wanted(file, tensor, only)) GATHER_CLI_TRY(look_at(file, tensor, &codecs->list[codecs->count++], error));
  }
  return GATHER_OK;
}

void gather_cli_codecs_clear(gather_cli_codecs *codecs) { free(codecs->list); }

/* Tensors of a file are in one array, and the list is in its order. */
static const gather_cli_codec *find(const gather_cli_codecs *codecs, const gather_file_tensor *tensor) {
  int64_t low = 0, high = codecs->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (codecs->list[middle].tensor < tensor)
      low = middle + 1;
    else
      high = middle;
  }
  return low < codecs->count && codecs->list[low].tensor == tensor ? &codecs->list[low] : NULL;
}

void gather_cli_codecs_json(const gather_cli_codecs *codecs, const gather_file_tensor *tensor, gather_cli_json *json) {
  const gather_cli_codec *codec = find(codecs, tensor);
  if (!codec) return;
  if (!codec->decoded) {
    gather_cli_json_string(json, "not_decoded", codec->why);
    return;
  }
  gather_cli_json_string(json, "codec", codec->found.codec);
  gather_cli_json_string(json, "layout", codec->found.layout);
  gather_cli_json_ints(json, "decoded_shape", codec->found.rank, codec->found.shape);
}

void gather_cli_codecs_text(const gather_cli_codecs *codecs, const gather_file_tensor *tensor) {
  const gather_cli_codec *codec = find(codecs, tensor);
  char shape[512];
  if (!codec) return;
  if (codec->decoded) {
    gather_cli_say(stdout, "  decodes to %s: %s, codec %s\n",
                   gather_cli_shape_text(shape, sizeof shape, codec->found.rank, codec->found.shape), codec->found.layout,
                   codec->found.codec);
    return;
  }
  gather_cli_say(stdout, "  cannot be decoded: ");
  gather_cli_say_visible(stdout, codec->why);
  gather_cli_say(stdout, "\n");
}
