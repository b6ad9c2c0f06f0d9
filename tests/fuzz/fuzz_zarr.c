/* SPDX-License-Identifier: MIT
 *
 * fuzz_zarr.c: a byte that says the version, 2 or 3, then the description of an array, and behind a zero byte the index of its first shard.
 * What is described lies in the limits; a chunk that the index has lies in the shard.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/zarr/zarr.h"

static void check_index(const gather_zarr_array *array, const uint8_t *index, int64_t bytes) {
  const gather_chunk_file file = {.path = "shard", .size = 4096, .folder_bytes = -1};
  if (gather_zarr_index_check(array, index, bytes, file.path, 0, NULL) != GATHER_OK) {
    gather_zarr_array unsummed = *array; /* what is behind the sum is reached, too */
    unsummed.index_has_sum = false;
    if (array->index_has_sum) check_index(&unsummed, index, bytes);
    return;
  }
  for (int64_t i = 0; i < array->in_shard; i++) {
    gather_chunk_place place = {.file = &file};
    if (gather_zarr_index_place(array, index, i, &place, NULL) != GATHER_OK || place.offset < 0) continue;
    fuzz_check(place.bytes >= 0 && place.offset <= file.size && place.bytes <= file.size - place.offset, "a chunk lies in its shard");
  }
}

static void check_array(const gather_zarr_array *array, const gather_file_tensor *tensor) {
  const gather_chunks *chunks = &array->chunks;
  int64_t last = chunks->item_bytes, count = 1, shards = 1;
  fuzz_check(gather_tensor_check(&tensor->tensor, NULL) == GATHER_OK, "the tensor is one");
  if (tensor->bytes == 0) return;
  fuzz_check(chunks->rank >= 1 && chunks->rank <= GATHER_MAX_RANK && chunks->raw_bytes <= GATHER_CHUNK_BYTES_MAX, "limits of a chunk");
  for (int32_t d = 0; d < chunks->rank; d++) {
    last += (chunks->chunk[d] - 1) * chunks->strides[d];
    count *= chunks->grid[d];
    fuzz_check((chunks->grid[d] - 1) * chunks->chunk[d] < chunks->shape[d], "each chunk has elements");
    if (array->is_sharded) shards *= array->shards[d];
    if (array->is_sharded) fuzz_check(array->per_shard[d] * array->shards[d] >= chunks->grid[d], "each chunk is in a shard");
  }
  fuzz_check(last == chunks->raw_bytes, "the last element ends a chunk");
  fuzz_check(count == chunks->count && count <= GATHER_CHUNKS_MAX, "chunks are counted");
  fuzz_check(chunks->files_most == (array->is_sharded ? shards : count), "files are counted");
}

static void describe(gather_file *file, const uint8_t *text, size_t size, int version) {
  const uint8_t *zero = memchr(text, 0, size);
  const int64_t bytes = zero ? zero - text : (int64_t)size;
  gather_error error;
  gather_zarr_array array = {.folder = ""};
  gather_file_tensor tensor = {.name = "", .type_name = "unknown", .tensor = {.type = GATHER_TYPE_OPAQUE}};
  gather_zarr_reading r = {.json = {file, "zarr", text, &error}, .array = &array, .tensor = &tensor};
  if (gather_zarr_check_text(&r.json, bytes) != GATHER_OK) return;
  const gather_status status = gather_zarr_describe(&r, version, (gather_json_part){0, bytes});
  if (status != GATHER_OK) {
    fuzz_check(error.status == status && error.message[0], "a refusal says why");
    return;
  }
  check_array(&array, &tensor);
  if (zero && array.is_sharded) check_index(&array, zero + 1, (int64_t)size - bytes - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  if (size < 1 || gather_file_make("zarr", &file, NULL) != GATHER_OK) return 0;
  describe(file, bytes + 1, size - 1, bytes[0] & 1 ? 3 : 2);
  gather_file_close(file);
  return 0;
}
