/* SPDX-License-Identifier: MIT
 *
 * run_tensors.c: memory for computed values, dense copies, and casts between integer types.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/float_bits.h"
#include "gather/file.h"
#include "model/model_run.h"

gather_status gather_run_no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to run the model");
}

gather_status gather_run_shape(gather_running *run, int32_t rank, const int64_t *lengths, const int64_t **shape,
                               gather_error *error) {
  int64_t *copy = gather_arena_take(run->arena, rank, (int64_t)sizeof *copy);
  if (!copy) return gather_run_no_memory(error);
  if (rank > 0) memcpy(copy, lengths, (size_t)rank * sizeof *copy);
  *shape = copy;
  return GATHER_OK;
}

gather_status gather_run_limit(gather_running *run, int64_t memory_bytes, gather_error *error) {
  const int64_t most = INT64_C(512) << 20, usable = gather_usable_memory();
  if (memory_bytes < 0) return gather_fail(error, GATHER_USAGE, "memory_bytes is %" PRId64, memory_bytes);
  run->common->inner_left = memory_bytes > 0 ? memory_bytes : usable / 8 < most ? usable / 8 : most;
  run->common->all_left = usable > run->common->inner_left ? usable : run->common->inner_left;
  return GATHER_OK;
}

/* A few bytes are always granted: a shape, or a list of axes. */
static gather_status spend(gather_running *run, int64_t bytes, gather_error *error) {
  enum { FEW = 4096 };
  char needed[32], left[32];
  const bool is_output = run->for_output;
  const int64_t most =
      is_output || run->common->all_left < run->common->inner_left ? run->common->all_left : run->common->inner_left;
  if (bytes <= FEW) return GATHER_OK;
  if (bytes > most) {
    run->common->is_over = true;
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "it needs %s, but only %s of the memory limit%s are left",
                       gather_text_bytes(bytes, needed, sizeof needed), gather_text_bytes(most, left, sizeof left),
                       is_output ? "" : " for values between nodes");
  }
  run->common->all_left -= bytes;
  if (!is_output) run->common->inner_left -= bytes;
  return GATHER_OK;
}

gather_status gather_run_allocate(gather_running *run, gather_tensor *tensor, gather_error *error) {
  tensor->strides = NULL;
  tensor->packed_offset = 0;
  tensor->data = NULL;
  GATHER_TRY(gather_tensor_check(&(gather_tensor){.data = run,
                                                  .type = tensor->type,
                                                  .rank = tensor->rank,
                                                  .shape = tensor->shape,
                                                  .item_bytes = tensor->item_bytes},
                                 error));
  GATHER_TRY(spend(run, gather_tensor_bytes(tensor), error));
  tensor->data = gather_arena_take(run->arena, 1, gather_tensor_bytes(tensor));
  return tensor->data ? GATHER_OK : gather_run_no_memory(error);
}

static bool is_dense(const gather_tensor *tensor) {
  if (tensor->packed_offset != 0) return false;
  if (!tensor->strides) return true;
  int64_t own[GATHER_MAX_RANK], dense[GATHER_MAX_RANK];
  gather_tensor flat = *tensor;
  flat.strides = NULL;
  gather_tensor_strides(tensor, own);
  gather_tensor_strides(&flat, dense);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] != 1 && own[d] != dense[d]) return false;
  return true;
}

/* A gather by a tuple without numbers takes all of data: a copy, whatever the type and strides. A scalar becomes a row first. */
gather_status gather_run_copy(gather_running *run, const gather_tensor *tensor, const gather_tensor *out,
                              gather_error *error) {
  static const int64_t ONE[1] = {1};
  gather_tensor from = *tensor, to = *out;
  if (from.rank == 0) from.rank = to.rank = 1, from.shape = to.shape = ONE, from.strides = NULL;
  int64_t none = 0;
  gather_tensor indices = {.data = &none, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &none};
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = run->executor;
  return gather_apply(gather_op_find("GatherND", "openvino-8"), &from, &indices, &to, &options, error);
}

/* Whether the padding bits after the last element of a row-major packed tensor are 0; in a view of a file they may be
 * anything. */
static bool ends_clean(const gather_tensor *tensor) {
  static const int64_t NUMBERS[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const gather_type_info *type = gather_type_get(tensor->type);
  int64_t rest = gather_tensor_len(tensor) % type->group_len, groups = gather_tensor_len(tensor) / type->group_len;
  unsigned char clean[4] = {0};
  if (!gather_type_is_packed(type) || rest == 0) return true;
  const unsigned char *last = (const unsigned char *)tensor->data + groups * type->group_bytes;
  gather_tensor from = {.data = (void *)(uintptr_t)last, .type = tensor->type, .rank = 1, .shape = &rest};
  gather_tensor to = {.data = clean, .type = tensor->type, .rank = 1, .shape = &rest};
  gather_tensor all = {.data = (void *)(uintptr_t)NUMBERS, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &rest};
  return gather_take(&from, &all, 0, &to, NULL) == GATHER_OK && memcmp(clean, last, (size_t)type->group_bytes) == 0;
}

gather_status gather_run_dense(gather_running *run, const gather_tensor *tensor, gather_tensor *dense,
                               gather_error *error) {
  *dense = *tensor;
  dense->strides = NULL;
  if (gather_tensor_len(tensor) == 0 || (is_dense(tensor) && ends_clean(tensor))) return GATHER_OK;
  dense->flags = tensor->flags & GATHER_TENSOR_BYTE_SWAPPED;
  GATHER_TRY(gather_run_allocate(run, dense, error));
  return gather_run_copy(run, tensor, dense, error);
}

/* One integer of `bytes` bytes at `at`, as 64 bits. */
static int64_t read_integer(const unsigned char *at, int64_t bytes, bool is_signed, bool swapped) {
  uint64_t value = 0;
  bool big = swapped != (GATHER_BIG_ENDIAN != 0);
  for (int64_t k = 0; k < bytes; k++) value |= (uint64_t)at[big ? bytes - 1 - k : k] << (8 * k);
  if (is_signed && bytes < 8 && value >> (8 * bytes - 1)) value |= ~(uint64_t)0 << (8 * bytes);
  int64_t answer;
  memcpy(&answer, &value, sizeof answer);
  return answer;
}

static void write_integer(unsigned char *at, int64_t bytes, int64_t number) {
  uint64_t value = (uint64_t)number;
  for (int64_t k = 0; k < bytes; k++) at[GATHER_BIG_ENDIAN ? bytes - 1 - k : k] = (unsigned char)(value >> (8 * k));
}

int64_t gather_run_integer_at(const gather_tensor *dense, int64_t i) {
  const gather_type_info *type = gather_type_get(dense->type);
  int64_t bytes = type->bits / 8;
  return read_integer((const unsigned char *)dense->data + i * bytes, bytes, type->kind == GATHER_KIND_INT,
                      (dense->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0);
}

void gather_run_store_integer(const gather_tensor *dense, int64_t i, int64_t number) {
  const int64_t bytes = gather_type_get(dense->type)->bits / 8;
  write_integer((unsigned char *)dense->data + i * bytes, bytes, number);
}

gather_status gather_run_cast(gather_running *run, const gather_tensor *tensor, gather_type type, gather_tensor *cast,
                              gather_error *error) {
  gather_tensor dense;
  *cast = *tensor;
  if (type == tensor->type) return GATHER_OK;
  GATHER_TRY(gather_run_dense(run, tensor, &dense, error));
  cast->type = type;
  cast->flags = 0;
  GATHER_TRY(gather_run_allocate(run, cast, error));
  const int64_t len = gather_tensor_len(&dense);
  for (int64_t i = 0; i < len; i++) gather_run_store_integer(cast, i, gather_run_integer_at(&dense, i));
  return GATHER_OK;
}

void gather_run_store_float(const gather_tensor *tensor, int64_t i, float number) {
  char *at = (char *)tensor->data + i * (gather_type_get(tensor->type)->bits / 8);
  uint16_t half;
  if (tensor->type == GATHER_TYPE_FLOAT32) {
    memcpy(at, &number, sizeof number);
    return;
  }
  half = tensor->type == GATHER_TYPE_FLOAT16 ? gather_half_nearest(number) : gather_bfloat_nearest(number);
  memcpy(at, &half, sizeof half);
}

gather_status gather_run_integers(const gather_tensor *tensor, const char *what, int64_t values[GATHER_MAX_RANK],
                                  int32_t *count, gather_error *error) {
  if (!gather_type_is_index(tensor->type))
    return gather_fail(error, GATHER_TYPE_UNSUPPORTED, "%s: the numbers are %s, not integers", what,
                       gather_type_get(tensor->type)->name);
  if (tensor->rank > 1)
    return gather_fail(error, GATHER_RANK_MISMATCH, "%s: expected a list, got rank %" PRId32, what, tensor->rank);
  int64_t len = gather_tensor_len(tensor);
  if (len > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "%s: more than %d numbers", what, GATHER_MAX_RANK);
  int64_t strides[GATHER_MAX_RANK] = {0};
  gather_tensor_strides(tensor, strides);
  for (int64_t i = 0; i < len; i++) {
    gather_tensor one = *tensor;
    one.data = (char *)tensor->data + i * strides[0];
    values[i] = gather_run_integer_at(&one, 0);
  }
  *count = (int32_t)len;
  return GATHER_OK;
}
