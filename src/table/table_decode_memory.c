/* SPDX-License-Identifier: MIT
 *
 * table_decode_memory.c: the scratch memory of a take with decoded rows: one allocation, divided among its arrays.
 */
#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "table/table_decode.h"

enum { ALIGNED = 64, NUMBERS = 4 /* arrays of row numbers */ };

/* Bytes of each array for one row, as long as the longest piece needs. */
typedef struct gather_scratch_sizes {
  int64_t packed, side[GATHER_ROW_SIDES], scales, wanted;
} gather_scratch_sizes;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static gather_scratch_sizes find_sizes(const gather_decoded *decoding) {
  gather_scratch_sizes sizes = {.wanted = (int64_t)sizeof(int64_t)};
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_piece *piece = &decoding->pieces[i];
    sizes.packed = most(sizes.packed, piece->layout.row_bytes);
    const int64_t elements = piece->is_elements ? piece->layout.row_len : 1;
    sizes.wanted = most(sizes.wanted, elements < INT64_MAX / 16 ? elements * (int64_t)sizeof(int64_t) : INT64_MAX);
    for (int role = 0; role < GATHER_ROW_SIDES; role++)
      sizes.side[role] = most(sizes.side[role], piece->side[role].row_bytes);
    if (piece->layout.outer_len > 0 && piece->side[GATHER_SIDE_SCALE].row_bytes > 0)
      sizes.scales = most(sizes.scales, piece->layout.groups * (int64_t)sizeof(float));
  }
  return sizes;
}

/* Adds an array of `rows` rows; false if it does not fit. */
static bool add(int64_t *all, int64_t rows, int64_t row_bytes) {
  int64_t bytes;
  if (!gather_mul(rows, row_bytes, &bytes) || bytes > INT64_MAX - ALIGNED) return false;
  bytes = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return gather_add(*all, bytes, all);
}

int64_t gather_scratch_bytes(const gather_decoded *decoding, int64_t rows) {
  const gather_scratch_sizes sizes = find_sizes(decoding);
  int64_t all = (int64_t)sizeof(gather_scratch) + decoding->count * (int64_t)sizeof(gather_decoder *);
  bool fits = add(&all, rows, sizes.packed) && add(&all, rows, sizes.scales) && add(&all, rows, sizes.wanted);
  for (int role = 0; role < GATHER_ROW_SIDES; role++) fits = fits && add(&all, rows, sizes.side[role]);
  for (int i = 0; i < NUMBERS; i++) fits = fits && add(&all, rows, (int64_t)sizeof(int64_t));
  return fits ? all : INT64_MAX;
}

/* The next array in the memory. */
static void *divide(char **at, int64_t rows, int64_t row_bytes) {
  char *array = *at;
  *at += (rows * row_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return array;
}

gather_scratch *gather_scratch_create(const gather_decoded *decoding) {
  const gather_scratch_sizes sizes = find_sizes(decoding);
  const int64_t rows = decoding->block_rows, bytes = gather_scratch_bytes(decoding, rows);
  gather_scratch *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return NULL;
  made->decoders = gather_alloc(decoding->count * (int64_t)sizeof(gather_decoder *));
  made->memory = gather_alloc(bytes);
  if (!made->decoders || !made->memory) {
    gather_scratch_destroy(decoding, made);
    return NULL;
  }
  char *at = made->memory;
  made->packed = divide(&at, rows, sizes.packed);
  for (int role = 0; role < GATHER_ROW_SIDES; role++) made->side[role] = divide(&at, rows, sizes.side[role]);
  made->scales = divide(&at, rows, sizes.scales);
  made->resolved = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->rows = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->positions = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->wanted = divide(&at, rows, sizes.wanted);
  made->numbers = divide(&at, rows, (int64_t)sizeof(int64_t));
  for (int64_t i = 0; i < rows; i++) made->numbers[i] = i;
  return made;
}

void gather_scratch_destroy(const gather_decoded *decoding, gather_scratch *scratch) {
  for (int32_t i = 0; scratch->decoders && i < decoding->count; i++) gather_decoder_destroy(scratch->decoders[i]);
  gather_free((void *)scratch->decoders);
  gather_free(scratch->memory);
  gather_free(scratch);
}

void gather_scratch_abandon(gather_decoded *decoding) {
  for (gather_scratch *scratch = decoding->idle, *next; scratch; scratch = next) {
    next = scratch->next;
    gather_scratch_destroy(decoding, scratch);
  }
  decoding->idle = NULL;
  decoding->scratch_count = 0;
}
