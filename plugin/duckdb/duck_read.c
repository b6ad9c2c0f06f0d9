/* SPDX-License-Identifier: MIT
 *
 * duck_read.c: from ids to rows in the types of SQL.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "duck_tables.h"

gather_status gather_duck_row(const duck_open *open, int64_t id, bool is_unsigned, int64_t *row, gather_error *error) {
  int64_t rows = open->layout.rows, least = open->options.from_end && !is_unsigned ? -rows : 0;
  bool huge = is_unsigned && id < 0;
  *row = id < 0 ? id + rows : id;
  if (!huge && id >= least && id < rows) return GATHER_OK;
  *row = -1;
  if (open->options.missing_is_null) return GATHER_OK;
  char number[32];
  if (huge)
    snprintf(number, sizeof number, "%" PRIu64, (uint64_t)id);
  else
    snprintf(number, sizeof number, "%" PRId64, id);
  if (rows == 0)
    return gather_error_set(error, GATHER_INDEX_OUT_OF_RANGE, "id %s is out of range: %s%s%s has no rows", number, open->file,
                            *open->tensor ? ":" : "", open->tensor);
  return gather_error_set(error, GATHER_INDEX_OUT_OF_RANGE, "id %s is out of range [%" PRId64 ", %" PRId64 "] of the rows of %s%s%s",
                          number, least, rows - 1, open->file, *open->tensor ? ":" : "", open->tensor);
}

gather_status gather_duck_read_bytes(const duck_open *open, const int64_t *rows, int64_t count, int64_t to_come, void *to,
                                     gather_error *error) {
  const gather_tensor *table = &gather_table_describe(open->table)->tensor;
  int64_t shape[GATHER_MAX_RANK];
  for (int32_t d = 0; d < table->rank; d++) shape[d] = d ? table->shape[d] : count;
  gather_tensor ids = {.data = (void *)rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &count};
  gather_tensor out = {.data = to,
                       .type = table->type,
                       .rank = table->rank,
                       .item_bytes = table->item_bytes,
                       .shape = shape,
                       .flags = table->flags & GATHER_TENSOR_BYTE_SWAPPED};
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  options.rows_to_come = to_come;
  return gather_table_take(open->table, &ids, &out, &options, error);
}

gather_status gather_duck_read(const duck_open *open, const int64_t *rows, int64_t count, int64_t to_come, duck_target target, void *to,
                               gather_error *error) {
  const duck_layout *layout = &open->layout;
  bool plain = gather_duck_is_plain(layout, target);
  if (count == 0 || layout->len == 0) return GATHER_OK;
  if (layout->row_bytes > INT64_MAX / count) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "the rows of one vector are too large");
  void *raw = plain ? to : malloc((size_t)(count * layout->row_bytes));
  if (!raw)
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %" PRId64 " rows of %" PRId64 " bytes", count,
                            layout->row_bytes);
  gather_status status = gather_duck_read_bytes(open, rows, count, to_come, raw, error);
  if (status == GATHER_OK) gather_duck_convert(layout, target, raw, count * layout->len, to);
  if (!plain) free(raw);
  return status;
}
