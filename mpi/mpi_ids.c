/* SPDX-License-Identifier: MIT
 *
 * mpi_ids.c: reads ids of any integer type, and makes row numbers of them by the operator's rule and the repair policy.
 */
#include <string.h>

#include "mpi_internal.h"

/* Received rows fit the buffer, and an int can count the rows requested from one rank. */
int64_t gather_mpi_most_ids(const gather_mpi_plan *plan) {
  const int64_t row = plan->owner.row_bytes, countable = INT32_MAX / plan->link.ranks - plan->fill_slots - plan->hot.len;
  int64_t most = row > 0 ? plan->buffer_bytes / row : countable;
  if (most > countable) most = countable;
  return most < 1 ? 1 : most;
}

static bool row_major(const gather_tensor *tensor, int64_t item) {
  if (!tensor->strides) return true;
  int64_t step = item;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != step) return false;
    step *= tensor->shape[d] > 0 ? tensor->shape[d] : 1;
  }
  return true;
}

/* A row-major copy, by a gather of the one row of a view with one more dimension. */
static gather_status copy_row_major(const gather_tensor *ids, void *to, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK] = {1}, strides[GATHER_MAX_RANK] = {0}, zero = 0;
  if (ids->rank + 1 > GATHER_MAX_RANK)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, "indices", "ids of rank %d with gaps are not supported", ids->rank);
  const int64_t one = 1;
  for (int32_t d = 0; d < ids->rank; d++) {
    shape[d + 1] = ids->shape[d];
    strides[d + 1] = ids->strides[d];
  }
  gather_tensor view = *ids, out = *ids;
  view.rank = out.rank = ids->rank + 1;
  view.shape = out.shape = shape;
  view.strides = strides;
  out.strides = NULL;
  out.data = to;
  out.flags &= ~(uint32_t)(GATHER_TENSOR_READ_ONLY | GATHER_TENSOR_SHARED);
  const gather_tensor first = {.data = &zero, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &one};
  return gather_take(&view, &first, 0, &out, error);
}

static uint64_t swapped(uint64_t bits, int32_t bytes) {
  uint64_t result = 0;
  for (int32_t i = 0; i < bytes; i++) result = result << 8 | (bits >> 8 * i & 255);
  return result;
}

/* Whole-byte integers, row-major, to int64 (or the bits of uint64). */
static void widen(const unsigned char *from, const gather_type_info *type, bool swap, int64_t len, int64_t *to) {
  const bool is_signed = type->kind == GATHER_KIND_INT;
#define WIDEN(TYPE)                                                             \
  for (int64_t i = 0; i < len; i++) {                                           \
    TYPE number;                                                                \
    memcpy(&number, from + (size_t)i * sizeof number, sizeof number);           \
    if (swap) number = (TYPE)swapped((uint64_t)number, (int32_t)sizeof number); \
    to[i] = (int64_t)number;                                                    \
  }                                                                             \
  break
  switch (type->bits) {
    case 8:
      if (is_signed) {
        WIDEN(int8_t);
      }
      WIDEN(uint8_t);
    case 16:
      if (is_signed) {
        WIDEN(int16_t);
      }
      WIDEN(uint16_t);
    case 32:
      if (is_signed) {
        WIDEN(int32_t);
      }
      WIDEN(uint32_t);
    default:
      if (is_signed) {
        WIDEN(int64_t);
      }
      WIDEN(uint64_t);
  }
#undef WIDEN
}

/* Numbers of less than a byte: a gather from a table of what each number means, which knows every packing. */
static gather_status unpack(const gather_tensor *ids, const gather_type_info *type, int64_t *to, gather_error *error) {
  int64_t meaning[64];
  const int64_t len = (int64_t)1 << type->bits;
  for (int64_t i = 0; i < len; i++) meaning[i] = type->kind == GATHER_KIND_INT && i >= len / 2 ? i - len : i;
  const gather_tensor data = {.data = meaning, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  const gather_tensor out = {.data = to, .type = GATHER_TYPE_INT64, .rank = ids->rank, .shape = ids->shape};
  return gather_take(&data, ids, 0, &out, error); /* a negative number counts from the end of the table */
}

/* The ids as int64, or the bits of uint64: where they are if they may stay there, else in plan->convert. */
static gather_status convert(gather_mpi_plan *plan, const gather_tensor *ids, int64_t len, const int64_t **numbers, gather_error *error) {
  const gather_type_info *type = gather_type_get(ids->type);
  const bool swap = ids->flags & GATHER_TENSOR_BYTE_SWAPPED, packed = type->packing != GATHER_PACKING_BYTES;
  const bool straight = !packed && row_major(ids, type->bits / 8);
  if (straight && type->bits == 64 && !swap && !(ids->flags & GATHER_TENSOR_SHARED) && (uintptr_t)ids->data % sizeof(int64_t) == 0) {
    *numbers = ids->data;
    return GATHER_OK;
  }
  /* Numbers of 8 bytes, and behind them room for the copy of a strided tensor. */
  if (!gather_mpi_reserve(&plan->convert, len, straight || packed ? 8 : 16))
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %lld ids", (long long)len);
  int64_t *to = plan->convert.data;
  *numbers = to;
  if (packed) return unpack(ids, type, to, error);
  const unsigned char *from = ids->data;
  if (!straight) {
    unsigned char *copy = (unsigned char *)(to + len);
    const gather_status status = copy_row_major(ids, copy, error);
    if (status != GATHER_OK) return status;
    from = copy;
  }
  widen(from, type, swap, len, to);
  return GATHER_OK;
}

/* The error that gather_apply would return for these ids. numbers: a private copy. */
static gather_status refuse(const gather_mpi_plan *plan, const gather_tensor *ids, const int64_t *numbers, gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = GATHER_ON_BAD_ERROR;
  options.negative = plan->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  gather_tensor private = {.type = plan->raw_unsigned ? GATHER_TYPE_UINT64 : GATHER_TYPE_INT64, .rank = ids->rank, .shape = ids->shape};
  gather_plan *check;
  gather_status status = gather_plan_create(plan->op, &plan->info.tensor, &private, NULL, &options, &check, error);
  if (status != GATHER_OK) return status;
  gather_run run = GATHER_RUN_INIT;
  run.indices = numbers;
  status = gather_plan_check(check, &run, error);
  gather_plan_destroy(check);
  return status;
}

/* The row of an id that is out of range; -1 = the fill row. There is a row. */
static int64_t repair(const gather_mpi_plan *plan, int64_t id) {
  const int64_t n = plan->info.rows;
  const bool low = id < 0 && !plan->raw_unsigned;
  if (plan->fill_slots > 0) return -1;
  if (plan->on_bad != GATHER_ON_BAD_WRAP) return low ? 0 : n - 1;
  if (!low) return (int64_t)((uint64_t)id % (uint64_t)n);
  const int64_t rest = id % n;
  return rest < 0 ? rest + n : rest;
}

/* Row numbers from ids. Returns how many ids are out of range. */
static int64_t resolve(const gather_mpi_plan *plan, const int64_t *ids, int64_t len, int64_t *rows) {
  const uint64_t n = (uint64_t)plan->info.rows;
  const bool negative = plan->negative && !plan->raw_unsigned, repairable = n > 0 || plan->fill_slots > 0;
  int64_t bad = 0;
  for (int64_t i = 0; i < len; i++) {
    int64_t row = ids[i];
    if (negative && row < 0) row += (int64_t)n; /* no overflow: one is below 0, the other is not */
    if ((uint64_t)row >= n) {
      bad++;
      row = repairable ? repair(plan, ids[i]) : -1;
    }
    rows[i] = row;
  }
  return bad;
}

/* Everything that gather_apply says about the tensors before it reads an index. */
static gather_status check_tensors(const gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = GATHER_ON_BAD_CLAMP; /* needs no fill; the errors are the same */
  gather_plan *check;
  const gather_status status = gather_plan_create(plan->op, &plan->info.tensor, ids, rows, &options, &check, error);
  if (status == GATHER_OK) gather_plan_destroy(check);
  return status;
}

gather_status gather_mpi_ids_read(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, bool *same, int64_t *repaired,
                                  gather_error *error) {
  *same = false;
  *repaired = 0;
  if (!ids || !rows) return gather_error_set_input(error, GATHER_USAGE, ids ? "output" : "indices", "%s is NULL", ids ? "rows" : "ids");
  gather_status status = check_tensors(plan, ids, rows, error);
  if (status != GATHER_OK) return status;
  const int64_t len = gather_tensor_len(ids), *numbers = NULL;
  const bool is_unsigned = gather_type_get(ids->type)->kind == GATHER_KIND_UINT;
  if (len > 0) status = convert(plan, ids, len, &numbers, error);
  if (status != GATHER_OK) return status;
  if (plan->kept && plan->raw_len == len && plan->raw_unsigned == is_unsigned &&
      (len == 0 || memcmp(numbers, plan->raw.data, (size_t)len * sizeof *numbers) == 0)) {
    *same = true;
    *repaired = plan->raw_repaired;
    return GATHER_OK;
  }
  plan->kept = false;
  plan->raw_len = 0;
  if (!gather_mpi_reserve(&plan->raw, len, 8) || !gather_mpi_reserve(&plan->rows, len, 8))
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %lld ids", (long long)len);
  if (len > 0) memcpy(plan->raw.data, numbers, (size_t)len * sizeof *numbers);
  plan->raw_len = len;
  plan->raw_unsigned = is_unsigned;
  *repaired = resolve(plan, plan->raw.data, len, plan->rows.data);
  const bool refused = plan->on_bad == GATHER_ON_BAD_ERROR || (plan->info.rows == 0 && plan->fill_slots == 0);
  plan->raw_repaired = *repaired;
  if (*repaired == 0 || !refused) return GATHER_OK;
  *repaired = 0;
  return refuse(plan, ids, plan->raw.data, error);
}
