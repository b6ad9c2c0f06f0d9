/* SPDX-License-Identifier: MIT
 *
 * choices.c: options, indices and tensors that a fuzzer chooses.
 */
#include "fuzz/choices.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { FILL_BYTES = 1 << 16 };

int fuzz_choose(fuzz_choices *choices, int count) { return choices->bytes[choices->at++ % FUZZ_CHOICES] % count; }

static const gather_type TYPES[] = {GATHER_TYPE_INT64, GATHER_TYPE_INT32,  GATHER_TYPE_UINT8,  GATHER_TYPE_INT8,
                                    GATHER_TYPE_INT16, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};

static void put(uint8_t *at, int64_t value, int bytes, bool big) {
  for (int i = 0; i < bytes; i++) at[big ? bytes - 1 - i : i] = (uint8_t)((uint64_t)value >> (8 * i) & 0xff);
}

void fuzz_choose_indices(fuzz_choices *choices, int32_t rank, int64_t len, fuzz_indices *indices) {
  const uint16_t one = 1;
  const bool little_endian = *(const uint8_t *)&one == 1, swapped = fuzz_choose(choices, 4) == 0;
  const gather_type type = TYPES[fuzz_choose(choices, 8)];
  const int bytes = gather_type_get(type)->bits / 8, wide = fuzz_choose(choices, 3);
  int64_t count = 1, near = len < 1 ? 1 : len > 120 ? 120 : len;
  for (int32_t d = 0; d < rank; d++) {
    int64_t length = fuzz_choose(choices, 4);
    indices->shape[d] = count * length > FUZZ_INDICES ? 1 : length;
    count *= indices->shape[d];
  }
  indices->memory = malloc(count ? (size_t)(count * bytes) : 1);
  if (!indices->memory) abort();
  for (int64_t i = 0; i < count; i++) {
    int64_t value = fuzz_choose(choices, 256) - (wide == 1 ? 128 : 0);
    if (wide != 1) value = value % (2 * near) - (wide == 0 ? 0 : near);
    if (wide == 0) value %= near;
    put((uint8_t *)indices->memory + i * bytes, value, bytes, swapped == little_endian);
  }
  indices->tensor = (gather_tensor){.data = indices->memory, .type = type, .rank = rank, .shape = indices->shape};
  if (swapped) indices->tensor.flags = GATHER_TENSOR_BYTE_SWAPPED;
}

const gather_file_tensor *fuzz_choose_tensor(fuzz_choices *choices, const gather_file *file) {
  int64_t len = gather_file_len(file), first = fuzz_choose(choices, 256);
  for (int64_t i = 0; i < len && i < 16; i++) {
    const gather_file_tensor *tensor = gather_file_at(file, (first + i) % len);
    if (gather_file_tensor_check(tensor, NULL) == GATHER_OK) return tensor;
  }
  return NULL;
}

const void *fuzz_choose_fill(fuzz_choices *choices, const gather_tensor *data) {
  static const gather_string TEXT = {"filled", 6};
  static uint8_t bytes[FILL_BYTES];
  if (data->type == GATHER_TYPE_STRING) return &TEXT;
  if (data->item_bytes > FILL_BYTES) return NULL;
  memset(bytes, fuzz_choose(choices, 256), 64);
  return bytes;
}
