/* SPDX-License-Identifier: MIT
 *
 * run_compare.c: compares two tensors bit for bit: type, shape and every element. Both are row-major.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "show.h"

/* The bits of element i of a packed type with the first element in the lowest bits; an element may span two bytes. */
static unsigned packed_at(const gather_tensor *tensor, int64_t i, int32_t bits) {
  int64_t bit = i * bits;
  const unsigned char *bytes = (const unsigned char *)tensor->data + bit / 8;
  unsigned two = bit % 8 + bits > 8 ? (unsigned)bytes[1] << 8 : 0;
  return (bytes[0] | two) >> (bit % 8) & ((1u << bits) - 1);
}

static bool same_element(const gather_tensor *a, const gather_tensor *b, const gather_type_info *type, int64_t i) {
  if (type->kind == GATHER_KIND_STRING) {
    const gather_string *left = (const gather_string *)a->data + i, *right = (const gather_string *)b->data + i;
    return left->bytes == right->bytes && (left->bytes == 0 || memcmp(left->text, right->text, left->bytes) == 0);
  }
  if (type->packing != GATHER_PACKING_BYTES) return packed_at(a, i, type->bits) == packed_at(b, i, type->bits);
  int64_t bytes = type->kind == GATHER_KIND_OPAQUE ? a->item_bytes : type->bits / 8;
  return memcmp((const char *)a->data + i * bytes, (const char *)b->data + i * bytes, (size_t)bytes) == 0;
}

static bool same_shape(const gather_tensor *a, const gather_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int32_t d = 0; d < a->rank; d++)
    if (a->shape[d] != b->shape[d]) return false;
  return true;
}

static void note_position(const gather_tensor *tensor, int64_t i, gather_cli_run_compared *compared) {
  compared->rank = tensor->rank;
  for (int32_t d = tensor->rank; d-- > 0; i /= tensor->shape[d]) compared->position[d] = i % tensor->shape[d];
}

static void compare_elements(const gather_tensor *is, const gather_tensor *wanted, gather_cli_run_compared *compared) {
  const gather_type_info *type = gather_type_get(is->type);
  int64_t len = gather_tensor_len(is);
  for (int64_t i = 0; i < len; i++) {
    if (same_element(is, wanted, type, i)) continue;
    if (compared->mismatches++ == 0) note_position(is, i, compared);
  }
  if (compared->mismatches == 0) return;
  char position[100];
  gather_cli_shape_text(position, sizeof position, compared->rank, compared->position);
  snprintf(compared->reason, sizeof compared->reason, "%" PRId64 " of %" PRId64 " elements differ, the first at %s", compared->mismatches,
           len, position);
}

void gather_cli_run_compare(const gather_tensor *is, const gather_tensor *wanted, gather_cli_run_compared *compared) {
  char left[80], right[80];
  compared->rank = -1;
  if (is->type != wanted->type) {
    snprintf(compared->reason, sizeof compared->reason, "the type is %s, expected is %s", gather_type_get(is->type)->name,
             gather_type_get(wanted->type)->name);
    compared->mismatches = gather_tensor_len(wanted);
  } else if (!same_shape(is, wanted)) {
    snprintf(compared->reason, sizeof compared->reason, "the shape is %s, expected is %s",
             gather_cli_shape_text(left, sizeof left, is->rank, is->shape),
             gather_cli_shape_text(right, sizeof right, wanted->rank, wanted->shape));
    compared->mismatches = gather_tensor_len(wanted);
  } else {
    compare_elements(is, wanted, compared);
  }
  compared->equal = compared->reason[0] == '\0';
}
