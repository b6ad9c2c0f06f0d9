/* SPDX-License-Identifier: MIT
 *
 * explain_words.c: the lines of words round a drawing.
 */
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "explain.h"
#include "report.h"

/* Adds to text, as much as fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, bytes - used, "%s", more);
}

/* "i", "j" ... and from the tenth dimension on "i9". */
static void letter(char *text, size_t bytes, int32_t d) {
  static const char LETTERS[] = "ijklmnpqrs";
  char name[16];
  if (d < 10)
    snprintf(name, sizeof name, "%c", LETTERS[d]);
  else
    snprintf(name, sizeof name, "i%d", (int)d);
  append(text, bytes, name);
}

static void letters(char *text, size_t bytes, int32_t from, int32_t to, bool *comma) {
  for (int32_t d = from; d < to; d++) {
    if (*comma) append(text, bytes, ", ");
    *comma = true;
    letter(text, bytes, d);
  }
}

/* idx[i, j], where dimensions [first, last) of the output are those of the indices behind the shared ones. */
static void index_term(const gather_cli_explain *ex, char *text, size_t bytes, int32_t first, int32_t last) {
  bool comma = false;
  append(text, bytes, "idx");
  if (ex->table[GATHER_CLI_PART_INDICES].rank == 0) return;
  append(text, bytes, "[");
  letters(text, bytes, 0, ex->batch, &comma);
  letters(text, bytes, first, last, &comma);
  append(text, bytes, "]");
}

void gather_cli_explain_formula(const gather_cli_explain *ex, char *text, size_t bytes) {
  int32_t rank = ex->table[GATHER_CLI_PART_OUT].rank, q = ex->table[GATHER_CLI_PART_INDICES].rank;
  bool comma = false, elements = ex->job.op->family == GATHER_FAMILY_ELEMENTS;
  int32_t end = elements ? ex->axis + 1 : ex->axis + q - ex->batch;
  snprintf(text, bytes, "%s", rank ? "out[" : "out");
  letters(text, bytes, 0, rank, &comma);
  append(text, bytes, rank ? "] = data[" : " = data[");
  comma = false;
  letters(text, bytes, 0, ex->axis, &comma);
  if (comma) append(text, bytes, ", ");
  comma = true;
  index_term(ex, text, bytes, elements ? 0 : ex->axis, elements ? rank : end);
  letters(text, bytes, end, rank, &comma);
  append(text, bytes, "]");
}

void gather_cli_explain_rules(const gather_cli_explain *ex, char *text, size_t bytes) {
  const char *given = ex->job.args->value[GATHER_CLI_ON_BAD];
  const char *policy = ex->on_bad == GATHER_ON_BAD_ERROR   ? "is an error"
                       : ex->on_bad == GATHER_ON_BAD_CLAMP ? "goes to the nearest end"
                       : ex->on_bad == GATHER_ON_BAD_WRAP  ? "wraps round"
                       : ex->on_bad == GATHER_ON_BAD_ZERO  ? "gives zeros"
                                                           : "gives ";
  if (given && strcmp(given, "promise") == 0) policy = "is promised not to be there";
  snprintf(text, bytes, "%s: an index below 0 %s, one out of range %s%.40s", ex->job.op->rules,
           ex->negative ? "counts from the end" : "is out of range", policy,
           ex->on_bad == GATHER_ON_BAD_FILL ? ex->job.fill : "");
}

static void batches(const gather_cli_explain *ex, char *text, size_t bytes) {
  char group[64] = "";
  bool comma = false;
  *text = 0;
  if (ex->batch == 0) return;
  letters(group, sizeof group, 0, ex->batch < 4 ? ex->batch : 4, &comma);
  if (ex->batch > 4) append(group, sizeof group, ", ...");
  snprintf(text, bytes, "batch_dims %d: idx[%s] picks only from data[%s], group by group", (int)ex->batch, group,
           group);
}

/* The end of a long name, which tells more than its beginning. */
static void shorten(const char *name, char *text, size_t bytes) {
  enum { LONGEST = 60 };
  size_t len = strlen(name), from = len > LONGEST ? len - LONGEST : 0;
  while (from && ((unsigned char)name[from] & 0xc0) == 0x80) from++; /* whole letters of UTF-8 */
  snprintf(text, bytes, "%s%.60s", from ? "..." : "", name + from);
}

/* Where in the model the gather stands, and what its operands are called there. */
static void place(const gather_cli_explain *ex, char *text, size_t bytes) {
  char where[1024], names[5][80];
  const gather_model_node *n = ex->node;
  gather_cli_node_text(n, where, sizeof where);
  shorten(where, names[0], sizeof names[0]);
  shorten(ex->job.args->argument[0], names[1], sizeof names[1]);
  shorten(n->data.name, names[2], sizeof names[2]);
  shorten(n->indices.name, names[3], sizeof names[3]);
  shorten(n->output.name, names[4], sizeof names[4]);
  snprintf(text, bytes, "%s of %s: data is %s, idx is %s, out is %s", names[0], names[1], names[2], names[3], names[4]);
}

bool gather_cli_explain_note(const gather_cli_explain *ex, int i, char *text, size_t bytes) {
  if (ex->node && i-- == 0) {
    place(ex, text, bytes);
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
    snprintf(text, bytes, "The values of data are not known: each cell shows its number, counted row by row.");
    return true;
  }
  return false;
}

void gather_cli_explain_title(const gather_cli_explain *ex, gather_cli_part part, char *text, size_t bytes) {
  const gather_cli_table *table = &ex->table[part];
  char shape[128];
  const char *type = part == GATHER_CLI_PART_INDICES ? ex->job.indices.tensor.type_name : ex->job.data.tensor.type_name;
  gather_cli_shape_text(shape, sizeof shape, table->rank, table->shape);
  snprintf(text, bytes, "%s  %.40s %s", table->name, type, shape);
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f) *p = '.';
  if (part != GATHER_CLI_PART_DATA) return;
  char axis[80];
  snprintf(axis, sizeof axis, "  axis %d: %s", (int)ex->axis,
           ex->axis == table->rank - 1   ? "across"
           : ex->axis == table->rank - 2 ? "down"
                                         : "over the slices");
  append(text, bytes, axis);
}

/* A cell's coordinates in data, with colons for those that run along the row or column of the output. */
void gather_cli_explain_from(const gather_cli_explain *ex, const int64_t *at, char *text, size_t bytes) {
  gather_cli_origin origin = gather_cli_explain_out(ex, at);
  const gather_cli_table *data = &ex->table[GATHER_CLI_PART_DATA];
  int32_t out_rank = ex->table[GATHER_CLI_PART_OUT].rank, spread = ex->table[GATHER_CLI_PART_INDICES].rank - ex->batch;
  gather_cli_by by = gather_cli_explain_by(ex);
  int32_t running = by == GATHER_CLI_BY_ROW ? out_rank - 1 : by == GATHER_CLI_BY_COLUMN ? out_rank - 2 : -1;
  if (!origin.has_source) {
    snprintf(text, bytes, ex->failed ? "no value" : "filled");
    return;
  }
  snprintf(text, bytes, "%s", "data[");
  for (int32_t d = 0; d < data->rank; d++) {
    char number[32];
    bool runs = running >= 0 && d != ex->axis && (d < ex->axis ? d : d + spread - 1) == running;
    snprintf(number, sizeof number, "%s", d ? ", " : "");
    append(text, bytes, number);
    snprintf(number, sizeof number, "%" PRId64, origin.data[d]);
    append(text, bytes, runs ? ":" : number);
  }
  append(text, bytes, "]");
}

void gather_cli_explain_slice_text(const gather_cli_table *table, const int64_t *at, char *text, size_t bytes) {
  snprintf(text, bytes, "%s[", table->name);
  for (int32_t d = 0; d + 2 < table->rank; d++) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64 ", ", at[d]);
    append(text, bytes, number);
  }
  append(text, bytes, ":, :]");
}
