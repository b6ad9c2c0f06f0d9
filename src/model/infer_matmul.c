/* SPDX-License-Identifier: MIT
 *
 * infer_matmul.c: products of matrices: MatMul, Gemm, Einsum, attention.
 */
#include <string.h>

#include "model/infer.h"

void gather_infer_matmul(gather_step *step) {
  const gather_known *a = gather_step_in(step, 0), *b = gather_step_in(step, 1);
  gather_dim dims[GATHER_MAX_RANK], ones[2][2];
  bool turn_a, turn_b;
  step->out.type = a->type;
  if (a->rank < 1 || b->rank < 1 || !gather_step_flag(step, "transpose_a", false, &turn_a) ||
      !gather_step_flag(step, "transpose_b", false, &turn_b))
    return;
  /* A vector on the left is a row, on the right a column; that axis is removed afterwards. */
  gather_known left = *a, right = *b;
  if (a->rank == 1) {
    ones[0][0] = gather_exact_dim(1), ones[0][1] = a->dims[0];
    left.rank = 2, left.dims = ones[0], turn_a = false;
  }
  if (b->rank == 1) {
    ones[1][0] = b->dims[0], ones[1][1] = gather_exact_dim(1);
    right.rank = 2, right.dims = ones[1], turn_b = false;
  }
  int32_t rank = gather_broadcast_shapes(&left, &right, 2, dims);
  if (a->rank > 1) dims[rank++] = left.dims[left.rank - (turn_a ? 1 : 2)];
  if (b->rank > 1) dims[rank++] = right.dims[right.rank - (turn_b ? 2 : 1)];
  gather_step_shape(step, rank, dims);
}

void gather_infer_gemm(gather_step *step) {
  const gather_known *a = gather_step_in(step, 0), *b = gather_step_in(step, 1);
  bool turn_a, turn_b;
  step->out.type = a->type;
  if (!gather_step_flag(step, "transA", false, &turn_a) || !gather_step_flag(step, "transB", false, &turn_b)) return;
  const gather_dim dims[2] = {a->rank == 2 ? a->dims[turn_a] : gather_any_dim,
                              b->rank == 2 ? b->dims[!turn_b] : gather_any_dim};
  gather_step_shape(step, 2, dims);
}

/* ---- Einsum without dots: each letter is a length */

typedef struct {
  gather_dim lens[128];
  bool seen[128];
} letters;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* One operand's letters, until a comma or the arrow. */
static const char *read_term(const gather_known *in, const char *text, letters *all) {
  int32_t d = 0;
  for (; *text && *text != ',' && *text != '-'; text++) {
    if (*text == ' ') continue;
    if (!is_letter(*text) || d >= in->rank) return NULL;
    gather_dim *len = &all->lens[(unsigned char)*text];
    bool *seen = &all->seen[(unsigned char)*text];
    if (!*seen || (!gather_is_exact(len) && gather_is_exact(&in->dims[d])) || (len->min == 1 && len->max == 1))
      *len = in->dims[d];
    *seen = true;
    d++;
  }
  return d == in->rank ? text : NULL;
}

void gather_infer_einsum(gather_step *step) {
  const gather_attribute *equation = gather_step_find(step, "equation");
  gather_dim dims[GATHER_MAX_RANK];
  letters all;
  int32_t rank = 0;
  memset(&all, 0, sizeof all);
  step->out.type = gather_step_in(step, 0)->type;
  if (!equation || equation->kind != GATHER_ATTRIBUTE_TEXT) return;
  const char *text = equation->text.text;
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (i > 0 && *text++ != ',') return;
    text = read_term(gather_step_in(step, i), text, &all);
    if (!text) return;
  }
  if (text[0] != '-' || text[1] != '>') return;
  for (text += 2; *text; text++) {
    if (*text == ' ') continue;
    if (!is_letter(*text) || !all.seen[(unsigned char)*text] || rank == GATHER_MAX_RANK) return;
    dims[rank++] = all.lens[(unsigned char)*text];
  }
  gather_step_shape(step, rank, dims);
}

/* As the query, with the value's last length. With heads folded into the last axis (rank 3 in ONNX) the shape is left
 * unknown. */
void gather_infer_attention(gather_step *step) {
  const gather_known *query = gather_step_in(step, 0), *value = gather_step_in(step, 2);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = query->type;
  if (query->rank < (step->openvino ? 2 : 4) || query->rank != value->rank) return;
  memcpy(dims, query->dims, (size_t)query->rank * sizeof *dims);
  dims[query->rank - 1] = value->dims[value->rank - 1];
  for (int32_t d = 0; step->openvino && d < query->rank - 2; d++) {
    const gather_dim *same = &value->dims[d];
    bool equal = gather_is_exact(same) && gather_is_exact(&dims[d]) && same->min == dims[d].min;
    if (!equal) dims[d] = gather_any_dim; /* batches may be stretched */
  }
  gather_step_shape(step, query->rank, dims);
}
