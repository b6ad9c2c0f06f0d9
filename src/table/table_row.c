/* SPDX-License-Identifier: MIT
 *
 * table_row.c: what both halves of a take, the sweep and the reads, do with a row: fill it, cache it, and name it in
 * an error.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "table/table_internal.h"

void gather_table_keep_row(gather_table *table, int64_t row, const char *data, bool eager) {
  int64_t grown = gather_cache_put(table->cache, row, data, eager);
  if (grown > 0) gather_table_count_memory(table, grown);
}

void gather_table_doubt(gather_table *table) {
  for (int32_t i = 0; table->residency && i < table->source_count; i++) gather_residency_doubt(&table->residency[i]);
}

int64_t gather_table_row_at(const gather_table *table, int32_t source, int64_t offset) {
  const int64_t row_bytes = table->info.row_bytes;
  for (int32_t i = 0; i < table->part_count; i++) {
    const gather_part *part = &table->parts[i];
    if (part->memory || part->rows == 0 || part->source != source || offset < part->offset) continue;
    int64_t row = (offset - part->offset) / row_bytes;
    if (row < part->rows) return part->first + row;
  }
  return -1;
}

void gather_taking_fill(const gather_taking *taking, char *out) {
  const gather_plan *plan = taking->plan;
  const int64_t row_bytes = taking->row_bytes;
  if (!plan->fill) memset(out, 0, (size_t)row_bytes);
  for (int64_t at = 0; plan->fill && at < row_bytes; at += plan->fill_bytes)
    memcpy(out + at, plan->fill, (size_t)plan->fill_bytes);
}

gather_status gather_table_blame_row(const gather_table *table, int64_t row, gather_status status,
                                     gather_error *error) {
  if (!error || row < 0) return status;
  if (table->rows_within > 0) row /= table->rows_within;
  if (table->rows_around > 0) row %= table->rows_around;
  if (table->rows_each > 1) row *= table->rows_each;
  row += table->rows_before;
  size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, " (row %" PRId64 " of the table)", row);
  error->row = row;
  return status;
}

gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset, gather_error *error) {
  if (source < 0) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the guard of a mapped file");
  const gather_table_source *from = &table->sources[source];
  int64_t row = gather_table_row_at(table, source, offset);
  gather_table_doubt(table);
  gather_status status = gather_table_source_check(from, error);
  if (status == GATHER_OK)
    status = gather_fail_file(error, GATHER_IO_ERROR, from->path, offset, "the mapped file could not be read there");
  return gather_table_blame_row(table, row, status, error);
}
