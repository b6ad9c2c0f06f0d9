/* SPDX-License-Identifier: MIT
 *
 * explain_words.c: the lines of text around a drawing.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "model/explain/drawing.h"
#include "model/model_internal.h"

/* Adds to text, as much as fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, bytes - used, "%s", more);
}

void gather_explain_formula(const gather_explain *ex, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "%s", ex->formula);
}

void gather_explain_rules(const gather_explain *ex, char *text, size_t bytes) {
  const char *policy = ex->on_bad == GATHER_ON_BAD_ERROR   ? "is an error"
                       : ex->on_bad == GATHER_ON_BAD_CLAMP ? "is clamped to the nearest end"
                       : ex->on_bad == GATHER_ON_BAD_WRAP  ? "wraps around"
                       : ex->on_bad == GATHER_ON_BAD_ZERO  ? "gives zeros"
                                                           : "gives ";
  if (ex->promised) policy = "is not checked";
  const char *fill = ex->on_bad == GATHER_ON_BAD_FILL ? ex->fill_text : "";
  snprintf(text, bytes, "%s: an index below 0 %s, one out of range %s%.*s", ex->op->rules,
           ex->negative ? "counts from the end" : "is out of range", policy, gather_explain_fit(fill, 40), fill);
}

static void batches(const gather_explain *ex, char *text, size_t bytes) {
  static const char *const LETTERS[] = {"", "i", "i, j", "i, j, k", "i, j, k, l", "i, j, k, l, ..."};
  const char *group = LETTERS[ex->batch < 5 ? ex->batch : 5];
  snprintf(text, bytes, "batch_dims %d: idx[%s] gathers only from data[%s], batch by batch%s", (int)ex->batch, group,
           group, ex->op->fused_batch && ex->batch > 1 ? "; in out they are one dimension" : "");
}

void gather_explain_shorten(const char *name, char *text, size_t bytes) {
  enum { LONGEST = 60 };
  size_t len = strlen(name), from = len > LONGEST ? len - LONGEST : 0;
  while (from && ((unsigned char)name[from] & 0xc0) == 0x80) from++; /* whole UTF-8 characters */
  snprintf(text, bytes, "%s%.60s", from ? "..." : "", name + from);
}

/* Where the gather is in the model, and the names of its operands. */
static void place(const gather_explain *ex, char *text, size_t bytes) {
  char where[1024], names[4][80];
  const gather_model_node *n = ex->node;
  (void)gather_model_node_path(n, where, sizeof where);
  gather_explain_shorten(where, names[0], sizeof names[0]);
  gather_explain_shorten(n->data.name, names[1], sizeof names[1]);
  gather_explain_shorten(n->indices.name, names[2], sizeof names[2]);
  gather_explain_shorten(n->output.name, names[3], sizeof names[3]);
  snprintf(text, bytes, "%s of %s: data is %s, idx is %s, out is %s", names[0], ex->model_name, names[1], names[2],
           names[3]);
}

bool gather_explain_note(const gather_explain *ex, int i, char *text, size_t bytes) {
  if (ex->node && i-- == 0) {
    place(ex, text, bytes);
    return true;
  }
  if (ex->node && gather_op_is_quantized(ex->node->rules) && i-- == 0) {
    snprintf(text, bytes, "The cells show data as it is stored%s; the model decodes it with its scales.",
             ex->node->data.type == GATHER_TYPE_UINT8 ? ", a byte each" : "");
    return true;
  }
  if (ex->node && ex->node->not_executed && i-- == 0) {
    snprintf(text, bytes, "In the model it is %s", ex->node->reason);
    return true;
  }
  if (ex->batch && i-- == 0) {
    batches(ex, text, bytes);
    return true;
  }
  gather_error why;
  bool cannot_read = ex->node && ex->made_up && ex->node->data.unreadable &&
                     gather_file_tensor_check(ex->node->data.unreadable, &why) != GATHER_OK;
  if (cannot_read && i-- == 0) {
    snprintf(text, bytes, "The data cannot be read: %s", why.message);
    return true;
  }
  if (ex->node && ex->made_up && i-- == 0) {
    snprintf(text, bytes, "The values of data are not known: each cell shows its number in row-major order.");
    return true;
  }
  return false;
}

/* "  axis 0: down, axis 1: across" */
static void append_axis(char *text, size_t bytes, const gather_explain_table *table, int32_t axis, bool more) {
  char one[80];
  snprintf(one, sizeof one, "%saxis %d: %s", more ? ", " : "  ", (int)axis,
           axis == table->rank - 1   ? "across"
           : axis == table->rank - 2 ? "down"
                                     : "over the slices");
  append(text, bytes, one);
}

void gather_explain_title(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  const gather_explain_table *table = &ex->table[part];
  char shape[128];
  const char *type = part == GATHER_EXPLAIN_INDICES ? ex->indices_type : ex->data_type;
  gather_shape_text(shape, sizeof shape, table->rank, table->shape);
  snprintf(text, bytes, "%s  %.40s %s", table->name, type, shape);
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f) *p = '.';
  if (part != GATHER_EXPLAIN_DATA) return;
  for (int32_t d = ex->axis; d < ex->axis + ex->selected; d++) append_axis(text, bytes, table, d, d > ex->axis);
}

/* A cell's coordinates in data, with colons for those that run along the row or column of the output. */
void gather_explain_from(const gather_explain *ex, const int64_t *at, char *text, size_t bytes) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA];
  int32_t out_rank = ex->table[GATHER_EXPLAIN_OUT].rank;
  gather_explain_telling by = gather_explain_by(ex);
  int32_t running = by == GATHER_EXPLAIN_BY_ROW ? out_rank - 1 : by == GATHER_EXPLAIN_BY_COLUMN ? out_rank - 2 : -1;
  if (!origin.has_source) {
    snprintf(text, bytes, ex->failed ? "no value" : "filled");
    return;
  }
  snprintf(text, bytes, "%s", "data[");
  for (int32_t d = 0; d < data->rank; d++) {
    char number[32];
    bool runs = running >= 0 && ex->sources[running].data == d;
    snprintf(number, sizeof number, "%s", d ? ", " : "");
    append(text, bytes, number);
    snprintf(number, sizeof number, "%" PRId64, origin.data[d]);
    append(text, bytes, runs ? ":" : number);
  }
  append(text, bytes, "]");
}

void gather_explain_slice_text(const gather_explain_table *table, const int64_t *at, char *text, size_t bytes) {
  snprintf(text, bytes, "%s[", table->name);
  for (int32_t d = 0; d + 2 < table->rank; d++) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64 ", ", at[d]);
    append(text, bytes, number);
  }
  append(text, bytes, ":, :]");
}

gather_status gather_explain_can_draw(const gather_op *op, gather_error *error) {
  const gather_family_info *family = gather_family_get(op->family);
  if (family && family->function)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "%s cannot be drawn: each cell of its output comes by a chain of parents, not by one index",
                       op->name);
  if (family && op->family == GATHER_FAMILY_STABLEHLO)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "StableHLO's gather cannot be drawn: its indices select windows, which may be moved");
  return GATHER_OK;
}
