/* SPDX-License-Identifier: MIT
 *
 * mpi_owner.c: the rows of this rank: in memory, in a table of files, or behind a function.
 */
#include <string.h>

#include "mpi_internal.h"

/* The bytes of a row, which must be whole. */
static gather_status measure_row(gather_mpi_owner *owner, gather_error *error) {
  const gather_tensor *mine = &owner->mine;
  const gather_type_info *type = gather_type_get(mine->type);
  if (type->kind == GATHER_KIND_STRING)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, "data",
                                  "strings cannot be sent to other ranks: their text is elsewhere in memory");
  int64_t len = 1;
  bool empty = false;
  for (int32_t d = 1; d < mine->rank; d++) empty = empty || mine->shape[d] == 0;
  for (int32_t d = 1; d < mine->rank && !empty; d++) {
    if (len > INT64_MAX / mine->shape[d])
      return gather_error_set_input(error, GATHER_OVERFLOW, "data", "the bytes of a row do not fit 63 bits");
    len *= mine->shape[d];
  }
  if (empty) len = 0;
  if (len % type->group_len != 0)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, "data", "rows of %s that do not end on a whole byte are not supported",
                                  type->name);
  if (gather_type_bytes(mine->type, mine->item_bytes, len, &owner->row_bytes) != GATHER_OK)
    return gather_error_set_input(error, GATHER_OVERFLOW, "data", "the bytes of a row do not fit 63 bits");
  return GATHER_OK;
}

gather_status gather_mpi_owner_open(gather_mpi_owner *owner, const gather_tensor *mine, const gather_mpi_options *options,
                                    gather_error *error) {
  memset(owner, 0, sizeof *owner);
  if (!mine == !options->table)
    return gather_error_set_input(error, GATHER_USAGE, "data",
                                  mine ? "both the rows of this rank and a table are given: one of them must be NULL"
                                       : "neither the rows of this rank nor a table are given");
  if (options->table && options->read)
    return gather_error_set_input(error, GATHER_USAGE, "data", "both a table and a function to read rows are given");
  owner->mine = mine ? *mine : gather_table_describe(options->table)->tensor;
  const gather_status status = gather_tensor_check(&owner->mine, error);
  if (status != GATHER_OK) return status;
  if (owner->mine.rank < 1)
    return gather_error_set_input(error, GATHER_RANK_MISMATCH, "data", "the rows of a rank need at least one dimension");
  for (int32_t d = 0; d < owner->mine.rank; d++) {
    owner->shape[d] = owner->mine.shape[d];
    if (owner->mine.strides) owner->strides[d] = owner->mine.strides[d];
  }
  owner->mine.shape = owner->shape;
  if (owner->mine.strides) owner->mine.strides = owner->strides;
  owner->table = options->table;
  owner->read = options->read;
  owner->read_context = options->read_context;
  owner->executor = options->executor;
  return measure_row(owner, error);
}

bool gather_mpi_owner_fallible(const gather_mpi_owner *owner) { return owner->table || owner->read; }

gather_status gather_mpi_owner_take(const gather_mpi_owner *owner, const void *ids, bool narrow, int64_t len, void *rows,
                                    gather_error *error) {
  if (len == 0) return GATHER_OK;
  int64_t shape[GATHER_MAX_RANK];
  shape[0] = len;
  for (int32_t d = 1; d < owner->mine.rank; d++) shape[d] = owner->shape[d];
  const gather_tensor indices = {
      .data = (void *)(uintptr_t)ids, .type = narrow ? GATHER_TYPE_UINT32 : GATHER_TYPE_INT64, .rank = 1, .shape = shape};
  const gather_tensor out = {.data = rows,
                             .type = owner->mine.type,
                             .rank = owner->mine.rank,
                             .item_bytes = owner->mine.item_bytes,
                             .shape = shape,
                             .flags = owner->mine.flags & GATHER_TENSOR_BYTE_SWAPPED};
  if (owner->read) return owner->read(owner->read_context, &indices, &out, error);
  if (owner->table) {
    gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
    options.executor = owner->executor;
    return gather_table_take(owner->table, &indices, &out, &options, error);
  }
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = owner->executor;
  options.fresh_output = true;
  return gather_apply(gather_op_find("Gather", "onnx-13"), &owner->mine, &indices, &out, &options, error);
}
