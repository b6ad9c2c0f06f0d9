/* SPDX-License-Identifier: MIT
 *
 * table_columns.c: tables in Fortran order, whose rows are not contiguous. Such a table is read as a table of its elements (a piece of
 * table_decode.h without a decoder): the engine, the cache and the memory limit are those of any other table.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "table/table_decode.h"

/* Whether the elements have no gaps, the first dimension innermost. */
static bool is_column_major(const gather_tensor *tensor, int64_t item_bytes) {
  int64_t stride = item_bytes; /* in bytes */
  if (!tensor->strides || gather_tensor_is_row_major(tensor) || item_bytes < 1) return false;
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->strides[d] != stride) return false;
    if (!gather_mul(stride, tensor->shape[d], &stride)) return false;
  }
  return true;
}

static int64_t item_bytes_of(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_row(tensor->type);
  if (type->kind == GATHER_KIND_STRING || gather_type_is_packed(type)) return 0;
  return type->kind == GATHER_KIND_OPAQUE ? tensor->item_bytes : type->bits / 8;
}

bool gather_columns_wanted(const gather_table *table, const gather_file *file, const char *name) {
  const gather_file_tensor *found;
  if (table->decoding) return true;
  return gather_file_find(file, name, &found, NULL) == GATHER_OK && gather_file_rows_check(found, NULL) == GATHER_OK &&
         is_column_major(&found->tensor, item_bytes_of(&found->tensor));
}

static void describe(gather_table *table, const gather_layout *layout) {
  gather_table_info *info = &table->info;
  const gather_file_tensor *found = layout->data;
  info->format = gather_file_format(layout->file);
  info->name = found->name;
  info->descr = found->descr, info->type_name = found->type_name;
  info->tensor = found->tensor;
  info->tensor.data = NULL, info->tensor.strides = NULL, info->tensor.shape = table->shape;
  memcpy(table->shape, layout->shape, (size_t)layout->rank * sizeof *table->shape);
  table->shape[0] = 0;
  info->row_bytes = layout->row_bytes;
}

static gather_status check_like_first(const gather_table *table, const gather_layout *layout, gather_error *error) {
  const gather_tensor *first = &table->info.tensor, *next = &layout->data->tensor;
  const bool swapped = ((first->flags ^ next->flags) & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  char a[200], b[200];
  if (first->type != next->type || first->item_bytes != next->item_bytes || swapped)
    return gather_fail_file(error, GATHER_TYPE_MISMATCH, layout->file->name, -1,
                            "its element type is %.60s%s, that of the first part is %.60s", layout->data->type_name,
                            swapped ? " in the other byte order" : "", table->info.type_name);
  if (first->rank == next->rank &&
      memcmp(first->shape + 1, next->shape + 1, (size_t)(first->rank - 1) * sizeof *first->shape) == 0)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, layout->file->name, -1,
                          "its rows have the shape %s, those of the first part %s",
                          gather_shape_text(a, sizeof a, next->rank - 1, next->shape + 1),
                          gather_shape_text(b, sizeof b, first->rank - 1, first->shape + 1));
}

static gather_status read_layout(const gather_file *file, const gather_file_tensor *found, gather_layout *layout,
                                 gather_error *error) {
  const gather_tensor *tensor = &found->tensor;
  const int64_t item_bytes = item_bytes_of(tensor);
  GATHER_TRY(gather_file_rows_check(found, error));
  if (tensor->rank == 0)
    return gather_fail_file(error, GATHER_RANK_MISMATCH, file->name, -1, "a tensor of rank 0 has no rows");
  if (item_bytes == 0 || (!gather_tensor_is_row_major(tensor) && !is_column_major(tensor, item_bytes)))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "its rows have no elements of whole bytes");
  *layout = (gather_layout){.file = file, .data = found, .rank = tensor->rank};
  memcpy(layout->shape, tensor->shape, (size_t)tensor->rank * sizeof *layout->shape);
  if (gather_shape_len(tensor->rank - 1, tensor->shape + 1, &layout->row_len) &&
      gather_mul(layout->row_len, item_bytes, &layout->row_bytes))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "the length of a row does not fit in 63 bits");
}

gather_status gather_columns_add(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_tensor *found;
  gather_layout layout;
  GATHER_TRY(gather_file_find(file, name, &found, error));
  GATHER_TRY(read_layout(file, found, &layout, error));
  if (!table->decoding) {
    table->decoding = gather_alloc((int64_t)sizeof *table->decoding);
    if (!table->decoding) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
    describe(table, &layout);
  } else {
    GATHER_TRY(check_like_first(table, &layout, error));
  }
  GATHER_TRY(gather_decoding_add_piece(table, &layout, error));
  gather_piece *piece = &table->decoding->pieces[table->decoding->count - 1];
  piece->is_elements = true;
  piece->by_columns = !gather_tensor_is_row_major(&found->tensor);
  return GATHER_OK;
}
