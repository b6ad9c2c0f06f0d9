/* SPDX-License-Identifier: MIT
 *
 * infer.c: what is known of an output without tensors: its shape, the source of each dimension, and that as a formula.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/op/family.h"
#include "core/op/op.h"
#include "gather/tree.h"

/* ---- shapes that are not fully known. A length is an interval; a rank may be unknown; the family has the rules. An error means that no
 * input of these shapes is valid. */

/* Whether a caller's shape is one. input: its name, for errors. */
static gather_status check_shape(const gather_shape *shape, const char *input, gather_error *error) {
  if (!shape) return gather_fail_input(error, GATHER_USAGE, input, "%s: the shape is NULL", input);
  if (shape->rank < -1 || shape->rank > GATHER_MAX_RANK)
    return gather_fail_input(error, GATHER_UNSUPPORTED, input, "%s has rank %" PRId32, input, shape->rank);
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dims[d].min < 0 || shape->dims[d].min > shape->dims[d].max)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s: dimension %" PRId32 " is not a valid interval", input, d);
  return GATHER_OK;
}

gather_status gather_infer_shape(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_options *options,
                                 gather_shape *out, gather_error *error) {
  gather_options full;
  gather_attributes a;
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  if (!out) return gather_fail(error, GATHER_USAGE, "out is NULL");
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(check_shape(data, "data", error));
  GATHER_TRY(check_shape(indices, "indices", error));
  const gather_family_rules *rules;
  gather_status status = gather_family_find(op, &rules, error);
  if (status == GATHER_OK) status = rules->attributes(op, data->rank, indices->rank, -1, &full, false, &a, error);
  gather_shape result; /* out may be data or indices */
  result.rank = -1;
  if (status == GATHER_OK) status = rules->infer(op, data, indices, &a, &result, error);
  if (status != GATHER_OK) return gather_fail_op(error, op, status);
  out->rank = result.rank;
  if (result.rank > 0) memcpy(out->dims, result.dims, (size_t)result.rank * sizeof *result.dims);
  return GATHER_OK;
}

#if !defined(GATHER_ONLY_GATHER)
static gather_status check_of_tree(const gather_shape *shape, const char *input, int32_t rank, gather_error *error) {
  GATHER_TRY(check_shape(shape, input, error));
  if (shape->rank < 0 || shape->rank == rank) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, input, "%s has rank %" PRId32 "; its rank must be %" PRId32, input, shape->rank,
                           rank);
}

static gather_status meet(gather_dim *known, const gather_dim *more, const char *input, int32_t d, gather_error *error) {
  if (gather_dims_meet(known, more, known)) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "dimension %" PRId32 " of %s cannot be equal to that of step_ids", d,
                           input);
}

static gather_status infer_tree(const gather_shape *step_ids, const gather_shape *parent_ids, const gather_shape *max_seq_len,
                                const gather_shape *end_token, gather_shape *out, gather_error *error) {
  gather_dim dims[3] = {GATHER_LEN_UNKNOWN, GATHER_LEN_UNKNOWN, GATHER_LEN_UNKNOWN};
  if (!out) return gather_fail(error, GATHER_USAGE, "out is NULL");
  GATHER_TRY(check_of_tree(step_ids, "step_ids", 3, error));
  GATHER_TRY(check_of_tree(parent_ids, "parent_ids", 3, error));
  GATHER_TRY(check_of_tree(max_seq_len, "max_seq_len", 1, error));
  GATHER_TRY(check_of_tree(end_token, "end_token", 0, error));
  for (int32_t d = 0; d < 3 && step_ids->rank == 3; d++) dims[d] = step_ids->dims[d];
  for (int32_t d = 0; d < 3 && parent_ids->rank == 3; d++) GATHER_TRY(meet(&dims[d], &parent_ids->dims[d], "parent_ids", d, error));
  if (max_seq_len->rank == 1) GATHER_TRY(meet(&dims[1], &max_seq_len->dims[0], "max_seq_len", 0, error));
  out->rank = 3;
  for (int32_t d = 0; d < 3; d++) out->dims[d] = dims[d];
  return GATHER_OK;
}

gather_status gather_tree_infer_shape(const gather_shape *step_ids, const gather_shape *parent_ids, const gather_shape *max_seq_len,
                                      const gather_shape *end_token, gather_shape *out, gather_error *error) {
  return gather_fail_op(error, GATHER_OP_OF_TREE, infer_tree(step_ids, parent_ids, max_seq_len, end_token, out, error));
}
#endif

/* ---- the source of each dimension of an output */

static gather_status check_rank(int32_t rank, const char *input, gather_error *error) {
  if (rank >= 0 && rank <= GATHER_MAX_RANK) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, input, "%s has rank %" PRId32 "; ranks are from 0 to %d", input, rank, GATHER_MAX_RANK);
}

/* The dimensions of the output before some are fused. */
static int32_t loops_of(const gather_dim_source *sources, int32_t rank) {
  int32_t loops = 0;
  for (int32_t d = 0; d < rank; d++) loops += sources[d].count;
  return loops;
}

/* columns: what rules->column says of each dimension of data; NULL. */
static gather_status find_sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                  const gather_options *options, gather_dim_source *sources, int32_t *rank, int32_t *columns,
                                  gather_error *error) {
  gather_options full;
  gather_attributes a;
  gather_dim_source all[2 * GATHER_MAX_RANK];
  const gather_family_rules *rules;
  GATHER_TRY(gather_family_find(op, &rules, error));
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(check_rank(data_rank, "data", error));
  GATHER_TRY(check_rank(indices_rank, "indices", error));
  GATHER_TRY(rules->attributes(op, data_rank, indices_rank, tuple_len, &full, true, &a, error));
  *rank = rules->sources(op, data_rank, indices_rank, &a, all);
  if (*rank > GATHER_MAX_RANK) return gather_shape_full(error);
  if (op->tuples) GATHER_TRY(gather_tuples_room(loops_of(all, *rank), a.tuple_len, error));
  memcpy(sources, all, (size_t)*rank * sizeof *sources);
  for (int32_t d = 0; columns && d < data_rank; d++) columns[d] = rules->column(&a, d);
  return GATHER_OK;
}

gather_status gather_output_sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                    const gather_options *options, gather_dim_source *sources, int32_t *rank, gather_error *error) {
  if (!op || !sources || !rank) return gather_fail(error, GATHER_USAGE, "op, sources or rank is NULL");
  return gather_fail_op(error, op, find_sources(op, data_rank, indices_rank, tuple_len, options, sources, rank, NULL, error));
}

/* ---- the formula */

/* Text that is truncated to its room. */
typedef struct {
  char *text;
  size_t bytes, at;
} formula_text;

static void add(formula_text *l, const char *more) {
  for (; *more && l->at + 1 < l->bytes; more++) l->text[l->at++] = *more;
  l->text[l->at] = '\0';
}

static void add_comma(formula_text *l, bool *comma) {
  if (*comma) add(l, ", ");
  *comma = true;
}

/* Letter number n: "i", "j" ..., from number 10 on "i10". */
static void add_letter(formula_text *l, int32_t n, bool *comma) {
  static const char LETTERS[] = "ijklmnpqrs";
  char name[16] = {LETTERS[n % 10]};
  if (n >= 10) (void)snprintf(name, sizeof name, "i%d", (int)n);
  add_comma(l, comma);
  add(l, name);
}

/* A dimension of the output: its letter; where dimensions were fused into it, the letters of all: "(i, j)". */
static void add_out(formula_text *l, int32_t first, int32_t count, bool *comma) {
  bool within = false;
  if (count == 1) {
    add_letter(l, first, comma);
    return;
  }
  add_comma(l, comma);
  add(l, "(");
  for (int32_t n = 0; n < count; n++) add_letter(l, first + n, &within);
  add(l, ")");
}

/* The number of the letter that stands for dimension k of data or of indices; -1 if k is no source. */
static int32_t letter_of(const gather_dim_source *sources, int32_t rank, bool of_data, int32_t k) {
  int32_t letter = 0;
  for (int32_t d = 0; d < rank; letter += sources[d++].count) {
    const int32_t first = of_data ? sources[d].data : sources[d].indices;
    if (first >= 0 && k >= first && k < first + sources[d].count) return letter + k - first;
  }
  return -1;
}

/* "idx[i, j]". A dimension of indices that is not a source of the output has the numbers of a tuple, one per axis. */
static void add_index(formula_text *l, const gather_dim_source *sources, int32_t rank, int32_t indices_rank, int32_t column) {
  char number[16];
  bool comma = false;
  add(l, indices_rank ? "idx[" : "idx");
  for (int32_t k = 0; k < indices_rank; k++) {
    const int32_t letter = letter_of(sources, rank, false, k);
    if (letter >= 0) {
      add_letter(l, letter, &comma);
      continue;
    }
    (void)snprintf(number, sizeof number, "%d", (int)column);
    add_comma(l, &comma);
    add(l, number);
  }
  if (indices_rank) add(l, "]");
}

gather_status gather_output_formula(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                    const gather_options *options, char *text, size_t bytes, gather_error *error) {
  gather_dim_source sources[GATHER_MAX_RANK];
  int32_t columns[GATHER_MAX_RANK], rank, first = 0;
  bool comma = false;
  if (!text || bytes == 0) return gather_fail(error, GATHER_USAGE, "`text` has no room for the formula");
  text[0] = '\0';
  if (!op) return gather_fail(error, GATHER_USAGE, "op is NULL");
  GATHER_TRY(gather_fail_op(error, op, find_sources(op, data_rank, indices_rank, tuple_len, options, sources, &rank, columns, error)));
  formula_text l = {text, bytes, 0};
  add(&l, rank ? "out[" : "out");
  for (int32_t d = 0; d < rank; first += sources[d++].count) add_out(&l, first, sources[d].count, &comma);
  add(&l, rank ? "] = data" : " = data");
  if (data_rank) add(&l, "[");
  comma = false;
  for (int32_t k = 0; k < data_rank; k++) {
    const int32_t letter = letter_of(sources, rank, true, k);
    bool alone = false;
    add_comma(&l, &comma);
    if (columns[k] >= 0) add_index(&l, sources, rank, indices_rank, columns[k]);
    if (columns[k] >= 0 && letter >= 0) add(&l, " + ");
    if (letter >= 0) add_letter(&l, letter, &alone);
    if (columns[k] < 0 && letter < 0) add(&l, "0");
  }
  if (data_rank) add(&l, "]");
  return GATHER_OK;
}
