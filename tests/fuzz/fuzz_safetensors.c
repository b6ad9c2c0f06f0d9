/* SPDX-License-Identifier: MIT
 *
 * fuzz_safetensors.c: any bytes as a safetensors file; as an index, beside a good file "s"; and as the file "s" beside a good index.
 */
#include <string.h>

#include "core/base/arena.h"
#include "fuzz/fuzz.h"
#include "io/format/format.h"
#include "support/open_file.h"

static const char INDEX[] = "{\"weight_map\":{\"a\":\"s\",\"b\":\"s\",\"c\":\"missing\",\"\":\"s\"}}";

/* Its length is one byte; the elements stand behind the header. */
static const char SHARD[] =
    "\156\0\0\0\0\0\0\0"
    "{\"b\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[3,7]},"
    "\"a\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}}  "
    "0123456";

typedef struct bytes_of {
  const void *bytes;
  size_t size;
} bytes_of;

static gather_status open_pair(gather_file *file, bytes_of index, bytes_of shard, gather_error *error) {
  gather_sibling *sibling = gather_arena_take(&file->arena, 1, (int64_t)sizeof *sibling);
  file->map = (gather_map){.bytes = index.bytes, .size = (int64_t)index.size};
  if (!sibling) return GATHER_OK;
  *sibling = (gather_sibling){.location = "s", .map = {.bytes = shard.bytes, .size = (int64_t)shard.size}};
  file->siblings = sibling;
  file->format = "safetensors";
  return gather_safetensors_index_reader.open(file, error);
}

static void try_pair(bytes_of index, bytes_of shard) {
  gather_file *made = NULL, *file = NULL;
  gather_error error;
  gather_status status = gather_file_make("fuzz.json", &made, &error);
  if (status == GATHER_OK) status = gather_file_finish(open_pair(made, index, shard, &error), made, &file);
  fuzz_walk(status, file, &error, index.bytes, index.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  gather_error error;
  const bytes_of index = {INDEX, sizeof INDEX - 1}, shard = {SHARD, sizeof SHARD - 1}, given = {bytes, size};
  gather_status status = file_open(file_in(bytes, size, "fuzz"), &file, &error);
  fuzz_walk(status, file, &error, bytes, size);
  if (gather_safetensors_index_reader.recognise(&(gather_map){.bytes = bytes, .size = (int64_t)size})) try_pair(given, shard);
  try_pair(index, given);
  fuzz_delivered(bytes, size);
  return 0;
}
