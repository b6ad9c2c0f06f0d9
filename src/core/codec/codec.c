/* SPDX-License-Identifier: MIT
 *
 * codec.c: the table of codecs and its lookups.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/codec/decoder.h"

static const gather_codec_info CODECS[] = {
#define GATHER_CODEC(ENUM, number, name, kind, block_len, block_bytes, bits, sides, value, source) \
  {GATHER_CODEC_##ENUM, name, GATHER_CODEC_##kind, block_len, block_bytes, bits, sides, value, source},
#include "gather/codec.def"
#undef GATHER_CODEC
};

/* Rows are in the order of their numbers, from 1: the lookup is an index. */
enum { CODEC_ROWS = sizeof CODECS / sizeof *CODECS };
#define GATHER_CODEC(ENUM, number, ...)                                                   \
  _Static_assert(GATHER_CODEC_##ENUM >= 1 && (int)GATHER_CODEC_##ENUM <= (int)CODEC_ROWS, \
                 "codec numbers have no "                                                 \
                 "gaps");
#include "gather/codec.def"
#undef GATHER_CODEC

const gather_codec_info *gather_codec_get(gather_codec codec) {
  return (int)codec < 1 || (int)codec > CODEC_ROWS ? NULL : &CODECS[(int)codec - 1];
}

gather_codec gather_codec_parse(const char *name) {
  for (int i = 0; name && i < CODEC_ROWS; i++)
    if (strcmp(CODECS[i].name, name) == 0) return CODECS[i].codec;
  return GATHER_CODEC_NONE;
}

gather_status gather_codec_check(gather_codec codec, gather_error *error) {
  const gather_codec_info *info = gather_codec_get(codec);
  if (!info) return gather_fail(error, GATHER_USAGE, "%d is no codec", (int)codec);
  if (info->kind != GATHER_CODEC_REFUSED) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "data", "%s is not decoded: %s", info->name, info->value);
}
